// Turns journal records and a report into the result of a run that ended now or earlier.
#pragma once

#include <string>
#include <vector>

#include "registry/registry.hpp"
#include "results/view.hpp"
#include "run/run.hpp"

namespace mokume::run {

// Sets the number of failed fits, and whether and why refits failed. Failed refits do not invalidate the fits.
void tell_failures(const search::Plan& plan, const std::vector<journal::FitRecord>& records,
                   const std::vector<journal::FitRecord>& refits, RunResult& result);

// Sets the best candidate with its score, unless each bootstrap has its own.
void tell_best(const search::Plan& plan, const std::vector<results::Metric>& metrics,
               const std::vector<journal::FitRecord>& records, RunResult& result);

void tell_tests(const results::RunView& view, RunResult& result);

// Returns the result of a finished run without writing anything. Throws the errors of read_view().
RunResult earlier_result(registry::Registry& registry, const std::string& directory);

}  // namespace mokume::run
