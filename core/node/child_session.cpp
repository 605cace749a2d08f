#include "node/child_session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/frames.hpp"
#include "cluster/protocol/codec.hpp"
#include "config/resolved.hpp"
#include "node/team_seat.hpp"
#include "scheduler/cores.hpp"
#include "sdk/error.hpp"

namespace mokume::node {
namespace {

constexpr std::chrono::milliseconds kGlance(20);  // interval between checks for a stop request
constexpr double kNoticeSeconds = 60;             // interval between notices that a device is still not open

// Reports that the child ended by itself, perhaps by accident. Another child helps only then, not after other errors.
class ChildGone : public Error {
 public:
  using Error::Error;
};

// Recognises a child that hangs by how little it uses the processor in a span of time.
class Idleness {
 public:
  explicit Idleness(std::chrono::milliseconds limit) : limit_(limit) {}
  // `cpu_s` is the processor time that the child has used so far.
  bool exceeds_limit(double cpu_s) {
    constexpr double kShare = 0.01;  // background threads of a driver may wake up now and then
    const auto now = std::chrono::steady_clock::now();
    if (now - since_ < limit_) return false;
    const bool idle = cpu_s - cpu_s_ < kShare * std::chrono::duration<double>(now - since_).count();
    since_ = now;
    cpu_s_ = cpu_s;
    return idle;
  }

 private:
  const std::chrono::milliseconds limit_;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  double cpu_s_ = 0;
};

// A line of the child's own log keeps its level. Other lines come from a driver and become warnings.
void log_line(base::Log& log, const std::string& device, const std::string& line) {
  constexpr std::pair<const char*, mk_log_level> kLevels[] = {{"mokume: debug: ", MK_LOG_DEBUG},
                                                              {"mokume: info: ", MK_LOG_INFO},
                                                              {"mokume: note: ", MK_LOG_NOTE},
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
  return *error.what() != '\0' ? std::string("violated the protocol: ") + error.what() : "";
}

void add_counts(std::map<std::string, uint64_t>& counts, const std::map<std::string, uint64_t>& more) {
  for (const auto& [name, count] : more) counts[name] += count;
}

}  // namespace

// Receives the child's messages during an attempt. `refused` is the first error that the handling of a message threw:
// run() tells the child to stop, waits for its end, and rethrows the error.
struct ChildSession::Listener {
  cluster::Reporter& reporter;
  const mk_team* team = nullptr;
  std::exception_ptr refused = {};

