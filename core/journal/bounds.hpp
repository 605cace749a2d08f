// Limits the content of a record, given the data and the model's metrics. A checksum detects changes of a record, but
// not senseless values, which a damaged computer, another program or a faulty library may have written. A process
// checks each record once, on arrival: from a model or a device's process (Agent), from another node (Coordinator), or
// from a file (read.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "journal/record.hpp"

namespace mokume::journal {

inline constexpr uint32_t kMaxCurves = 16;   // limit for one fit
inline constexpr size_t kMaxCurveName = 64;  // in characters
inline constexpr uint32_t kMaxCurveValues = 1000000;

// Returns whether a curve may have this name: 1 to kMaxCurveName printable ASCII characters without quotes and
// backslashes.
bool is_curve_name(const std::string& name);

// Holds facts of a run. The default values permit every number that the format can hold.
struct Bounds {
  struct Metric {
    std::string name;
    bool integer = false;
  };
  int64_t rows = INT64_MAX;                                   // number of training rows; no fit validates on more
  std::optional<int64_t> test_rows = std::nullopt;            // empty if unknown
  std::optional<int64_t> classes = std::nullopt;              // 0 if the targets are numbers; empty if unknown
  std::optional<std::vector<Metric>> metrics = std::nullopt;  // in the order of the values; empty if unknown
  bool strict = false;  // strict numerics: devices of all classes give the same bits
};

// Throws Error(MK_BAD_DATA), which names the field and its value, if the record of a fit is impossible: no validated
// rows or too many, more errors than rows, a share outside of 0 to 1, or another impossible value. A fit of an older
// version may have fewer values than there are metrics.
void check_fit(const FitRecord& record, const Bounds& bounds);

// Checks a refit in the same way: test rows, errors, confusion matrix and measures must fit each other and the data.
void check_refit(const FitRecord& record, const Bounds& bounds);

}  // namespace mokume::journal
