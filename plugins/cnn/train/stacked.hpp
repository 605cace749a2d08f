// Trains a stack: networks of one shape (see same_shape()), one batch of each at a time, with the ops of a layer as one
// group. Each network gets the same bits as when it trains alone.
#pragma once

#include <functional>
#include <span>

#include "train/training.hpp"

namespace mokume::cnn {

// Each training resumes from its checkpoint if it is valid, and runs until its last epoch, its stop rule, or its first
// loss that is not finite. Calls `ended` for each training that finishes. Throws Error(MK_CANCELLED) on the sink's
// request, after unfinished trainings have written checkpoints.
void train(std::span<Training* const> stack, const mk_fit_sink& sink, const std::function<void(Training&)>& ended);
// Trains a stack of one network.
void train(Training& training, const mk_fit_sink& sink);

// For measurements: runs up to `most` batches of each network within the current epoch, and returns their number.
int64_t run_batches(std::span<Training* const> stack, int64_t most);
// Runs the rest of the current epoch.
void run_epoch(Training& training);

}  // namespace mokume::cnn
