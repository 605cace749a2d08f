// Runs a node's part of a team: all devices of all nodes train one network at a time ([devices] team). To the rest of
// the run, the team is a single device of node 0. The leader runs the attempts and starts the other members for them.
//
// This folder implements the training of one network on many devices: leading, following and leaving the team, sums
// (sums.hpp), and the account of each member's work (account.hpp). The model splits the batches.
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
#include <vector>

#include "base/log.hpp"
#include "cluster/transport/team_channel.hpp"
#include "node/devices.hpp"
#include "team/account.hpp"
#include "team/members.hpp"
#include "team/sums.hpp"

namespace mokume::cluster {
class Transport;
}

namespace mokume::team {

class Fabric;
class FabricParcels;
class SliceSums;

// Returns the value of the key devices.split.
mk_team_split split_of(const std::string& key);

class TeamNode : public cluster::Executor, public cluster::TeamChannel {
 public:
  static constexpr const char* kId = journal::kTeamDevice;

  // Node 0's values count.
  struct Options {
    std::string sums;                     // the key devices.sums
    mk_team_split split = MK_SPLIT_AUTO;  // the key devices.split
    double patience_s = 600;              // limits the wait for a member
  };
  // On node 0, `nodes` lists the devices of each node, all of which take part unless they are spare; on other nodes, it
  // is empty. The referenced objects must outlive this object.
  TeamNode(node::Devices& devices, base::Log& log, cluster::Transport& transport,
           const std::vector<std::vector<cluster::LocalDevice>>& nodes, const Options& options);
  ~TeamNode() override;  // calls end()
  TeamNode(const TeamNode&) = delete;
  TeamNode& operator=(const TeamNode&) = delete;

  // Breaks up the current start and waits for this node's members. Returns false if a member hangs in its driver; this
  // object and everything that its work uses must then live until the process exits.
  bool end();

  TeamAccount& account() { return account_; }
  size_t members() const { return members_.size(); }
  // Returns what carries the sums between nodes, and why: "mpi: the default". Returns "" if all members are on one
  // node.
  std::string sums_road() const;

  // ---- cluster::Executor

  std::vector<cluster::LocalDevice> devices() const override;  // returns the team on node 0
  // Runs an attempt on all present members, on node 0. A member that fails or is lost leaves the team, and the other
  // members resume from the last checkpoint. If the leader's device fails, another device of node 0 leads. Throws
  // errors that all members share, and errors of the last device of node 0.
  void run(uint32_t device, const cluster::Attempt& attempt, cluster::Reporter& reporter, const mk_team* team) override;
  std::optional<double> energy_j(uint32_t device) override;  // the members' sum, if all are on this node and have one
  bool kill(uint32_t device) noexcept override;
  void saved(uint32_t fit) noexcept override { local_.saved(fit); }
  void abandon() noexcept override { local_.abandon(); }

  // ---- cluster::TeamChannel

  void received(uint32_t from, cluster::TeamMessage message) override;
  void lost(uint32_t node) override;
  bool busy() override;

 private:
  struct Member {
    cluster::TeamMember at;
    cluster::LocalDevice device;
    bool left = false;
  };
  struct Failure {
    mk_status status = MK_OK;  // status of the member's work, or MK_OK if the member was lost
    std::string why;
  };
  // Holds one start of the team on one attempt.
  struct TeamAttempt {
    uint64_t number = 0;
    cluster::Attempt attempt;
    std::vector<cluster::TeamMember> members;  // indexed by position in the team
    std::vector<Seat> seats;                   // identities of the members in the account; only on node 0
    std::shared_ptr<TeamSums> team;            // null if the leader is alone
    std::unique_ptr<SliceSums> slices;         // set if a fabric carries the sums and parcels
    std::unique_ptr<FabricParcels> parcels;    // set with `slices`
    std::map<uint32_t, Failure> failed;        // indexed by position in the team; only on node 0
    std::set<uint32_t> running;                // running members except the leader; only on node 0
    std::optional<double> broken_at;
    bool accounted = false;  // set by the first report; used on the leader's thread
  };

  void take(uint32_t from, const cluster::TeamStart& start);
  void take(uint32_t from, cluster::TeamContribution& contribution);
  void take(uint32_t from, const cluster::TeamSum& sum);
  void take(uint32_t from, const cluster::TeamParcel& parcel);
  void take(uint32_t from, const cluster::TeamBreak& end);
  void take(uint32_t from, const cluster::TeamEnd& ended);
  std::shared_ptr<TeamAttempt> current(uint64_t number);

  std::shared_ptr<TeamAttempt> start(const cluster::Attempt& attempt);
  std::vector<cluster::LocalDevice> present_members(TeamAttempt& start);
  void make_team(TeamAttempt& start, const std::vector<cluster::LocalDevice>& devices);
  void use_fabric(TeamAttempt& start, TeamSums::Setup& setup);
  void forward(uint64_t start, const std::vector<cluster::TeamMember>& members, const cluster::TeamParcel& parcel);
  std::string splits_to_repeat(const TeamAttempt& start) const;
  void run_members(const std::shared_ptr<TeamAttempt>& start);
  cluster::TeamEnd follow(const TeamAttempt& start, uint32_t index);
  void tell_ended(const cluster::TeamEnd& end);
  void wait_for_others(TeamAttempt& start);
  bool drop_failed(const TeamAttempt& start, mk_status everybody);
  bool drop_leader(const TeamAttempt& start, const std::string& why);
  void drop(const cluster::TeamMember& at, const std::string& why);
  void break_here(TeamAttempt& start, const std::string& why);
  void break_up(TeamAttempt& start, const std::string& why);
  void send_to_nodes(const TeamAttempt& start, const cluster::Message& message);

  node::Devices& local_;
  base::Log& log_;
  const uint32_t node_;
  const bool sockets_chosen_;
  const mk_team_split split_;
  const std::unique_ptr<Fabric> fabric_;  // null without one
  const double patience_s_;
  std::vector<Member> members_;  // used only on node 0
  TeamAccount account_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<TeamAttempt> current_;  // the start in progress, or null
  uint64_t starts_ = 0;
  std::atomic<bool> any_lost_ = false;     // whether a node has been lost
  std::atomic<bool> mpi_stalled_ = false;  // whether a sum over the fabric was late, and no member is to blame
  Members followers_;                      // this node's members except the leader
};

}  // namespace mokume::team
