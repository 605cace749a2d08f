#include "run/eta.hpp"

#include <algorithm>
#include <utility>

namespace mokume::run {
namespace {

// Deliveries that follow each other faster than kBatchPause belong to one batch, for at most kLongBatch.
constexpr double kBatchPause = 0.25, kLongBatch = 1;  // seconds

}  // namespace

Eta::Eta(const scheduler::Workload& workload, uint64_t slots, const std::vector<journal::FitRecord>& done, double now_s,
         std::vector<double> chances)
    : costs_(workload.positions, scheduler::guesses_of(workload), {}),
      chances_(std::move(chances)),
      is_done_(slots, false),
      start_s_(now_s) {
  fits_ = std::min<uint64_t>(scheduler::guesses_of(workload).size(), slots);
  if (!workload.bundles.empty())
    fits_per_bundle_ = static_cast<double>(fits_) / static_cast<double>(workload.bundles.size());
  for (uint32_t slot = 0; slot < slots; ++slot) left_ += chance(slot);
  weigh();
  std::vector<journal::FitRecord> by_time = done;
  std::stable_sort(by_time.begin(), by_time.end(), [](const auto& a, const auto& b) { return a.end_s < b.end_s; });
  for (const journal::FitRecord& one : by_time) this->done(one);
  for (auto& [device, batch] : batches_) observe(batch);
  batches_.clear();
  weigh();
  before_ = done_;
}

void Eta::done(const journal::FitRecord& record) {
  if (record.fit >= is_done_.size() || is_done_[record.fit]) return;
  is_done_[record.fit] = true;
  left_ = std::max(0.0, left_ - 1);
  done_ += work(record.fit);
  if (record.fit >= fits_ || !(record.end_s > record.start_s)) return;
  team_ |= record.device == journal::kTeamDevice;
  Batch& batch = batches_[{record.node, record.device}];
  const bool ended = record.end_s - batch.end_s > kBatchPause || batch.end_s - batch.first_s > kLongBatch;
  if (ended) observe(batch);
  if (batch.fits.empty())
    batch = {record.device_class, {}, std::max(batch.end_s, record.start_s), record.end_s, record.end_s};
  batch.fits.push_back(record.fit);
  batch.end_s = std::max(batch.end_s, record.end_s);
}

void Eta::settle(double now_s) {
  for (auto& [device, batch] : batches_)
    if (now_s - batch.end_s > kBatchPause) observe(batch);
}

void Eta::observe(Batch& batch) {
  if (batch.fits.empty()) return;
  const auto found = classes_.find(batch.device_class);
  const uint32_t place = found != classes_.end() ? found->second : costs_.add_class(0);
  classes_[batch.device_class] = place;
  for (const uint32_t fit : batch.fits) done_ -= work(fit);
  costs_.observe(place, batch.fits, batch.end_s - batch.begin_s);
  for (const uint32_t fit : batch.fits) done_ += work(fit);
  batch.fits.clear();
  if (costs_.version() != learned_) weigh();
}

double Eta::work(uint32_t slot) const { return slot < fits_ ? costs_.work(slot) : refit_; }

void Eta::weigh() {
  total_ = done_ = 0;
  for (uint32_t fit = 0; fit < fits_; ++fit) total_ += chance(fit) * costs_.work(fit);
  refit_ = fits_ > 0 ? total_ / static_cast<double>(fits_) : 1;
  total_ += refit_ * static_cast<double>(is_done_.size() - fits_);
  for (uint32_t slot = 0; slot < is_done_.size(); ++slot)
    if (is_done_[slot]) done_ += work(slot);
  learned_ = costs_.version();
}

// Returns the work that the devices do in a second.
double Eta::power(const std::vector<std::string>& classes) const {
  double sum = 0, largest = 0;
  for (const std::string& device_class : classes) {
    const auto found = classes_.find(device_class);
    const double speed = found == classes_.end() ? 1 : costs_.speed(found->second);
    sum += speed;
    largest = std::max(largest, speed);
  }
  return team_ ? largest : sum;
}

std::optional<double> Eta::seconds_left(double now_s, const std::vector<std::string>& classes, double running,
                                        double gained) const {
  if (left_ < 0.5) return 0;
  const double mean = std::max(0.0, total_ - done_) / left_;
  if (!costs_.knows_seconds()) {
    const double bundle = mean * fits_per_bundle_, worked = done_ - before_ + gained * bundle;
    if (worked <= 0 || now_s - start_s_ < 1) return std::nullopt;
    return (now_s - start_s_) / worked * std::max(0.0, total_ - done_ - running * bundle);
  }
  // The share of a bundle of many fits tells little about its time, and these fits arrive while it runs.
  const double under_way = fits_per_bundle_ < 2 ? running * mean : 0;
  const double able = power(classes);
  if (!(able > 0)) return std::nullopt;
  return std::max(0.0, total_ - done_ - under_way) / able;
}

}  // namespace mokume::run
