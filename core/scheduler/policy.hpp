// Which device does what next. The rules of a run, shared by the coordinator and the simulator: no threads, no I/O, no
// clock. Times are seconds on any one axis, given by the caller; they never run backwards.
//
// Whatever it decides touches where and when a fit runs, never its result.
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

// The least that can be handed out: fits that run on one device, in this order.
struct Bundle {
  std::vector<uint32_t> fits;  // ids of the plan
  double cost = 0;        // the model's guess, in a unit that all bundles share; what is no number counts as longest
  uint64_t bytes = 0;     // what a device must hold at least
  uint32_t affinity = 0;  // bundles of one affinity share work: together they cost less than apart

  // As a run directory keeps it.
  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("fits", self.fits);
    field("cost", self.cost);
    field("bytes", self.bytes);
  }
};

struct Workload {
  std::vector<Bundle> bundles;
  std::vector<Position> positions;  // by fit; may be empty: nothing is learned from neighbours
  // The last so many bundles are refits, each on its own: nothing is known of them before Policy::fill().
  uint32_t refits = 0;
  // A refit of the best candidate follows on the fits of each bootstrap, and takes this many times one of its fits;
  // 0: none does. A fit that a long refit may follow goes first: the longest of the candidates that may win.
  double refit_share = 0;
};

// The share of each fit in its bundle's cost.
std::vector<double> guesses_of(const Workload& workload);

struct Unit {
  std::string device_class;
  uint64_t budget = 0;  // bytes
  double speed = 0;     // measured beforehand, relative to other units; 0: unknown
  bool spare = false;   // what it computes with is taken from faster units: it gets what no other can hold, and all
                        // when none of the others is left
};

// Fits that one device had in work together.
struct TimedWork {
  std::string device_class;  // "" if it is not known
  std::vector<uint32_t> fits;
  double seconds = 0;
};

struct Pick {
  std::vector<uint32_t> bundles;  // of one affinity, in order
  bool backup = false;            // another unit is at these bundles too
};

//   Order       by critical path: the time of a bundle and of the refit that follows it, longest first.
//   Bundles     bundles of one affinity are given together while that leaves every unit enough to do, one by one then.
//   Slow units  leave a bundle that they would end after the rest, and after a faster unit would.
//   Stragglers  when nothing is left to give, an idle unit gets a copy of what it would end clearly sooner.
class Policy {
 public:
  // No bundle waits yet.
  Policy(Workload workload, std::vector<Unit> units);

  const Bundle& bundle(uint32_t index) const { return bundles_[index]; }
  uint32_t bundles() const { return static_cast<uint32_t>(bundles_.size()); }

  // A refit turns out to be of the candidate that the fit `like` is of. It does not wait yet.
  void fill(uint32_t bundle, double cost, uint64_t bytes, uint32_t like);

  void wait(uint32_t bundle);  // it is to be done (again)

  // Picks what `unit`, which is idle, does now; it counts as given. No value: nothing, for now: ask again.
  std::optional<Pick> next(uint32_t unit, double now);

  // The same for a unit that has to show that it works: the last in the order of the waiting bundles that `suits`
  // takes, wherever it would end soonest.
  std::optional<Pick> test(uint32_t unit, const std::function<bool(uint32_t bundle)>& suits, double now);

  // The unit is idle again. `done`: bundles of its pick that are finished, by whomever; the others wait again
  // unless another unit is at them. `seconds`: what the finished ones took, 0 if unknown; it teaches the cost model.
  void ended(uint32_t unit, const std::vector<uint32_t>& done, double seconds, double now);

  // A fit gave this loss, or failed (infinity): what the choice of the best candidate of its bootstrap will look at.
  void scored(uint32_t fit, double loss);

  // A bundle is finished: by a unit that is still at others of its pick, by one whose pick had been given
  // up, or in a journal. It waits no longer.
  void finished(uint32_t bundle);

  // Units whose whole pick is finished, with the help of others: they may stop. Each is named once.
  std::vector<uint32_t> superfluous();

