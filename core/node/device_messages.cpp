#include "node/device_messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "journal/fields.hpp"
#include "journal/line.hpp"
#include "report/tables/profile.hpp"

namespace mokume::node {
namespace {

using journal::text_field;
using journal::u32_field;
using journal::whole_field;
using nlohmann::json;

// An empty std::map would otherwise become null.
template <class Value>
json write_map(const std::map<std::string, Value>& map) {
  json object = json::object();
  for (const auto& [key, value] : map) object[key] = value;
  return object;
}

const json& object_field(const json& object, const char* key) {
  const json* found = journal::find_field(object, key);
  if (found == nullptr || !found->is_object()) journal::bad_field(key, "an object");
  return *found;
}

device::Choices read_choices(const json& object) {
  device::Choices choices;
  for (const auto& [key, value] : object_field(object, "choices").items())
    choices[key] = journal::to_string(value, "choices");
  return choices;
}

bool flag_field(const json& object, const char* key) {
  const json* found = journal::find_field(object, key);
  if (found == nullptr || !found->is_boolean()) journal::bad_field(key, "true or false");
  return found->get<bool>();
}

json write(const LoadExperiment& m) { return {{"type", "LOAD"}, {"config", m.config}}; }
json write(const AgreeChoices& m) { return {{"type", "AGREE"}, {"choices", write_map(m.choices)}}; }
json write(const MeasureSpeed&) { return {{"type", "MEASURE"}}; }
json write(const CancelWork&) { return {{"type", "CANCEL"}}; }
// JSON has no word for a model's 0/0.
json write(const WorkProgress& m) {
  const double share = m.share >= 0 ? std::min(m.share, 1.0) : 0.0;
  return {{"type", "PROGRESS"}, {"what", m.what}, {"share", share}};
}

json write(const OpenDevice& m) {
  return {{"type", "OPEN"},
          {"id", m.id},
          {"class", m.device_class},
          {"budget", m.budget_bytes},
          {"choices", write_map(m.choices)}};
}

json write(const BeginRun& m) {
  return {{"type", "BEGIN"}, {"run_directory", m.run_directory}, {"profile", m.profile}};
}

json write(const WorkEnded& m) {
  return {{"type", "ENDED"},
          {"status", m.status},
          {"text", m.text},
          {"choices", write_map(m.choices)},
          {"fallbacks", write_map(m.fallbacks)},
          {"profile", report::profile_json(0, {{0, "", "", m.profile}})}};
}

WorkEnded read_ended(const json& object) {
  WorkEnded ended;
  ended.status = static_cast<int32_t>(whole_field(object, "status", MK_STORAGE));
  ended.text = text_field(object, "text");
  ended.choices = read_choices(object);
  for (const auto& [op, count] : object_field(object, "fallbacks").items())
    ended.fallbacks[op] = journal::to_whole(count, "fallbacks", std::numeric_limits<uint64_t>::max());
  for (report::DeviceProfile& profile : report::read_profile_json(text_field(object, "profile")))
    ended.profile = std::move(profile.rows);
  return ended;
}

struct Encoder {
  // It has a text of its own, whose doubles are exact.
  std::string operator()(const WorkRecord& m) const {
    return R"({"type":"RECORD","record":)" + journal::record_text(m.record, nullptr) + "}";
  }
  std::string operator()(const cluster::Grant& m) const { return cluster::encode(m); }
  std::string operator()(const cluster::Hello& m) const { return cluster::encode(m); }
  template <class Other>
  std::string operator()(const Other& m) const {
    // Texts of drivers may be anything; a message must not fail over a stray byte.
    return write(m).dump(-1, ' ', false, json::error_handler_t::replace);
  }
};

}  // namespace

std::string encode_device_message(const DeviceMessage& message) { return std::visit(Encoder{}, message); }

DeviceMessage decode_device_message(const std::string& text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) throw Error(MK_BAD_DATA, "the message is not a JSON object");
  const std::string type = text_field(object, "type");
  if (type == "GRANT") return std::get<cluster::Grant>(cluster::decode(text));
  if (type == "HELLO") return std::get<cluster::Hello>(cluster::decode(text));
  if (type == "LOAD") return LoadExperiment{text_field(object, "config")};
  if (type == "OPEN")
    return OpenDevice{text_field(object, "id"), text_field(object, "class"),
                      whole_field(object, "budget", std::numeric_limits<uint64_t>::max()), read_choices(object)};
  if (type == "AGREE") return AgreeChoices{read_choices(object)};
  if (type == "BEGIN") return BeginRun{text_field(object, "run_directory"), flag_field(object, "profile")};
  if (type == "MEASURE") return MeasureSpeed{};
  if (type == "CANCEL") return CancelWork{};
  if (type == "PROGRESS") return WorkProgress{text_field(object, "what"), journal::real_field(object, "share")};
  if (type == "RECORD") return WorkRecord{journal::record_from(object_field(object, "record"))};
  if (type == "ENDED") return read_ended(object);
  throw Error(MK_BAD_DATA, "the message has the unknown type '" + type + "'");
}

}  // namespace mokume::node
