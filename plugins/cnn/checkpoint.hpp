// A training in the middle, on disk: what it needs to go on after a kill as if nothing had happened.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine.hpp"
#include "sdk/plugin.hpp"
#include "safetensors.hpp"

namespace mokume::cnn {

// How a training went, epoch by epoch.
struct History {
  std::vector<double> train_loss, train_accuracy, validation_loss, validation_accuracy;
};

struct Checkpoint {
  std::string fingerprint;  // of the fit: another one's checkpoint is not taken
  int64_t epoch = 0;        // in work, from 0
  int64_t batch = 0;        // the next of this epoch
  int64_t batch_size = 0;
  History history;             // of the epochs before
  std::vector<float> results;  // of this epoch's batches so far: loss and hit of each row
};

// Replaces the checkpoint in `directory`, which is created; a kill leaves the old one, and whoever removes the
// directory meanwhile wants none. The engine's parameters and states go to the file piece by piece. Error(MK_INTERNAL).
void save_checkpoint(const std::string& directory, const Checkpoint& checkpoint, const Engine& engine);

// A checkpoint that was found, with the parameters and states still in its file.
class StoredCheckpoint {
 public:
  StoredCheckpoint(Checkpoint what, sdk::safetensors::Reader reader)
      : checkpoint(std::move(what)), reader_(std::move(reader)) {}

  const Checkpoint checkpoint;
  // Parameters and states, piece by piece. Error(MK_BAD_DATA) naming the file if the disk fails meanwhile; then they
  // are neither the old nor the new ones.
  void read_into(const Engine& engine) const;

 private:
  sdk::safetensors::Reader reader_;
};

// The batch size of the checkpoint in `directory`, which may be ""; 0 if there is none of this fit, or a damaged one,
// which is set aside.
int64_t checkpoint_batch(const sdk::Host& host, const std::string& directory, const std::string& fingerprint);

// Nothing if there is none, or what there is belongs to another fit or network than the engine's: then the training
// starts anew. So it does where the file is not as it was written, or has no checksum: that one is renamed to
// checkpoint.safetensors.damaged, with a warning.
std::optional<StoredCheckpoint> find_checkpoint(const sdk::Host& host, const std::string& directory,
                                                const std::string& fingerprint, const Engine& engine);

}  // namespace mokume::cnn
