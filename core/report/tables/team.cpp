#include "report/tables/team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.hpp"
#include "journal/fields.hpp"
#include "report/pages/markup.hpp"
#include "report/tables/format.hpp"

namespace mokume::report {
namespace {

using nlohmann::json;

constexpr size_t kMaxSplits = 20;

double present(const TeamShare& s) { return s.busy_s + s.idle_s + s.reduce_s; }

// One line for each device: all fits together.
std::vector<TeamShare> by_device(const TeamAccount& account) {
  std::map<std::pair<uint32_t, std::string>, TeamShare> all;
  for (const TeamShare& s : account.shares) {
    TeamShare& sum =
        all.try_emplace({s.node, s.device}, TeamShare{0, s.node, s.device, s.name, 0, 0, 0, 0}).first->second;
    sum.units += s.units;
    sum.busy_s += s.busy_s;
    sum.idle_s += s.idle_s;
    sum.reduce_s += s.reduce_s;
  }
  std::vector<TeamShare> rows;
  for (auto& [key, row] : all) rows.push_back(std::move(row));
  return rows;
}

std::string share_cell(double part, double whole) {
  return number_cell(whole > 0 ? percent(part / whole) : "–", base::shortest(part));
}

std::string splits_table(const TeamAccount& account) {
  std::string rows;
  for (size_t k = 0; k < std::min(account.splits.size(), kMaxSplits); ++k) {
    const TeamSplit& split = account.splits[k];
    rows += "<tr>" + number_cell(fmt::format("{}", split.fit)) + cell(elide(split.at, 60)) +
            cell(elide(split.shares, 200)) + "</tr>\n";
  }
  if (rows.empty()) return {};
  std::string text =
      "<h3>Shares from then on</h3>\n" + table("", {{"fit", true}, {"from", false}, {"shares", false}}, rows);
  if (account.splits.size() > kMaxSplits)
    text += fmt::format("<p class=\"soft\">{} more are in logs/team.json.</p>\n", account.splits.size() - kMaxSplits);
  return text;
}

}  // namespace

double efficiency_of(const TeamAccount& account) {
  double at_work = 0, all = 0;
  for (const TeamShare& row : by_device(account)) {
    const double speed = row.busy_s > 0 ? row.units / row.busy_s : 0;
    at_work += speed * row.busy_s;
    all += speed * present(row);
  }
  return all > 0 ? at_work / all : 0;
}

std::string team_section(const TeamAccount& account) {
  if (account.shares.empty()) return {};
  const std::vector<TeamShare> devices = by_device(account);
  double units = 0;
  for (const TeamShare& row : devices) units += row.units;
  std::string rows;
  for (const TeamShare& row : devices) {
    const double whole = present(row);
    rows += "<tr>" + number_cell(fmt::format("{}", row.node)) + cell(elide(row.device, 40)) +
            cell(elide(row.name, 80)) + share_cell(row.units, units) +
            number_cell(row.units > 0 ? seconds_text(row.busy_s / row.units) : "–", base::shortest(row.busy_s)) +
            share_cell(row.busy_s, whole) + share_cell(row.idle_s, whole) + share_cell(row.reduce_s, whole) + "</tr>\n";
  }
  const std::string body = table("sort",
                                 {{"node", true},
                                  {"device", false},
                                  {"name", false},
                                  {"share of the work", true},
                                  {"time per shard or batch", true},
                                  {"computing", true},
                                  {"idle", true},
                                  {"reducing", true}},
                                 rows) +
                           splits_table(account);
  return section("The team",
                 "All devices trained each network together. Idle: less to compute than the busiest of them; reducing: "
                 "nobody computed, gradients or weights were on their way.",
                 body);
}

std::string team_json(const TeamAccount& account) {
  json shares = json::array(), splits = json::array();
  for (const TeamShare& s : account.shares)
    shares.push_back({{"fit", s.fit},
                      {"node", s.node},
                      {"device", s.device},
                      {"name", s.name},
                      {"units", s.units},
                      {"busy_s", s.busy_s},
                      {"idle_s", s.idle_s},
                      {"reduce_s", s.reduce_s}});
  for (const TeamSplit& s : account.splits) splits.push_back({{"fit", s.fit}, {"at", s.at}, {"shares", s.shares}});
  return json{{"shares", shares}, {"splits", splits}}.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

TeamAccount read_team_json(const std::string& text) {
  using journal::real_field;
  using journal::text_field;
  using journal::u32_field;
  const json all = json::parse(text, nullptr, false);
  if (!all.is_object()) throw Error(MK_BAD_DATA, "it is no JSON object");
  TeamAccount account;
  for (const json& s : journal::array_field(all, "shares"))
    account.shares.push_back({u32_field(s, "fit"), u32_field(s, "node"), text_field(s, "device"), text_field(s, "name"),
                              real_field(s, "units"), real_field(s, "busy_s"), real_field(s, "idle_s"),
                              real_field(s, "reduce_s")});
  for (const json& s : journal::array_field(all, "splits"))
    account.splits.push_back({u32_field(s, "fit"), text_field(s, "at"), text_field(s, "shares")});
  return account;
}

}  // namespace mokume::report
