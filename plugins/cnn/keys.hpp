// Describes this model's keys. One description validates the file, generates the schema and the documentation, and
// determines the member that a value sets.
#pragma once

#include <nlohmann/json.hpp>

#include "abi/model.h"

namespace mokume::cnn {

// A fallback of "" makes the key mandatory.
constexpr mk_param integer(const char* name, double low, double high, const char* fallback, const char* doc) {
  return {name, MK_PARAM_INTEGER, 0, low, high, fallback, "", doc, nullptr, 0, 0};
}
constexpr mk_param real(const char* name, double low, double high, const char* fallback, const char* doc) {
  return {name, MK_PARAM_REAL, 0, low, high, fallback, "", doc, nullptr, 0, 0};
}
constexpr mk_param positive(const char* name, double high, const char* fallback, const char* doc) {
  return {name, MK_PARAM_REAL, MK_PARAM_EXCLUSIVE_MIN, 0, high, fallback, "", doc, nullptr, 0, 0};
}
constexpr mk_param flag(const char* name, const char* fallback, const char* doc) {
  return {name, MK_PARAM_BOOL, 0, 0, 0, fallback, "", doc, nullptr, 0, 0};
}
constexpr mk_param text(const char* name, const char* fallback, const char* choices, const char* doc) {
  return {name, MK_PARAM_TEXT, 0, 0, 0, fallback, choices, doc, nullptr, 0, 0};
}
constexpr mk_param file(const char* name, const char* doc) {
  return {name, MK_PARAM_TEXT, MK_PARAM_FILE, 0, 0, "\"\"", "", doc, nullptr, 0, 0};
}
constexpr mk_param names(const char* name, const char* doc) {
  return {name, MK_PARAM_TEXT, MK_PARAM_LIST, 0, 0, "[]", "", doc, nullptr, 0, 0};
}
// Marks a key that is newer than some existing runs and models. Its default preserves their behaviour.
constexpr mk_param younger(mk_param key) {
  key.flags |= MK_PARAM_YOUNGER;
  return key;
}

// Returns the value of `key`, or the default of a younger key that is missing. Throws nlohmann::json::exception if any
// other key is missing.
inline nlohmann::json value_of(const nlohmann::json& values, const mk_param& key) {
  const auto found = values.find(key.name);
  if (found == values.end() && (key.flags & MK_PARAM_YOUNGER) != 0) return nlohmann::json::parse(key.fallback);
  return values.at(key.name);
}

}  // namespace mokume::cnn
