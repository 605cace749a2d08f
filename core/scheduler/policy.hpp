// Which device does what next. The rules of a run, shared by the coordinator and the simulator: no threads, no I/O, no
// clock. Times are seconds on any one axis, given by the caller; they never run backwards.
//
// Whatever it decides touches where and when a fit runs, never its result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mokume::scheduler {

// The least that can be handed out: fits that run on one device, in this order.
struct Piece {
  std::vector<uint32_t> fits;  // ids of the plan
  double cost = 0;        // the model's guess, in a unit that all pieces share; what is no number counts as longest
  uint64_t bytes = 0;     // what a device must hold at least
  uint32_t affinity = 0;  // pieces of one affinity share work: together they cost less than apart
};

// Where a fit stands in the plan: neighbours take similar times.
struct Place {
  uint32_t bootstrap = 0, fold = 0;
  std::vector<double> point;  // the candidate, each parameter scaled to [0, 1]
};

struct Workload {
  std::vector<Piece> pieces;
  std::vector<Place> places;  // by fit; may be empty: nothing is learned from neighbours
};

struct Unit {
  std::string device_class;
  uint64_t budget = 0;  // bytes
  double speed = 0;     // measured beforehand, relative to other units; 0: unknown
};

struct Assignment {
  std::vector<uint32_t> pieces;  // of one affinity, in order
  bool backup = false;           // another unit is at these pieces too
};

class Policy {
 public:
  // No piece waits yet.
  Policy(Workload workload, std::vector<Unit> units);

  const Piece& piece(uint32_t index) const { return pieces_[index]; }
  uint32_t pieces() const { return static_cast<uint32_t>(pieces_.size()); }

  void wait(uint32_t piece);  // it is to be done; or again, after finished(): its results were lost

  // What `unit`, which is idle, does now; it counts as given. No value: nothing, for now.
  std::optional<Assignment> next(uint32_t unit, double now);

  // The unit is idle again. `done`: pieces of its assignment that are finished, by whomever; the others wait again
  // unless another unit is at them. `seconds`: what the finished ones took, 0 if unknown; it teaches the cost model.
  void ended(uint32_t unit, const std::vector<uint32_t>& done, double seconds, double now);

  // A piece was finished by a unit whose assignment had been given up, or stands in a journal. It waits no longer.
  void finished(uint32_t piece);

  // Units whose whole assignment is finished by others: they may stop. Each is named once.
  std::vector<uint32_t> superfluous();

  void retire(uint32_t unit);  // gets nothing from now on; its assignment ends by ended() all the same
  void readmit(uint32_t unit);
  bool retired(uint32_t unit) const { return units_[unit].retired; }

  // A piece did not fit into `bytes`: only larger budgets get it from now on.
  void needs_more_than(uint32_t piece, uint64_t bytes);

  // Pieces that wait though no unit that is left can hold them.
  std::vector<uint32_t> unplaceable() const;

  // A waiting piece of several fits becomes one for each of `fits`; the new indices.
  std::vector<uint32_t> take_apart(uint32_t piece, const std::vector<uint32_t>& fits);

  double predicted_seconds(uint32_t piece, uint32_t unit) const;  // 0 while nothing is known

 private:
  struct State {
    bool waiting = false, done = false;
    uint32_t holders = 0;  // units that are at it
  };
  struct UnitState {
    Unit unit;
    std::vector<uint32_t> holds;
    bool busy = false, retired = false, told_superfluous = false;
    double since = 0;
  };

  bool fits(const Piece& piece, const UnitState& unit) const { return piece.bytes <= unit.unit.budget; }

  std::vector<Piece> pieces_;
  std::vector<State> states_;
  std::vector<UnitState> units_;
};

}  // namespace mokume::scheduler
