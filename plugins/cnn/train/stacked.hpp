// Trains a stack of networks of one shape (see same_shape()). Takes one batch of each network at a time, with the ops
// of a layer as one group. Each network gets the same bits as when it trains alone.
#pragma once

#include <functional>
#include <span>

#include "train/training.hpp"

namespace mokume::cnn {

// Resumes each Training from its checkpoint, if valid, and runs it until its last epoch, its stop rule, or its first
// loss that is not finite. Calls `ended` for each Training that finishes. Throws Error(MK_CANCELLED) on the sink's
// request, after the unfinished ones have written checkpoints.
void train(std::span<Training* const> stack, const mk_fit_sink& sink, const std::function<void(Training&)>& ended);
// Trains a stack of one network.
void train(Training& training, const mk_fit_sink& sink);

// Runs up to `most` batches of each network within the current epoch, for measurements, and returns their number.
int64_t run_batches(std::span<Training* const> stack, int64_t most);
// Runs the rest of the current epoch.
void run_epoch(Training& training);

}  // namespace mokume::cnn
