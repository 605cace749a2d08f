// Runs one experiment on one device. All bundles of a bootstrap share resident rows, kernel values and solver places.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "blocked_solver.hpp"
#include "chain_runner.hpp"
#include "checkpoints.hpp"
#include "fitted.hpp"
#include "libsvm_solver.hpp"
#include "matrix/kernel_store.hpp"
#include "nu_solver.hpp"
#include "nystrom/runner.hpp"
#include "rows.hpp"
#include "settings.hpp"

namespace mokume::svc {

// Only one thread at a time may use a session. The first fit or refit allocates the memory.
class SvcSession {
 public:
  SvcSession(const sdk::Host& host, const mk_experiment& experiment, const mk_device_services* device);

  void fit(std::span<const mk_fit> fits, const mk_fit_sink& sink);
  std::unique_ptr<Fitted> refit(const mk_fit& fit, const mk_fit_sink& sink);

 private:
  // Returns the settings of a fit, with gamma in the unit 1 and the solver that suits the kernel.
  Settings settings_for(const mk_fit& fit);
  // Makes the order of the rows, and for a solver on the kernel matrix also its memory.
  void prepare(uint32_t bootstrap, bool approximates);
  void prepare_matrix();
  void release_matrix();
  void warn_of_unit();
  Solver& solver_for(const Settings& settings);
  // Reports the fits that have no solution as failed, and removes them from their folds.
  void report_infeasible(const Settings& settings, std::vector<ChainRunner::FoldSteps>& folds, const mk_fit_sink& sink);
  void fit_approximately(std::span<const mk_fit> fits, const std::vector<Settings>& settings, const mk_fit_sink& sink);
  // Returns fits that differ only in C, nu and fold, in ascending order of C, and marks them as taken.
  std::vector<ChainRunner::FoldSteps> take_chain(std::span<const mk_fit> fits, const std::vector<Settings>& settings,
                                                 size_t first, std::vector<bool>& taken) const;
  // Solves, validates and reports fits that differ only in C, nu and fold.
  void run_chains(const FitName& chain, const std::vector<ChainRunner::FoldSteps>& folds, const mk_fit_sink& sink,
                  double share_done, double share);
  std::unique_ptr<Fitted> collect(const Settings& settings, const std::vector<BinaryProblem>& problems,
                                  const std::vector<Solution>& solutions);

  sdk::Host host_;
  const mk_experiment& experiment_;
  sdk::Device device_;
  const double spread_;  // number of features times the variance of all inputs
  bool warned_ = false;
  uint32_t bootstrap_ = 0;  // bootstrap of order_, store_, places_ and blocked_
  std::optional<RowOrder> order_;
  std::optional<KernelStore> store_;
  std::optional<Places> places_;
  std::optional<LibsvmSolver> libsvm_;
  std::optional<BlockedSolver> blocked_;
  std::optional<NuSolver> nu_;
  std::optional<NystromRunner> nystrom_;
  Checkpoints checkpoints_;
  std::map<std::tuple<GammaUnit, uint32_t, int32_t>, double> gamma_units_;  // indexed by unit, bootstrap and fold
};

// Makes one bundle per kernel matrix, or one per part of the folds if `parts` requests more. Never splits along C.
void make_bundles(const mk_experiment& experiment, uint32_t parts, const mk_bundle_sink& sink);

}  // namespace mokume::svc
