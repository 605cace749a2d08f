// Learns during the run how long fits take. The model is pure: it has no clock and no I/O, and one thread uses it.
//
//   seconds(fit, device class) = work(fit) / speed(class)
//
// The work of a fit is the first known value of this list: its own measured time; the time of other folds and
// bootstraps of its candidate; the time of neighbouring candidates, weighted by distance; the model's guess, scaled to
// the observations. All but the first multiply the guess by a factor, because a guess takes the number of rows in a
// fold into account.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace mokume::scheduler {

// Describes the place of a fit in the plan. Neighbours take similar times.
struct Position {
  uint32_t bootstrap = 0, fold = 0;
  std::vector<double> point;  // the candidate's parameters, scaled to [0, 1]; equal points mean the same candidate
};

class CostModel {
 public:
  // Each fit has a position and a guess in a common unit. If there are no positions, no fit predicts another. A guess
  // that is not a positive number counts as the longest. Each device class has a speed that was measured before,
  // relative to the other classes, or 0 if it is unknown.
  CostModel(const std::vector<Position>& positions, std::vector<double> guesses, const std::vector<double>& speeds);

  uint32_t add_fit(const Position& place, double guess);  // adds a fit and returns its index
  uint32_t add_class(double speed);                       // adds a class and returns its index
  // Assigns a fit that had no candidate to the candidate of the fit `like`.
  void replace_fit(uint32_t fit, uint32_t like, double guess);

  // Records that `fits` together took `seconds` on a device of this class. Divides the time in proportion to the
  // estimates. Ignores seconds that are not positive.
  void observe(uint32_t device_class, std::span<const uint32_t> fits, double seconds);

  // Reports that `fits` have run for `seconds` without finishing. If nothing is known about their candidates,
  // work_by_running() estimates at least as long for other fits of the same candidates.
  void running(uint32_t device_class, std::span<const uint32_t> fits, double seconds);

  bool knows_seconds() const { return !observations_.empty(); }  // if false, work is in the unit of the guesses
  double work(uint32_t fit) const;                               // in seconds on a device of speed 1
  double work_by_running(uint32_t fit) const;  // takes reports of running() on its candidate into account
  uint32_t candidate(uint32_t fit) const { return candidate_[fit]; }  // returns the index of the fit's candidate
  bool has_seen(uint32_t candidate) const { return !seen_[candidate].empty(); }
  double speed(uint32_t device_class) const { return speeds_[device_class]; }

  // Changes when observations change the estimates of unobserved candidates, i.e. after every few observations.
  uint64_t version() const { return version_; }

 private:
  struct Observation {
    uint32_t fit, device_class;
    double log_ratio;  // log of seconds / guess
  };
  // Summarises the observations of a candidate on one class: log_ratio is the mean over its fits.
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

  std::vector<double> guesses_;  // indexed by fit; positive and finite
  double longest_guess_ = 1;
  std::vector<uint32_t> candidate_;  // indexed by fit
  std::map<std::vector<double>, uint32_t> candidate_at_;
  std::vector<std::vector<double>> points_;  // indexed by candidate
  std::vector<std::vector<uint32_t>> seen_;  // indices of each candidate's observations
  std::vector<double> at_least_;             // log of work / guess of each candidate, from running()
  std::vector<double> neighbours_;           // log of work / guess of each candidate, from learn()
  size_t dimensions_ = 0;                    // number of coordinates that vary
  double width2_ = 1;                        // squared distance at which a neighbour has a weight of one sixteenth

  std::vector<double> priors_, speeds_;  // indexed by class; a prior is 0 if unknown
  uint32_t yardstick_ = 0;               // the first observed class, which keeps its speed
  std::vector<Observation> observations_;
  std::vector<int64_t> own_;  // index of each fit's observation, or -1
  size_t learned_from_ = 0;   // number of observations at the last learn()
  uint64_t version_ = 0;
};

}  // namespace mokume::scheduler
