// Solves the problems of a refit, which has no rows to validate. Checkpoints keep solutions and unfinished problems, as
// in ChainRunner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "checkpoints.hpp"
#include "matrix/kernel_store.hpp"
#include "places.hpp"
#include "rows.hpp"
#include "solver.hpp"

namespace mokume::svc {

class RefitRunner {
 public:
  RefitRunner(const RowOrder& order, KernelStore& store, Places& places, Solver& solver, const FitName& fit,
              Checkpoints& checkpoints);

  // Writes the coefficients of problem k to row k of places.coefficients(), and returns the solutions.
  std::vector<Solution> run(const std::vector<BinaryProblem>& problems, const mk_fit_sink& sink);

 private:
  // Holds a problem, which occupies a place from its start until the end of its batch.
  struct Solve {
    int64_t place = -1;
    std::optional<Solution> solution;
  };

  void start(int64_t row, int64_t place, const BinaryProblem& problem);
  void finish_batch(const mk_fit_sink& sink);
  void save();

  const RowOrder& order_;
  KernelStore& store_;
  Places& places_;
  Solver& solver_;
  const FitName& fit_;
  Checkpoints& checkpoints_;
  std::vector<Solve> solves_;
};

}  // namespace mokume::svc
