// A training in the middle, on disk: what it needs to go on after a kill as if nothing had happened.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mokume::cnn {

// How a training went, epoch by epoch.
struct History {
  std::vector<double> train_loss, train_accuracy, validation_loss, validation_accuracy;
};

struct Checkpoint {
  std::string fingerprint;                 // of the fit: another one's checkpoint is not taken
  int64_t epoch = 0;                       // in work, from 0
  int64_t batch = 0;                       // the next of this epoch
  History history;                         // of the epochs before
  std::vector<float> results;              // of this epoch's batches so far: loss and hit of each row
  std::vector<float> parameters;           // in the network's own order
  std::vector<std::vector<float>> states;  // of the optimizer
};

// Replaces the checkpoint in `directory`, which is created; a kill leaves the old one. Error(MK_INTERNAL).
void save_checkpoint(const std::string& directory, const Checkpoint& checkpoint);

// Nothing if there is none, or what there is belongs to another fit or is damaged: then the training starts anew.
std::optional<Checkpoint> load_checkpoint(const std::string& directory, const std::string& fingerprint,
                                          uint64_t parameters, uint64_t states);

}  // namespace mokume::cnn