  // Teaches the cost model how long work of an earlier session took.
  void teach(const TimedWork& work);

  void retire(uint32_t unit);  // gets nothing from now on; its pick ends by ended() all the same
  void readmit(uint32_t unit);
  bool retired(uint32_t unit) const { return units_[unit].retired; }

  // A bundle did not fit into `bytes`: only larger budgets get it from now on.
  void needs_more_than(uint32_t bundle, uint64_t bytes);

  // Bundles that wait though no unit that is left can hold them.
  std::vector<uint32_t> unplaceable() const;

  // A bundle of several fits, which nobody is at, becomes one for each of `fits`. These are given one by one, and do
  // not wait yet. The new indices.
  std::vector<uint32_t> take_apart(uint32_t bundle, const std::vector<uint32_t>& fits);

  uint32_t candidate(uint32_t fit) const { return costs_.candidate(fit); }  // fits of one candidate have one number
  double predicted_seconds(uint32_t bundle, uint32_t unit) const;           // 0 while nothing is known
  double speed(uint32_t unit) const;  // as learned, relative to the others; see CostModel

 private:
  struct State {
    bool waiting = false, done = false, alone = false;  // alone: never given with others
    uint32_t holders = 0;                               // units that are at it
    uint32_t given = 0;                                 // how often
    double work = 0;                                    // seconds on a unit of speed 1
    double given_as = 0;                                // work when it was given, in seconds; 0: unknown then
    double rank = 0;                                    // its place in the order
  };
  struct UnitState {
    Unit unit;
    uint32_t device_class = 0, kind = 0;
    std::vector<uint32_t> holds;
    bool busy = false, retired = false, told_superfluous = false;
    double since = 0;
  };
  // Units of one class and budget.
  struct Kind {
    uint32_t device_class = 0;
    uint64_t budget = 0;
  };
  // How the run stands, in seconds from now.
  struct Outlook {
    uint32_t units = 0;         // that are left
    double rest = 0;            // until everything would be done if all units shared the rest evenly
    std::vector<double> first;  // by kind: until its first unit is idle; infinite if it has none but spare ones
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
  void watch(double now);  // learns from what runs longer than it should
  void estimate();         // works, ranks and the order, anew
  bool is_over(const State& state) const { return state.done && state.holders == 0; }
  void insert(uint32_t bundle);
  void tried(uint32_t bundle);
  void remove(uint32_t bundle);
  double rest_of(const UnitState& unit, double now) const;  // seconds until it is idle
  Outlook outlook(double now) const;
  bool sooner_elsewhere(double work, uint64_t bytes, const UnitState& unit, const Outlook& ahead) const;
  bool left_to_others(uint32_t bundle, const UnitState& unit) const;
  bool better_here(uint32_t bundle, const UnitState& unit, const Outlook& ahead) const;
  Pick merged(uint32_t bundle, const UnitState& unit, const Outlook& ahead) const;
  std::optional<Pick> backup(uint32_t unit, double now, const Outlook& ahead) const;
  void give(uint32_t unit, const Pick& pick, double now);

  std::vector<Bundle> bundles_;
  std::vector<uint32_t> bootstrap_;  // by bundle
  std::vector<State> states_;
  std::vector<UnitState> units_;
  std::vector<std::string> classes_;
  std::vector<Kind> kinds_;
  double refit_share_ = 0;
  std::vector<Position> positions_;
  CostModel costs_;
  Contenders contenders_{1};
  bool scores_changed_ = false;  // since the last estimate
  uint64_t estimated_ = 0;       // the cost model's version
  size_t asked_ = 0;             // times, since a newer one was there
  std::vector<bool> tried_;      // by candidate: a bundle of it was given or is done
  std::set<Key> order_;          // what waits
  double waiting_work_ = 0;
  std::map<uint32_t, std::set<uint32_t>> by_affinity_;  // what waits
};

}  // namespace mokume::scheduler
