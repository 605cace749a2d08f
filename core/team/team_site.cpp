#include "team/team_site.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/sealed.hpp"
#include "report/tables/team.hpp"
#include "sdk/error.hpp"

namespace mokume::team {
namespace {

constexpr int k_kept_bytes = 1 << 30;
constexpr size_t k_most_splits = 10000;
constexpr double k_end_s = 30;  // for the others to return once the leader has
constexpr uint64_t k_most_bytes = uint64_t{1} << 26;

std::string account_file(const std::string& run_directory) { return run_directory + "/logs/team.json"; }

// Devices of one class count as equally fast where what they measured may differ by noise: they may have unequal
// numbers of cores.
std::vector<double> speeds_by_class(const std::vector<cluster::LocalDevice>& devices) {
  constexpr double k_noise = 1.3;
  std::vector<size_t> order(devices.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tie(devices[a].device_class, devices[a].speed) < std::tie(devices[b].device_class, devices[b].speed);
  });
  std::vector<double> speeds(devices.size());
  for (size_t first = 0, end = 0; first < order.size(); first = end) {
    const cluster::LocalDevice& slowest = devices[order[first]];
    double sum = 0;
    for (; end < order.size() && devices[order[end]].device_class == slowest.device_class &&
           devices[order[end]].speed <= k_noise * slowest.speed;
         ++end)
      sum += devices[order[end]].speed;
    for (size_t k = first; k < end; ++k) speeds[order[k]] = sum / static_cast<double>(end - first);
  }
  return speeds;
}

// Passes reports on, and keeps what is needed to start again behind them.
class Recorder : public cluster::Reporter {
 public:
  Recorder(cluster::Reporter& to, const cluster::WorkItem& item) : to_(to), left_(item) {}

  void report(const journal::FitRecord& record) override {
    to_.report(record);
    const auto found = std::find(left_.fits.begin(), left_.fits.end(), record.fit);
    if (found == left_.fits.end()) return;
    left_.fits.erase(found);
    left_.done_fits.push_back(record.fit);
    left_.done_notes.push_back(record.note);
  }
  void progress(const std::string& what, double share) override { to_.progress(what, share); }
  bool cancelled() const override { return to_.cancelled(); }

  const cluster::WorkItem& left() const { return left_; }

 private:
  cluster::Reporter& to_;
  cluster::WorkItem left_;
};

}  // namespace

TeamSite::TeamSite(node::Worker& worker, base::Log& log, uint32_t node,
                   const std::vector<std::vector<cluster::LocalDevice>>& nodes, double patience_s)
    : worker_(worker), log_(log), node_(node), patience_s_(patience_s) {
  // Gradients come and go in vectors of many megabytes, thousands of times. By default the C library gives their pages
  // back each time and has them cleared anew: more work than the sums (4 MB: 20 ms a step instead of 6).
  mallopt(M_MMAP_THRESHOLD, k_kept_bytes);
  mallopt(M_TRIM_THRESHOLD, k_kept_bytes);
  for (uint32_t n = 0; n < nodes.size(); ++n)
    for (uint32_t d = 0; d < nodes[n].size(); ++d)
      if (!nodes[n][d].spare) members_.push_back({{n, d, 0}, nodes[n][d], false});
  if (!nodes.empty() && (members_.empty() || members_.front().at.node != 0))
    throw Error(MK_DEVICE_ERROR, "the team's leader is a device of node 0, and it has none: see mokume devices");
  channel_.received = [this](uint32_t from, std::string_view frame, const std::shared_ptr<char>& owner) {
    received(from, frame, owner);
  };
  channel_.lost = [this](uint32_t lost) { lose(lost); };
  channel_.busy = [this] { return busy(); };
}

TeamSite::~TeamSite() { end(); }

bool TeamSite::end() {
  channel_.on_ring({});
  {
    const std::lock_guard lock(mutex_);
    if (attempt_ && attempt_->team) attempt_->team->break_up("the run ends");
  }
  const double start = base::steady_s();
  while (working() && base::steady_s() - start < k_end_s) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  reap();
  for (Work& work : works_) work.thread.detach();
  return std::exchange(works_, {}).empty();
}

bool TeamSite::working() {
  const std::lock_guard lock(mutex_);
  return std::any_of(works_.begin(), works_.end(), [](const Work& work) { return !work.state->done; });
}

