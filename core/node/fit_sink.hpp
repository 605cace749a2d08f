// Checks the reports of a model while it fits or refits, and turns them into records.
#pragma once

#include <string>
#include <vector>

#include "abi/model.h"
#include "cluster/agent/executor.hpp"
#include "journal/record.hpp"

namespace mokume::node {

constexpr uint32_t kMaxCurves = 16;
constexpr size_t kMaxCurveName = 64;
constexpr uint32_t kMaxCurveValues = 1000000;

// The curves of a report as the journal keeps them. Error(MK_INTERNAL) that names the curve and the rule it breaks: at
// most kMaxCurves curves with names of their own, 1 to kMaxCurveName printable ASCII characters without quotes and
// backslashes, of at most kMaxCurveValues values each.
std::vector<journal::Curve> curves_of(const mk_fit_result& result);

// "" for NULL.
std::string note_of(const mk_fit_result& result);

// The sink of one call of the model. Errors of the reporter cross the model as a status, and come back from the call.
class FitSink {
 public:
  // Reports each fit. `ids`: of the fits given to the model, by their place in its list.
  FitSink(cluster::Reporter& reporter, std::vector<uint32_t> ids);
  // Keeps the one report of a refit in `record`.
  FitSink(cluster::Reporter& reporter, journal::FitRecord& record);
  FitSink(const FitSink&) = delete;
  FitSink& operator=(const FitSink&) = delete;

  const mk_fit_sink* table() const { return &table_; }

 private:
  explicit FitSink(cluster::Reporter& reporter);
  void take(const mk_fit_result& result);

  cluster::Reporter& reporter_;
  std::vector<uint32_t> ids_;
  journal::FitRecord* refit_ = nullptr;
  mk_fit_sink table_;
};

}  // namespace mokume::node
