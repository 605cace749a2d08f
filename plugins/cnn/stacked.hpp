// Training a stack: networks of one shape (see same_shape()) in one go, one batch of each at a time, with ops of the
// same layer as one group. Each gets the bits that it gets alone.
#pragma once

#include <functional>
#include <span>

#include "training.hpp"

namespace mokume::cnn {

// Each resumes from its checkpoint if there is a good one, and runs to the end, the stop rule, or the first loss that
// is no finite number. `ended` is called for each as it ends. Error(MK_CANCELLED) when the sink says so, with a
// checkpoint of each that has not ended.
void train(std::span<Training* const> stack, const mk_fit_sink& sink, const std::function<void(Training&)>& ended);
// A stack of one.
void train(Training& training, const mk_fit_sink& sink);

// Up to `most` batches of each, within the epoch in work; returns how many. For measurements.
int64_t run_batches(std::span<Training* const> stack, int64_t most);
// The rest of the epoch in work.
void run_epoch(Training& training);

}  // namespace mokume::cnn
