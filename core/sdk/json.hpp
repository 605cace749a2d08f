// Parses JSON from untrusted files.
#pragma once

#include <nlohmann/json.hpp>

namespace mokume::sdk {

// Like nlohmann's parse(), but omits values that are nested deeper than any of our files: copies and dump() are
// recursive, and hundreds of thousands of brackets would overflow the stack. Throws nlohmann::json::exception.
template <class Json, class Input>
Json parse_json(Input&& input) {
  constexpr int kDeepest = 64;
  return Json::parse(std::forward<Input>(input), [](int depth, auto, auto&) { return depth <= kDeepest; });
}

}  // namespace mokume::sdk
