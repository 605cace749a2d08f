// Runs fits that share a kernel matrix and differ only in C, nu and fold. A binary problem of a fold makes a chain,
// which the runner solves in ascending order of C.
//
// If no multiplier of a solution is at C, the box constraint is inactive, and the solution is optimal for every larger
// C. The chain is then settled, and its remaining fits copy the solution. Every solve starts from multipliers of 0, so
// the bits of a fit do not depend on earlier solves of the chain. A resumed run solves a settled chain again at that C.
// Problems with nu never settle, because nu changes every solution.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoints.hpp"
#include "concurrency.hpp"
#include "fit_report.hpp"
#include "matrix/kernel_store.hpp"
#include "rows.hpp"
#include "settings.hpp"
#include "solver.hpp"

namespace mokume::svc {

// The errors of an ill-determined fit (sdk/ill_determined.hpp) depend on the solver. Pass `first` does not report such
// fits. Pass `handed_over` solves each of them with LIBSVM's steps, whose errors researchers know; passes `again` do so
// before it with larger tolerances, and report the fits that are then determined. Pass `only` reports all fits.
//
// If the runner stops, and from time to time, it writes the solutions and the unfinished problems of unreported fits to
// their checkpoints. A later session continues from there to the same bits.
enum class Pass { only, first, again, handed_over };

class ChainRunner {
 public:
  // All fits differ only in C, nu and fold (same_chain()). `chain` names one of them. The sink receives Step::fit as
  // the index of a fit.
  ChainRunner(const sdk::Device& device, const RowOrder& order, KernelStore& store, Places& places, Solver& solver,
              const FitName& chain, Pass pass, Checkpoints& checkpoints);

  struct Step {
    double c = 0, nu = 0;
    uint32_t fit = 0;  // index that the sink receives
    bool done = false;
    std::string note;               // note of a fit that is done
    std::string scratch;            // directory of its checkpoints, or ""
    std::vector<double> settled_c;  // for the note of a fit that was handed over; indexed by problem
  };
  // Lists the fits of one fold in ascending order of C.
  struct FoldSteps {
    uint32_t fold = 0;
    std::vector<Step> steps;
  };
  // Solves, validates and reports every step that is not done. In the progress of the bundle, the call makes up `share`
  // and follows after `share_done`.
  void run(const std::vector<FoldSteps>& folds, const mk_fit_sink& sink, double share_done, double share);

  // Returns the fits that a pass `first` or `again` did not report.
  const std::vector<FoldSteps>& handed_over() const { return handed_over_; }

 private:
  using Decisions = std::vector<float>;  // one value per validation row; empty until validated

  // Tracks one problem at one C, which occupies a place until it is solved.
  struct Solve {
    size_t step = 0;
    double c = 0;
    bool recall = false;                // whether this repeats the solve at Chain::settled_c
    int64_t place = -1, coef_row = -1;  // -1 if a checkpoint has the solution
    std::shared_ptr<Decisions> target;
    std::optional<Solution> solution;
  };
  // Holds the solves of one problem in one fold.
  struct Chain {
    size_t fold = 0;
    size_t problem = 0;
    size_t next = 0;  // index of the next fit to solve
    // Limits concurrent solves, except on a GPU. The fewer multipliers are at C, the sooner the chain settles.
    int64_t ahead = 0;
    std::deque<Solve> solves;  // ascending in C; a solved problem waits for its predecessors
    std::optional<double> settled_c;
    std::shared_ptr<Decisions> settled;  // null before the chain settles, or if it settled in an earlier session
  };
  // Collects the decision values of one fit.
  struct Fit {
    Step step;
    std::vector<std::shared_ptr<Decisions>> decisions;  // indexed by problem
    std::vector<double> settled_c;                      // indexed by problem; 0 if not settled up to this C
    std::vector<Solution> solutions;                    // indexed by problem
    std::optional<double> began_s;                      // time of its first solve
    int64_t steps = 0;
    size_t copied = 0;
    bool capped = false;
    bool reported = false;
  };
  struct Pending {
    int64_t row;  // index into the fold's coefficient rows
    float rho;
    int32_t sign;
    std::shared_ptr<Decisions> target;
  };
  struct Fold {
    uint32_t fold = 0;
    std::vector<Fit> fits;
    int64_t coef_base = 0;
    std::vector<int64_t> free_rows;
    std::vector<Pending> pending;
  };

  void run_chains(std::vector<Chain>& chains);
  void start_solves(std::vector<Chain>& chains);
  void skip_done(Chain& chain);
  void start_next(Chain& chain);  // does nothing if the chain waits for a coefficient row or a repeated solve
  void occupy_place(Fold& fold, const BinaryProblem& problem, double nu, Solve& solve);
  void take_solutions(Chain& chain);
  void accept(Chain& chain, const Solve& solve);
  void cancel_solves(Chain& chain);
  void validate_in_time();
  void validate(Fold& fold);
  void report_complete(Fold& fold);
  void report_fit(const Fold& fold, Fit& fit);
  Ending ending_of(const Fit& fit, int64_t unsure) const;
  void hand_over(const Fold& fold, const Fit& fit);
  FitName name_of(const Fold& fold, const Fit& fit) const;
  // Saves fits that are not reported, or only those that have taken long.
  void save(const std::vector<Chain>& chains, bool only_long);
  std::vector<SavedSolve> solved_of(const Fit& fit) const;
  void add_unaccepted(const Chain& chain, size_t step, std::vector<SavedSolve>& solves) const;
  void save_in_time_or_stop(const std::vector<Chain>& chains);
  void show_progress() const;

  const sdk::Device& device_;
  const RowOrder& order_;
  KernelStore& store_;
  Places& places_;
  Solver& solver_;
  FitName chain_;
  const Settings& settings_;
  Pass pass_;
  Checkpoints& checkpoints_;
  std::vector<FoldSteps> handed_over_;
  std::vector<BinaryProblem> problems_;
  int64_t rows_per_fold_;
  sdk::Buffer values_;  // decision values of one fold
  std::vector<Fold> folds_;
  std::vector<int64_t> free_places_;
  std::chrono::steady_clock::time_point validated_at_;  // time of the last validation of all folds
  std::chrono::steady_clock::duration validation_took_{};
  const mk_fit_sink* sink_ = nullptr;
  size_t solves_ = 0, solves_done_ = 0;
  double share_done_ = 0, share_ = 1;
};

// Formats the note of a fit, such as "steps=1234 settled=3@0.5,7@1.5 unsure=2": problem@C for each settled problem, and
// the number of unsure rows. settled_in_note() finds no settled problems in a malformed note.
std::string make_note(int64_t steps, const std::vector<double>& settled_c, int64_t unsure);
std::vector<std::pair<size_t, double>> settled_in_note(const std::string& note);

}  // namespace mokume::svc