// Joins those that have ended, without the lock that their last words may need.
void TeamSite::reap() {
  std::vector<Work> ended;
  {
    const std::lock_guard lock(mutex_);
    const auto first = std::partition(works_.begin(), works_.end(), [](const Work& work) { return !work.state->done; });
    std::move(first, works_.end(), std::back_inserter(ended));
    works_.erase(first, works_.end());
  }
  for (Work& work : ended) work.thread.join();
}

cluster::LocalDevice TeamSite::device() const {
  std::set<std::string> names, classes;
  cluster::LocalDevice all = members_.front().device;
  std::set<uint32_t> nodes;
  all.speed = 0;
  for (const Member& m : members_) {
    names.insert(m.device.name);
    classes.insert(m.device.device_class);
    nodes.insert(m.at.node);
    all.speed += m.device.speed;
    all.budget_bytes = std::min(all.budget_bytes, m.device.budget_bytes);
    if (m.device.backend != all.backend) all.backend = "mixed";
    if (m.device.vendor != all.vendor) all.vendor = "mixed";
  }
  all.id = kId;
  all.name = fmt::format("{} x {}{}", members_.size(), *names.begin(), names.size() > 1 ? " and others" : "");
  if (nodes.size() > 1) all.name += fmt::format(" on {} nodes", nodes.size());
  if (classes.size() > 1) all.device_class = "team of mixed classes";
  return all;
}

// ---- rank 0 ----

void TeamSite::work(const cluster::WorkItem& item, cluster::Reporter& reporter) {
  Recorder recorder(reporter, item);
  while (true) {
    const std::shared_ptr<Attempt> attempt = begin(recorder.left());
    try {
      const mk_team* team = attempt->team ? attempt->team->table(0) : nullptr;
      worker_.lead(attempt->members.front().device, attempt->item, recorder, team);
      wait_for_others(*attempt);
      write_account();
      drop_failed(*attempt, MK_OK);  // they have done what was asked of them; what failed is for the next item
      return;
    } catch (const Error& e) {
      break_up(*attempt, e.what());
      write_account();
      wait_for_others(*attempt);
      // What the leader's device fails at as well speaks against the work.
      const bool fewer = drop_failed(*attempt, e.status());
      const bool broken = e.status() == MK_DEVICE_ERROR && drop_leader(*attempt, e.what());
      if (!(fewer && e.status() == MK_CANCELLED) && !broken) throw;
      if (reporter.cancelled()) throw;
      reporter.progress("going on without a device of the team", 0);
    }
  }
}

std::shared_ptr<TeamSite::Attempt> TeamSite::begin(const cluster::WorkItem& item) {
  auto attempt = std::make_shared<Attempt>();
  std::vector<cluster::LocalDevice> devices;
  attempt->item = item;
  std::vector<uint32_t> local;
  {
    const std::lock_guard lock(mutex_);
    attempt->number = ++attempts_;
    for (const Member& m : members_) {
      if (m.left) continue;
      if (m.at.node == node_) local.push_back(static_cast<uint32_t>(attempt->members.size()));
      attempt->members.push_back(m.at);
      devices.push_back(m.device);
    }
  }
  if (attempt->members.size() > 1) {
    const std::vector<double> speeds = speeds_by_class(devices);
    for (size_t k = 0; k < speeds.size(); ++k) attempt->members[k].speed = speeds[k];
    std::set<uint32_t> others;
    for (const cluster::TeamMember& m : attempt->members)
      if (m.node != node_) others.insert(m.node);
    Team::Setup setup{speeds, local, true, {}, {}, {}, patience_s_, splits_to_repeat(*attempt)};
    if (!others.empty()) {
      setup.publish = [this, others, number = attempt->number](uint64_t sum_number, const cluster::Floats& sum) {
        const auto frame =
            std::make_shared<const std::string>(cluster::encode_frame(cluster::TeamSum{number, sum_number, sum}));
        for (const uint32_t node : others) channel_.send(node, frame);
      };
    }
    setup.account = [this, a = attempt.get()](double elapsed_s, std::span<const double> busy_s,
                                              std::span<const double> units, const std::string& shares,
                                              const std::string& at) {
      account(*a, elapsed_s, busy_s, units, shares, at);
    };
    attempt->team = std::make_shared<Team>(std::move(setup));
    for (uint32_t k = 1; k < attempt->members.size(); ++k) attempt->running.insert(k);
  } else if (members_.size() > 1 || !account_.splits.empty()) {
    keep_split({item.fits.front(), "the last checkpoint", "1"});  // the others are gone
  }
  {
    const std::lock_guard lock(mutex_);
    attempt_ = attempt;
  }
  send_to_nodes(*attempt, cluster::TeamStart{attempt->number, attempt->members, item});
  run_members(attempt);
  return attempt;
}

