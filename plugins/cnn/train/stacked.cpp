#include "train/stacked.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "storage/save_timer.hpp"
#include "train/clock.hpp"

namespace mokume::cnn {
namespace {

// Submits this many batches of each network at once, so that a CPU core stays with one network.
constexpr int64_t kAtOnce = 8;
// Limits the time between two waits for the device beyond kAtOnce batches, and thereby the delay of a cancellation.
constexpr double kWaitSeconds = 0.1;
constexpr int64_t kMostInFlight = 1024;  // in batches

bool at_end(const Training* t) { return t->at_end(); }
bool at_end_of_epoch(const Training* t) { return t->position().at_end_of_epoch(); }

class StackTrainer {
 public:
  using Ended = std::function<void(Training&)>;

  // `sink` is nullptr for measurements.
  StackTrainer(std::span<Training* const> stack, const mk_fit_sink* sink)
      : device_(stack.front()->device()), all_(stack.begin(), stack.end()), live_(all_), sink_(sink) {}

  void run(const Ended& ended) {
    for (Training* t : all_) t->restore();
    end_untrained(ended);
    save_timer_.begin();
    shown_at_ = now_s();
    shown_rows_ = rows_trained();
    for (Training* t : live_) t->begin_epoch();
    waited_at_ = now_s();
    while (!live_.empty()) {
      run_batch();
      if (std::any_of(live_.begin(), live_.end(), at_end_of_epoch)) end_epochs(ended);
      if (++since_wait_ < in_flight_ || live_.empty()) continue;
      since_wait_ = 0;
      flush();
      device_.finish();
      adapt();
      save_or_stop();
      show(ended);
    }
  }

  int64_t run_batches(int64_t most) {
    int64_t done = 0;
    for (Training* t : live_)
      if (t->position().at_start_of_epoch()) t->begin_epoch();
    for (; done < most && !at_end_of_epoch(live_.front()); ++done) run_batch();
    flush();
    device_.finish();
    return done;
  }

  void end_epochs(const Ended& ended) {
    std::vector<Training*> ending;
    std::copy_if(live_.begin(), live_.end(), std::back_inserter(ending), at_end_of_epoch);
    flush();
    device_.finish();
    for (Training* t : ending) t->end_epoch();
    validate(ending);
    for (Training* t : ending) {
      t->end_validation();
      if (t->record().is_best()) t->keep_best();
      t->at_end() ? ended(*t) : t->begin_epoch();
    }
    std::erase_if(live_, at_end);
  }

 private:
  // Validates networks without epochs, which do not train.
  void end_untrained(const Ended& ended) {
    std::vector<Training*> untrained;
    std::copy_if(live_.begin(), live_.end(), std::back_inserter(untrained), at_end);
    validate(untrained);
    for (Training* t : untrained) {
      t->end_validation();
      ended(*t);
    }
    std::erase_if(live_, at_end);
  }

  // Queues one batch of each network. The ops wait for more batches, unless a profile measures the phases.
  void run_batch() {
    for (const Training::Phase phase : Training::kPhases) {
      const auto scope = device_.phase(Training::name(phase));
      for (Training* t : live_) t->put(phase);
      if (device_.profiled()) submit(live_);
    }
    for (Training* t : live_) ++t->position().batch;
    if (++waiting_ == kAtOnce) flush();
  }

  void flush() {
    submit(live_);
    waiting_ = 0;
  }

  void validate(const std::vector<Training*>& ending) {
    const auto scope = device_.phase("validate");
    int64_t most = 0;
    for (const Training* t : ending) most = std::max(most, t->validation_batches());
    for (int64_t k = 0; k < most; ++k) {
      for (Training* t : ending)
        if (k < t->validation_batches()) t->put_validation(k);
      if ((k + 1) % kAtOnce == 0) submit(ending);
    }
    submit(ending);
  }

  // Submits the queued ops. Networks with equal batches form one group.
  void submit(std::vector<Training*> waiting) {
    while (!waiting.empty()) {
      const std::vector<int64_t>& rows = waiting.front()->queued_rows();
      const auto rest = std::stable_partition(waiting.begin() + 1, waiting.end(),
                                              [&](const Training* t) { return t->queued_rows() == rows; });
      submit_equal({waiting.begin(), rest});
      waiting.erase(waiting.begin(), rest);
    }
  }

