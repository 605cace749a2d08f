#include "node/devices.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "device/core_plan.hpp"
#include "node/child_session.hpp"
#include "node/local_session.hpp"
#include "sdk/error.hpp"

namespace mokume::node {
namespace {

const device::Choices& choices_for(const cluster::ClassChoices& all, const std::string& device_class) {
  static const device::Choices kNone;
  const auto found = all.find(device_class);
  return found == all.end() ? kNone : found->second;
}

// Reports every minute that a device is still not open, because this process cannot end a driver that hangs.
class OpeningNotice {
 public:
  OpeningNotice(base::Log& log, std::string id) : log_(log), id_(std::move(id)), thread_([this] { watch(); }) {}
  ~OpeningNotice() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    opened_.notify_one();
    thread_.join();
  }
  OpeningNotice(const OpeningNotice&) = delete;
  OpeningNotice& operator=(const OpeningNotice&) = delete;

 private:
  void watch() {
    constexpr std::chrono::seconds kPause(60);
    std::unique_lock lock(mutex_);
    for (auto waited = kPause; !opened_.wait_for(lock, kPause, [this] { return open_; }); waited += kPause)
      log_.info(id_,
                fmt::format("still opening it after {} s; with devices.isolation = \"process\" a driver that hangs "
                            "is ended and costs only its device",
                            waited.count()));
  }

  base::Log& log_;
  const std::string id_;
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
  std::thread thread_;  // declared last, because it uses the other members
};

// Returns whether only one device failed, which must not stop a run with other devices.
bool is_its_own(const Error& e) { return e.status() == MK_DEVICE_ERROR || e.status() == MK_OUT_OF_MEMORY; }

}  // namespace

device::Choices choices_of(const config::Config& config, const cluster::ClassChoices& recorded,
                           const device::Listed& listed) {
  device::Choices choices = choices_for(recorded, listed.device_class());
  choices.emplace("precision", config.precision);
  choices.emplace("numerics", config.numerics);
  return choices;
}

Devices::Devices(const Machine& machine, const Experiment& experiment, base::Log& log, uint32_t sharers,
                 const cluster::ClassChoices& recorded, bool measure)
    : log_(log) {
  const config::Config& config = experiment.config();
  const std::vector<device::Listed> listed = machine.select(config.devices);
  const std::vector<uint64_t> budgets = Machine::budgets(listed, sharers, config.memory_bytes);
  const auto recorded_for = [&](const device::Listed& d) { return choices_of(config, recorded, d); };
  if (config.isolation != "process") {
    open_all(machine, listed, [&](size_t d) {
      const OpeningNotice notice(log, listed[d].id());
      return std::make_unique<LocalSession>(machine, experiment, listed[d], recorded_for(listed[d]), budgets[d],
                                            measure);
    });
    return;
  }
  // All children load the data at the same time.
  std::vector<std::unique_ptr<ChildSession>> children;
  for (size_t d = 0; d < listed.size(); ++d)
    children.push_back(std::make_unique<ChildSession>(experiment, log, listed[d], recorded_for(listed[d]), budgets[d],
                                                      ChildSession::Setup{machine.cores_of(listed[d]), measure}));
  open_all(machine, listed, [&](size_t d) {
    children[d]->open();
    return std::move(children[d]);
  });
}

void Devices::open_all(const Machine& machine, const std::vector<device::Listed>& listed, const Open& open) {
  std::vector<device::Listed> opened;
  std::vector<std::string> unopened;
  std::exception_ptr refusal;
  for (size_t d = 0; d < listed.size(); ++d) {
    try {
      sessions_.push_back(open(d));
      opened.push_back(listed[d]);
    } catch (const Error& e) {
      if (!is_its_own(e)) throw;
      refusal = std::current_exception();
      const std::string title = device_title(listed[d]), text = e.what();
      unopened.push_back((text.starts_with(title) ? "" : title) + text);
      log_.place("device", e);
    }
  }
  if (sessions_.empty() && refusal) std::rethrow_exception(refusal);
  for (const std::string& text : unopened) log_.warn("device", text + "; the run continues without it");
  for (const device::Listed& d : opened) energy_.push_back(device::energy_meter(d.info, machine.cores_of(d)));
  spare_ = device::spare(opened);
  for (size_t d = 0; d < opened.size(); ++d)
    if (spare_[d])
      log_.info(opened[d].id(),
                "it computes on the cores of faster devices, and stays idle while these can do the work");
}

std::vector<cluster::LocalDevice> Devices::devices() const {
  std::vector<cluster::LocalDevice> list;
  for (size_t d = 0; d < sessions_.size(); ++d) {
    list.push_back(sessions_[d]->info());
    list.back().spare = spare_[d];
  }
  return list;
}

cluster::ClassChoices Devices::choices() const {
  cluster::ClassChoices all;
  for (const auto& session : sessions_) {
    const device::Choices choices = session->choices();
    all[session->info().device_class].insert(choices.begin(), choices.end());
  }
  return all;
}

void Devices::begin(const cluster::ClassChoices& choices, const std::string& run_directory, uint32_t node,
                    bool profile) {
  run_directory_ = run_directory;
  if (profile) profile_ = std::make_unique<ProfileFile>(run_directory, node, sessions_.size());
  for (const auto& session : sessions_)
    session->begin(choices_for(choices, session->info().device_class), run_directory, profile);
}

void Devices::run(uint32_t device, const cluster::Attempt& attempt, cluster::Reporter& reporter, const mk_team* team) {
  try {
    sessions_[device]->run(attempt, reporter, team);
  } catch (const Error& e) {
    if (e.status() != MK_CANCELLED) log_.place("device", e);
    keep_profile(device);
    throw;
  } catch (...) {
    keep_profile(device);
    throw;
  }
  keep_profile(device);
}

std::optional<double> Devices::energy_j(uint32_t device) {
  return energy_[device] ? energy_[device]->joules() : std::nullopt;
}

void Devices::keep_profile(uint32_t device) {
  if (!profile_) return;
  const cluster::LocalDevice info = sessions_[device]->info();
  profile_->keep(device, info.id, info.name, sessions_[device]->profiled());
}

void Devices::saved(uint32_t fit) noexcept { Scratch(run_directory_).remove_fit(fit); }

std::vector<std::map<std::string, uint64_t>> Devices::fallbacks() const {
  std::vector<std::map<std::string, uint64_t>> all;
  for (const auto& session : sessions_) all.push_back(session->fallbacks());
  return all;
}

}  // namespace mokume::node
