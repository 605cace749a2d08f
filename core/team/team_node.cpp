#include "team/team_node.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/clock.hpp"
#include "cluster/transport/transport.hpp"
#include "sdk/error.hpp"
#include "team/parcels.hpp"
#include "team/slices.hpp"

namespace mokume::team {
namespace {

constexpr int kKeptBytes = 1 << 30;
constexpr double kEndSeconds = 30;  // time in which other members must return after the leader

// Averages the speeds of devices of one class that differ only by noise. Larger differences are real, because devices
// of one class may have unequal numbers of cores.
std::vector<double> speeds_by_class(const std::vector<cluster::LocalDevice>& devices) {
  constexpr double kNoise = 1.3;
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
           devices[order[end]].speed <= kNoise * slowest.speed;
         ++end)
      sum += devices[order[end]].speed;
    for (size_t k = first; k < end; ++k) speeds[order[k]] = sum / static_cast<double>(end - first);
  }
  return speeds;
}

// Forwards reports, and keeps the data that is needed to restart the rest of the attempt.
class Recorder : public cluster::Reporter {
 public:
  Recorder(cluster::Reporter& to, const cluster::Attempt& attempt) : to_(to), left_(attempt) {}

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

  const cluster::Attempt& left() const { return left_; }

 private:
  cluster::Reporter& to_;
  cluster::Attempt left_;
};

}  // namespace

mk_team_split split_of(const std::string& key) {
  if (key == "auto") return MK_SPLIT_AUTO;
  return key == "batch" ? MK_SPLIT_BATCH : key == "states" ? MK_SPLIT_STATES : MK_SPLIT_LAYERS;
}

TeamNode::TeamNode(node::Devices& devices, base::Log& log, cluster::Transport& transport,
                   const std::vector<std::vector<cluster::LocalDevice>>& nodes, const Options& options)
    : local_(devices),
      log_(log),
      node_(transport.rank()),
      sockets_chosen_(options.sums == "sockets"),
      split_(options.split),
      fabric_(transport.has_fabric() ? std::make_unique<TransportFabric>(transport) : nullptr),
      patience_s_(options.patience_s),
      account_(log),
      any_lost_(transport.regrouped()) {
  // Gradients are allocated and freed thousands of times, in vectors of many megabytes. By default, the C library
  // returns their pages to the system and gets cleared pages each time, which takes longer than the sums (with 4 MB, a
  // step takes 20 ms instead of 6 ms).
  mallopt(M_MMAP_THRESHOLD, kKeptBytes);
  mallopt(M_TRIM_THRESHOLD, kKeptBytes);
  for (uint32_t n = 0; n < nodes.size(); ++n)
    for (uint32_t d = 0; d < nodes[n].size(); ++d)
      if (!nodes[n][d].spare) members_.push_back({{n, d, 0}, nodes[n][d], false});
  if (!nodes.empty() && (members_.empty() || members_.front().at.node != 0))
    throw Error(MK_DEVICE_ERROR, "the team's leader must be a device of node 0, which has none: see `mokume devices`");
}

TeamNode::~TeamNode() { end(); }

std::string TeamNode::sums_road() const {
  const auto elsewhere = [&](const Member& m) { return m.at.node != node_; };
  if (std::none_of(members_.begin(), members_.end(), elsewhere)) return "";
  if (sockets_chosen_) return "sockets: devices.sums";
  if (any_lost_) return "sockets: a node was lost, after which MPI is not safe";
  if (!fabric_) return "sockets: this run has no MPI";
  if (mpi_stalled_) return fmt::format("sockets: MPI moved nothing for {:.0f} s", patience_s_);
  return "mpi: the default";
}

bool TeamNode::end() {
  on_wake({});
  {
    const std::lock_guard lock(mutex_);
    if (current_ && current_->team) current_->team->break_up("the run is ending");
  }
  return followers_.end(kEndSeconds);
}