  void submit_equal(std::span<Training* const> equal) {
    const size_t each = equal.front()->queue().size();
    if (each == 0) return;
    group_.clear();
    for (Training* t : equal) group_.push_back(t->queue().data());
    if (group_.size() > 1)
      device_.submit_group(group_, each);
    else
      for (const mk_op& op : equal.front()->queue()) device_.submit(op);
    for (Training* t : equal) t->clear_queue();
  }

  // Gives smaller networks more batches between two waits.
  void adapt() {
    const double now = now_s(), seconds = now - std::exchange(waited_at_, now);
    if (seconds < kWaitSeconds / 2) in_flight_ = std::min(2 * in_flight_, kMostInFlight);
    if (seconds > kWaitSeconds) in_flight_ = std::max(in_flight_ / 2, kAtOnce);
  }

  // Expects that the device has completed all queued ops.
  void save_or_stop() {
    const bool cancelled = sink_->cancelled(sink_->self) != 0;
    const double start = now_s();
    if (cancelled || save_timer_.due()) {
      for (Training* t : live_) t->save();
      save_timer_.saved(start);
    }
    if (cancelled) throw Error(MK_CANCELLED, "stopped");
  }

  int64_t rows_trained() const {
    int64_t rows = 0;
    for (const Training* t : all_) rows += t->position().rows_trained();
    return rows;
  }

  // Runs twice a second. Ends a network whose loss is not finite before the end of its epoch.
  void show(const Ended& ended) {
    const double now = now_s(), seconds = now - shown_at_;
    if (shown_ && seconds < kShowSeconds) return;
    shown_ = true;
    shown_at_ = now;
    const int64_t before = std::exchange(shown_rows_, rows_trained());
    Score recent;
    for (Training* t : live_) {
      const Score s = t->recent_score();
      if (!std::isfinite(s.loss)) {
        t->diverge();
        continue;
      }
      recent.loss += s.loss * s.rows;
      recent.hits += s.hits;
      recent.rows += s.rows;
    }
    recent.loss /= recent.rows;
    const Training& first = *live_.front();
    const int64_t epochs = first.settings().last_epoch();
    const std::string text = (live_.size() > 1 ? std::to_string(live_.size()) + " networks, " : "") +
                             progress_text(std::min(first.record().epochs() + 1, epochs), epochs, recent,
                                           first.record().classifies, (shown_rows_ - before) / seconds);
    double share = 0;
    for (const Training* t : all_) share += t->share_done() / all_.size();
    sink_->progress(sink_->self, text.c_str(), share);
    for (Training* t : live_)
      if (t->at_end()) ended(*t);
    std::erase_if(live_, at_end);
  }

  const sdk::Device& device_;
  std::vector<Training*> all_, live_;
  const mk_fit_sink* sink_;
  std::vector<const mk_op*> group_;
  bool shown_ = false;
  int64_t waiting_ = 0;          // batches that are not submitted yet
  int64_t in_flight_ = kAtOnce;  // number of batches between two waits for the device
  int64_t since_wait_ = 0;       // batches since the last wait
  double waited_at_ = 0, shown_at_ = 0;
  int64_t shown_rows_ = 0;
  storage::SaveTimer save_timer_;
};

}  // namespace

void train(std::span<Training* const> stack, const mk_fit_sink& sink, const std::function<void(Training&)>& ended) {
  StackTrainer(stack, &sink).run(ended);
}

void train(Training& training, const mk_fit_sink& sink) {
  Training* const alone[] = {&training};
  train(alone, sink, [](Training&) {});
}

int64_t run_batches(std::span<Training* const> stack, int64_t most) {
  return StackTrainer(stack, nullptr).run_batches(most);
}

void run_epoch(Training& training) {
  Training* const alone[] = {&training};
  StackTrainer trainer(alone, nullptr);
  trainer.run_batches(training.position().batches());
  trainer.end_epochs([](Training&) {});
}

}  // namespace mokume::cnn
