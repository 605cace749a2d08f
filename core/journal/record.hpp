// Defines the records of fits, refits and events in the journal. Every result file is based on these records.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace mokume::journal {

// Holds the values of mk_fit_status, and `dropped` for a fit that is not computed: successive halving left its
// candidate behind.
enum class FitStatus : int32_t { ok = 0, copied = 1, capped = 2, failed = 3, dropped = 4 };

// Returns whether a model has computed a result.
inline bool has_result(FitStatus status) { return status != FitStatus::failed && status != FitStatus::dropped; }

inline std::span<const base::EnumName<FitStatus>> names_of(FitStatus) {
  static constexpr base::EnumName<FitStatus> kNames[] = {{FitStatus::ok, "ok"},
                                                         {FitStatus::copied, "copied"},
                                                         {FitStatus::capped, "capped"},
                                                         {FitStatus::failed, "failed"},
                                                         {FitStatus::dropped, "dropped"}};
  return kNames;
}

// Holds the values of a number, such as "train_loss", by epoch.
struct Curve {
  std::string name;            // printable ASCII without quotes and backslashes
  std::vector<double> values;  // one per epoch; may contain NaN and infinities
};

inline constexpr uint32_t kMostAttempts = 1'000'000'000;  // so that adding 1 never overflows

// Stands for the device in a record if all devices of all nodes trained together; the record belongs to node 0.
inline constexpr const char* kTeamDevice = "team";

// Stands for the device in a record if the fit was computed in an earlier run.
inline constexpr const char* kReused = "reused";

// Holds the result of a fit or refit. For a refit, n is the number of test rows, and the only value is a classifier's
// number of errors, or the mean squared error; without test rows, there is no value. `confusion` and `measures` add
// details about a classifier's errors; records of older runs lack them.
struct FitRecord {
  uint32_t fit = 0;  // id in the plan
  FitStatus status = FitStatus::ok;
  int64_t n = 0;                           // number of validated rows
  std::vector<double> values;              // the model's metrics; empty if failed
  std::string note;                        // note of the model; see mk_fit_result
  std::vector<Curve> curves;               // sorted by name; names are unique
  std::vector<int64_t> confusion;          // test rows by class and predicted class, row-major; see data::Confusion
  std::map<std::string, double> measures;  // finite values for the test rows, by data::MeasureInfo::name

  // Tell the place and time of the fit, which timeline.csv and summary.json show. Results do not depend on them.
  uint32_t node = 0;
  std::string device;             // e.g. "opencl:0"
  std::string device_class = {};  // empty in journals of older runs
  uint32_t bundle = 0;
  uint32_t attempt = 1;
  double start_s = 0;  // seconds since the epoch
  double end_s = 0;

  std::optional<uint32_t> refit = {};  // candidate of a refit; the id of a fit determines the candidate

  // The energy that the device used from the start of the attempt until this report, if something counts it. It is the
  // energy of all fits of the attempt together, as start_s and end_s are their time.
  std::optional<double> energy_j = {};

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
    field("energy_j", self.energy_j);
    field.named("curves", self.curves);
    field.optional("confusion", self.confusion);
    field.optional("measures", self.measures);
  }
};

// Describes anything that happens in a run except a fit, for `mokume explain` and the report. A `superseded` event also
// determines which record of a fit counts.
struct EventRecord {
  enum class Kind {
    failed,     // a fit failed on a device, and may be tried again
    moved,      // a fit was taken from a device, for the reason in `text`
    retired,    // a device gets no more work
    lost,       // a node stopped responding
    returned,   // a lost node responded again
    superseded  // the record of `fit` with this node and attempt does not count; another record does
  };
  double time_s = 0;  // seconds since the epoch
  Kind kind = Kind::failed;
  uint32_t node = 0;
  std::string device;    // "opencl:0"; empty if the event concerns a whole node
  int64_t fit = -1;      // id in the plan, or -1
  uint32_t attempt = 0;  // number of the attempt at this fit, from 1, or 0
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
