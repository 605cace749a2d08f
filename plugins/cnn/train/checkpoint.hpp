// The state of an unfinished training on disk. A training that resumes from it after a kill gives the same result as
// one that was never interrupted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine.hpp"
#include "saved/safetensors.hpp"
#include "sdk/plugin.hpp"
#include "train/record.hpp"

namespace mokume::cnn {

struct Checkpoint {
  std::string fingerprint;  // identifies the fit; checkpoints of other fits are ignored
  int64_t epoch = 0;        // the current one, from 0
  int64_t batch = 0;        // the next one of this epoch
  int64_t batch_size = 0;
  History history;             // of the earlier epochs
  std::vector<float> results;  // of this epoch's batches so far: loss and hit of each row
};

// Replaces the checkpoint in `directory`, and creates the directory if needed. A kill during the call leaves the old
// checkpoint. If somebody removes the directory meanwhile, nothing is written. The engine's state is copied to the file
// chunk by chunk. Throws Error(MK_STORAGE).
void save_checkpoint(const std::string& directory, const Checkpoint& checkpoint, const Engine& engine);

// A checkpoint that was found; the engine's state is still in its file.
class StoredCheckpoint {
 public:
  StoredCheckpoint(Checkpoint found, safetensors::Reader reader)
      : checkpoint(std::move(found)), reader_(std::move(reader)) {}

  const Checkpoint checkpoint;
  // Throws Error(MK_BAD_DATA) with the file's name if the disk fails meanwhile; the state is then partly overwritten.
  void read_into(const Engine& engine) const;

 private:
  safetensors::Reader reader_;
};

// Returns the batch size of the checkpoint in `directory`, which may be "". Returns 0 if there is none of this fit, or
// if it is damaged; a damaged one is set aside.
int64_t checkpoint_batch(const sdk::Host& host, const std::string& directory, const std::string& fingerprint);

// Returns nothing if there is no checkpoint, or if it belongs to another fit or network than the engine's; the training
// then starts from scratch. The same happens if the file is damaged or has no checksum. Such a file is renamed to
// checkpoint.safetensors.damaged, with a warning.
std::optional<StoredCheckpoint> find_checkpoint(const sdk::Host& host, const std::string& directory,
                                                const std::string& fingerprint, const Engine& engine);
// The same for any engine whose state consists of vectors with these names and numbers of floats.
using StateSizes = std::vector<std::pair<std::string, int64_t>>;
std::optional<StoredCheckpoint> find_checkpoint(const sdk::Host& host, const std::string& directory,
                                                const std::string& fingerprint, const StateSizes& state);

}  // namespace mokume::cnn
