// The sums of a team (abi/model.h, mk_team), whose devices train one model and may be in several processes. The process
// of member 0 adds up: the others send it their members' contributions and receive the sums.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "abi/model.h"
#include "cluster/protocol/messages.hpp"

namespace mokume::team {

// Adds up blocks of `count` floats each in the order that mk_block defines; zeros if there are no blocks. Throws
// Error(MK_INTERNAL) if a block is not a subtree, or two blocks overlap. The result may reuse the memory of the blocks.
base::Floats add_up(std::vector<cluster::Block> blocks, uint64_t count);

// Thread-safe.
class TeamSums {
 public:
  struct Setup {
    std::vector<double> speeds;   // of each member
    std::vector<uint32_t> local;  // members in this process
    bool sums = true;             // this process adds up; otherwise it sends contributions
    // `send` is used where sums are made elsewhere: it sends a local member's contribution, whose floats are valid
    // during the call. `publish` is used where sums are made: it sends a sum to the other processes. Both are called
    // without a lock held and must not block on a peer.
    std::function<void(const cluster::TeamContribution&)> send;
    std::function<void(uint64_t number, const base::Floats& sum)> publish;
    // Receives the leader's reports, on the leader's thread. See mk_team.
    std::function<void(double elapsed_s, std::span<const double> busy_s, std::span<const double> units,
                       const std::string& shares, const std::string& at)>
        account;
    double patience_s = 600;  // wait for a sum; then the members that have not contributed count as missing
    std::string splits = {};  // for the leader, see mk_team; empty: none
  };
  explicit TeamSums(Setup setup);
  ~TeamSums();
  TeamSums(const TeamSums&) = delete;
  TeamSums& operator=(const TeamSums&) = delete;

  // Returns the table of a member in this process, valid for the lifetime of the team.
  const mk_team* table(uint32_t member) const;

  void take_contribution(cluster::TeamContribution contribution);  // of another process, where this one adds up
  void take_sum(uint64_t number, const base::Floats& sum);         // from the process that adds up
  // Ends the team: every current and later wait, give or take throws Error(MK_CANCELLED) with this reason. If called
  // again, the first reason stays.
  void break_up(const std::string& why);
  bool broken() const;
  // Where sums are made: returns the members whose late contributions broke up the team.
  std::vector<uint32_t> missing() const;

 private:
  struct Seat;
  struct Sum {
    uint64_t count = 0;
    std::set<uint32_t> members;
    std::vector<cluster::Block> blocks;
  };

  void give(Seat& seat, uint64_t count, std::span<const mk_block> blocks);
  void take(Seat& seat, std::span<float> sum);
  void keep(uint64_t number, const base::Floats& sum);
  void check_whole() const;  // with the lock held

  Setup setup_;
  std::vector<std::unique_ptr<Seat>> seats_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, Sum> open_;  // where sums are made
  struct Made {
    base::Floats sum;
    uint32_t left = 0;  // members of this process that have yet to take it
  };
  std::map<uint64_t, Made> made_;
  std::optional<std::string> why_;
  std::vector<uint32_t> missing_;
};

}  // namespace mokume::team
