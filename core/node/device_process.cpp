#include "node/device_process.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/frames.hpp"
#include "config/resolved.hpp"
#include "scheduler/cores.hpp"
#include "sdk/error.hpp"

namespace mokume::node {
namespace {

constexpr std::chrono::milliseconds kGlance(20);  // how often a wish to stop is looked for

// A line of the child's own log keeps its level; anything else is a driver's, and worth seeing.
void log_line(base::Log& log, const std::string& device, const std::string& line) {
  constexpr std::pair<const char*, mk_log_level> kLevels[] = {{"mokume: debug: ", MK_LOG_DEBUG},
                                                              {"mokume: info: ", MK_LOG_INFO},
                                                              {"mokume: warning: ", MK_LOG_WARNING},
                                                              {"mokume: error: ", MK_LOG_ERROR}};
  for (const auto& [start, level] : kLevels)
    if (line.starts_with(start)) return log.write(level, device, line.substr(std::char_traits<char>::length(start)));
  log.warn(device, line);
}

void add_rows(std::vector<device::ProfileRow>& rows, const std::vector<device::ProfileRow>& more) {
  for (const device::ProfileRow& row : more) {
    const auto same = std::find_if(rows.begin(), rows.end(),
                                   [&](const auto& r) { return r.phase == row.phase && r.what == row.what; });
    if (same == rows.end()) {
      rows.push_back(row);
      continue;
    }
    same->calls += row.calls;
    same->seconds += row.seconds;
    same->flops += row.flops;
    same->bytes += row.bytes;
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
}

std::string broke_rules(const Error& error) {
  return *error.what() != '\0' ? std::string("broke the rules: ") + error.what() : "";
}

void add_counts(std::map<std::string, uint64_t>& counts, const std::map<std::string, uint64_t>& more) {
  for (const auto& [name, count] : more) counts[name] += count;
}

}  // namespace

// Who is told what comes while a request is worked on. `refused` is what that one threw: the child is told to stop, and
// once it has, that is thrown on.
struct DeviceProcess::Listener {
  cluster::Reporter& reporter;
  std::exception_ptr refused = {};

