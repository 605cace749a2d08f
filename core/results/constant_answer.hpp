// Computes what a model that always gives the same answer would reach: the most frequent class, or the mean target.
#pragma once

#include <optional>
#include <string>

#include "results/view.hpp"

namespace mokume::results {

// Returns the value of a metric or measure for the constant answer on rows like the training rows, or nothing if it is
// unknown. AUC and log_loss are those of the classes' shares as probabilities.
std::optional<double> constant_answer(const RunView& view, const std::string& metric);

// Returns the error, or the mean squared error, of the constant answer on the test rows, as far as it is known.
std::optional<double> constant_answer_on_test(const RunView& view);

// Returns the class that the model predicted for every test row, if there is one and the test set has another class.
std::optional<size_t> only_class(const TestResult& test);

}  // namespace mokume::results
