// The account of a team, logs/team.json: which member did how much of each fit, and how work was split.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "report/tables/team.hpp"

namespace mokume::team {

// A member, as the account names it.
struct Seat {
  uint32_t node = 0;
  std::string device, name;  // "opencl:0", "NVIDIA H200"
};

// On node 0, on the leader's thread.
class Account {
 public:
  explicit Account(base::Log& log) : log_(log) {}

  // Keeps the account in this run directory from now on, after what an earlier session left there.
  void keep_in(const std::string& run_directory);

  // Work is split as the account of that run has it, for the same fits. Error(MK_INVALID_ARGUMENT) if there is none, or
  // it is of another number of devices.
  void repeat_splits(const std::string& run_directory, size_t devices);
  bool repeats() const { return !to_repeat_.empty(); }
  // As mk_team has them. Error(MK_INVALID_ARGUMENT) if none is recorded for this fit.
  std::string splits_of(uint32_t fit) const;

  // Add what the leader said; see mk_team. `begins`: for the first time since this start of the team.
  void add(uint32_t fit, const std::vector<Seat>& members, double elapsed_s, std::span<const double> busy_s,
           std::span<const double> units);
  void add_split(uint32_t fit, const std::string& at, const std::string& shares, bool begins);
  bool has_splits() const { return !account_.splits.empty(); }

  void write() const;

 private:
  base::Log& log_;
  std::string run_directory_;
  report::TeamAccount account_;
  std::vector<report::TeamSplit> to_repeat_;
};

// Reads what an Account has left in a run directory; nothing if it has not. Error(MK_BAD_DATA) names a damaged file.
report::TeamAccount read_team_account(const std::string& run_directory);

}  // namespace mokume::team