std::vector<cluster::LocalDevice> TeamNode::devices() const {
  if (members_.empty()) return {};
  std::set<std::string> names, classes;
  cluster::LocalDevice all = members_.front().device;
  std::set<uint32_t> nodes;
  all.speed = 0;
  all.budget_bytes = 0;
  for (const Member& m : members_) {
    names.insert(m.device.name);
    classes.insert(m.device.device_class);
    nodes.insert(m.at.node);
    all.speed += m.device.speed;
    all.budget_bytes += m.device.budget_bytes;  // the model splits what is too large for one device, or refuses it
    if (m.device.backend != all.backend) all.backend = "mixed";
    if (m.device.vendor != all.vendor) all.vendor = "mixed";
  }
  all.id = kId;
  all.name = fmt::format("{} x {}{}", members_.size(), *names.begin(), names.size() > 1 ? " and others" : "");
  if (nodes.size() > 1) all.name += fmt::format(" on {} nodes", nodes.size());
  if (classes.size() > 1) all.device_class = "team of mixed classes";
  return {all};
}

// ---- node 0

void TeamNode::run(uint32_t, const cluster::Attempt& attempt, cluster::Reporter& reporter, const mk_team*) {
  Recorder recorder(reporter, attempt);
  while (true) {
    const std::shared_ptr<TeamAttempt> begun = start(recorder.left());
    try {
      local_.run(begun->members.front().device, begun->attempt, recorder,
                 begun->team ? begun->team->table(0) : nullptr);
      wait_for_others(*begun);
      account_.write();
      drop_failed(*begun, MK_OK);  // the work is done, so a failure matters only for the next attempt
      return;
    } catch (const Error& e) {
      break_up(*begun, e.what());
      account_.write();
      wait_for_others(*begun);
      // An error that also occurs on the leader's device comes from the work itself.
      const bool fewer = drop_failed(*begun, e.status());
      const bool broken = e.status() == MK_DEVICE_ERROR && drop_leader(*begun, e.what());
      // Over the sockets, node 0 sees which member is late, if it is not MPI that moves nothing.
      if (begun->slices && begun->team->late() && begun->failed.empty()) mpi_stalled_ = true;
      const bool without_fabric = begun->slices && (any_lost_ || mpi_stalled_);
      if (!((fewer || without_fabric) && e.status() == MK_CANCELLED) && !broken) throw;
      if (reporter.cancelled()) throw;
      if (without_fabric) log_.warn("team", "from now on, sums travel over " + sums_road());
      reporter.progress("resuming without a device of the team", 0);
    }
  }
}

bool TeamNode::kill(uint32_t) noexcept {
  const std::lock_guard lock(mutex_);
  return current_ && node_ == 0 && local_.kill(current_->members.front().device);
}

std::optional<double> TeamNode::energy_j(uint32_t) {
  double sum = 0;
  for (const Member& m : members_) {
    const auto one = m.at.node == node_ ? local_.energy_j(m.at.device) : std::nullopt;
    if (!one) return std::nullopt;
    sum += *one;
  }
  return sum;
}

// Sets the members of `start` to the present members, and returns their devices.
std::vector<cluster::LocalDevice> TeamNode::present_members(TeamAttempt& start) {
  std::vector<cluster::LocalDevice> devices;
  const std::lock_guard lock(mutex_);
  start.number = ++starts_;
  for (const Member& m : members_) {
    if (m.left) continue;
    start.members.push_back(m.at);
    start.seats.push_back({m.at.node, m.device.id, m.device.name});
    devices.push_back(m.device);
  }
  return devices;
}

void TeamNode::make_team(TeamAttempt& start, const std::vector<cluster::LocalDevice>& devices) {
  const std::vector<double> speeds = speeds_by_class(devices);
  TeamSums::Setup setup;
  setup.speeds = speeds;
  setup.patience_s = patience_s_;
  setup.splits = splits_to_repeat(start);
  setup.split = split_;
  setup.forward = [this, s = &start](const cluster::TeamParcel& parcel) { forward(s->number, s->members, parcel); };
  std::set<uint32_t> others;
  for (uint32_t k = 0; k < speeds.size(); ++k) {
    start.members[k].speed = speeds[k];
    setup.gathered.push_back(k);
    if (start.members[k].node == node_)
      setup.local.push_back(k);
    else
      others.insert(start.members[k].node);
  }
  if (others.empty()) {
    // All other members have left, and nobody needs the sums.
  } else if (sums_road().starts_with("mpi")) {
    use_fabric(start, setup);
  } else {
    setup.publish = [this, others, number = start.number](uint64_t sum_number, const base::Floats& sum) {
      const auto bytes =
          std::make_shared<const std::string>(cluster::encode(cluster::TeamSum{number, sum_number, sum}));
      for (const uint32_t node : others) send(node, bytes);
    };
  }
  setup.account = [this, s = &start](double elapsed_s, std::span<const double> busy_s, std::span<const double> units,
                                     const std::string& shares, const std::string& at) {
    const uint32_t fit = s->attempt.fits.front();  // a team works on one fit at a time
    account_.add(fit, s->seats, elapsed_s, busy_s, units);
    account_.add_split(fit, at, shares, !std::exchange(s->accounted, true));
  };
  start.team = std::make_shared<TeamSums>(std::move(setup));
  for (uint32_t k = 1; k < start.members.size(); ++k) start.running.insert(k);
}

