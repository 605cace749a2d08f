// Computes the sums of a team (mk_team in abi/model.h), whose devices train one model and may be in several processes,
// and keeps the floats that one member sends to another. Either the process of member 0 adds up, to which the others
// send the contributions of their members, or each process adds up a slice (slices.hpp).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "abi/model.h"
#include "cluster/protocol/messages.hpp"

namespace mokume::team {

// Adds up blocks of `count` floats each in the order that mk_block defines. Without blocks, returns zeros. Throws
// Error(MK_INTERNAL) if a block is not a subtree, or if two blocks overlap. The result may reuse their memory.
base::Floats add_up(std::vector<cluster::Block> blocks, uint64_t count);

// The class is thread-safe.
class TeamSums {
 public:
  struct Setup {
    std::vector<double> speeds = {};   // indexed by member
    std::vector<uint32_t> local = {};  // members in this process
    std::vector<uint32_t> gathered =
        {};  // members whose contributions this process gathers: all, the local ones, or none
    // These three are called without a lock held and must not block on a peer. `send` serves a process that gathers
    // nothing: it sends a local member's contribution, whose floats are valid during the call. `slice` gets the
    // gathered blocks of a sum, which own their floats; take_sum() later brings the sum. Without `slice`, this process
    // adds up, and `publish`, which may be empty, gets the sum.
    std::function<void(const cluster::TeamContribution&)> send = {};
    std::function<void(uint64_t number, uint64_t count, std::vector<cluster::Block> blocks)> slice = {};
    std::function<void(uint64_t number, const base::Floats& sum)> publish = {};
    // Carries floats to a member in another process, under the same conditions. They are valid during the call.
    std::function<void(const cluster::TeamParcel&)> forward = {};
    // Is told, if set, of each call of a local member for floats from a member in another process.
    std::function<void(uint32_t from, uint32_t to)> expect = {};
    // Receives the leader's reports, on the leader's thread (see mk_team).
    std::function<void(double elapsed_s, std::span<const double> busy_s, std::span<const double> units,
                       const std::string& shares, const std::string& at)>
        account = {};
    // Limits the wait for a sum. Afterwards, members without a contribution count as missing.
    double patience_s = 600;
    std::string splits = {};  // splits for the leader (see mk_team); may be empty
    mk_team_split split = MK_SPLIT_AUTO;
  };
  explicit TeamSums(Setup setup);
  ~TeamSums();
  TeamSums(const TeamSums&) = delete;
  TeamSums& operator=(const TeamSums&) = delete;

  // Returns the table of a member in this process, valid for the lifetime of the team.
  const mk_team* table(uint32_t member) const;

  void take_contribution(
      cluster::TeamContribution contribution);              // may come from another process; must be gathered here
  void take_sum(uint64_t number, const base::Floats& sum);  // comes from other processes
  // Keeps floats for a member in this process until it receives them. They must own their memory.
  void take_parcel(const cluster::TeamParcel& parcel);
  // Ends the team: current and later calls of the members throw Error(MK_CANCELLED) with this reason, unless
  // their sum is finished. The first reason counts.
  void break_up(const std::string& why);
  bool broken() const;
  // Returns the gathered members whose late contributions broke up the team.
  std::vector<uint32_t> missing() const;
  // Returns whether a sum that was late broke up the team.
  bool late() const;

 private:
  struct Seat;
  struct Sum {
    uint64_t count = 0;
    std::set<uint32_t> members;
    std::vector<cluster::Block> blocks;
  };

  void give(Seat& seat, uint64_t count, std::span<const mk_block> blocks);
  void take(Seat& seat, std::span<float> sum);
  void send(const Seat& seat, uint32_t to, std::span<const float> values);
  void receive(const Seat& seat, uint32_t from, std::span<float> values);
  bool is_local(uint32_t member) const;
  // Waits until the predicate holds or the team has broken up, at most as long as the patience. Returns whether it
  // holds or the team has broken up.
  template <class Ready>
  bool wait(std::unique_lock<std::mutex>& lock, const Ready& ready);
  void keep(uint64_t number, const base::Floats& sum);
  void check_whole() const;  // requires the lock

  Setup setup_;
  std::vector<std::unique_ptr<Seat>> seats_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, Sum> open_;  // gathered in part
  struct Made {
    base::Floats sum;
    uint32_t left = 0;  // number of local members that have not taken the sum yet
  };
  std::map<uint64_t, Made> made_;
  std::map<std::pair<uint32_t, uint32_t>, std::deque<base::Floats>> parcels_;  // by sender and receiver
  std::optional<std::string> why_;
  std::vector<uint32_t> missing_;
  bool late_ = false;
};

}  // namespace mokume::team