void TeamSite::send_to_nodes(const Attempt& attempt, const cluster::TeamFrame& frame) {
  std::set<uint32_t> nodes;
  for (const cluster::TeamMember& m : attempt.members)
    if (m.node != node_) nodes.insert(m.node);
  for (const uint32_t node : nodes) channel_.send(node, cluster::encode_frame(frame));
}

// Among this rank's members.
void TeamSite::break_here(Attempt& attempt, const std::string& why) {
  if (attempt.team) attempt.team->break_up(why);
  const std::lock_guard lock(mutex_);
  if (!attempt.broken_at) attempt.broken_at = base::steady_s();
}

void TeamSite::break_up(Attempt& attempt, const std::string& why) {
  break_here(attempt, why);
  {
    const std::lock_guard lock(mutex_);
    if (attempt.running.empty()) return;  // nobody is there to be told
  }
  send_to_nodes(attempt, cluster::TeamBreak{attempt.number, why});
}

// A member that does not come back is left behind.
void TeamSite::wait_for_others(Attempt& attempt) {
  if (!attempt.team) return;
  bool late = false;
  {
    std::unique_lock lock(mutex_);
    for (const uint32_t index : attempt.team->missing())
      if (index != 0)
        attempt.failed.try_emplace(index,
                                   Failure{MK_OK, fmt::format("it has given nothing for {:.0f} s", patience_s_)});
    const auto limit = std::chrono::duration<double>(k_end_s);
    changed_.wait_for(lock, limit, [&] { return attempt.running.empty(); });
    for (const uint32_t index : attempt.running)
      attempt.failed.try_emplace(index, Failure{MK_OK, "it has not come back from its work"});
    late = !attempt.running.empty();
  }
  if (late) break_up(attempt, "a device of the team has not come back from its work");
}

// Those that have failed, but for those that failed as `everybody` did, MK_OK for nobody. Whether the next attempt has
// fewer members.
bool TeamSite::drop_failed(const Attempt& attempt, mk_status everybody) {
  bool any = false;
  const std::lock_guard lock(mutex_);
  for (const auto& [index, failure] : attempt.failed)
    if (everybody == MK_OK || failure.status != everybody) {
      drop(attempt.members[index], failure.why);
      any = true;
    }
  return any;
}

// The leader's device has failed, and no other: whether another one of this rank can lead from now on.
bool TeamSite::drop_leader(const Attempt& attempt, const std::string& why) {
  const std::lock_guard lock(mutex_);
  const auto fails_too = [](const auto& f) { return f.second.status == MK_DEVICE_ERROR; };
  if (std::any_of(attempt.failed.begin(), attempt.failed.end(), fails_too)) return false;
  const auto left =
      std::count_if(members_.begin(), members_.end(), [&](const Member& m) { return m.at.node == node_ && !m.left; });
  if (left < 2) return false;
  drop(attempt.members.front(), why);
  return true;
}

void TeamSite::drop(const cluster::TeamMember& at, const std::string& why) {
  for (Member& m : members_)
    if (m.at.node == at.node && m.at.device == at.device && !m.left) {
      m.left = true;
      log_.warn("team", fmt::format("node {} {} leaves the team: {}", at.node, m.device.id, why));
    }
}

void TeamSite::ended(uint32_t from, const cluster::TeamEnded& ended) {
  std::shared_ptr<Attempt> attempt;
  {
    const std::lock_guard lock(mutex_);
    attempt = attempt_;
    if (!attempt || attempt->number != ended.attempt) return;
    if (ended.member == 0 || ended.member >= attempt->members.size() || attempt->members[ended.member].node != from)
      throw Error(MK_INTERNAL, "a node speaks for a member of the team that it has not got");
    attempt->running.erase(ended.member);
    if (ended.status != MK_OK && ended.status != MK_CANCELLED)
      attempt->failed.try_emplace(ended.member, Failure{static_cast<mk_status>(ended.status), ended.text});
    changed_.notify_all();
  }
  if (ended.status != MK_OK) break_here(*attempt, ended.text);
}

// Its members are gone.
void TeamSite::lose(uint32_t node) {
  std::shared_ptr<Attempt> attempt;
  {
    const std::lock_guard lock(mutex_);
    attempt = attempt_;
    if (!attempt || !attempt->team) return;
    if (node_ == 0) {
      bool any = false;
      for (uint32_t k = 0; k < attempt->members.size(); ++k)
        if (attempt->members[k].node == node &&
            attempt->failed.try_emplace(k, Failure{MK_OK, "its node is gone"}).second) {
          any = true;
          attempt->running.erase(k);
        }
      if (!any) return;
      changed_.notify_all();
    }
  }
  break_here(*attempt, fmt::format("node {} is gone", node));
}

