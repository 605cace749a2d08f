// Runs one experiment on one device. The rows stay in device memory, and all fits share them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "saved/fitted.hpp"
#include "sdk/team.hpp"
#include "train/training.hpp"

namespace mokume::cnn {

// Returns the median of the epochs in `notes`, which has one line per fit. A line gives the best epoch ("best=") if the
// fit kept its weights, otherwise only the number of epochs ("epochs="). The median of an even number of lines is the
// mean of the middle two, rounded up. Returns 0 without lines.
int64_t chosen_epochs(const std::string& notes);

// Only one thread at a time may use a session. The first fit or refit allocates the memory.
class CnnSession {
 public:
  CnnSession(const sdk::Host& host, const mk_experiment& experiment, const mk_device_services* device);

  // Trains fits of one shape as stacks, with as many fits at a time as memory and work allow.
  void fit(std::span<const mk_fit> fits, const mk_fit_sink& sink);
  std::unique_ptr<Fitted> refit(const mk_fit& fit, const mk_fit_sink& sink);

 private:
  struct Prepared;
  struct Validated;
  using Stack = std::vector<Prepared*>;

  const ResidentData& data();
  Prepared prepare(const mk_fit& fit, uint32_t index) const;
  bool fits_into(const Stack& stack, const Prepared& next) const;
  void fit_stack(const Stack& stack, const mk_fit_sink& sink);
  std::unique_ptr<Training> train_alone(Prepared& fit, const mk_fit_sink& sink);
  // These functions take the parameters out of a Training that has ended. validate() returns nothing if the device
  // lacks the memory and `may_lack` is set.
  Fitted fitted_of(Training& training, const Settings& settings, const Network& network) const;
  std::optional<Validated> validate(const Prepared& fit, Training& training, bool may_lack) const;
  void report(const Prepared& fit, Training& training, const mk_fit_sink& sink) const;
  sdk::Team team() const { return sdk::Team(device_.table()->team); }

  sdk::Host host_;
  const mk_experiment& experiment_;
  sdk::Device device_;
  std::optional<ResidentData> data_;
};

}  // namespace mokume::cnn
