// The sums of a team (abi/model.h, mk_team): devices of this process and of others that train one model together. One
// process, that of member 0, adds up; the others send it what their members give, and get the sums back.
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

// The sum of blocks of `count` floats each as mk_block has it; zeros if there are none. Error(MK_INTERNAL) if a block
// is no subtree, or two overlap. The blocks' own floats may become the sum.
base::Floats add_up(std::vector<cluster::Block> blocks, uint64_t count);

// All calls from any thread.
class Team {
 public:
  struct Setup {
    std::vector<double> speeds;   // of each member
    std::vector<uint32_t> local;  // members in this process
    bool sums = true;             // here; otherwise contributions are sent
    // Where sums are made elsewhere: sends what a member here contributes, whose floats are valid during the call.
    // Where they are made: sends a sum to the others. Both are called under no lock and must not block on a peer.
    std::function<void(const cluster::TeamContribution&)> send;
    std::function<void(uint64_t number, const base::Floats& sum)> publish;
    // Takes what the leader says, on its thread. See mk_team.
    std::function<void(double elapsed_s, std::span<const double> busy_s, std::span<const double> units,
                       const std::string& shares, const std::string& at)>
        account;
    double patience_s = 600;  // for a sum, once somebody waits for it: then those who have not given are missing
    std::string splits = {};  // for the leader, see mk_team; empty: none
  };
  explicit Team(Setup setup);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // The table of a member in this process, valid as long as the team.
  const mk_team* table(uint32_t member) const;

  void take_contribution(cluster::TeamContribution contribution);  // of another process, where this one sums
  void take_sum(uint64_t number, const base::Floats& sum);         // of the process that sums
  // It is over: whoever waits, or gives or takes from now on, gets Error(MK_CANCELLED) with this sentence. The first
  // sentence stays.
  void break_up(const std::string& why);
  bool broken() const;
  // Where sums are made: members that did not give in time, so that the team broke up.
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
    uint32_t left = 0;  // of this process's members, to take it
  };
  std::map<uint64_t, Made> made_;
  std::optional<std::string> why_;
  std::vector<uint32_t> missing_;
};

}  // namespace mokume::team
