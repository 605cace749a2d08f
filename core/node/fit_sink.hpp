// Turns the C structs that a model reports into records, during a fit or refit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "abi/model.h"
#include "cluster/agent/executor.hpp"
#include "journal/bounds.hpp"
#include "journal/record.hpp"
#include "node/experiment.hpp"
#include "node/out_of_fold.hpp"

namespace mokume::node {

using journal::kMaxCurves, journal::kMaxCurveName, journal::kMaxCurveValues;

// Returns the curves of a report in the journal's form, sorted by name. Throws Error(MK_INTERNAL) if memory for them is
// missing, if there are more than kMaxCurves, or if one has more than kMaxCurveValues values.
std::vector<journal::Curve> curves_of(const mk_fit_result& result);

// Returns "" for a null note.
std::string note_of(const mk_fit_result& result);

// Serves one call of the model. Errors of the reporter pass through the model as a status, which the call returns.
class FitSink {
 public:
  // Reports each fit, with the experiment's measures after the model's metrics, and gives the predictions for its
  // validated rows to `predictions`. `ids` lists the fits that the model gets, in the same order. Reports of a member
  // of a team that does not lead do not count.
  FitSink(cluster::Reporter& reporter, std::vector<uint32_t> ids, const Experiment& experiment, bool counts,
          OutOfFoldWriter predictions);
  // Stores the only report of a refit in `record`.
  FitSink(cluster::Reporter& reporter, journal::FitRecord& record);
  FitSink(const FitSink&) = delete;
  FitSink& operator=(const FitSink&) = delete;

  const mk_fit_sink* table() const { return &table_; }

 private:
  explicit FitSink(cluster::Reporter& reporter);
  void take(const mk_fit_result& result);
  void fail_without_numbers(journal::FitRecord& record) const;
  void take_validated(const mk_fit_result& result, journal::FitRecord& record);

  cluster::Reporter& reporter_;
  const Experiment* experiment_ = nullptr;
  std::vector<uint32_t> ids_;
  std::optional<OutOfFoldWriter> predictions_;
  journal::FitRecord* refit_ = nullptr;
  mk_fit_sink table_;
};

}  // namespace mokume::node
