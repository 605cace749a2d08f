#include "experiment/worker.hpp"

#include <algorithm>
#include <exception>

#include "experiment/fit_report.hpp"
#include "sdk/device.hpp"
#include "sdk/error.hpp"

namespace mokume::experiment {
namespace {

device::Choices choices_for(const cluster::ClassChoices& all, const device::Listed& listed) {
  const auto found = all.find(listed.device_class());
  return found == all.end() ? device::Choices() : found->second;
}

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

}  // namespace

Worker::Worker(const Machine& machine, const Prepared& prepared, const std::string& selection, uint32_t ranks,
               const cluster::ClassChoices& recorded)
    : machine_(machine), prepared_(prepared), listed_(machine.select(selection)) {
  budgets_ = Machine::budgets(listed_, ranks, prepared.config().memory_bytes);
  for (size_t d = 0; d < listed_.size(); ++d)
    devices_.push_back(machine.open(listed_[d], choices_for(recorded, listed_[d]), budgets_[d]));
  sessions_.assign(devices_.size(), nullptr);
}

Worker::~Worker() {
  for (mk_session* session : sessions_)
    if (session != nullptr) prepared_.model().session_destroy(session);
}

std::vector<cluster::LocalDevice> Worker::devices() const {
  std::vector<cluster::LocalDevice> list;
  for (size_t d = 0; d < listed_.size(); ++d) {
    const device::Listed& l = listed_[d];
    list.push_back({l.id(), l.backend, l.info.name, l.info.vendor, l.device_class(), budgets_[d]});
  }
  return list;
}

cluster::ClassChoices Worker::choices() const {
  cluster::ClassChoices all;
  for (size_t d = 0; d < listed_.size(); ++d)
    all[listed_[d].device_class()].insert(devices_[d]->choices().begin(), devices_[d]->choices().end());
  return all;
}

void Worker::agree(const cluster::ClassChoices& choices) {
  for (size_t d = 0; d < listed_.size(); ++d) {
    const device::Choices wanted = choices_for(choices, listed_[d]);
    const device::Choices& have = devices_[d]->choices();
    const bool same = std::all_of(wanted.begin(), wanted.end(), [&](const auto& choice) {
      const auto found = have.find(choice.first);
      return found != have.end() && found->second == choice.second;
    });
    if (same) continue;
    devices_[d].reset();
    devices_[d] = machine_.open(listed_[d], wanted, budgets_[d]);
  }
}

mk_session* Worker::session(uint32_t device) {
  if (sessions_[device] == nullptr) {
    const mk_model& model = prepared_.model();
    sdk::call(model.session_create, model.self, prepared_.model_experiment(), devices_[device]->services(),
              &sessions_[device]);
  }
  return sessions_[device];
}

void Worker::profile(const std::string& run_directory, uint32_t node) {
  profile_ = std::make_unique<ProfileFile>(run_directory, node, devices_.size());
  for (const auto& device : devices_) device->profile();
}

void Worker::on_device(uint32_t device, const char* phase, const std::function<void()>& call) {
  const auto keep = [&] {
    if (profile_) profile_->keep(device, *devices_[device]);
  };
  try {
    const sdk::Scope scope(devices_[device]->services(), MK_SCOPE_PHASE, phase);
    call();
  } catch (...) {
    keep();
    throw;
  }
  keep();
}

void Worker::work(uint32_t device, const cluster::WorkItem& item, cluster::Reporter& reporter) {
  std::vector<mk_fit> fits;
  std::vector<uint32_t> ids;
  std::vector<std::string> scratch;
  for (const uint32_t id : item.fits) scratch.push_back(scratch_ ? scratch_->fit(id) : "");
  const auto add = [&](uint32_t id, const char* note, const char* directory) {
    const search::FitKey key = prepared_.plan().key(id);
    fits.push_back({key.candidate, static_cast<int32_t>(key.fold), note != nullptr ? 1 : 0, 0, note, directory});
    ids.push_back(id);
  };
  for (size_t k = 0; k < item.fits.size(); ++k) add(item.fits[k], nullptr, scratch[k].c_str());
  for (size_t k = 0; k < item.done_fits.size(); ++k) add(item.done_fits[k], item.done_notes[k].c_str(), "");
  FitContext context{reporter, ids};
  const mk_fit_sink sink{&context, report_fit, report_progress, is_cancelled};
  const mk_model& model = prepared_.model();
  try {
    on_device(device, device::kOtherPhase, [&] {
      sdk::call(model.fit, session(device), static_cast<const mk_fit*>(fits.data()), static_cast<uint32_t>(fits.size()),
                &sink);
    });
  } catch (const Error& e) {
    if (e.status() == MK_CANCELLED) throw;
    throw Error(e.status(), listed_[device].id() + " (" + listed_[device].info.name + "): " + e.what());
  }
}

mk_fitted* Worker::refit(uint32_t candidate, const mk_fit_sink& sink) {
  mk_fitted* fitted = nullptr;
  const std::string scratch = scratch_ ? scratch_->refit() : "";
  const mk_fit fit{candidate, MK_ALL_ROWS, 0, 0, nullptr, scratch.c_str()};
  on_device(0, device::kOtherPhase, [&] { sdk::call(prepared_.model().refit, session(0), &fit, &sink, &fitted); });
  return fitted;
}

}  // namespace mokume::experiment
