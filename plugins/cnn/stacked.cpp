// Networks of one shape, trained side by side: see train_together().
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "save_timer.hpp"
#include "training.hpp"

namespace mokume::cnn {
namespace {

// Batches of each network that go to the device at once: with so many, a core of a CPU stays with one network.
constexpr int64_t kAtOnce = 8;
// How long the device is not waited for, if it has more than kAtOnce batches for that long: bounds the time to a
// cancel.
constexpr double kHeedSeconds = 0.1;
constexpr int64_t kMostInFlight = 1024;  // batches

class Together {
 public:
  // `sink`: nullptr where nobody watches.
  Together(const sdk::Device& device, std::span<Training* const> members, const mk_fit_sink* sink)
      : device_(device), all_(members.begin(), members.end()), live_(all_), sink_(sink) {}

  void run(const std::function<void(Training&)>& ended) {
    for (Training* m : all_) m->restore();
    pace_.begin();
    shown_at_ = now_s();
    shown_rows_ = rows_trained();
    for (Training* m : live_) m->begin_epoch();
    heeded_at_ = now_s();
    while (!live_.empty()) {
      run_batch();
      if (at_end_of_an_epoch()) end_epochs(ended);
      if (++unheeded_ < in_flight_ || live_.empty()) continue;
      unheeded_ = 0;
      flush();
      device_.finish();
      adapt();
      heed();
      show(ended);
    }
  }

  int64_t run_batches(int64_t most) {
    int64_t done = 0;
    for (Training* m : live_)
      if (m->at_start_of_epoch()) m->begin_epoch();
    while (done < most && !live_.front()->at_end_of_epoch()) {
      run_batch();
      ++done;
    }
    flush();
    device_.finish();
    return done;
  }

  void end_epochs(const std::function<void(Training&)>& ended) {
    std::vector<Training*> at_end;
    for (Training* m : live_)
      if (m->at_end_of_epoch()) at_end.push_back(m);
    flush();
    device_.finish();
    for (Training* m : at_end) m->end_epoch();
    validate(at_end);
    for (Training* m : at_end) {
      m->end_validation();
      m->at_end() ? ended(*m) : m->begin_epoch();
    }
    std::erase_if(live_, [](const Training* m) { return m->at_end(); });
  }

 private:
  bool at_end_of_an_epoch() const {
    return std::any_of(live_.begin(), live_.end(), [](const Training* m) { return m->at_end_of_epoch(); });
  }

  // One batch of each. They wait for some more, unless somebody wants to know which phase takes how long.
  void run_batch() {
    for (const Training::Phase phase : Training::kPhases) {
      const auto scope = device_.phase(Training::name(phase));
      for (Training* m : live_) m->put(phase);
      if (device_.profiled()) submit(live_);
    }
    for (Training* m : live_) m->end_batch();
    if (++waiting_ == kAtOnce) flush();
  }

  void flush() {
    submit(live_);
    waiting_ = 0;
  }

  void validate(const std::vector<Training*>& members) {
    const auto scope = device_.phase("validate");
    std::vector<Training*> rest = members;
    for (int64_t k = 0; !rest.empty(); ++k) {
      std::erase_if(rest, [&](Training* m) { return !m->put_validation(k); });
      if ((k + 1) % kAtOnce == 0) submit(members);
    }
    submit(members);
  }

  // What they have queued: those with equal batches as one group.
  void submit(std::vector<Training*> waiting) {
    while (!waiting.empty()) {
      const std::vector<int64_t>& rows = waiting.front()->queued_rows();
      const auto rest = std::stable_partition(waiting.begin() + 1, waiting.end(),
                                              [&](const Training* m) { return m->queued_rows() == rows; });
      submit_equal({waiting.data(), static_cast<size_t>(rest - waiting.begin())});
      waiting.erase(waiting.begin(), rest);
    }
  }

  void submit_equal(std::span<Training* const> members) {
    const size_t each = members.front()->queue().size();
    if (each == 0) return;
    group_.clear();
    for (Training* m : members) group_.push_back(m->queue().data());
    if (group_.size() > 1)
      device_.submit_group(group_, each);
    else
      for (size_t k = 0; k < each; ++k) device_.submit(group_.front()[k]);
    for (Training* m : members) m->clear_queue();
  }

