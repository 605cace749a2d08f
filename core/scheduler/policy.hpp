// Decides what each device does next. The coordinator and the simulator share these rules, which have no threads, no
// I/O and no clock. The caller gives all times, in seconds from any origin; they never run backwards.
//
// The decisions affect where and when a fit runs, never the result of the fit.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/contenders.hpp"
#include "scheduler/cost_model.hpp"

namespace mokume::scheduler {

// Holds the smallest unit of work: fits that run on one device, in this order.
struct Bundle {
  std::vector<uint32_t> fits;  // fit ids of the plan
  double cost = 0;             // the model's guess, in a common unit; counts as the longest unless positive and finite
  uint64_t bytes = 0;          // minimum memory of the device
  uint32_t affinity = 0;       // bundles with equal affinity share work and cost less together than separately

  // Defines the fields that a run directory stores.
  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("fits", self.fits);
    field("cost", self.cost);
    field("bytes", self.bytes);
  }
};

struct Workload {
  std::vector<Bundle> bundles;
  std::vector<Position> positions;  // indexed by fit; if empty, fits do not predict each other
  // The last bundles are refits, one each. Nothing is known about a refit before Policy::fill().
  uint32_t refits = 0;
  // The refit of a bootstrap's best candidate takes this many times as long as one of its fits; 0 stands for no refit.
  // Fits that a long refit may follow have priority, judging by the longest candidate that may still win.
  double refit_share = 0;
};

// Returns the guess of each fit: an equal part of the cost of its bundle.
std::vector<double> guesses_of(const Workload& workload);

struct Unit {
  std::string device_class;
  uint64_t budget = 0;  // bytes
  double speed = 0;     // measured before, relative to other units, or 0 if unknown
  // The unit shares the computing power of faster units, so it gets only work that no other unit can hold, or all work
  // when no other unit is left.
  bool spare = false;
};

// Holds the time of fits that one device ran together.
struct TimedWork {
  std::string device_class;  // "" if unknown
  std::vector<uint32_t> fits;
  double seconds = 0;
};

struct Pick {
  std::vector<uint32_t> bundles;  // bundles of equal affinity, to be run in this order
  bool backup = false;            // another unit works on the same bundles
};

//   Order       follows the critical path: the time of a bundle and of the refit that follows it, longest first.
//   Bundles     with equal affinity are given together while every unit still has enough work, then one at a time.
//   Slow units  leave a bundle that they would finish after the rest, and after a faster unit would.
//   Stragglers  are copied: if no bundle is left, an idle unit gets work that it would finish clearly sooner.
class Policy {
 public:
  // Starts without any waiting bundle.
  Policy(Workload workload, std::vector<Unit> units);

  const Bundle& bundle(uint32_t index) const { return bundles_[index]; }
  uint32_t bundles() const { return static_cast<uint32_t>(bundles_.size()); }

  // Sets the candidate of a refit to that of the fit `like`. The refit is not waiting yet.
  void fill(uint32_t bundle, double cost, uint64_t bytes, uint32_t like);

  // Restricts a bundle that is not waiting to some of its fits.
  void narrow(uint32_t bundle, const std::vector<uint32_t>& fits);

  void wait(uint32_t bundle);  // makes the bundle available, possibly again

  // Gives the next work to `unit`, which is idle, or returns nothing if there is none; the caller asks again later.
  std::optional<Pick> next(uint32_t unit, double now);

  // Gives work to a unit that has to prove that it works: of the waiting bundles that `suits` accepts, the last one in
  // the order, even if another unit would finish it sooner.
  std::optional<Pick> test(uint32_t unit, const std::function<bool(uint32_t bundle)>& suits, double now);

  // Marks the unit as idle. `done` lists the bundles of its pick that any unit has finished; the rest wait again unless
  // another unit works on them. The cost model learns from `seconds`, the time of finished bundles, unless it is 0.
  void ended(uint32_t unit, const std::vector<uint32_t>& done, double seconds, double now);

  // Records the loss of a fit (infinity if the fit failed), which determines the bootstrap's best candidate.
  void scored(uint32_t fit, double loss);

  // Marks a bundle as finished, so that it no longer waits: a unit finished it before the rest of its pick or after its
  // pick was taken away, or a journal contains its results.
  void finished(uint32_t bundle);

  // Returns, once each, the units whose pick is finished with the help of other units, so that they may stop.
  std::vector<uint32_t> superfluous();

  // Teaches the cost model from the times of an earlier session.
  void teach(const TimedWork& work);

