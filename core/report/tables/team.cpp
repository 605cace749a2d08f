#include "report/tables/team.hpp"

#include <map>
#include <utility>

#include "report/tables/json.hpp"

namespace mokume::report {
namespace {

const auto kShareFields = [](auto& share, const auto& visit) {
  visit("busy_s", share.busy_s);
  visit("device", share.device);
  visit("fit", share.fit);
  visit("idle_s", share.idle_s);
  visit("name", share.name);
  visit("node", share.node);
  visit("reduce_s", share.reduce_s);
  visit("units", share.units);
};

const auto kSplitFields = [](auto& split, const auto& visit) {
  visit("at", split.at);
  visit("fit", split.fit);
  visit("shares", split.shares);
};

}  // namespace

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

std::string team_json(const TeamAccount& account) {
  return json_text(
      {{"shares", json_list(account.shares, kShareFields)}, {"splits", json_list(account.splits, kSplitFields)}}, 1);
}

TeamAccount read_team_json(const std::string& text) {
  const nlohmann::json all = parse_object(text);
  return {read_list<TeamShare>(all, "shares", kShareFields), read_list<TeamSplit>(all, "splits", kSplitFields)};
}

}  // namespace mokume::report
