// Encodes the problems of an unfinished fit for its checkpoint.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "solve_state.hpp"
#include "storage/safetensors.hpp"

namespace mokume::svc {

struct SavedSolve {
  int64_t problem = 0;               // index among the problems of the fit
  double c = 0;                      // C of the solution, which a settled chain copies from another fit
  std::optional<Solution> solution;  // none if the problem is unfinished
  std::vector<float> values;         // belong to a solution: decision values, or the coefficients of a refit
  SolveState state;                  // belongs to an unfinished problem
};

// Returns whether all numbers of the solve are finite, as put_solves() expects. The extremes of F may be infinite.
bool is_finite(const SavedSolve& solve);

// Adds the solves to a file. The writer refers to their arrays.
void put_solves(const std::vector<SavedSolve>& solves, safetensors::Writer& writer);

// Reads a file that may contain anything. Throws Error(MK_BAD_DATA), nlohmann::json::exception or std::out_of_range if
// put_solves() has not written it. Whether a solve fits its problem remains to be checked.
std::vector<SavedSolve> get_solves(const safetensors::Reader& reader);

}  // namespace mokume::svc
