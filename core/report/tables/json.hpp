// JSON for plain structs: a function lists the fields of a struct once by showing each key and member to a visitor, and
// this header writes and reads objects from that list.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "journal/fields.hpp"

namespace mokume::report {

using Json = nlohmann::ordered_json;

// Bytes that are not UTF-8 are replaced. Numbers that are not finite become null.
inline std::string json_text(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace) + '\n';
}

template <class Struct, class Fields>
Json json_list(const std::vector<Struct>& structs, const Fields& fields) {
  Json list = Json::array();
  for (const Struct& one : structs) {
    Json& object = list.emplace_back();
    fields(one, [&](const char* key, const auto& value) { object[key] = value; });
  }
  return list;
}

inline nlohmann::json parse_object(const std::string& text) {
  nlohmann::json object = nlohmann::json::parse(text, nullptr, false);
  if (!object.is_object()) throw Error(MK_BAD_DATA, "the file contains no JSON object");
  return object;
}

class FieldReader {
 public:
  explicit FieldReader(const nlohmann::json& object) : object_(object) {}
  void operator()(const char* key, uint32_t& value) const { value = journal::u32_field(object_, key); }
  void operator()(const char* key, uint64_t& value) const {
    value = journal::whole_field(object_, key, std::numeric_limits<uint64_t>::max());
  }
  void operator()(const char* key, double& value) const { value = journal::real_field(object_, key); }
  void operator()(const char* key, std::string& value) const { value = journal::text_field(object_, key); }

 private:
  const nlohmann::json& object_;
};

template <class Struct, class Fields>
std::vector<Struct> read_list(const nlohmann::json& object, const char* key, const Fields& fields) {
  std::vector<Struct> list;
  for (const nlohmann::json& one : journal::array_field(object, key)) fields(list.emplace_back(), FieldReader(one));
  return list;
}

}  // namespace mokume::report
