#include "journal/line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "journal/fields.hpp"

namespace mokume::journal {
namespace {

constexpr EventRecord::Kind k_kinds[] = {EventRecord::Kind::failed,   EventRecord::Kind::moved,
                                         EventRecord::Kind::retired,  EventRecord::Kind::lost,
                                         EventRecord::Kind::returned, EventRecord::Kind::superseded};
constexpr FitStatus k_statuses[] = {FitStatus::ok, FitStatus::copied, FitStatus::capped, FitStatus::failed};

std::string quoted(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    throw Error(MK_DEVICE_ERROR, "a note or name for the journal is not valid UTF-8; the model must write plain text");
  }
}

std::string number(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"";
  // As a whole number "-0" would come back without its sign.
  return value == 0 && std::signbit(value) ? "-0.0" : base::shortest(value);
}

std::string list(const std::vector<double>& values) {
  std::string out;
  for (const double value : values) out += (out.empty() ? "[" : ",") + number(value);
  return out.empty() ? "[]" : out + "]";
}

// ,"curves":{"train_loss":[...]}; "" without curves.
std::string curves_text(const std::vector<Curve>& curves) {
  std::string out;
  for (const Curve& curve : curves)
    out += fmt::format("{}{}:{}", out.empty() ? ",\"curves\":{" : ",", quoted(curve.name), list(curve.values));
  return out.empty() ? "" : out + "}";
}

std::vector<Curve> curves_from(const nlohmann::json& object) {
  std::vector<Curve> curves;
  const nlohmann::json* found = find_field(object, "curves");
  if (found == nullptr) return curves;
  if (!found->is_object()) bad_field("curves", "an object");
  for (const auto& [name, values] : found->items()) {
    if (!values.is_array()) bad_field("curves", "an object of lists");
    Curve& curve = curves.emplace_back(Curve{name, {}});
    for (const nlohmann::json& value : values) curve.values.push_back(to_real(value, "curves"));
  }
  return curves;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y); });
}

// So that one more is always a number.
uint32_t attempt_field(const nlohmann::json& object) {
  return static_cast<uint32_t>(whole_field(object, "attempt", 1'000'000'000));
}

}  // namespace

const char* to_text(FitStatus status) {
  switch (status) {
    case FitStatus::ok:
      return "ok";
    case FitStatus::copied:
      return "copied";
    case FitStatus::capped:
      return "capped";
    case FitStatus::failed:
      return "failed";
  }
  return "unknown";
}

const char* to_text(EventRecord::Kind kind) {
  switch (kind) {
    case EventRecord::Kind::failed:
      return "failed";
    case EventRecord::Kind::moved:
      return "moved";
    case EventRecord::Kind::retired:
      return "retired";
    case EventRecord::Kind::lost:
      return "lost";
    case EventRecord::Kind::returned:
      return "returned";
    case EventRecord::Kind::superseded:
      return "superseded";
  }
  return "unknown";
}

std::string file_name(uint32_t node) { return fmt::format("node-{:04}.ndjson", node); }

std::string header_text(const std::string& plan_hash, uint32_t node) {
  return fmt::format(R"({{"mokume_journal":{},"plan_hash":{},"node":{}}})", k_format, quoted(plan_hash), node);
}

std::string event_text(std::string_view event, double time, const std::string& reason) {
  return fmt::format(R"({{"event":"{}","time":{},"reason":{}}})", event, number(time), quoted(reason));
}

std::string event_text(const EventRecord& record) {
  const auto lenient = [](const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  return fmt::format(R"({{"event":"{}","time":{},"node":{},"device":{},"fit":{},"attempt":{},"text":{}}})",
                     to_text(record.kind), number(record.time_s), record.node, lenient(record.device), record.fit,
                     record.attempt, lenient(record.text));
}

std::optional<EventRecord> event_from(const nlohmann::json& object) {
  const std::string kind = text_field(object, "event");
  const auto* known =
      std::find_if(std::begin(k_kinds), std::end(k_kinds), [&](EventRecord::Kind one) { return kind == to_text(one); });
  if (known == std::end(k_kinds)) return std::nullopt;
  EventRecord record;
  record.kind = *known;
  record.time_s = real_field(object, "time");
  record.node = u32_field(object, "node");
  record.device = text_field(object, "device");
  const nlohmann::json* fit = find_field(object, "fit");
  record.fit = fit != nullptr && *fit == -1 ? -1 : int64_t{u32_field(object, "fit")};
  record.attempt = attempt_field(object);
  record.text = text_field(object, "text");
  return record;
}

std::string record_text(const FitRecord& record, const search::FitKey* key) {
  std::string out = fmt::format("{{\"fit\":{}", record.fit);
  if (record.refit) out += fmt::format(",\"refit\":{}", *record.refit);
  if (key != nullptr) {
    out += fmt::format(R"(,"candidate":{},"bootstrap":{},"fold":{})", key->candidate, key->bootstrap, key->fold);
  }
  out += fmt::format(R"(,"status":"{}","n":{},"values":{})", to_text(record.status), record.n, list(record.values));
  const std::string on = record.device_class.empty() ? "" : ",\"class\":" + quoted(record.device_class);
  out += fmt::format(R"(,"note":{},"device":{}{},"bundle":{},"attempt":{},"start":{},"end":{}{}}})",
                     quoted(record.note), quoted(record.device), on, record.bundle, record.attempt,
                     number(record.start_s), number(record.end_s), curves_text(record.curves));
  return out;
}

FitRecord record_from(const nlohmann::json& object) {
  FitRecord record;
  record.fit = u32_field(object, "fit");
  if (find_field(object, "refit") != nullptr) record.refit = u32_field(object, "refit");
  const std::string status = text_field(object, "status");
  bool known = false;
  for (const FitStatus one : k_statuses) {
    if (status != to_text(one)) continue;
    record.status = one;
    known = true;
  }
  if (!known) bad_field("status", "one of ok, copied, capped and failed");
  record.n = static_cast<int64_t>(whole_field(object, "n", std::numeric_limits<int64_t>::max()));
  for (const nlohmann::json& value : array_field(object, "values")) record.values.push_back(to_real(value, "values"));
  record.note = text_field(object, "note");
  record.device = text_field(object, "device");
  if (find_field(object, "class") != nullptr) record.device_class = text_field(object, "class");
  record.bundle = u32_field(object, "bundle");
  record.attempt = attempt_field(object);
  record.start_s = real_field(object, "start");
  record.end_s = real_field(object, "end");
  record.curves = curves_from(object);
  return record;
}

bool same_result(const FitRecord& a, const FitRecord& b) {
  if (a.fit != b.fit || a.refit != b.refit || a.status != b.status || a.n != b.n || a.note != b.note) return false;
  return same_bits(a.values, b.values) &&
         std::equal(a.curves.begin(), a.curves.end(), b.curves.begin(), b.curves.end(),
                    [](const Curve& x, const Curve& y) { return x.name == y.name && same_bits(x.values, y.values); });
}

}  // namespace mokume::journal
