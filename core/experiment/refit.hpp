// The best candidate of a run: trained on every row, saved, and counted on the test set.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiment/device_worker.hpp"
#include "experiment/prepared.hpp"
#include "journal/record.hpp"

namespace mokume::experiment {

// Whether DIRECTORY already holds the model that `refit` speaks of, for this candidate.
bool is_refitted(const std::string& directory, const std::optional<journal::RefitRecord>& refit, uint32_t candidate);

// Trains `candidate` on `device`, replaces DIRECTORY/models/best in one step, and predicts the test rows:
// "errors" of a classifier, or "mse", the mean over the rows of (predicted - target)^2, in double.
// `progress` is told what goes on and how far it is, in [0, 1]. Error(MK_CANCELLED) once `stop` is set.
journal::RefitRecord refit(const Prepared& prepared, OwnDevice& device, uint32_t candidate,
                           const std::string& directory, const StepProgress& progress, const std::atomic<bool>& stop);

// Regression: one predicted number per row. Error(MK_DEVICE_ERROR) if the model has more of them.
std::vector<float> predict_targets(const mk_model& model, const mk_fitted* fitted, const mk_device_services* device,
                                   const data::Table& rows);

}  // namespace mokume::experiment
