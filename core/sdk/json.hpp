// Parses JSON from untrusted files.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

namespace mokume::sdk {

// Parses JSON, but omits values that are nested deeper than in any of our files, because copies and dump() are
// recursive, so that deep nesting could overflow the stack. Throws nlohmann::json::exception.
template <class Json, class Input>
Json parse_json(Input&& input) {
  constexpr int kDeepest = 64;
  return Json::parse(std::forward<Input>(input), [](int depth, auto, auto&) { return depth <= kDeepest; });
}

// Returns a whole number. Json::get() would also convert a real number, even if no integer can hold it. Throws
// nlohmann::json::exception.
template <class Json>
int64_t whole_number(const Json& value) {
  if (!value.is_number_integer()) throw Json::other_error::create(500, "a value is not a whole number", &value);
  return value.template get<int64_t>();
}

}  // namespace mokume::sdk
