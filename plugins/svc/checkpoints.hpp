// Keeps the problems of unfinished fits in the fits' directories, so that a later attempt repeats little of the work.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "saved_solves.hpp"
#include "sdk/plugin.hpp"
#include "settings.hpp"
#include "storage/checkpoint_file.hpp"
#include "storage/save_timer.hpp"

namespace mokume::svc {

// Names what a checkpoint contains: the solves of a fit in one pass of the session.
struct FitName {
  std::string directory;  // "" if the fit keeps no checkpoints
  uint32_t bootstrap = 0;
  int32_t fold = MK_ALL_ROWS;
  int pass = 1;
  Settings settings;  // with the C and nu of the fit
};

class Checkpoints {
 public:
  Checkpoints(const sdk::Host& host, const mk_device_info& device, const mk_experiment& experiment)
      : host_(host), device_(device), experiment_(experiment) {}

  // Forgets what was read, and starts the timer. `storage` tells how kernel values are stored, because the host rounds
  // them differently when it computes a row alone.
  void begin(const std::string& storage);
  storage::SaveTimer& timer() { return timer_; }

  // Returns and forgets the solve of this problem at this C, if there is one. Reads the checkpoint of a fit once.
  std::optional<SavedSolve> take(const FitName& fit, int64_t problem, double c);

  // Replaces the checkpoint of a fit by these solves and those that nobody has taken. Leaves out solves with numbers
  // that are not finite, and writes nothing if there are none.
  void save(const FitName& fit, std::vector<SavedSolve> solves);

 private:
  storage::CheckpointFile file_of(const FitName& fit) const;
  // Identifies the version, the class of the device, the data and the settings of a fit.
  std::string identity_of(const FitName& fit);

  sdk::Host host_;
  const mk_device_info& device_;
  const mk_experiment& experiment_;
  storage::SaveTimer timer_;
  std::string storage_;
  std::map<uint32_t, uint64_t> data_;                                       // checksums of the data, by bootstrap
  std::map<std::pair<std::string, int>, std::vector<SavedSolve>> waiting_;  // solves by directory and pass
};

}  // namespace mokume::svc