// Makes each node of the start add up a slice of its sums, and parcels go from node to node.
void TeamNode::use_fabric(TeamAttempt& start, TeamSums::Setup& setup) {
  setup.gathered = setup.local;
  std::set<uint32_t> nodes;
  for (const cluster::TeamMember& m : start.members) nodes.insert(m.node);
  start.slices = std::make_unique<SliceSums>(
      *fabric_, std::vector<uint32_t>(nodes.begin(), nodes.end()), node_, start.number,
      SliceSums::Results{[&start](uint64_t number, const base::Floats& sum) { start.team->take_sum(number, sum); },
                         [&start](const std::string& why) { start.team->break_up(why); }});
  setup.slice = [slices = start.slices.get()](uint64_t number, uint64_t count, std::vector<cluster::Block> blocks) {
    slices->add(number, count, std::move(blocks));
  };
  std::vector<uint32_t> node_of_member;
  for (const cluster::TeamMember& m : start.members) node_of_member.push_back(m.node);
  start.parcels = std::make_unique<FabricParcels>(
      *fabric_, std::move(node_of_member), node_, start.number,
      FabricParcels::Results{[&start](const cluster::TeamParcel& parcel) { start.team->take_parcel(parcel); },
                             [&start](const std::string& why) { start.team->break_up(why); }});
  setup.forward = [parcels = start.parcels.get()](const cluster::TeamParcel& parcel) { parcels->send(parcel); };
  setup.expect = [parcels = start.parcels.get()](uint32_t from, uint32_t to) { parcels->expect(from, to); };
}

std::shared_ptr<TeamNode::TeamAttempt> TeamNode::start(const cluster::Attempt& attempt) {
  auto begun = std::make_shared<TeamAttempt>();
  begun->attempt = attempt;
  const std::vector<cluster::LocalDevice> devices = present_members(*begun);
  if (devices.size() > 1) {
    make_team(*begun, devices);
  } else if (members_.size() > 1 || account_.has_splits()) {
    account_.add_split(attempt.fits.front(), "the last checkpoint", "1", true);  // all other members have left
  }
  {
    const std::lock_guard lock(mutex_);
    current_ = begun;
  }
  send_to_nodes(*begun, cluster::TeamStart{begun->number, begun->slices != nullptr, split_, begun->members, attempt});
  run_members(begun);
  return begun;
}

void TeamNode::send_to_nodes(const TeamAttempt& start, const cluster::Message& message) {
  std::set<uint32_t> nodes;
  for (const cluster::TeamMember& m : start.members)
    if (m.node != node_) nodes.insert(m.node);
  for (const uint32_t node : nodes) send(node, message);
}

// Breaks up the members of this node.
void TeamNode::break_here(TeamAttempt& start, const std::string& why) {
  if (start.team) start.team->break_up(why);
  const std::lock_guard lock(mutex_);
  if (!start.broken_at) start.broken_at = base::steady_s();
}

void TeamNode::break_up(TeamAttempt& start, const std::string& why) {
  break_here(start, why);
  {
    const std::lock_guard lock(mutex_);
    if (start.running.empty()) return;  // no other member to notify
  }
  send_to_nodes(start, cluster::TeamBreak{start.number, why});
}

// Waits for the other members. Counts those that do not return in time as failed.
void TeamNode::wait_for_others(TeamAttempt& start) {
  if (!start.team) return;
  bool late = false;
  {
    std::unique_lock lock(mutex_);
    for (const uint32_t index : start.team->missing())
      if (index != 0)
        start.failed.try_emplace(index,
                                 Failure{MK_OK, fmt::format("it has contributed nothing for {:.0f} s", patience_s_)});
    const auto limit = std::chrono::duration<double>(kEndSeconds);
    changed_.wait_for(lock, limit, [&] { return start.running.empty(); });
    for (const uint32_t index : start.running)
      start.failed.try_emplace(index, Failure{MK_OK, "it has not returned from its work"});
    late = !start.running.empty();
  }
  if (late) break_up(start, "a device of the team has not returned from its work");
}

