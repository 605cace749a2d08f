#include "journal/line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace mokume::journal {
namespace {

// Holds a fit's record with its key, which a reader checks against the plan.
struct Line {
  const FitRecord& record;
  search::FitKey key;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    FitRecord::id_fields(self.record, field);
    field("candidate", self.key.candidate);
    field("bootstrap", self.key.bootstrap);
    field("fold", self.key.fold);
    FitRecord::result_fields(self.record, field);
  }
};

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y); });
}

void check_text(const std::string& text) {
  if (base::is_utf8(text)) return;
  throw Error(MK_DEVICE_ERROR, "a note or name for the journal is not valid UTF-8; the model must write plain text");
}

}  // namespace

std::string file_name(uint32_t node, uint32_t number) {
  return node == number ? fmt::format("node-{:04}.ndjson", node) : fmt::format("node-{:04}-{:04}.ndjson", node, number);
}

std::string record_text(const FitRecord& record, const search::FitKey* key) {
  check_text(record.note);
  for (const Curve& curve : record.curves) check_text(curve.name);
  return key == nullptr ? base::to_json(record) : base::to_json(Line{record, *key});
}

std::optional<EventRecord> event_from(const nlohmann::json& object) {
  const auto known = names_of(EventRecord::Kind());
  if (std::none_of(known.begin(), known.end(), [&](const auto& one) { return object["event"] == one.second; }))
    return std::nullopt;
  return base::from_json<EventRecord>(object);
}

bool same_result(const FitRecord& a, const FitRecord& b) {
  if (a.fit != b.fit || a.refit != b.refit || a.status != b.status || a.n != b.n || a.note != b.note) return false;
  return same_bits(a.values, b.values) && a.confusion == b.confusion && a.measures == b.measures &&
         std::equal(a.curves.begin(), a.curves.end(), b.curves.begin(), b.curves.end(),
                    [](const Curve& x, const Curve& y) { return x.name == y.name && same_bits(x.values, y.values); });
}

}  // namespace mokume::journal
