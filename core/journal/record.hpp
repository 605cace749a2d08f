// A finished fit, or refit: what the journal keeps and what every result file is made from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mokume::journal {

enum class FitStatus : int32_t { ok = 0, copied = 1, capped = 2, failed = 3 };  // mk_fit_status

const char* to_text(FitStatus status);  // "ok", "copied", "capped", "failed"

// How a number went from epoch to epoch: "train_loss", "validation_accuracy", ...
struct Curve {
  std::string name;            // printable ASCII without quotes
  std::vector<double> values;  // of epoch 1, 2, ...; may hold NaN and infinities
};

// Where all devices of all nodes trained together, the device of node 0 that a record names.
inline constexpr const char* kTeamDevice = "team";

// Of a refit the rows are those of the test set (none: n is 0 and there are no values), and the one value is the wrong
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
};

// What happened to a run beside its fits: for `mokume explain` and the report; of `superseded` also hangs which record
// of a fit counts.
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
};

const char* to_text(EventRecord::Kind kind);  // "failed", "moved", "retired", "lost", "returned", "superseded"

}  // namespace mokume::journal