  void take(const DeviceMessage& message) {
    try {
      if (const auto* step = std::get_if<WorkProgress>(&message)) return reporter.progress(step->what, step->share);
      if (const auto* done = std::get_if<WorkRecord>(&message)) return reporter.report(done->record);
    } catch (...) {
      if (!refused) refused = std::current_exception();
      return;
    }
    throw Error(MK_DEVICE_ERROR, "it sent a message out of turn");
  }
};

DeviceProcess::DeviceProcess(const Prepared& prepared, base::Log& log, const device::Listed& listed,
                             device::Choices choices, uint64_t budget_bytes, std::vector<uint32_t> cores,
                             std::string program, std::chrono::milliseconds patience)
    : prepared_(prepared),
      log_(log),
      program_(std::move(program)),
      patience_(patience),
      title_(device_title(listed)),
      info_{listed.id(), listed.backend, listed.info.name, listed.info.vendor, listed.device_class(), budget_bytes},
      choices_(std::move(choices)),
      cores_(std::move(cores)) {
  start();
}

void DeviceProcess::start() {
  const scheduler::OnCores here(cores_);  // the child inherits them
  auto child = std::make_unique<base::Child>(
      base::ChildSetup{program_,
                       {"mokume", "device-child", std::to_string(getpid())},
                       base::environment_without_launcher(),
                       [&log = log_, id = info_.id](const std::string& line) { log_line(log, id, line); }});
  {
    const std::lock_guard lock(child_mutex_);
    child_ = std::move(child);
    if (killed_) child_->kill();  // whoever asked for that meant the work, whichever child does it
  }
  send(LoadExperiment{config::to_toml(prepared_.config())});
}

void DeviceProcess::open() { greet(OpenDevice{info_.id, info_.device_class, info_.budget_bytes, choices_}); }

void DeviceProcess::agree(const device::Choices& choices) {
  if (follows(choices_, choices)) return;
  prepare(AgreeChoices{choices});
  if (!child_) choices_ = choices;  // the next one opens with them
}

void DeviceProcess::measure() { prepare(MeasureSpeed{}); }

void DeviceProcess::begin(const std::string& run_directory, bool profile) {
  begin_ = BeginRun{run_directory, profile};
  prepare(*begin_);
}

// One device must not end a run before its first fit.
void DeviceProcess::prepare(const DeviceMessage& request) {
  if (!child_) return;
  try {
    if (std::holds_alternative<BeginRun>(request)) return send(request);
    greet(request);
  } catch (const Error& e) {
    if (e.status() != MK_DEVICE_ERROR) throw;
    log_.warn("device", e.what());
  }
}

// A child that could not open its device, or opened another, is of no use.
void DeviceProcess::greet(const DeviceMessage& request) {
  try {
    take_greeting(ask(request));
  } catch (...) {
    if (child_) {
      end_child();
      ++crashes_;
    }
    throw;
  }
}

void DeviceProcess::take_greeting(const cluster::Hello& hello) {
  if (hello.version != MOKUME_VERSION || hello.devices.size() != 1 || hello.devices[0].id != info_.id ||
      hello.devices[0].device_class != info_.device_class)
    throw Error(MK_DEVICE_ERROR, title_ + "its process speaks for another device, or is of another version");
  if (hello.plan_hash != prepared_.plan().hash)
    throw Error(MK_BAD_DATA, title_ +
                                 "its process has read other data than this one: a file of the experiment is being "
                                 "changed; run again once it is whole");
  // One that is started again has not measured it; the names are what they were.
  if (hello.devices[0].speed > 0) info_.speed = hello.devices[0].speed;
  const auto found = hello.choices.find(info_.device_class);
  choices_ = found == hello.choices.end() ? device::Choices() : found->second;
}

// A child that was lost is replaced before the next work.
void DeviceProcess::revive() {
  if (child_ && !child_->running()) {
    log_.warn(info_.id, "its process " + end_child() + " while it was idle");
    ++crashes_;
  }
  if (child_) return;
  if (crashes_ >= kMostCrashes)
    throw Error(MK_DEVICE_ERROR,
                fmt::format("{}its process was lost {} times in a row and is not started again", title_, crashes_));
  log_.info(info_.id, "another process is started for it");
  start();
  open();
  crashes_ = 0;  // of this child: the coordinator counts how often its work has failed
  if (begin_) send(*begin_);
}

void DeviceProcess::forget_kill() {
  const std::lock_guard lock(child_mutex_);
  killed_ = false;
}

void DeviceProcess::work(const cluster::WorkItem& item, cluster::Reporter& reporter) {
  forget_kill();
  revive();
  Listener listener{reporter};
  converse(cluster::Grant{0, 0, item}, listener);
}

void DeviceProcess::converse(const DeviceMessage& request, Listener& listener) {
  send(request);
  WorkEnded ended;
  try {
    ended = listen(listener);
  } catch (const Error& e) {
    lost(broke_rules(e));
  }
  crashes_ = 0;
  known_ = ended;
  choices_ = ended.choices;
  if (listener.refused) std::rethrow_exception(listener.refused);
  if (ended.status != MK_OK) throw Error(static_cast<mk_status>(ended.status), ended.text);
}

// Throws Error if the child is lost, with an empty text if it is gone.
WorkEnded DeviceProcess::listen(Listener& listener) {
  const int socket = child_->socket();
  for (bool cancelled = false;;) {
    if (!cancelled && (listener.refused || listener.reporter.cancelled())) {
      base::send_frame(socket, encode_device_message(CancelWork{}));
      cancelled = true;
    }
    if (!base::frame_waits(socket, kGlance)) continue;
    const std::optional<std::string> frame = base::receive_frame(socket);
    if (!frame) throw Error(MK_DEVICE_ERROR, "");
    DeviceMessage message = decode_device_message(*frame);
    if (auto* ended = std::get_if<WorkEnded>(&message)) return std::move(*ended);
    listener.take(message);
  }
}

cluster::Hello DeviceProcess::ask(const DeviceMessage& request) {
  send(request);
  std::optional<DeviceMessage> answer;
  const auto deadline = std::chrono::steady_clock::now() + patience_;
  while (!base::frame_waits(child_->socket(), std::min(kGlance, patience_))) {
    if (std::chrono::steady_clock::now() < deadline) continue;
    lost(fmt::format("was ended, since it did not answer within {} s",
                     std::chrono::duration<double>(patience_).count()));
  }
  try {
    const std::optional<std::string> frame = base::receive_frame(child_->socket());
    if (frame) answer = decode_device_message(*frame);
  } catch (const Error& e) {
    lost(broke_rules(e));
  }
  if (!answer) lost("");
  if (const auto* ended = std::get_if<WorkEnded>(&*answer); ended != nullptr && ended->status != MK_OK)
    throw Error(static_cast<mk_status>(ended->status), ended->text);
  if (!std::holds_alternative<cluster::Hello>(*answer)) lost("broke the rules: it sent a message out of turn");
  return std::get<cluster::Hello>(*answer);
}

void DeviceProcess::send(const DeviceMessage& message) {
  try {
    base::send_frame(child_->socket(), encode_device_message(message));
  } catch (const Error&) {
    lost("");
  }
}

// How the child ended, if it has done so by itself, else `what` it did.
void DeviceProcess::lost(const std::string& what) {
  ++crashes_;
  const bool wanted = [&] {
    const std::lock_guard lock(child_mutex_);
    return killed_;
  }();
  const std::string end = end_child();
  const bool by_itself = what.empty() || end != "was killed";
  throw Error(MK_DEVICE_ERROR, fmt::format("{}its process {}", title_,
                                           wanted      ? "was ended, since it did not come back"
                                           : by_itself ? end
                                                       : what));
}

std::string DeviceProcess::end_child() {
  std::unique_ptr<base::Child> child;
  {
    const std::lock_guard lock(child_mutex_);
    child = std::move(child_);
  }
  add_counts(earlier_.fallbacks, known_.fallbacks);
  add_rows(earlier_.profile, known_.profile);
  known_ = {};
  child->kill();  // changes nothing of an end that has begun
  return child->wait();
}

std::map<std::string, uint64_t> DeviceProcess::fallbacks() const {
  auto counts = earlier_.fallbacks;
  add_counts(counts, known_.fallbacks);
  return counts;
}

std::vector<device::ProfileRow> DeviceProcess::profiled() const {
  auto rows = earlier_.profile;
  add_rows(rows, known_.profile);
  return rows;
}

bool DeviceProcess::kill() noexcept {
  const std::lock_guard lock(child_mutex_);
  killed_ = true;
  if (child_) child_->kill();
  return true;
}

}  // namespace mokume::node
