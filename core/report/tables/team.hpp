// How the devices of a team shared their work.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mokume::report {

// Of one device in one fit, in one session of the run.
struct TeamShare {
  uint32_t fit = 0;  // of the plan
  uint32_t node = 0;
  std::string device, name;  // "opencl:0"
  double units = 0;          // shards or batches
  double busy_s = 0;         // computing
  double idle_s = 0;         // less than the busiest of the others
  double reduce_s = 0;       // in which nobody computed: gradients on their way
};

// A split of the work, from a place in the training on: it follows the speeds that devices show.
struct TeamSplit {
  uint32_t fit = 0;
  std::string at, shares;  // "epoch 2, batch 17", "5+3"
};

struct TeamAccount {
  std::vector<TeamShare> shares;
  std::vector<TeamSplit> splits;
};

// Of all fits together: busy over busy, idle and reducing, each device weighted by what it does in a second. 0 without
// shares.
double efficiency_of(const TeamAccount& account);

// A section of report.html; "" without shares.
std::string team_section(const TeamAccount& account);

// logs/team.json. Reading throws Error(MK_BAD_DATA) that says what is wrong, without a file's name.
std::string team_json(const TeamAccount& account);
TeamAccount read_team_json(const std::string& text);

}  // namespace mokume::report
