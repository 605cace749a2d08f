#include "node/local_session.hpp"

#include <utility>

#include "base/files.hpp"
#include "node/fit.hpp"
#include "node/refit.hpp"
#include "sdk/error.hpp"

namespace mokume::node {
namespace {

void report_failed(const cluster::Attempt& attempt, const std::string& why, cluster::Reporter& reporter) {
  for (const uint32_t id : attempt.fits) {
    journal::FitRecord record;
    record.fit = id;
    record.status = journal::FitStatus::failed;
    record.note = why;
    reporter.report(record);
  }
}

}  // namespace

LocalSession::LocalSession(const Machine& machine, const Experiment& experiment, const device::Listed& listed,
                           const device::Choices& choices, uint64_t budget_bytes, bool measure)
    : machine_(machine),
      experiment_(experiment),
      listed_(listed),
      budget_bytes_(budget_bytes),
      device_(machine.open(listed, choices, budget_bytes)) {
  if (measure) speed_ = machine.speed_or_warn(*device_, base::cache_directory());
}

LocalSession::~LocalSession() { end_session(); }

void LocalSession::end_session() {
  if (session_ != nullptr) experiment_.model().session_destroy(std::exchange(session_, nullptr));
  fold_experiment_.reset();
}

cluster::LocalDevice LocalSession::info() const {
  return {listed_.id(),  listed_.backend, listed_.info.name, listed_.info.vendor, listed_.device_class(),
          budget_bytes_, speed_};
}

void LocalSession::begin(const device::Choices& choices, const std::string& run_directory, bool profile) {
  if (!follows(device_->choices(), choices)) {
    device_.reset();
    device_ = machine_.open(listed_, choices, budget_bytes_);
    if (!follows(device_->choices(), choices))
      throw Error(MK_DEVICE_ERROR, device_title(listed_) +
                                       "it cannot repeat the choices that run.json records for its class: "
                                       "exclude it with --devices, or start a new run");
  }
  run_directory_ = run_directory;
  if (profile) device_->profile();
}

std::vector<device::ProfileRow> LocalSession::profiled() const {
  return device_->profiled() != nullptr ? device_->profiled()->rows() : std::vector<device::ProfileRow>();
}

void LocalSession::run(const cluster::Attempt& attempt, cluster::Reporter& reporter, const mk_team* team) {
  const bool leads = team == nullptr || team->member == 0;
  cluster::SilentReporter silence;
  cluster::Reporter& to = leads ? reporter : silence;
  const std::shared_ptr<void> alone_again(nullptr, [this](void*) { device_->join(nullptr); });
  device_->join(team);
  const uint32_t group = experiment_.group_of(attempt.fits.front());
  const mk_model& table = experiment_.model();
  if (group != group_) end_session();
  group_ = group;
  try {
    if (session_ == nullptr) {
      if (group != 0) fold_experiment_ = experiment_.fold_experiment(group);
      const mk_experiment* inputs = group != 0 ? fold_experiment_->get() : experiment_.model_experiment();
      sdk::call(table.session_create, table.self, inputs, device_->services(), &session_);
    }
    const OpenModel model{experiment_, session_, device_->services(), leads ? run_directory_ : "", leads};
    attempt.refit ? refit(model, attempt, to) : fit(model, attempt, to);
  } catch (...) {
    const Error e = sdk::current_error();
    if (e.status() == MK_CANCELLED) throw;
    // The inputs of this fold are at fault, not the device.
    if (session_ == nullptr && group != 0 && e.status() == MK_BAD_DATA) return report_failed(attempt, e.what(), to);
    // The failed session has an unknown state and holds memory, so the next attempt gets a new one.
    end_session();
    throw Error(e.status(), device_title(listed_) + e.what(), e.thrown_at());
  }
}

}  // namespace mokume::node
