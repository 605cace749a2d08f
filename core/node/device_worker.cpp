#include "node/device_worker.hpp"

#include <algorithm>
#include <utility>

#include "base/files.hpp"
#include "node/fit_report.hpp"
#include "node/refit.hpp"
#include "sdk/device.hpp"
#include "sdk/error.hpp"

namespace mokume::node {
namespace {

// What the callbacks of one fit() call need. An Error of the reporter crosses the model as a status and is thrown again
// behind it.
struct FitContext {
  cluster::Reporter& reporter;
  const std::vector<uint32_t>& ids;  // plan id of each fit given
};

int32_t report_fit(void* self, const mk_fit_result* result, mk_error* error) {
  return sdk::guard(error, [&] {
    const auto& context = *static_cast<FitContext*>(self);
    if (result->index >= context.ids.size()) throw Error(MK_INTERNAL, "the model reported a fit it was not given");
    if (result->status < MK_FIT_OK || result->status > MK_FIT_FAILED)
      throw Error(MK_INTERNAL, "the model reported an unknown status");
    journal::FitRecord record;
    record.fit = context.ids[result->index];
    record.status = static_cast<journal::FitStatus>(result->status);
    record.n = result->n;
    if (result->values != nullptr) record.values.assign(result->values, result->values + result->n_values);
    record.note = note_of(*result);
    record.curves = curves_of(*result);
    context.reporter.report(record);
  });
}

void report_progress(void* self, const char* what, double share) {
  static_cast<FitContext*>(self)->reporter.progress(what, share);
}

int32_t is_cancelled(void* self) { return static_cast<FitContext*>(self)->reporter.cancelled() ? 1 : 0; }

class Silence : public cluster::Reporter {
 public:
  void report(const journal::FitRecord&) override {}
  void progress(const std::string&, double) override {}
  bool cancelled() const override { return false; }  // that is for the leader to see
};

}  // namespace

bool follows(const device::Choices& have, const device::Choices& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& choice) {
    const auto found = have.find(choice.first);
    return found != have.end() && found->second == choice.second;
  });
}

std::string device_title(const device::Listed& listed) { return listed.id() + " (" + listed.info.name + "): "; }

OwnDevice::OwnDevice(const Machine& machine, const Prepared& prepared, const device::Listed& listed,
                     const device::Choices& choices, uint64_t budget_bytes)
    : machine_(machine),
      prepared_(prepared),
      listed_(listed),
      budget_bytes_(budget_bytes),
      device_(machine.open(listed, choices, budget_bytes)) {}

OwnDevice::~OwnDevice() {
  if (session_ != nullptr) prepared_.model().session_destroy(session_);
}

cluster::LocalDevice OwnDevice::info() const {
  return {listed_.id(),  listed_.backend, listed_.info.name, listed_.info.vendor, listed_.device_class(),
          budget_bytes_, speed_};
}

void OwnDevice::measure() { speed_ = machine_.speed(*device_, base::cache_directory()).overall(); }

void OwnDevice::agree(const device::Choices& choices) {
  if (follows(device_->choices(), choices)) return;
  device_.reset();
  device_ = machine_.open(listed_, choices, budget_bytes_);
}

void OwnDevice::begin(const std::string& run_directory, bool profile) {
  run_directory_ = run_directory;
  if (profile) device_->profile();
}

mk_session* OwnDevice::session() {
  if (session_ == nullptr) {
    const mk_model& model = prepared_.model();
    sdk::call(model.session_create, model.self, prepared_.model_experiment(), device_->services(), &session_);
  }
  return session_;
}

void OwnDevice::in_phase(const char* phase, const std::function<void()>& call) {
  const sdk::Scope scope(device_->services(), MK_SCOPE_PHASE, phase);
  call();
}

std::vector<device::ProfileRow> OwnDevice::profiled() const {
  return device_->profiled() != nullptr ? device_->profiled()->rows() : std::vector<device::ProfileRow>();
}

