#include "results/team.hpp"

#include <map>
#include <utility>

namespace mokume::results {
double present_seconds(const TeamShare& share) { return share.busy_s + share.idle_s + share.reduce_s; }

std::vector<TeamShare> by_device(const TeamAccount& account) {
  std::map<std::pair<uint32_t, std::string>, TeamShare> all;
  for (const TeamShare& s : account.shares) {
    const auto [found, fresh] = all.try_emplace({s.node, s.device}, s);
    if (fresh) continue;
    TeamShare& sum = found->second;
    sum.units += s.units;
    sum.busy_s += s.busy_s;
    sum.idle_s += s.idle_s;
    sum.reduce_s += s.reduce_s;
  }
  std::vector<TeamShare> rows;
  for (auto& [key, row] : all) rows.push_back(std::move(row));
  return rows;
}

double efficiency_of(const TeamAccount& account) {
  double at_work = 0, all = 0;
  for (const TeamShare& row : by_device(account)) {
    const double speed = row.busy_s > 0 ? row.units / row.busy_s : 0;
    at_work += speed * row.busy_s;
    all += speed * present_seconds(row);
  }
  return all > 0 ? at_work / all : 0;
}

}  // namespace mokume::results