void TeamSite::keep_account(const std::string& run_directory) {
  run_directory_ = run_directory;
  account_ = read_team_account(run_directory);
}

void TeamSite::repeat_splits(const std::string& run_directory) {
  const std::string setting = fmt::format("devices.repeat_splits is '{}'", run_directory);
  report::TeamAccount other;
  try {
    other = read_team_account(run_directory);
  } catch (const Error& e) {
    throw Error(MK_INVALID_ARGUMENT, setting + ": " + e.what());
  }
  if (other.splits.empty())
    throw Error(MK_INVALID_ARGUMENT, setting + ", which is no run of a team: name a run directory with logs/team.json");
  if (other.splits.size() >= k_most_splits)
    throw Error(MK_INVALID_ARGUMENT, setting + ", whose splits were too many to be recorded");
  for (const report::TeamSplit& split : other.splits) {
    const auto devices = static_cast<size_t>(1 + std::count(split.shares.begin(), split.shares.end(), '+'));
    if (devices != members_.size())
      throw Error(MK_INVALID_ARGUMENT, fmt::format("{}, where {} devices took part at {}, and here there are {}",
                                                   setting, devices, split.at, members_.size()));
  }
  to_repeat_ = std::move(other.splits);
}

// As mk_team has it; empty where speeds decide.
std::string TeamSite::splits_to_repeat(const Attempt& attempt) const {
  if (to_repeat_.empty()) return {};
  if (attempt.members.size() != members_.size()) {
    log_.warn("team", "with fewer devices the recorded splits cannot be repeated: from now on speeds decide");
    return {};
  }
  std::string text;
  for (const report::TeamSplit& split : to_repeat_)
    if (split.fit == attempt.item.fits.front()) text += fmt::format("{}: {}\n", split.at, split.shares);
  if (text.empty())
    throw Error(MK_INVALID_ARGUMENT, "the run that devices.repeat_splits names has not recorded how it split this fit");
  return text;
}

void TeamSite::account(Attempt& attempt, double elapsed_s, std::span<const double> busy_s,
                       std::span<const double> units, const std::string& shares, const std::string& at) {
  const uint32_t fit = attempt.item.fits.front();  // a team has one at a time
  const double busiest = *std::max_element(busy_s.begin(), busy_s.end());
  for (size_t k = 0; k < attempt.members.size(); ++k) {
    const cluster::TeamMember& member = attempt.members[k];
    const auto device = std::find_if(members_.begin(), members_.end(), [&](const Member& m) {
      return m.at.node == member.node && m.at.device == member.device;
    });
    auto row = std::find_if(account_.shares.begin(), account_.shares.end(), [&](const report::TeamShare& s) {
      return s.fit == fit && s.node == member.node && s.device == device->device.id;
    });
    if (row == account_.shares.end())
      row = account_.shares.insert(row, {fit, member.node, device->device.id, device->device.name, 0, 0, 0, 0});
    row->units += units[k];
    row->busy_s += busy_s[k];
    row->idle_s += busiest - busy_s[k];
    row->reduce_s += std::max(0.0, elapsed_s - busiest);
  }
  const auto& splits = account_.splits;
  // An attempt begins at a checkpoint, maybe before the last place there is.
  const bool begins = !std::exchange(attempt.accounted, true);
  if (!shares.empty() && splits.size() < k_most_splits &&
      (begins || splits.empty() || splits.back().fit != fit || splits.back().shares != shares))
    keep_split({fit, at, shares});
}

// On the disk before what follows from it.
void TeamSite::keep_split(const report::TeamSplit& split) {
  account_.splits.push_back(split);
  write_account();
}

void TeamSite::write_account() const {
  if (run_directory_.empty()) return;
  try {
    base::write_file(account_file(run_directory_), base::seal(report::team_json(account_)));
  } catch (const Error& e) {
    log_.warn("team", e.what());  // it is for people; a disk that is full stops the run elsewhere
  }
}

report::TeamAccount read_team_account(const std::string& run_directory) {
  const std::string file = account_file(run_directory);
  if (!std::filesystem::exists(file)) return {};
  try {
    const auto text = base::unseal_file(base::read_file(file, k_most_bytes));
    if (!text) throw Error(MK_BAD_DATA, "it is damaged: its checksum differs");
    return report::read_team_json(text->object);
  } catch (const Error& e) {
    throw Error(MK_BAD_DATA, file + " is no account of a team (" + e.what() + "): remove it");
  }
}

