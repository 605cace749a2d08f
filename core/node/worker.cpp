#include "node/worker.hpp"

#include <fmt/format.h>

#include <exception>

#include "device/core_plan.hpp"
#include "node/device_process.hpp"
#include "sdk/error.hpp"

namespace mokume::node {
namespace {

const device::Choices& choices_for(const cluster::ClassChoices& all, const std::string& device_class) {
  static const device::Choices kNone;
  const auto found = all.find(device_class);
  return found == all.end() ? kNone : found->second;
}

// Trouble of one device, which must not end a run that has others.
bool is_its_own(const Error& e) { return e.status() == MK_DEVICE_ERROR || e.status() == MK_OUT_OF_MEMORY; }

}  // namespace

Worker::Worker(const Machine& machine, const Prepared& prepared, base::Log& log, const std::string& selection,
               uint32_t ranks, const cluster::ClassChoices& recorded)
    : log_(log) {
  const std::vector<device::Listed> listed = machine.select(selection);
  const std::vector<uint64_t> budgets = Machine::budgets(listed, ranks, prepared.config().memory_bytes);
  const auto recorded_for = [&](const device::Listed& d) { return choices_for(recorded, d.device_class()); };
  std::vector<device::Listed> opened;
  std::vector<std::string> unopened;
  std::exception_ptr refusal;
  const auto add = [&](const device::Listed& d, auto&& open) {
    try {
      workers_.push_back(open());
      opened.push_back(d);
    } catch (const Error& e) {
      if (!is_its_own(e)) throw;
      refusal = std::current_exception();
      const std::string title = device_title(d), text = e.what();
      unopened.push_back((text.starts_with(title) ? "" : title) + text);
    }
  };
  if (prepared.config().isolation != "process") {
    for (size_t d = 0; d < listed.size(); ++d)
      add(listed[d], [&] {
        return std::make_unique<OwnDevice>(machine, prepared, listed[d], recorded_for(listed[d]), budgets[d]);
      });
  } else {
    // All children load the data at the same time.
    std::vector<std::unique_ptr<DeviceProcess>> children;
    for (size_t d = 0; d < listed.size(); ++d)
      children.push_back(std::make_unique<DeviceProcess>(prepared, log, listed[d], recorded_for(listed[d]), budgets[d],
                                                         machine.cores_of(listed[d])));
    for (size_t d = 0; d < listed.size(); ++d)
      add(listed[d], [&] {
        children[d]->open();
        return std::move(children[d]);
      });
  }
  if (workers_.empty() && refusal) std::rethrow_exception(refusal);
  for (const std::string& text : unopened) log_.warn("device", text + "; the run goes on without it");
  spare_ = device::spare(opened);
  for (size_t d = 0; d < opened.size(); ++d)
    if (spare_[d])
      log_.info(opened[d].id(), "it computes on the cores of faster devices, and rests while these can do the work");
}

std::vector<cluster::LocalDevice> Worker::devices() const {
  std::vector<cluster::LocalDevice> list;
  for (size_t d = 0; d < workers_.size(); ++d) {
    list.push_back(workers_[d]->info());
    list.back().spare = spare_[d];
  }
  return list;
}

cluster::ClassChoices Worker::choices() const {
  cluster::ClassChoices all;
  for (const auto& worker : workers_) {
    const device::Choices choices = worker->choices();
    all[worker->info().device_class].insert(choices.begin(), choices.end());
  }
  return all;
}

void Worker::agree(const cluster::ClassChoices& choices) {
  for (const auto& worker : workers_) worker->agree(choices_for(choices, worker->info().device_class));
}

void Worker::measure() {
  for (const auto& worker : workers_) {
    try {
      worker->measure();
    } catch (const Error& e) {
      // Of a speed that nobody knows; its first fits will show whether it works.
      if (!is_its_own(e)) throw;
      log_.warn(worker->info().id, fmt::format("its speed could not be measured: {}", e.what()));
    }
  }
}

void Worker::begin(const std::string& run_directory, uint32_t node, bool profile) {
  if (profile) profile_ = std::make_unique<ProfileFile>(run_directory, node, workers_.size());
  for (const auto& worker : workers_) worker->begin(run_directory, profile);
}

void Worker::keep_profile(uint32_t device) {
  if (!profile_) return;
  const cluster::LocalDevice info = workers_[device]->info();
  profile_->keep(device, info.id, info.name, workers_[device]->profiled());
}

void Worker::profiled(uint32_t device, const std::function<void()>& call) {
  try {
    call();
  } catch (...) {
    keep_profile(device);
    throw;
  }
  keep_profile(device);
}

void Worker::work(uint32_t device, const cluster::WorkItem& item, cluster::Reporter& reporter) {
  profiled(device, [&] { workers_[device]->work(item, reporter); });
}

OwnDevice& Worker::own(uint32_t device) const {
  auto* const own = dynamic_cast<OwnDevice*>(workers_[device].get());
  if (own == nullptr) throw Error(MK_INTERNAL, "a device in a child process cannot be in a team");
  return *own;
}

void Worker::lead(uint32_t device, const cluster::WorkItem& item, cluster::Reporter& reporter, const mk_team* team) {
  profiled(device, [&] { own(device).lead(item, reporter, team); });
}

void Worker::follow(uint32_t device, const cluster::WorkItem& item, const mk_team* team) {
  profiled(device, [&] { own(device).follow(item, team); });
}

std::vector<std::map<std::string, uint64_t>> Worker::fallbacks() const {
  std::vector<std::map<std::string, uint64_t>> all;
  for (const auto& worker : workers_) all.push_back(worker->fallbacks());
  return all;
}

}  // namespace mokume::node