  // Returns false if the message must not arrive during an attempt.
  bool take(const cluster::Message& message, const TeamSeat::Send& send) {
    try {
      if (const auto* beat = std::get_if<cluster::Heartbeat>(&message)) {
        for (const auto& state : beat->states) reporter.progress(state.what, state.share);
      } else if (const auto* done = std::get_if<cluster::Done>(&message)) {
        for (const auto& record : done->records) reporter.report(record);
      } else {
        return team != nullptr && serve_team(*team, message, send);
      }
    } catch (...) {
      if (!refused) refused = std::current_exception();
    }
    return true;
  }
};

ChildSession::ChildSession(const Experiment& experiment, base::Log& log, const device::Listed& listed,
                           device::Choices choices, uint64_t budget_bytes, Setup setup)
    : experiment_(experiment),
      log_(log),
      setup_(std::move(setup)),
      title_(device_title(listed)),
      info_{listed.id(), listed.backend, listed.info.name, listed.info.vendor, listed.device_class(), budget_bytes},
      choices_(std::move(choices)) {
  try {
    start();
  } catch (const ChildGone&) {
    // open() starts another child.
  }
}

void ChildSession::start() {
  const scheduler::OnCores here(setup_.cores);  // the child inherits the cores
  auto child = std::make_unique<base::Child>(
      base::ChildSetup{setup_.program,
                       {"mokume", "device-child", std::to_string(getpid())},
                       base::environment_without_launcher(),
                       [&log = log_, id = info_.id](const std::string& line) { log_line(log, id, line); }});
  {
    const std::lock_guard lock(child_mutex_);
    child_ = std::move(child);
    if (killed_) child_->kill();  // the kill is for the attempt, whichever child runs it
  }
  send(cluster::Load{config::to_toml(experiment_.config())});
}

void ChildSession::open() {
  for (;;) {
    try {
      return open_once();
    } catch (const ChildGone& e) {
      if (crashes_ >= kMostCrashes) throw;
      log_.warn("device", std::string(e.what()) + " while it opened the device; starting another");
    }
  }
}

void ChildSession::open_once() {
  if (!child_) start();
  say_hello(cluster::Open{info_.id, info_.device_class, info_.budget_bytes, choices_, setup_.measure});
}

void ChildSession::begin(const device::Choices& choices, const std::string& run_directory, bool profile) {
  welcome_ = cluster::Welcome{run_directory, experiment_.plan().hash, {{info_.device_class, choices}}, profile};
  try {
    if (child_) say_hello(*welcome_);
  } catch (const Error& e) {
    if (e.status() != MK_DEVICE_ERROR) throw;
    log_.warn("device", e.what());  // one device must not stop a run before its first fit
  }
  if (!child_ && !follows(choices_, choices)) choices_ = choices;  // the next child opens the device with them
}

// Ends a child that could not open its device, or opened another device.
void ChildSession::say_hello(const cluster::Message& request) {
  try {
    accept_hello(ask(request));
  } catch (...) {
    if (child_) {
      end_child();
      ++crashes_;
    }
    throw;
  }
}

void ChildSession::accept_hello(const cluster::Hello& hello) {
  if (hello.version != MOKUME_VERSION || hello.devices.size() != 1 || hello.devices[0].id != info_.id ||
      hello.devices[0].device_class != info_.device_class)
    throw Error(MK_DEVICE_ERROR, title_ + "its process reports another device or another version");
  if (hello.plan_hash != experiment_.plan().hash)
    throw Error(MK_BAD_DATA, title_ +
                                 "its process has read different data: a file of the experiment is being changed; run "
                                 "again once it is complete");
  // A restarted child has not measured the speed; the names are unchanged.
  if (hello.devices[0].speed > 0) info_.speed = hello.devices[0].speed;
  const auto found = hello.choices.find(info_.device_class);
  choices_ = found == hello.choices.end() ? device::Choices() : found->second;
}

void ChildSession::revive() {
  if (child_ && !child_->running()) {
    log_.warn(info_.id, "its process " + end_child() + " while it was idle");
    ++crashes_;
  }
  if (child_) return;
  if (crashes_ >= kMostCrashes)
    throw Error(MK_DEVICE_ERROR,
                fmt::format("{}its process was lost {} times in a row and is not restarted", title_, crashes_));
  log_.info(info_.id, "starting another process for it");
  start();
  open();
  crashes_ = 0;  // counts failures to open the device; the coordinator counts failed attempts
  if (welcome_) say_hello(*welcome_);
}

void ChildSession::forget_kill() {
  const std::lock_guard lock(child_mutex_);
  killed_ = false;
}

void ChildSession::run(const cluster::Attempt& attempt, cluster::Reporter& reporter, const mk_team* team) {
  forget_kill();
  revive();
  if (team != nullptr) send(join_of(*team));
  send(cluster::Grant{++lease_, 0, attempt});
  Listener listener{reporter, team};
  cluster::LeaseEnd ended;
  try {
    ended = listen(listener);
  } catch (const Error& e) {
    lost(broke_rules(e));
  }
  crashes_ = 0;
  choices_ = known_.choices;
  if (listener.refused) std::rethrow_exception(listener.refused);
  if (ended.status != MK_OK) throw Error(static_cast<mk_status>(ended.status), ended.text);
}

// Throws Error if the child is lost, with an empty text if the child has ended.
cluster::LeaseEnd ChildSession::listen(Listener& listener) {
  const int socket = child_->socket();
  const auto answer = [&](const cluster::Message& message) { base::send_frame(socket, cluster::encode(message)); };
  for (bool cancelled = false;;) {
    if (!cancelled && (listener.refused || listener.reporter.cancelled())) {
      answer(cluster::Ack{{lease_}});
      if (listener.team != nullptr) answer(cluster::TeamBreak{0, "the attempt is no longer needed"});
      cancelled = true;
    }
    if (!base::frame_waits(socket, kGlance)) continue;
    auto frame = base::receive_frame(socket);
    if (!frame) throw Error(MK_DEVICE_ERROR, "");
    cluster::Message message = cluster::decode_frame(std::move(*frame));
    if (auto* account = std::get_if<cluster::Account>(&message)) {
      known_ = std::move(*account);
    } else if (auto* ended = std::get_if<cluster::LeaseEnd>(&message)) {
      return std::move(*ended);
    } else if (!listener.take(message, answer)) {
      throw Error(MK_DEVICE_ERROR, "it sent a message out of turn");
    }
  }
}

cluster::Hello ChildSession::ask(const cluster::Message& request) {
  send(request);
  wait_for_answer();
  std::optional<cluster::Message> answer;
  try {
    auto frame = base::receive_frame(child_->socket());
    if (frame) answer = cluster::decode_frame(std::move(*frame));
  } catch (const Error& e) {
    lost(broke_rules(e));
  }
  if (!answer) lost("");
  if (const auto* refused = std::get_if<cluster::Stop>(&*answer))
    throw Error(static_cast<mk_status>(refused->code), refused->reason);
  if (!std::holds_alternative<cluster::Hello>(*answer)) lost("violated the protocol: it sent a message out of turn");
  return std::get<cluster::Hello>(*answer);
}

void ChildSession::wait_for_answer() {
  const auto seconds = [](auto time) { return std::chrono::duration<double>(time).count(); };
  const auto start = std::chrono::steady_clock::now();
  Idleness idleness(setup_.idle);
  double next_notice = kNoticeSeconds;
  while (!base::frame_waits(child_->socket(), std::min({kGlance, setup_.patience, setup_.idle}))) {
    const double waited = seconds(std::chrono::steady_clock::now() - start);
    if (waited >= seconds(setup_.patience))
      lost(fmt::format("was ended because it did not answer within {} s", seconds(setup_.patience)));
    if (idleness.exceeds_limit(child_->cpu_seconds()))
      lost(fmt::format("was ended because it did nothing for {} s: its driver hangs", seconds(setup_.idle)));
    if (waited < next_notice) continue;
    log_.info(info_.id, fmt::format("its process has been loading data or opening it for {:.0f} s", waited));
    next_notice += kNoticeSeconds;
  }
}

void ChildSession::send(const cluster::Message& message) {
  try {
    base::send_frame(child_->socket(), cluster::encode(message));
  } catch (const Error&) {
    lost("");
  }
}

// Throws Error that states how the child ended, if it ended by itself, and `what` otherwise.
void ChildSession::lost(const std::string& what) {
  ++crashes_;
  const bool wanted = [&] {
    const std::lock_guard lock(child_mutex_);
    return killed_;
  }();
  const std::string end = end_child();
  const bool by_itself = what.empty() || end != "was killed";
  const std::string text = fmt::format("{}its process {}", title_,
                                       wanted      ? "was ended because it did not respond"
                                       : by_itself ? end
                                                   : what);
  if (by_itself && !wanted) throw ChildGone(MK_DEVICE_ERROR, text);
  throw Error(MK_DEVICE_ERROR, text);
}

std::string ChildSession::end_child() {
  std::unique_ptr<base::Child> child;
  {
    const std::lock_guard lock(child_mutex_);
    child = std::move(child_);
  }
  add_counts(earlier_.fallbacks, known_.fallbacks);
  add_rows(earlier_.profile, known_.profile);
  known_ = {};
  child->kill();  // no effect if it is already ending
  return child->wait();
}

std::map<std::string, uint64_t> ChildSession::fallbacks() const {
  auto counts = earlier_.fallbacks;
  add_counts(counts, known_.fallbacks);
  return counts;
}

std::vector<device::ProfileRow> ChildSession::profiled() const {
  auto rows = earlier_.profile;
  add_rows(rows, known_.profile);
  return rows;
}

bool ChildSession::kill() noexcept {
  const std::lock_guard lock(child_mutex_);
  killed_ = true;
  if (child_) child_->kill();
  return true;
}

}  // namespace mokume::node
