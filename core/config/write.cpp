#include "config/write.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "config/space.hpp"

namespace mokume::config {
namespace {

using search::Space;

std::string toml_text(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += fmt::format("\\{}", c);
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      result += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string toml_real(double value) {
  std::string text = base::shortest(value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string toml_list(const Json& list) {
  const bool tables = !list.empty() && list.front().is_object();
  std::string result;
  for (const Json& item : list)
    result += tables ? "\n  " + toml_of(item) + "," : (result.empty() ? "" : ", ") + toml_of(item);
  return '[' + result + (tables ? "\n]" : "]");
}

std::string toml_table(const Json& table) {
  std::string result;
  for (const auto& [key, value] : table.items())
    result += (result.empty() ? "" : ", ") + fmt::format("{} = {}", key, toml_of(value));
  return "{ " + result + " }";
}

}  // namespace

Json json_of(const search::Value& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

Json json_of(const Field& field) {
  return field.reference.empty() ? json_of(field.value) : Json("$" + field.reference);
}

Json json_of(const TaggedTables& tagged) {
  Json list = Json::array();
  for (const TaggedTable& table : tagged.tables) {
    Json& one = list.emplace_back(Json::object());
    one["type"] = table.type;
    for (const Field& field : table.fields) one[field.key] = json_of(field);
  }
  if (tagged.list) return list;
  return std::move(list.front());
}

Json json_of(const Space& space) {
  if (space.kind == Space::Kind::list) {
    Json list = Json::array();
    for (const search::Value& value : space.values) list.push_back(json_of(value));
    return list;
  }
  const Notation& notation = notation_of(space.kind);
  Json ends = {space.low, space.high};
  if (notation.is_integer()) ends = {static_cast<int64_t>(space.low), static_cast<int64_t>(space.high)};
  return {{notation.name, ends}};
}

std::string toml_of(const Json& value) {
  if (value.is_string()) return toml_text(value);
  if (value.is_number_float()) return toml_real(value);
  if (value.is_array()) return toml_list(value);
  return value.is_object() ? toml_table(value) : value.dump();
}

}  // namespace mokume::config
