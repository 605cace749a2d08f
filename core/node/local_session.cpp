#include "node/local_session.hpp"

#include <utility>

#include "base/files.hpp"
#include "node/fit.hpp"
#include "node/refit.hpp"
#include "sdk/error.hpp"

namespace mokume::node {

LocalSession::LocalSession(const Machine& machine, const Experiment& experiment, const device::Listed& listed,
                           const device::Choices& choices, uint64_t budget_bytes, bool measure)
    : machine_(machine),
      experiment_(experiment),
      listed_(listed),
      budget_bytes_(budget_bytes),
      device_(machine.open(listed, choices, budget_bytes)) {
  if (measure) speed_ = machine.speed_or_warn(*device_, base::cache_directory());
}

LocalSession::~LocalSession() {
  if (session_ != nullptr) experiment_.model().session_destroy(session_);
}

cluster::LocalDevice LocalSession::info() const {
  return {listed_.id(),  listed_.backend, listed_.info.name, listed_.info.vendor, listed_.device_class(),
          budget_bytes_, speed_};
}

void LocalSession::begin(const device::Choices& choices, const std::string& run_directory, bool profile) {
  if (!follows(device_->choices(), choices)) {
    device_.reset();
    device_ = machine_.open(listed_, choices, budget_bytes_);
  }
  run_directory_ = run_directory;
  if (profile) device_->profile();
}

mk_session* LocalSession::session() {
  if (session_ == nullptr) {
    const mk_model& model = experiment_.model();
    sdk::call(model.session_create, model.self, experiment_.model_experiment(), device_->services(), &session_);
  }
  return session_;
}

std::vector<device::ProfileRow> LocalSession::profiled() const {
  return device_->profiled() != nullptr ? device_->profiled()->rows() : std::vector<device::ProfileRow>();
}

void LocalSession::run(const cluster::Attempt& attempt, cluster::Reporter& reporter, const mk_team* team) {
  const bool leads = team == nullptr || team->member == 0;
  cluster::SilentReporter silence;
  device_->join(team);
  try {
    fit_or_refit(attempt, leads ? reporter : static_cast<cluster::Reporter&>(silence), leads);
    device_->join(nullptr);
  } catch (const Error& e) {
    device_->join(nullptr);
    if (e.status() == MK_CANCELLED) throw;
    // The state of the failed session is unknown and it holds memory, so the next attempt gets a new one.
    if (session_ != nullptr) experiment_.model().session_destroy(std::exchange(session_, nullptr));
    throw Error(e.status(), device_title(listed_) + e.what());
  }
}

void LocalSession::fit_or_refit(const cluster::Attempt& attempt, cluster::Reporter& reporter, bool leads) {
  const OpenModel model{experiment_, session(), device_->services(), leads ? run_directory_ : ""};
  if (attempt.refit) {
    refit(model, attempt, reporter);
  } else {
    fit(model, attempt, reporter);
  }
}

}  // namespace mokume::node
