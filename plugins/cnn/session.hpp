// One experiment on one device: its rows resident in the device's memory, shared by all fits.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fitted.hpp"
#include "sdk/team.hpp"
#include "training.hpp"

namespace mokume::cnn {

// Used by one thread at a time; memory is taken at the first fit.
class Session {
 public:
  Session(const sdk::Host& host, const mk_experiment& experiment, const mk_device_services* device);

  // Those of one shape side by side, as many at a time as there is memory and work for.
  void fit(std::span<const mk_fit> fits, const mk_fit_sink& sink);
  std::unique_ptr<Fitted> refit(const mk_fit& fit, const mk_fit_sink& sink);

 private:
  const ResidentData& data();
  TrainingTask task(const mk_fit& fit) const;
  Settings settings_of(const mk_fit& fit, const TrainingTask& task) const;
  struct Job;
  std::vector<std::vector<Job*>> groups_of(std::vector<std::unique_ptr<Job>>& jobs);
  void fit_group(const std::vector<Job*>& group, const mk_fit_sink& sink);
  void fit_in_team(Job& job, const mk_fit_sink& sink);
  sdk::Team team() const { return sdk::Team(device_.table()->team); }
  void train(const Settings& settings, Training& training, const mk_fit_sink& sink) const;
  void report(const Job& job, const Training& training, const mk_fit_sink& sink) const;

  sdk::Host host_;
  const mk_experiment& experiment_;
  sdk::Device device_;
  std::optional<ResidentData> data_;
};

// Throws what the schema cannot express: a network that does not fit the data, a batch larger than the data.
void check(const mk_experiment& experiment);

// Bundles of fits whose networks have one shape, so many that together they keep a device busy; for more `parts` than
// that, one of each fit.
void make_bundles(const mk_experiment& experiment, uint32_t parts, const mk_bundle_sink& sink);

// The layer table of a candidate.
std::string summary(const mk_experiment& experiment, uint32_t candidate);

}  // namespace mokume::cnn
