// A training in the middle, on disk: what it needs to resume after a kill as if nothing had happened.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine.hpp"
#include "record.hpp"
#include "safetensors.hpp"
#include "sdk/plugin.hpp"

namespace mokume::cnn {

struct Checkpoint {
  std::string fingerprint;  // of the fit: the checkpoint of another one is not taken
  int64_t epoch = 0;        // in work, from 0
  int64_t batch = 0;        // the next of this epoch
  int64_t batch_size = 0;
  History history;             // of the epochs before
  std::vector<float> results;  // of this epoch's batches so far: loss and hit of each row
};

// Replaces the checkpoint in `directory`, which is created; a kill leaves the old one, and whoever removes the
// directory meanwhile wants none. The engine's state goes to the file chunk by chunk. Error(MK_STORAGE).
void save_checkpoint(const std::string& directory, const Checkpoint& checkpoint, const Engine& engine);

// A checkpoint that was found, with the engine's state still in its file.
class StoredCheckpoint {
 public:
  StoredCheckpoint(Checkpoint found, safetensors::Reader reader)
      : checkpoint(std::move(found)), reader_(std::move(reader)) {}

  const Checkpoint checkpoint;
  // Error(MK_BAD_DATA) that names the file if the disk fails meanwhile; then the state is neither the old nor the new.
  void read_into(const Engine& engine) const;

 private:
  safetensors::Reader reader_;
};

// The batch size of the checkpoint in `directory`, which may be ""; 0 if there is none of this fit, or a damaged one,
// which is set aside.
int64_t checkpoint_batch(const sdk::Host& host, const std::string& directory, const std::string& fingerprint);

// Nothing if there is none, or if it belongs to another fit or network than the engine's: then the training starts
// anew. It also does so where the file is not as it was written, or has no checksum: that one is renamed to
// checkpoint.safetensors.damaged, with a warning.
std::optional<StoredCheckpoint> find_checkpoint(const sdk::Host& host, const std::string& directory,
                                                const std::string& fingerprint, const Engine& engine);

}  // namespace mokume::cnn
