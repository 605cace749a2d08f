// The time that fits take, learned while they run. Pure: no clock, no I/O; used by one thread.
//
//   seconds(fit, device class) = work(fit) / speed(class)
//
// The work of a fit is, from the best knowledge to the least: what it took itself; what other folds and bootstraps of
// its candidate took; what neighbouring candidates took, weighted by distance; the model's guess on the scale of what
// was seen. All but the first correct the guess by a factor: a guess knows how many rows a fold has.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace mokume::scheduler {

// Where a fit stands in the plan: neighbours take similar times.
struct Position {
  uint32_t bootstrap = 0, fold = 0;
  std::vector<double> point;  // the candidate, each parameter scaled to [0, 1]; equal points are one candidate
};

class CostModel {
 public:
  // By fit: positions (may be empty: no fit tells anything of another) and guesses in a unit that all share; a guess
  // that is no positive number counts as the longest. By device class: speeds measured before, relative to each other;
  // 0: unknown.
  CostModel(const std::vector<Position>& positions, std::vector<double> guesses, std::vector<double> speeds);

  uint32_t add_fit(const Position& place, double guess);  // one more; its index
  uint32_t add_class(double speed);                       // the same
  // A fit of which nothing was known is one more of the candidate of the fit `like`.
  void replace_fit(uint32_t fit, uint32_t like, double guess);

  // `fits` together took `seconds` on a device of this class; what each took of it is shared out by the estimates.
  // Seconds that are not positive teach nothing.
  void observe(uint32_t device_class, std::span<const uint32_t> fits, double seconds);

  // `fits` are at it for `seconds` and have not ended. Where nothing is known of their candidates, other fits of these
  // are thought to take at least as long.
  void running(uint32_t device_class, std::span<const uint32_t> fits, double seconds);

  bool knows_seconds() const { return !observations_.empty(); }  // before: works are in the unit of the guesses
  double work(uint32_t fit) const;                               // seconds on a device of speed 1
  double work_by_running(uint32_t fit) const;                    // the same, and what running() said of its candidate
  uint32_t candidate(uint32_t fit) const { return candidate_[fit]; }  // fits of one candidate have one number
  bool has_seen(uint32_t candidate) const { return !seen_[candidate].empty(); }
  double speed(uint32_t device_class) const { return speeds_[device_class]; }

  // Changes when what was seen has changed the estimates of other candidates: after every few observations.
  uint64_t version() const { return version_; }

 private:
  struct Observation {
    uint32_t fit, device_class;
    double log_ratio;  // of its seconds to its guess
  };
  // One class's observations of a candidate: the mean over its fits.
  struct Sight {
    uint32_t candidate, device_class;
    double log_ratio;
  };

  double log_work_ratio(uint32_t fit) const;  // log of work / guess
  double closeness(uint32_t a, uint32_t b) const;
  double at_speed_one(const Sight& sight) const;
  void learn();
  std::vector<Sight> sights() const;
  void learn_speeds(const std::vector<Sight>& sights);
  void learn_neighbours(const std::vector<Sight>& sights);

  std::vector<double> guesses_;  // by fit; positive and finite
  double longest_guess_ = 1;
  std::vector<uint32_t> candidate_;  // by fit
  std::map<std::vector<double>, uint32_t> candidate_at_;
  std::vector<std::vector<double>> points_;  // by candidate
  std::vector<std::vector<uint32_t>> seen_;  // by candidate: its observations
  std::vector<double> at_least_;             // by candidate: log of work / guess, by running()
  std::vector<double> neighbours_;           // by candidate: log of work / guess, as learn() found it
  size_t dimensions_ = 0;                    // of the points, those that differ
  double width2_ = 1;                        // squared distance at which a neighbour counts a sixteenth

  std::vector<double> priors_, speeds_;  // by class; a prior of 0: unknown
  uint32_t yardstick_ = 0;               // the class that was observed first keeps its speed
  std::vector<Observation> observations_;
  std::vector<int64_t> own_;  // by fit: its observation, or -1
  size_t learned_from_ = 0;   // observations at the last learn()
  uint64_t version_ = 0;
};

}  // namespace mokume::scheduler
