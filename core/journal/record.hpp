// A finished fit, or refit: what the journal keeps and what every result file is made from.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace mokume::journal {

enum class FitStatus : int32_t { ok = 0, copied = 1, capped = 2, failed = 3 };  // mk_fit_status

inline std::span<const base::EnumName<FitStatus>> names_of(FitStatus) {
  static constexpr base::EnumName<FitStatus> kNames[] = {{FitStatus::ok, "ok"},
                                                         {FitStatus::copied, "copied"},
                                                         {FitStatus::capped, "capped"},
                                                         {FitStatus::failed, "failed"}};
  return kNames;
}

// How a number went from epoch to epoch: "train_loss", "validation_accuracy", ...
struct Curve {
  std::string name;            // printable ASCII without quotes
  std::vector<double> values;  // of epoch 1, 2, ...; may hold NaN and infinities
};

inline constexpr uint32_t kMostAttempts = 1'000'000'000;  // so that one more is always a number

// Where all devices of all nodes trained together, the device of node 0 that a record names.
inline constexpr const char* kTeamDevice = "team";

// The rows of a refit are those of the test set (none: n is 0 and there are no values), and the one value is the wrong
// ones of a classifier, or the mean squared error.
struct FitRecord {
  uint32_t fit = 0;  // id in the plan
  FitStatus status = FitStatus::ok;
  int64_t n = 0;               // rows validated on
  std::vector<double> values;  // the model's metrics; empty if failed
  std::string note;            // the model's own, see mk_fit_result
  std::vector<Curve> curves;   // ascending by name, names differ

  // Where and when: for timeline.csv and summary.json only, never for results.
  uint32_t node = 0;
  std::string device;             // e.g. "opencl:0"
  std::string device_class = {};  // of that device; empty in journals of older runs
  uint32_t bundle = 0;
  uint32_t attempt = 1;
  double start_s = 0;  // seconds since the epoch
  double end_s = 0;

  std::optional<uint32_t> refit = {};  // the candidate that was trained on every row; of a fit its id says it

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    id_fields(self, field);
    result_fields(self, field);
  }
  template <class Self, class Fields>
  static void id_fields(Self& self, Fields& field) {
    field("fit", self.fit);
    field("refit", self.refit);
  }
  template <class Self, class Fields>
  static void result_fields(Self& self, Fields& field) {
    field("status", self.status);
    field("n", self.n, int64_t{0}, INT64_MAX);
    field("values", self.values);
    field("note", self.note);
    field("device", self.device);
    field.optional("class", self.device_class);
    field("bundle", self.bundle);
    field("attempt", self.attempt, 0U, kMostAttempts);
    field("start", self.start_s);
    field("end", self.end_s);
    field.named("curves", self.curves);
  }
};

// An event of a run apart from its fits, for `mokume explain` and the report. An event `superseded` also decides which
// record of a fit counts.
struct EventRecord {
  enum class Kind {
    failed,     // a fit failed on a device, and may be tried again
    moved,      // a fit was taken from a device, for `text`
    retired,    // a device gets no more work
    lost,       // a node was not heard of any more
    returned,   // it was heard of again
    superseded  // a record of `fit`, by its node and attempt, does not count: there is another one
  };
  double time_s = 0;  // seconds since the epoch
  Kind kind = Kind::failed;
  uint32_t node = 0;
  std::string device;    // "opencl:0"; empty if it is about a whole node
  int64_t fit = -1;      // id in the plan; -1: about none
  uint32_t attempt = 0;  // of that fit, from 1; 0: about none
  std::string text;      // one sentence

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("event", self.kind);
    field("time", self.time_s);
    field("node", self.node);
    field("device", self.device);
    field("fit", self.fit, int64_t{-1}, int64_t{UINT32_MAX});
    field("attempt", self.attempt, 0U, kMostAttempts);
    field("text", self.text);
  }
};

inline std::span<const base::EnumName<EventRecord::Kind>> names_of(EventRecord::Kind) {
  using Kind = EventRecord::Kind;
  static constexpr base::EnumName<Kind> kNames[] = {{Kind::failed, "failed"},     {Kind::moved, "moved"},
                                                    {Kind::retired, "retired"},   {Kind::lost, "lost"},
                                                    {Kind::returned, "returned"}, {Kind::superseded, "superseded"}};
  return kNames;
}

template <base::NamedEnum Enum>
const char* to_text(Enum value) {
  return base::name_of(value);
}

}  // namespace mokume::journal
