// Keeps the state of unfinished training on disk. Resumed training gives the same result as uninterrupted training.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine.hpp"
#include "sdk/plugin.hpp"
#include "storage/safetensors.hpp"
#include "train/record.hpp"

namespace mokume::cnn {

struct Checkpoint {
  std::string fingerprint;  // identifies the fit; other fits ignore the checkpoint
  int64_t epoch = 0;        // current epoch, from 0
  int64_t batch = 0;        // next batch of this epoch
  int64_t batch_size = 0;
  History history;             // history of the earlier epochs
  std::vector<float> results;  // loss and hit of each row in the finished batches of this epoch
};

// Copies elements [first, first + to.size()) of a vector of the engine's state to `to`.
using ReadState =
    std::function<void(const std::string& name, const ParameterVector& from, int64_t first, std::span<float> to)>;

inline void read_own(const std::string&, const ParameterVector& from, int64_t first, std::span<float> to) {
  from.read(first, to);
}

// Calls body(name, vector, first, count) for the chunks of the engine's state, in the order of the file.
template <class Body>
void for_each_state(const Engine& engine, Body&& body) {
  auto all = engine.state();
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [name, vector] : all)
    for_each_chunk(vector->layout().elements(), [&, &called = name, &of = *vector](int64_t first, int64_t count) {
      body(called, of, first, count);
    });
}

// Replaces the checkpoint in `directory` (storage::CheckpointFile::write()). Copies the engine's state to the file
// chunk by chunk, as for_each_state() does.
void save_checkpoint(const sdk::Host& host, const std::string& directory, const Checkpoint& checkpoint,
                     const Engine& engine, const ReadState& read = read_own);

// Holds a valid checkpoint, except the engine's state, which is still in the file.
class StoredCheckpoint {
 public:
  StoredCheckpoint(Checkpoint found, safetensors::Reader reader)
      : checkpoint(std::move(found)), reader_(std::move(reader)) {}

  const Checkpoint checkpoint;
  // Throws Error(MK_BAD_DATA) with the file's name if the disk fails; the engine's state is then partly overwritten.
  void read_into(const Engine& engine) const;
  // Reads elements [first, first + to.size()) of a vector of the engine's state.
  void read(const std::string& name, int64_t first, std::span<float> to) const;

 private:
  safetensors::Reader reader_;
};

// Returns the batch size of the checkpoint in `directory`, which may be "". Returns 0 if the checkpoint is missing,
// damaged or belongs to another fit. Renames a damaged checkpoint like find_checkpoint().
int64_t checkpoint_batch(const sdk::Host& host, const std::string& directory, const std::string& fingerprint);

// Returns nothing if there is no checkpoint, or if it belongs to another fit or to another network than that of the
// engine; training then starts from scratch. The same happens if the file is damaged or has no checksum. Such a file
// gets the name checkpoint.safetensors.damaged, with a warning.
std::optional<StoredCheckpoint> find_checkpoint(const sdk::Host& host, const std::string& directory,
                                                const std::string& fingerprint, const Engine& engine);
// Finds a checkpoint for any engine whose state consists of vectors with these names and numbers of floats.
using StateSizes = std::vector<std::pair<std::string, int64_t>>;
std::optional<StoredCheckpoint> find_checkpoint(const sdk::Host& host, const std::string& directory,
                                                const std::string& fingerprint, const StateSizes& state);

}  // namespace mokume::cnn
