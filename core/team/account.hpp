// Keeps the account of a team, logs/team.json: each member's part of every fit, and the splits of the work.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "results/team.hpp"

namespace mokume::team {

// Identifies a team member in the account.
struct Seat {
  uint32_t node = 0;
  std::string device, name;  // such as "opencl:0", "NVIDIA H200"
};

// Node 0 uses it, on the leader's thread once work has begun.
class TeamAccount {
 public:
  explicit TeamAccount(base::Log& log) : log_(log) {}

  // Keeps the account in this run directory from now on, and continues the account of earlier sessions.
  void keep_in(const std::string& run_directory);

  // Repeats the splits that the given run recorded for the same fits. Throws Error(MK_INVALID_ARGUMENT) if that run has
  // none, or if they are for another number of devices.
  void repeat_splits(const std::string& run_directory, size_t devices);
  bool repeats() const { return !to_repeat_.empty(); }
  // Returns the splits in the format of mk_team. Throws Error(MK_INVALID_ARGUMENT) if none are recorded for this fit.
  std::string splits_of(uint32_t fit) const;

  // Add a report of the leader (see mk_team). `begins` marks the first report after a start of the team.
  void add(uint32_t fit, const std::vector<Seat>& members, double elapsed_s, std::span<const double> busy_s,
           std::span<const double> units);
  void add_split(uint32_t fit, const std::string& at, const std::string& shares, bool begins);
  bool has_splits() const { return !account_.splits.empty(); }

  void write() const;

 private:
  base::Log& log_;
  std::string run_directory_;
  results::TeamAccount account_;
  std::vector<results::TeamSplit> to_repeat_;
};

// Reads the account of a run directory, which is empty without the file. Throws Error(MK_BAD_DATA) if it is damaged.
results::TeamAccount read_team_account(const std::string& run_directory);

// Returns the splits of the run that devices.repeat_splits names. Throws Error(MK_INVALID_ARGUMENT) if it has none.
std::vector<results::TeamSplit> splits_to_repeat(const std::string& run_directory);

// Returns how many devices a split divides the work among.
size_t devices_in(const results::TeamSplit& split);

}  // namespace mokume::team
