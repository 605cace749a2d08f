// Runs fits on features of landmarks (docs/adr/0059). Fits of one kernel, draw and fold share the features, whatever
// their C, epsilon, tolerance and treatment of classes, and their machines are solved side by side.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "fitted.hpp"
#include "nystrom/ascent.hpp"
#include "nystrom/features.hpp"
#include "rows.hpp"
#include "sdk/device.hpp"
#include "sdk/plugin.hpp"
#include "settings.hpp"

namespace mokume::svc {

// One fit. The settings have gamma in the unit 1 and a kind that is not automatic.
struct ApproximateFit {
  Settings settings;
  int32_t fold;
  uint32_t index;  // index that the sink receives
};

class NystromRunner {
 public:
  NystromRunner(const sdk::Host& host, const sdk::Device& device, const mk_data& data, const RowOrder& order)
      : host_(host), device_(device), data_(data), order_(order) {}

  // Solves, validates and reports the fits. In the progress of the bundle, the call makes up `share` and follows after
  // `share_done`.
  void run(std::span<const ApproximateFit> fits, const mk_fit_sink& sink, double share_done, double share);

  // Solves a fit of all rows. The vectors of the result are the landmarks.
  void refit(const Settings& settings, const mk_fit_sink& sink, Fitted& to);

 private:
  // Holds the machines of a fit, as many as have been solved.
  struct Machines {
    const ApproximateFit* fit = nullptr;
    std::vector<BinaryProblem> problems;
    std::vector<LinearMachine> solved;
    size_t left = 0;
  };
  // Solves fits that share features, and calls done() for each as its last machine ends.
  void solve(const std::vector<const ApproximateFit*>& fits, const mk_fit_sink& sink,
             const std::function<void(double)>& progress, const std::function<void(const Machines&)>& done);
  // Returns the bytes that decisions_of() takes for any fold.
  uint64_t validation_bytes(const Machines& machines) const;
  void validate(const Machines& machines, const mk_fit_sink& sink) const;
  std::vector<std::vector<float>> decisions_of(const Machines& machines) const;

  sdk::Host host_;
  const sdk::Device& device_;
  const mk_data& data_;
  const RowOrder& order_;
  std::optional<Features> features_;
};

}  // namespace mokume::svc