// ---- every rank ----

void TeamSite::received(uint32_t from, std::string_view bytes, const std::shared_ptr<char>& owner) {
  cluster::TeamFrame frame = cluster::decode_frame(bytes, owner);
  if (const auto* one = std::get_if<cluster::TeamStart>(&frame)) return start(*one);
  if (const auto* one = std::get_if<cluster::TeamEnded>(&frame)) return ended(from, *one);
  std::shared_ptr<Attempt> attempt;
  {
    const std::lock_guard lock(mutex_);
    attempt = attempt_;
  }
  if (!attempt || !attempt->team) return;
  Team& team = *attempt->team;
  // What comes late belongs to an attempt that has broken up.
  if (auto* one = std::get_if<cluster::TeamGift>(&frame)) {
    if (one->attempt != attempt->number) return;
    try {
      team.take_gift(std::move(one->gift));
    } catch (const Error& e) {
      if (e.status() != MK_CANCELLED) throw;  // it has broken up
    }
  } else if (const auto* sum = std::get_if<cluster::TeamSum>(&frame)) {
    if (sum->attempt == attempt->number) team.take_sum(sum->number, sum->sum);
  } else if (const auto* end = std::get_if<cluster::TeamBreak>(&frame)) {
    if (end->attempt == attempt->number) break_here(*attempt, end->why);
  }
}

// On the other ranks.
void TeamSite::start(const cluster::TeamStart& start) {
  auto attempt = std::make_shared<Attempt>();
  attempt->number = start.attempt;
  attempt->members = start.members;
  attempt->item = start.item;
  Team::Setup setup{{}, {}, false, {}, {}, {}, 2 * patience_s_, {}};
  for (uint32_t k = 0; k < start.members.size(); ++k) {
    setup.speeds.push_back(start.members[k].speed);
    if (start.members[k].node == node_) setup.local.push_back(k);
  }
  setup.send = [this, attempt_number = start.attempt](uint32_t member, uint64_t number, uint64_t count,
                                                      std::span<const mk_block> blocks) {
    channel_.send(0, cluster::encode_gift(attempt_number, member, number, count, blocks));
  };
  attempt->team = std::make_shared<Team>(std::move(setup));
  {
    const std::lock_guard lock(mutex_);
    if (attempt_) attempt_->team->break_up("node 0 starts anew");
    attempt_ = attempt;
  }
  run_members(attempt);
}

// This rank's members, but the leader. Waits for nobody: rank 0 starts nothing before all have returned, or are given
// up.
void TeamSite::run_members(const std::shared_ptr<Attempt>& attempt) {
  reap();
  for (uint32_t k = 1; k < attempt->members.size(); ++k) {
    const cluster::TeamMember& member = attempt->members[k];
    if (member.node != node_) continue;
    bool hangs = false;
    {
      const std::lock_guard lock(mutex_);
      hangs = std::any_of(works_.begin(), works_.end(),
                          [&](const Work& w) { return w.device == member.device && !w.state->returned; });
      if (!hangs) {
        Work& work = works_.emplace_back();
        work.device = member.device;
        work.thread = std::thread([this, attempt, k, state = work.state] { follow(*attempt, k, *state); });
      }
    }
    if (hangs) tell_ended({attempt->number, k, MK_DEVICE_ERROR, "it is still at work that was given up"});
  }
}

void TeamSite::tell_ended(const cluster::TeamEnded& end) {
  if (node_ == 0)
    ended(0, end);
  else
    channel_.send(0, cluster::encode_frame(end));
}

void TeamSite::follow(const Attempt& attempt, uint32_t index, Work::State& state) {
  cluster::TeamEnded end{attempt.number, index, MK_OK, ""};
  try {
    worker_.follow(attempt.members[index].device, attempt.item, attempt.team->table(index));
  } catch (const Error& e) {
    end.status = e.status();
    end.text = e.what();
  } catch (const std::exception& e) {
    end.status = MK_INTERNAL;
    end.text = e.what();
  }
  state.returned = true;
  tell_ended(end);
  state.done = true;
}

// Work that goes on long after its attempt has broken up hangs: nobody waits for it.
bool TeamSite::busy() {
  {
    const std::lock_guard lock(mutex_);
    if (attempt_ && attempt_->broken_at && base::steady_s() - *attempt_->broken_at > k_end_s) return false;
  }
  return working();
}

}  // namespace mokume::team