  void retire(uint32_t unit);  // gives the unit no more work; its current pick still ends with ended()
  void readmit(uint32_t unit);
  bool retired(uint32_t unit) const { return units_[unit].retired; }

  // Gives the bundle, which did not fit into `bytes`, only to units with larger budgets from now on.
  void needs_more_than(uint32_t bundle, uint64_t bytes);

  size_t waiting() const { return order_.size(); }  // number of waiting bundles
  // Returns the waiting bundles that no remaining unit can hold.
  std::vector<uint32_t> unplaceable() const;

  // Splits a bundle of several fits that no unit works on into one bundle for each of `fits`. The new bundles are given
  // one at a time and are not waiting yet. Returns their indices.
  std::vector<uint32_t> take_apart(uint32_t bundle, const std::vector<uint32_t>& fits);

  uint32_t candidate(uint32_t fit) const { return costs_.candidate(fit); }  // returns the index of the fit's candidate
  double predicted_seconds(uint32_t bundle, uint32_t unit) const;           // returns 0 if unknown
  double speed(uint32_t unit) const;  // learned speed, relative to the other units (see CostModel)

 private:
  struct BundleState {
    bool waiting = false, done = false, alone = false;  // alone: never given together with other bundles
    uint32_t holders = 0;                               // number of units that work on it
    uint32_t given = 0;                                 // number of times it was given
    double work = 0;                                    // in seconds on a unit of speed 1
    double given_as = 0;                                // work in seconds when it was given, or 0 if it was unknown
    double rank = 0;                                    // determines its position in the order
  };
  struct UnitState {
    Unit unit;
    uint32_t device_class = 0, kind = 0;
    std::vector<uint32_t> holds;
    bool busy = false, retired = false, told_superfluous = false;
    double since = 0;
  };
  // Groups units with equal class and budget.
  struct Kind {
    uint32_t device_class = 0;
    uint64_t budget = 0;
  };
  // Estimates the rest of the run. Times are in seconds from now.
  struct Outlook {
    uint32_t units = 0;         // number of remaining units
    double rest = 0;            // time until everything is done if all units share the rest evenly
    std::vector<double> first;  // time until the first unit of each kind is idle; infinite if all are spare
  };
  using Key = std::pair<double, uint32_t>;  // -rank, index

  bool fits(const Bundle& bundle, const UnitState& unit) const { return bundle.bytes <= unit.unit.budget; }
  uint32_t class_index(const std::string& name, double speed);
  uint32_t append(Bundle bundle, uint32_t bootstrap);
  double work_of(const Bundle& bundle) const;
  double work_now(uint32_t bundle) const;
  uint32_t first_candidate(const Bundle& bundle) const {
    return bundle.fits.empty() ? 0 : costs_.candidate(bundle.fits.front());
  }
  void watch(double now);  // learns from work that runs longer than estimated
  void estimate();         // updates works, ranks and the order
  bool is_over(const BundleState& state) const { return state.done && state.holders == 0; }
  void insert(uint32_t bundle);
  void tried(uint32_t bundle);
  void remove(uint32_t bundle);
  double rest_of(const UnitState& unit, double now) const;  // time until the unit is idle
  Outlook outlook(double now) const;
  bool sooner_elsewhere(double work, uint64_t bytes, const UnitState& unit, const Outlook& ahead) const;
  bool left_to_others(uint32_t bundle, const UnitState& unit) const;
  bool better_here(uint32_t bundle, const UnitState& unit, const Outlook& ahead) const;
  Pick merged(uint32_t bundle, const UnitState& unit, const Outlook& ahead) const;
  std::optional<Pick> backup(uint32_t unit, double now, const Outlook& ahead) const;
  void give(uint32_t unit, const Pick& pick, double now);

  std::vector<Bundle> bundles_;
  std::vector<uint32_t> bootstrap_;  // indexed by bundle
  std::vector<BundleState> states_;
  std::vector<UnitState> units_;
  std::vector<std::string> classes_;
  std::vector<Kind> kinds_;
  double refit_share_ = 0;
  std::vector<Position> positions_;
  CostModel costs_;
  Contenders contenders_{1};
  bool scores_changed_ = false;  // true if scores changed since the last estimate
  uint64_t estimated_ = 0;       // version of the cost model in the last estimate
  size_t asked_ = 0;             // number of calls of next() since the last estimate became outdated
  std::vector<bool> tried_;      // true for a candidate if one of its bundles was given or is done
  std::set<Key> order_;          // waiting bundles
  double waiting_work_ = 0;
  std::map<uint32_t, std::set<uint32_t>> by_affinity_;  // waiting bundles
};

}  // namespace mokume::scheduler
