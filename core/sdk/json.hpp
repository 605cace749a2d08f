// Parses JSON from untrusted files.
#pragma once

#include <cstdint>
#include <istream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace mokume::sdk {

// Returns whether arrays and objects are nested deeper than in any of our files.
inline bool is_nested_deeply(std::string_view text) {
  constexpr int kDeepest = 64;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (quoted) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == '"')
        quoted = false;
      continue;
    }
    if (text[i] == '"') quoted = true;
    if (text[i] == '[' || text[i] == '{') ++depth;
    if (text[i] == ']' || text[i] == '}') --depth;
    if (depth > kDeepest) return true;
  }
  return false;
}

// Parses JSON. Throws nlohmann::json::exception, also for deep nesting, which could overflow the stack in copies and
// dump(), because they are recursive. A callback of the parser could leave deep values out, but it makes the time grow
// with the square of the number of elements.
template <class Json>
Json parse_json(std::string_view text) {
  if (is_nested_deeply(text)) throw Json::other_error::create(501, "it is nested too deeply", nullptr);
  return Json::parse(text);
}

template <class Json>
Json parse_json(std::istream& in) {
  const std::string text(std::istreambuf_iterator<char>(in), {});
  return parse_json<Json>(std::string_view(text));
}

// Returns a whole number. Json::get() would also convert a real number, even if no integer can hold it. Throws
// nlohmann::json::exception.
template <class Json>
int64_t whole_number(const Json& value) {
  if (!value.is_number_integer()) throw Json::other_error::create(500, "a value is not a whole number", &value);
  return value.template get<int64_t>();
}

}  // namespace mokume::sdk
