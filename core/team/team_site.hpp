// A rank's part of a team: all devices of all ranks train one network after the other together ([devices] team). To the
// rest of the run the team is one device of rank 0, whose work() starts the others and leads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/log.hpp"
#include "cluster/protocol/team_frames.hpp"
#include "cluster/protocol/types.hpp"
#include "cluster/transport/side_channel.hpp"
#include "node/worker.hpp"
#include "report/view.hpp"
#include "team/sums.hpp"

namespace mokume::team {

class TeamSite {
 public:
  static constexpr const char* kId = journal::kTeamDevice;

  // `nodes`: on rank 0 the devices of each rank, all of which take part but for spare ones; else empty. The references
  // outlive it. `patience_s`: for a member that gives nothing.
  TeamSite(node::Worker& worker, base::Log& log, uint32_t node,
           const std::vector<std::vector<cluster::LocalDevice>>& nodes, double patience_s);
  ~TeamSite();  // end()
  TeamSite(const TeamSite&) = delete;
  TeamSite& operator=(const TeamSite&) = delete;

  // Breaks up what is left, and waits for this rank's members. False: one hangs in its driver, and this object, and all
  // that its work uses, must live until the process ends.
  bool end();

  // What the team is to the scheduler; of rank 0.
  cluster::LocalDevice device() const;
  cluster::SideChannel& channel() { return channel_; }

  // Runs an item on all members that are there, on rank 0. A member that fails or is lost leaves the team, and the
  // others go on from the last checkpoint; another device of rank 0 leads where the leader's fails. What all of them
  // fail at is thrown, as is what the last device of rank 0 throws.
  void work(const cluster::WorkItem& item, cluster::Reporter& reporter);

  // Where the account of who did what is kept, of rank 0; behind what an earlier session left.
  void keep_account(const std::string& run_directory);

  // Work is split as the account of that run has it, for the same fits; of rank 0. Error(MK_INVALID_ARGUMENT) if there
  // is none, or it is of another number of devices.
  void repeat_splits(const std::string& run_directory);

 private:
  struct Member {
    cluster::TeamMember at;
    cluster::LocalDevice device;
    bool left = false;
  };
  struct Failure {
    mk_status status = MK_OK;  // of its work; MK_OK: it was lost
    std::string why;
  };
  // One start of one item.
  struct Attempt {
    uint64_t number = 0;
    cluster::WorkItem item;
    std::vector<cluster::TeamMember> members;  // by their index in the team
    std::shared_ptr<Team> team;                // null: the leader is alone
    std::map<uint32_t, Failure> failed;        // by index; on rank 0
    std::set<uint32_t> running;                // other members; on rank 0
    std::optional<double> broken_at;
    bool accounted = false;  // on the leader's thread
  };
  // A member at work in a thread of this rank.
  struct Work {
    struct State {
      std::atomic<bool> returned = false;  // the device is free again
      std::atomic<bool> done = false;      // and rank 0 has been told
    };
    uint32_t device = 0;
    std::shared_ptr<State> state = std::make_shared<State>();
    std::thread thread;
  };

  void received(uint32_t from, std::string_view bytes, const std::shared_ptr<char>& owner);
  void start(const cluster::TeamStart& start);
  void ended(uint32_t from, const cluster::TeamEnded& ended);
  void lose(uint32_t node);
  bool busy();
  void account(Attempt& attempt, double elapsed_s, std::span<const double> busy_s, std::span<const double> units,
               const std::string& shares, const std::string& at);
  void keep_split(const report::TeamSplit& split);
  void write_account() const;

  std::shared_ptr<Attempt> begin(const cluster::WorkItem& item);
  std::string splits_to_repeat(const Attempt& attempt) const;
  void run_members(const std::shared_ptr<Attempt>& attempt);
  void follow(const Attempt& attempt, uint32_t index, Work::State& state);
  void tell_ended(const cluster::TeamEnded& end);
  void reap();
  bool working();
  void wait_for_others(Attempt& attempt);
  bool drop_failed(const Attempt& attempt, mk_status everybody);
  bool drop_leader(const Attempt& attempt, const std::string& why);
  void drop(const cluster::TeamMember& at, const std::string& why);
  void break_here(Attempt& attempt, const std::string& why);
  void break_up(Attempt& attempt, const std::string& why);
  void send_to_nodes(const Attempt& attempt, const cluster::TeamFrame& frame);

  node::Worker& worker_;
  base::Log& log_;
  const uint32_t node_;
  const double patience_s_;
  cluster::SideChannel channel_;
  std::vector<Member> members_;  // rank 0
  // On the leader's thread.
  std::string run_directory_;
  report::TeamAccount account_;
  std::vector<report::TeamSplit> to_repeat_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Attempt> attempt_;  // under way
  uint64_t attempts_ = 0;
  std::vector<Work> works_;  // this rank's members but the leader
};

// What keep_account() has left in a run directory; nothing if it has not. Error(MK_BAD_DATA) names a damaged file.
report::TeamAccount read_team_account(const std::string& run_directory);

}  // namespace mokume::team