// Drops the failed members, except those whose status equals `everybody`, or all of them if it is MK_OK. Returns
// whether the next start has fewer members.
bool TeamNode::drop_failed(const TeamAttempt& start, mk_status everybody) {
  bool any = false;
  const std::lock_guard lock(mutex_);
  for (const auto& [index, failure] : start.failed)
    if (everybody == MK_OK || failure.status != everybody) {
      drop(start.members[index], failure.why);
      any = true;
    }
  return any;
}

// Drops the leader's device if no other device failed and another one of this node can lead. Returns whether it did.
bool TeamNode::drop_leader(const TeamAttempt& start, const std::string& why) {
  const std::lock_guard lock(mutex_);
  const auto fails_too = [](const auto& f) { return f.second.status == MK_DEVICE_ERROR; };
  if (std::any_of(start.failed.begin(), start.failed.end(), fails_too)) return false;
  const auto left =
      std::count_if(members_.begin(), members_.end(), [&](const Member& m) { return m.at.node == node_ && !m.left; });
  if (left < 2) return false;
  drop(start.members.front(), why);
  return true;
}

void TeamNode::drop(const cluster::TeamMember& at, const std::string& why) {
  for (Member& m : members_)
    if (m.at.node == at.node && m.at.device == at.device && !m.left) {
      m.left = true;
      log_.warn("team", fmt::format("node {} {} leaves the team: {}", at.node, m.device.id, why));
    }
}

// Returns the splits in the format of mk_team, or "" if speeds determine the splits.
std::string TeamNode::splits_to_repeat(const TeamAttempt& start) const {
  if (!account_.repeats()) return {};
  if (start.members.size() == members_.size()) return account_.splits_of(start.attempt.fits.front());
  log_.warn("team", "the recorded splits cannot be repeated with fewer devices: from now on, measured speeds decide");
  return {};
}

// ---- every node

void TeamNode::received(uint32_t from, cluster::TeamMessage message) {
  std::visit([&](auto& one) { take(from, one); }, message);
}

// Returns the start with this number, or null for a late message of a start that has already broken up.
std::shared_ptr<TeamNode::TeamAttempt> TeamNode::current(uint64_t number) {
  const std::lock_guard lock(mutex_);
  return current_ && current_->number == number ? current_ : nullptr;
}

void TeamNode::take(uint32_t, cluster::TeamContribution& contribution) {
  const auto start = current(contribution.start);
  if (!start || !start->team) return;
  try {
    start->team->take_contribution(std::move(contribution));
  } catch (const Error& e) {
    if (e.status() != MK_CANCELLED) throw;  // MK_CANCELLED means that the team has broken up
  }
}

void TeamNode::take(uint32_t, const cluster::TeamSum& sum) {
  if (const auto start = current(sum.start); start && start->team) start->team->take_sum(sum.number, sum.sum);
}

// Hands the floats to a member of this node, or passes them on; node 0 has a connection to every node.
void TeamNode::take(uint32_t, const cluster::TeamParcel& parcel) {
  const auto start = current(parcel.start);
  if (!start || !start->team) return;
  if (parcel.to >= start->members.size())
    throw Error(MK_INTERNAL, "a node sent floats to a member that does not exist");
  if (start->members[parcel.to].node != node_) return forward(start->number, start->members, parcel);
  try {
    start->team->take_parcel(parcel);
  } catch (const Error& e) {
    if (e.status() != MK_CANCELLED) throw;
  }
}

void TeamNode::forward(uint64_t start, const std::vector<cluster::TeamMember>& members,
                       const cluster::TeamParcel& parcel) {
  cluster::TeamParcel numbered = parcel;
  numbered.start = start;
  send(node_ == 0 ? members.at(parcel.to).node : 0, numbered);
}

void TeamNode::take(uint32_t, const cluster::TeamBreak& end) {
  if (const auto start = current(end.start)) break_here(*start, end.why);
}

