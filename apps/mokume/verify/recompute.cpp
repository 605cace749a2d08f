#include "verify/recompute.hpp"

#include <algorithm>

#include "journal/bounds.hpp"
#include "sdk/error.hpp"

namespace mokume::app {
namespace {

// Keeps the record that the model reports for the only fit of an attempt.
class KeptRecord : public cluster::Reporter {
 public:
  KeptRecord(const std::atomic<bool>& stop, const device::Trace* trace) : stop_(stop), trace_(trace) {}

  void report(const journal::FitRecord& record) override { record_ = record; }
  void progress(const std::string&, double) override {}
  bool cancelled() const override { return stop_.load() || (trace_ != nullptr && trace_->full()); }
  std::optional<journal::FitRecord> take() { return std::move(record_); }

 private:
  const std::atomic<bool>& stop_;
  const device::Trace* trace_;
  std::optional<journal::FitRecord> record_;
};

}  // namespace

RecordedFits::RecordedFits(const node::Experiment& experiment, const results::RunView& view)
    : experiment_(experiment), view_(view), bundles_(experiment.bundles(1)) {
  for (const auto* records : {&view.records, &view.refits})
    for (const journal::FitRecord& one : *records)
      if (journal::has_result(one.status)) records_[one.fit] = &one;
  for (size_t b = 0; b < bundles_.size(); ++b)
    for (const uint32_t fit : bundles_[b].fits) bundle_of_[fit] = b;
}

std::vector<uint32_t> RecordedFits::slots() const {
  std::vector<uint32_t> slots;
  for (const auto& [slot, record] : records_) slots.push_back(slot);
  return slots;
}

const journal::FitRecord* RecordedFits::find(uint32_t slot) const {
  const auto found = records_.find(slot);
  return found == records_.end() ? nullptr : found->second;
}

cluster::Attempt RecordedFits::attempt_at(uint32_t slot) const {
  const search::Plan& plan = experiment_.plan();
  cluster::Attempt attempt;
  attempt.fits = {slot};
  if (!plan.is_refit(slot)) {
    for (const uint32_t fit : bundles_.at(bundle_of_.at(slot)).fits)
      if (fit != slot) add_note(fit, attempt);
    return attempt;
  }
  attempt.refit = find(slot)->refit.value_or(0);
  if (!plan.has(*attempt.refit, slot - plan.n_fits()))
    throw Error(MK_BAD_DATA, "the journal has a refit of a candidate that its bootstrap does not have");
  for (uint32_t fold = plan.folds - plan.folds_in_rung(); fold < plan.folds; ++fold)
    add_note(plan.fit_id(*attempt.refit, slot - plan.n_fits(), fold), attempt);
  return attempt;
}

void RecordedFits::add_note(uint32_t fit, cluster::Attempt& attempt) const {
  const journal::FitRecord* const record = find(fit);
  if (record == nullptr) return;
  attempt.done_fits.push_back(fit);
  attempt.done_notes.push_back(record->note);
}

bool RecordedFits::must_be_equal(const journal::FitRecord& a, const journal::FitRecord& b) const {
  return experiment_.config().numerics == "strict" || a.device_class == b.device_class;
}

Recomputation::Recomputation(const RecordedFits& fits, const Site& site, const std::atomic<bool>& stop,
                             device::Trace* trace)
    : fits_(fits),
      stop_(stop),
      trace_(trace),
      session_(*site.machine, fits.experiment(), site.listed, site.choices, site.budget_bytes, false) {
  session_.begin(site.choices, "", false);
  if (trace != nullptr) session_.trace(*trace);
}

std::optional<journal::FitRecord> Recomputation::compute(uint32_t slot) {
  KeptRecord kept(stop_, trace_);
  try {
    session_.run(fits_.attempt_at(slot), kept, nullptr);
  } catch (const Error& e) {
    if (e.status() != MK_CANCELLED || stop_.load()) throw;
    return std::nullopt;
  }
  std::optional<journal::FitRecord> record = kept.take();
  if (!record) throw Error(MK_DEVICE_ERROR, "the model reported no result; its library is faulty");
  const cluster::LocalDevice device = session_.info();
  record->device = device.id;
  record->device_class = device.device_class;
  if (record->refit)
    journal::check_refit(*record, fits_.experiment().bounds());
  else
    journal::check_fit(*record, fits_.experiment().bounds());
  return record;
}

}  // namespace mokume::app
