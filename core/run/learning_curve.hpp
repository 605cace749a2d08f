// Measures how the score of a run's best candidate depends on the number of training rows. The measurement is a run in
// the directory curve/ of the run, with one candidate in rungs that double the rows. The last point has all rows: it is
// the result of the run itself, unless its validation differs from that of the other points.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "results/view.hpp"

namespace mokume::run {

inline constexpr uint32_t kMostCurvePoints = 10;

// Returns the experiment that measures the best candidate of `view` with `points` numbers of rows, each twice the one
// before, or with as many as its rows permit, up to 6, if `points` is 0. Throws Error(MK_INVALID_ARGUMENT) if the run
// is unfinished, has no best candidate, or has rows that cannot be cross-validated in parts.
config::Config curve_config(const config::Config& whole, const results::RunView& view, const std::string& run_directory,
                            uint32_t points);

// Returns the number of points of a curve that this experiment measures.
uint32_t points_of(const config::Config& curve);

// Returns the curve of the best candidate of `whole`, from its finished run of curve_config(), whose rungs, and fits on
// all rows, train on so many rows (RunResult::rung_rows). Leaves out rungs without a complete result.
results::LearningCurve curve_of(const results::RunView& whole, const results::RunView& measured,
                                const std::vector<int64_t>& rung_rows);

// Write and read curve.csv, for people, and curve.json, for the report. The reader returns nothing if there is no such
// file, and throws Error(MK_BAD_DATA) that names a damaged file.
void keep_curve(const std::string& run_directory, const results::LearningCurve& curve);
std::optional<results::LearningCurve> read_curve(const std::string& run_directory);

}  // namespace mokume::run