void TeamNode::take(uint32_t from, const cluster::TeamEnd& ended) {
  const auto start = current(ended.start);
  if (!start) return;
  {
    const std::lock_guard lock(mutex_);
    if (ended.member == 0 || ended.member >= start->members.size() || start->members[ended.member].node != from)
      throw Error(MK_INTERNAL, "a node sent a message for a team member that it does not have");
    start->running.erase(ended.member);
    if (ended.status != MK_OK && ended.status != MK_CANCELLED)
      start->failed.try_emplace(ended.member, Failure{static_cast<mk_status>(ended.status), ended.text});
    changed_.notify_all();
  }
  if (ended.status != MK_OK) break_here(*start, ended.text);
}

// Runs on all nodes except node 0.
void TeamNode::take(uint32_t, const cluster::TeamStart& order) {
  auto begun = std::make_shared<TeamAttempt>();
  begun->number = order.start;
  begun->members = order.members;
  begun->attempt = order.attempt;
  TeamSums::Setup setup;
  setup.patience_s = 2 * patience_s_;
  setup.split = static_cast<mk_team_split>(order.split);
  setup.forward = [this, start = order.start, members = order.members](const cluster::TeamParcel& parcel) {
    forward(start, members, parcel);
  };
  for (uint32_t k = 0; k < order.members.size(); ++k) {
    setup.speeds.push_back(order.members[k].speed);
    if (order.members[k].node == node_) setup.local.push_back(k);
  }
  if (order.slices) {
    if (fabric_ == nullptr) throw Error(MK_INTERNAL, "node 0 sends sums over a fabric that this node does not have");
    use_fabric(*begun, setup);
  } else {
    setup.send = [this, start = order.start](const cluster::TeamContribution& contribution) {
      cluster::TeamContribution numbered = contribution;
      numbered.start = start;
      send(0, numbered);
    };
  }
  begun->team = std::make_shared<TeamSums>(std::move(setup));
  {
    const std::lock_guard lock(mutex_);
    if (current_) current_->team->break_up("node 0 starts again");
    current_ = begun;
  }
  run_members(begun);
}

// Breaks up the start. On node 0, counts the members of the lost node as failed.
void TeamNode::lost(uint32_t node) {
  std::shared_ptr<TeamAttempt> start;
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    any_lost_ = true;
    start = current_;
    if (!start || !start->team) return;
    if (node_ == 0) {
      bool any = false;
      for (uint32_t k = 0; k < start->members.size(); ++k)
        if (start->members[k].node == node && start->failed.try_emplace(k, Failure{MK_OK, "its node is gone"}).second) {
          any = true;
          start->running.erase(k);
        }
      if (!any && !start->slices) return;  // without a node, the fabric moves nothing
      changed_.notify_all();
      first = !start->broken_at;
    }
  }
  const std::string why = fmt::format("node {} is gone", node);
  // The leader may have all sums although other nodes still wait for slices.
  if (first)
    break_up(*start, why);
  else
    break_here(*start, why);
}

// Starts this node's members except the leader. Does not wait, because node 0 starts nothing until all members have
// returned or were given up.
void TeamNode::run_members(const std::shared_ptr<TeamAttempt>& start) {
  for (uint32_t k = 1; k < start->members.size(); ++k) {
    const cluster::TeamMember& member = start->members[k];
    if (member.node != node_) continue;
    const auto end = std::make_shared<cluster::TeamEnd>();
    const bool started = followers_.start(
        member.device, [this, start, k, end] { *end = follow(*start, k); }, [this, end] { tell_ended(*end); });
    if (!started) tell_ended({start->number, k, MK_DEVICE_ERROR, "it is still doing work that was given up"});
  }
}

void TeamNode::tell_ended(const cluster::TeamEnd& end) {
  if (node_ == 0)
    take(0, end);
  else
    send(0, end);
}

cluster::TeamEnd TeamNode::follow(const TeamAttempt& start, uint32_t index) {
  cluster::SilentReporter silence;
  cluster::TeamEnd end{start.number, index, MK_OK, ""};
  try {
    local_.run(start.members[index].device, start.attempt, silence, start.team->table(index));
  } catch (const Error& e) {
    end.status = e.status();
    end.text = e.what();
  } catch (const std::exception& e) {
    end.status = MK_INTERNAL;
    end.text = e.what();
  }
  return end;
}

// Ignores work that continues long after its start broke up: it hangs, and nobody should wait for it.
bool TeamNode::busy() {
  {
    const std::lock_guard lock(mutex_);
    if (current_ && current_->broken_at && base::steady_s() - *current_->broken_at > kEndSeconds) return false;
  }
  return followers_.working();
}

}  // namespace mokume::team
