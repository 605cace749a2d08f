// Checked access to JSON that someone else wrote: every failure is an Error(MK_BAD_DATA) that names the field.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sdk/error.hpp"

namespace mokume::journal {

[[noreturn]] inline void bad_field(const char* key, const char* wanted) {
  throw Error(MK_BAD_DATA, std::string("'") + key + "' is missing or is not " + wanted);
}

// Null if there is no such field, or no object.
inline const nlohmann::json* find_field(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

inline const nlohmann::json& array_field(const nlohmann::json& object, const char* key) {
  const nlohmann::json* value = find_field(object, key);
  if (value == nullptr || !value->is_array()) bad_field(key, "a list");
  return *value;
}

inline uint64_t to_whole(const nlohmann::json& value, const char* key, uint64_t maximum) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > maximum) bad_field(key, "a whole number in range");
  return value.get<uint64_t>();
}

inline uint64_t whole_field(const nlohmann::json& object, const char* key, uint64_t maximum) {
  const nlohmann::json* value = find_field(object, key);
  if (value == nullptr) bad_field(key, "a whole number in range");
  return to_whole(*value, key, maximum);
}

inline uint32_t u32_field(const nlohmann::json& object, const char* key) {
  return static_cast<uint32_t>(whole_field(object, key, std::numeric_limits<uint32_t>::max()));
}

inline std::string to_string(const nlohmann::json& value, const char* key) {
  if (!value.is_string()) bad_field(key, "a text");
  return value.get<std::string>();
}

inline std::string text_field(const nlohmann::json& object, const char* key) {
  const nlohmann::json* value = find_field(object, key);
  if (value == nullptr) bad_field(key, "a text");
  return to_string(*value, key);
}

// JSON has no NaN and no infinities: they stand as texts.
inline double to_real(const nlohmann::json& value, const char* key) {
  if (value.is_number()) return value.get<double>();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  bad_field(key, "a number");
}

inline double real_field(const nlohmann::json& object, const char* key) {
  const nlohmann::json* value = find_field(object, key);
  if (value == nullptr) bad_field(key, "a number");
  return to_real(*value, key);
}

inline std::vector<uint32_t> u32_list_field(const nlohmann::json& object, const char* key) {
  std::vector<uint32_t> list;
  for (const nlohmann::json& value : array_field(object, key)) {
    list.push_back(static_cast<uint32_t>(to_whole(value, key, std::numeric_limits<uint32_t>::max())));
  }
  return list;
}

}  // namespace mokume::journal
