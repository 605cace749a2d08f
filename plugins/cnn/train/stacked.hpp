// Trains a stack: networks of one shape (see same_shape()), one batch of each at a time, with the ops of a layer as one
// group. Each network gets the same bits as when it is trained alone.
#pragma once

#include <functional>
#include <span>

#include "train/training.hpp"

namespace mokume::cnn {

// Each training resumes from its checkpoint if there is a valid one, and runs until its last epoch, its stop rule, or
// its first loss that is not finite. `ended` is called for each when it finishes. Throws Error(MK_CANCELLED) when the
// sink requests it; trainings that have not finished have written checkpoints by then.
void train(std::span<Training* const> stack, const mk_fit_sink& sink, const std::function<void(Training&)>& ended);
// Trains a stack of one network.
void train(Training& training, const mk_fit_sink& sink);

// Runs up to `most` batches of each network within the current epoch and returns their number. For measurements.
int64_t run_batches(std::span<Training* const> stack, int64_t most);
// Runs the rest of the current epoch.
void run_epoch(Training& training);

}  // namespace mokume::cnn