  // Small networks are waited for after more batches.
  void adapt() {
    const double now = now_s(), seconds = now - std::exchange(heeded_at_, now);
    if (seconds < kHeedSeconds / 2) in_flight_ = std::min(2 * in_flight_, kMostInFlight);
    if (seconds > kHeedSeconds) in_flight_ = std::max(in_flight_ / 2, kAtOnce);
  }

  // Everything queued is done.
  void heed() {
    const bool cancelled = sink_->cancelled(sink_->self) != 0;
    const double start = now_s();
    if (cancelled || pace_.due()) {
      for (Training* m : live_) m->save();
      pace_.saved(start);
    }
    if (cancelled) throw Error(MK_CANCELLED, "stopped");
  }

  int64_t rows_trained() const {
    int64_t rows = 0;
    for (const Training* m : all_) rows += m->rows_trained();
    return rows;
  }

  // Twice a second; and those whose loss is no number any more need not wait for the end of their epoch.
  void show(const std::function<void(Training&)>& ended) {
    const double now = now_s(), seconds = now - shown_at_;
    if (shown_ && seconds < kShowSeconds) return;
    shown_ = true;
    shown_at_ = now;
    const int64_t before = std::exchange(shown_rows_, rows_trained());
    const double rate = static_cast<double>(shown_rows_ - before) / seconds;
    Score recent;
    for (Training* m : live_) {
      const Score s = m->recent_score();
      if (!std::isfinite(s.loss)) {
        m->diverge();
        continue;
      }
      recent.loss += s.loss * static_cast<double>(s.rows);
      recent.hits += s.hits;
      recent.rows += s.rows;
    }
    const Training& first = *live_.front();
    std::array<char, 160> text{};
    std::array<char, 32> right{}, networks{};
    if (first.classifies()) std::snprintf(right.data(), right.size(), ", %.1f %% right", 100 * recent.accuracy());
    if (live_.size() > 1) std::snprintf(networks.data(), networks.size(), "%zu networks, ", live_.size());
    std::snprintf(text.data(), text.size(), "%sepoch %lld/%lld: loss %.4g%s, %.0f rows/s", networks.data(),
                  static_cast<long long>(std::min(first.epochs_done() + 1, first.epochs())),
                  static_cast<long long>(first.epochs()), recent.loss / static_cast<double>(recent.rows), right.data(),
                  rate);
    double share = 0;
    for (const Training* m : all_) share += m->share_done() / static_cast<double>(all_.size());
    sink_->progress(sink_->self, text.data(), share);
    for (Training* m : live_)
      if (m->at_end()) ended(*m);
    std::erase_if(live_, [](const Training* m) { return m->at_end(); });
  }

  const sdk::Device& device_;
  std::vector<Training*> all_, live_;
  const mk_fit_sink* sink_;
  std::vector<const mk_op*> group_;
  bool shown_ = false;
  int64_t waiting_ = 0;          // batches that the device has not got yet
  int64_t in_flight_ = kAtOnce;  // batches between two looks at what is wished
  int64_t unheeded_ = 0;         // batches since the last one
  double heeded_at_ = 0;
  double shown_at_ = 0;
  int64_t shown_rows_ = 0;
  SavePace pace_;
};

}  // namespace

void train_together(const sdk::Device& device, std::span<Training* const> members, const mk_fit_sink& sink,
                    const std::function<void(Training&)>& ended) {
  Together(device, members, &sink).run(ended);
}

int64_t run_batches(const sdk::Device& device, std::span<Training* const> members, int64_t most) {
  return Together(device, members, nullptr).run_batches(most);
}

void Training::run(const mk_fit_sink& sink) {
  Training* const self = this;
  train_together(device_, {&self, 1}, sink, [](Training&) {});
}

void Training::run_epoch() {
  Training* const self = this;
  Together alone(device_, {&self, 1}, nullptr);
  alone.run_batches(batches());
  alone.end_epochs([](Training&) {});
}

}  // namespace mokume::cnn
