#include "base/json.hpp"

#include <algorithm>

#include "sdk/json.hpp"

namespace mokume::base {

using nlohmann::json;

std::string quoted_json(std::string_view text) {
  const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  if (!std::all_of(text.begin(), text.end(), plain))
    return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  std::string quoted(1, '"');
  quoted.append(text);
  return quoted += '"';
}

bool is_utf8(std::string_view text) {
  try {
    static_cast<void>(json(text).dump());
    return true;
  } catch (const json::type_error&) {
    return false;
  }
}

void JsonWriter::begin_field(const char* key) {
  if (!text_.ends_with('{')) text_ += ',';
  text_ += '"';
  text_ += key;
  text_ += "\":";
}

void JsonWriter::begin_quoted(std::string_view key) {
  if (!text_.ends_with('{')) text_ += ',';
  text_ += key;
  text_ += ':';
}

void JsonWriter::write_real(double value) {
  if (std::isnan(value)) {
    text_ += "\"nan\"";
  } else if (std::isinf(value)) {
    text_ += value > 0 ? "\"inf\"" : "\"-inf\"";
  } else {
    // A parser would read "-0" as an integer without a sign.
    text_ += value == 0 && std::signbit(value) ? "-0.0" : shortest(value);
  }
}

void bad_field(const char* key, const std::string& wanted) {
  throw Error(MK_BAD_DATA, std::string("'") + key + "' is missing or is not " + wanted);
}

JsonReader::JsonReader(const json& object, FloatSource* floats) : object_(object), floats_(floats) {}

const json* JsonReader::find(const char* key) const {
  const auto found = object_.find(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

const json& JsonReader::required(const char* key) const {
  const json* value = find(key);
  if (value == nullptr) throw Error(MK_BAD_DATA, std::string("'") + key + "' is missing");
  return *value;
}

const json& JsonReader::object_of(const json& value, const char* key) {
  if (!value.is_object()) bad_field(key, "an object");
  return value;
}

double JsonReader::real_of(const json& value, const char* key) {
  if (value.is_number()) return value.get<double>();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  bad_field(key, "a number");
}

void JsonReader::read(const json& value, const char* key, Floats& member) const {
  uint64_t count = 0;
  read(value, key, count);
  if (floats_ == nullptr) bad_field(key, "allowed, because no floats follow the text");
  member = floats_->take(count);
}

json parse_json(std::string_view text) {
  try {
    return sdk::parse_json<json>(text);
  } catch (const json::exception&) {  // also thrown for a number that is too large for a double
    throw Error(MK_BAD_DATA, "it is not JSON");
  }
}

std::string indented(const std::string& text) { return nlohmann::ordered_json::parse(text).dump(1, ' ', false) + "\n"; }

}  // namespace mokume::base
