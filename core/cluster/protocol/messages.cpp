#include "cluster/protocol/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "journal/fields.hpp"
#include "journal/line.hpp"

namespace mokume::cluster {
namespace {

using journal::array_field;
using journal::real_field;
using journal::text_field;
using journal::to_string;
using journal::u32_field;
using journal::u32_list_field;
using journal::whole_field;
using nlohmann::json;

json write_devices(const std::vector<LocalDevice>& devices) {
  json list = json::array();
  for (const LocalDevice& one : devices) {
    list.push_back({{"id", one.id},
                    {"backend", one.backend},
                    {"name", one.name},
                    {"vendor", one.vendor},
                    {"class", one.device_class},
                    {"budget", one.budget_bytes},
                    {"speed", one.speed},
                    {"spare", one.spare}});
  }
  return list;
}

bool bool_field(const json& object, const char* key) {
  const json* value = journal::find_field(object, key);
  if (value == nullptr || !value->is_boolean()) journal::bad_field(key, "true or false");
  return value->get<bool>();
}

std::vector<LocalDevice> read_devices(const json& object) {
  std::vector<LocalDevice> devices;
  for (const json& one : array_field(object, "devices")) {
    devices.push_back({text_field(one, "id"), text_field(one, "backend"), text_field(one, "name"),
                       text_field(one, "vendor"), text_field(one, "class"), whole_field(one, "budget", UINT64_MAX),
                       real_field(one, "speed"), bool_field(one, "spare")});
  }
  return devices;
}

// An empty std::map would otherwise become null.
json write_choices(const ClassChoices& choices) {
  json object = json::object();
  for (const auto& [name, values] : choices) {
    object[name] = json::object();
    for (const auto& [key, value] : values) object[name][key] = value;
  }
  return object;
}

ClassChoices read_choices(const json& object) {
  ClassChoices choices;
  const json* classes = journal::find_field(object, "choices");
  if (classes == nullptr || !classes->is_object()) journal::bad_field("choices", "an object");
  for (const auto& [name, values] : classes->items()) {
    if (!values.is_object()) journal::bad_field("choices", "an object of objects");
    std::map<std::string, std::string>& into = choices[name];
    for (const auto& [key, value] : values.items()) into[key] = to_string(value, "choices");
  }
  return choices;
}

json write(const Present& m) {
  json devices = json::array();
  for (const Candidate& one : m.presence.devices)
    devices.push_back({{"id", one.id}, {"physical_id", one.physical_id}, {"on_cores", one.on_cores}});
  return {{"type", "PRESENT"},
          {"version", m.version},
          {"host", m.presence.host},
          {"cores", m.presence.cores},
          {"devices", devices}};
}

Message read_present(const json& object) {
  Present present{text_field(object, "version"), {text_field(object, "host"), u32_list_field(object, "cores"), {}}};
  for (const json& one : array_field(object, "devices"))
    present.presence.devices.push_back(
        {text_field(one, "id"), text_field(one, "physical_id"), bool_field(one, "on_cores")});
  return present;
}

json write(const Assign& m) {
  return {{"type", "ASSIGN"},
          {"cores", m.part.cores},
          {"devices", m.part.devices},
          {"sharers", m.part.sharers},
          {"devices_of_run", m.part.devices_of_run}};
}

Message read_assign(const json& object) {
  Part part{u32_list_field(object, "cores"), {}, u32_field(object, "sharers"), u32_field(object, "devices_of_run")};
  for (const json& one : array_field(object, "devices")) part.devices.push_back(to_string(one, "devices"));
  return Assign{std::move(part)};
}

json write(const Look& m) { return {{"type", "LOOK"}, {"directory", m.directory}, {"mark", m.mark}}; }

json write(const Seen& m) {
  return {{"type", "SEEN"}, {"seen", m.seen}, {"host", m.host}, {"file_system", m.file_system}, {"sync_s", m.sync_s}};
}

Message read_seen(const json& object) {
  return Seen{bool_field(object, "seen"), text_field(object, "host"), text_field(object, "file_system"),
              real_field(object, "sync_s")};
}

json write(const Hello& m) {
  return {{"type", "HELLO"},
          {"version", m.version},
          {"plan_hash", m.plan_hash},
          {"devices", write_devices(m.devices)},
          {"choices", write_choices(m.choices)}};
}

json write(const Welcome& m) {
  return {{"type", "WELCOME"},
          {"run_directory", m.run_directory},
          {"plan_hash", m.plan_hash},
          {"choices", write_choices(m.choices)}};
}

json write(const Request& m) { return {{"type", "REQ"}, {"device", m.device}}; }

json write(const Grant& m) {
  json object = {{"type", "GRANT"},          {"lease", m.lease},           {"device", m.device},
                 {"bundle", m.item.bundle},  {"attempt", m.item.attempt},  {"fits", m.item.fits},
                 {"done", m.item.done_fits}, {"notes", m.item.done_notes}, {"backup", m.item.backup ? 1 : 0}};
  if (m.item.refit) object["refit"] = *m.item.refit;
  return object;
}

json write(const None& m) { return {{"type", "NONE"}, {"device", m.device}}; }
json write(const Ack& m) { return {{"type", "ACK"}, {"cancel", m.cancel}}; }
json write(const Stop& m) { return {{"type", "STOP"}, {"code", m.code}, {"reason", m.reason}}; }
json write(const Finish&) { return {{"type", "FINISH"}}; }
json write(const Bye&) { return {{"type", "BYE"}}; }

json write(const LeaseEnd& m) {
  return {{"type", "LEASE_END"}, {"lease", m.lease},     {"status", m.status},
          {"text", m.text},      {"seconds", m.seconds}, {"coming", m.coming}};
}

json write(const Beat& m) {
  json states = json::array();
  for (const Beat::State& one : m.states) {
    states.push_back({{"device", one.device},
                      {"lease", one.lease},
                      {"what", one.what},
                      {"share", one.share},
                      {"quiet", one.quiet_s}});
  }
  return {{"type", "BEAT"}, {"states", states}};
}

// Records keep the journal's own text, whose doubles are exact.
std::string encode_done(const Done& m) {
  std::string out = fmt::format(R"({{"type":"DONE","lease":{},"records":[)", m.lease);
  for (size_t i = 0; i < m.records.size(); ++i) {
    if (i > 0) out += ',';
    out += journal::record_text(m.records[i], nullptr);
  }
  return out + "]}";
}

Message read_grant(const json& object) {
  Grant grant{whole_field(object, "lease", UINT64_MAX), u32_field(object, "device"), {}};
  WorkItem& item = grant.item;
  item.bundle = u32_field(object, "bundle");
  item.attempt = u32_field(object, "attempt");
  item.backup = whole_field(object, "backup", 1) == 1;
  item.fits = u32_list_field(object, "fits");
  item.done_fits = u32_list_field(object, "done");
  for (const json& note : array_field(object, "notes")) item.done_notes.push_back(to_string(note, "notes"));
  if (item.done_notes.size() != item.done_fits.size()) journal::bad_field("notes", "as long as 'done'");
  if (journal::find_field(object, "refit") != nullptr) item.refit = u32_field(object, "refit");
  if (item.refit && item.fits.size() != 1) journal::bad_field("fits", "one refit");
  return grant;
}

Message read_done(const json& object) {
  Done done{whole_field(object, "lease", UINT64_MAX), {}};
  for (const json& record : array_field(object, "records")) done.records.push_back(journal::record_from(record));
  return done;
}

double seconds_field(const json& object, const char* name) {
  const double seconds = real_field(object, name);
  if (!(seconds >= 0)) journal::bad_field(name, "zero or more seconds");
  return seconds;
}

Message read_lease_end(const json& object) {
  LeaseEnd end{whole_field(object, "lease", UINT64_MAX),
               static_cast<int32_t>(whole_field(object, "status", MK_STORAGE)), text_field(object, "text"),
               seconds_field(object, "seconds"), u32_list_field(object, "coming")};
  return end;
}

Message read_ack(const json& object) {
  Ack ack;
  for (const json& lease : array_field(object, "cancel")) {
    if (!lease.is_number_unsigned()) journal::bad_field("cancel", "a list of leases");
    ack.cancel.push_back(lease.get<uint64_t>());
  }
  return ack;
}

Message read_beat(const json& object) {
  Beat beat;
  for (const json& one : array_field(object, "states")) {
    const double share = real_field(one, "share");
    if (!(share >= 0 && share <= 1)) journal::bad_field("share", "between 0 and 1");
    beat.states.push_back({u32_field(one, "device"), whole_field(one, "lease", UINT64_MAX), text_field(one, "what"),
                           share, seconds_field(one, "quiet")});
  }
  return beat;
}

Message read_stop(const json& object) {
  Stop stop{static_cast<int32_t>(whole_field(object, "code", MK_STORAGE)), text_field(object, "reason")};
  if (stop.code == MK_OK) journal::bad_field("code", "a status of a failure");
  return stop;
}

}  // namespace

std::string clean_text(const std::string& text) {
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
}

std::string encode(const Message& message) {
  if (const Done* done = std::get_if<Done>(&message)) return encode_done(*done);
  const json object = std::visit(
      [](const auto& one) -> json {
        if constexpr (std::is_same_v<std::decay_t<decltype(one)>, Done>) {
          return {};
        } else {
          return write(one);
        }
      },
      message);
  // Texts of drivers may be anything; a message must not fail over a stray byte.
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

Message decode(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) throw Error(MK_BAD_DATA, "the message is not a JSON object");
  const std::string type = text_field(object, "type");
  if (type == "HELLO") {
    return Hello{text_field(object, "version"), text_field(object, "plan_hash"), read_devices(object),
                 read_choices(object)};
  }
  if (type == "WELCOME") {
    return Welcome{text_field(object, "run_directory"), text_field(object, "plan_hash"), read_choices(object)};
  }
  if (type == "PRESENT") return read_present(object);
  if (type == "ASSIGN") return read_assign(object);
  if (type == "LOOK") return Look{text_field(object, "directory"), text_field(object, "mark")};
  if (type == "SEEN") return read_seen(object);
  if (type == "REQ") return Request{u32_field(object, "device")};
  if (type == "GRANT") return read_grant(object);
  if (type == "NONE") return None{u32_field(object, "device")};
  if (type == "DONE") return read_done(object);
  if (type == "LEASE_END") return read_lease_end(object);
  if (type == "ACK") return read_ack(object);
  if (type == "BEAT") return read_beat(object);
  if (type == "STOP") return read_stop(object);
  if (type == "FINISH") return Finish{};
  if (type == "BYE") return Bye{};
  throw Error(MK_BAD_DATA, "the message has the unknown type '" + type + "'");
}

}  // namespace mokume::cluster