// A fit's place to keep things belongs to the first device that is at it.
std::string OwnDevice::scratch_for(const cluster::WorkItem& item, uint32_t fit) const {
  return run_directory_.empty() || item.backup ? "" : Scratch(run_directory_).fit(fit);
}

// Calls of the model, with this team.
void OwnDevice::run(const mk_team* team, const std::function<void()>& call) {
  device_->join(team);
  try {
    call();
    device_->join(nullptr);
  } catch (const Error& e) {
    device_->join(nullptr);
    if (e.status() == MK_CANCELLED) throw;
    // What failed in it is unknown, and it holds memory: the next work gets a new one.
    if (session_ != nullptr) prepared_.model().session_destroy(std::exchange(session_, nullptr));
    throw Error(e.status(), device_title(listed_) + e.what());
  }
}

void OwnDevice::lead(const cluster::WorkItem& item, cluster::Reporter& reporter, const mk_team* team) {
  run(team, [&] {
    session();  // what it refuses no candidate is to blame for
    if (item.refit) {
      refit(prepared_, *this, item, run_directory_, reporter);
    } else {
      fit(item, reporter);
    }
  });
}

void OwnDevice::follow(const cluster::WorkItem& leaders, const mk_team* team) {
  cluster::WorkItem item = leaders;
  item.backup = true;  // the place to keep things is the leader's
  Silence reporter;
  run(team, [&] {
    if (!item.refit) return fit(item, reporter);
    const std::vector<uint32_t> none;
    FitContext context{reporter, none};
    const mk_fit_sink sink{&context, [](void*, const mk_fit_result*, mk_error*) -> int32_t { return MK_OK; },
                           report_progress, is_cancelled};
    try {
      prepared_.model().fitted_destroy(train_on_all_rows(item, sink));
    } catch (const Error& e) {
      if (e.status() != MK_INVALID_ARGUMENT) throw;  // the leader finds the same, and says so
    }
  });
}

void OwnDevice::fit(const cluster::WorkItem& item, cluster::Reporter& reporter) {
  std::vector<mk_fit> fits;
  std::vector<uint32_t> ids;
  std::vector<std::string> scratch;
  for (const uint32_t id : item.fits) scratch.push_back(scratch_for(item, id));
  const auto add = [&](uint32_t id, const char* note, const char* directory) {
    const search::FitKey key = prepared_.plan().key(id);
    fits.push_back(
        {key.candidate, static_cast<int32_t>(key.fold), note != nullptr ? 1 : 0, key.bootstrap, note, directory});
    ids.push_back(id);
  };
  for (size_t k = 0; k < item.fits.size(); ++k) add(item.fits[k], nullptr, scratch[k].c_str());
  for (size_t k = 0; k < item.done_fits.size(); ++k) add(item.done_fits[k], item.done_notes[k].c_str(), "");
  FitContext context{reporter, ids};
  const mk_fit_sink sink{&context, report_fit, report_progress, is_cancelled};
  in_phase(device::kOtherPhase, [&] {
    sdk::call(prepared_.model().fit, session(), static_cast<const mk_fit*>(fits.data()),
              static_cast<uint32_t>(fits.size()), &sink);
  });
}

mk_fitted* OwnDevice::train_on_all_rows(const cluster::WorkItem& item, const mk_fit_sink& sink) {
  mk_fitted* fitted = nullptr;
  const std::string scratch = scratch_for(item, item.fits.front());
  const uint32_t bootstrap = item.fits.front() - prepared_.plan().n_fits();
  const mk_fit fit{item.refit.value(), MK_ALL_ROWS, 0, bootstrap, nullptr, scratch.c_str()};
  in_phase(device::kOtherPhase, [&] { sdk::call(prepared_.model().refit, session(), &fit, &sink, &fitted); });
  return fitted;
}

}  // namespace mokume::node
