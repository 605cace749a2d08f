#include "report/pages/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "report/charts/gantt.hpp"
#include "report/charts/svg.hpp"
#include "report/pages/markup.hpp"
#include "report/profile.hpp"
#include "results/energy.hpp"
#include "results/format.hpp"
#include "results/stats.hpp"
#include "results/team.hpp"

namespace mokume::report {
namespace {

constexpr size_t kMaxDevices = 64;
constexpr size_t kMaxProfiles = 16;
constexpr size_t kMaxSplits = 20;

Cell share_cell(double part, double whole) {
  return {whole > 0 ? results::percent(part / whole) : results::kNoValue, part};
}

Cell duration_cell(double seconds) { return {results::seconds_text(seconds), seconds}; }

Cell energy_cell(const std::optional<double>& joules) {
  return joules ? Cell(results::energy_text(*joules), *joules) : Cell(results::kNoValue, 0.0);
}

// Returns "" if nothing counted the energy.
std::string energy_sentence(const results::RunView& view) {
  const results::Energy energy = results::energy_of(view);
  if (energy.counted == 0) return {};
  const std::string of = energy.counted < energy.all ? fmt::format(", of {} in all", energy.all) : "";
  return fmt::format(" The devices counted {} for {} fits and refits{}, {} each on average.",
                     results::energy_text(energy.joules), energy.counted, of,
                     results::energy_text(energy.joules / static_cast<double>(energy.counted)));
}

std::string devices_table(const std::vector<results::DeviceUse>& devices) {
  if (devices.empty()) return {};
  double fastest = 0;
  for (const results::DeviceUse& use : devices) fastest = std::max(fastest, use.speed);
  Table table({{"node", true}, {"device"}, {"name"}, {"vendor"}, {"fits", true}, {"busy", true}, {"speed", true}});
  const bool energy =
      std::any_of(devices.begin(), devices.end(), [](const auto& use) { return use.energy_j.has_value(); });
  if (energy) table.add_column({"energy", true});
  for (size_t i = 0; i < std::min(devices.size(), kMaxDevices); ++i) {
    const results::DeviceUse& use = devices[i];
    std::vector<Cell> row{Cell::id(use.node),
                          results::elide(use.id, 40),
                          results::elide(use.name, 80),
                          results::elide(use.vendor, 60),
                          Cell::count(use.fits),
                          duration_cell(use.busy_s),
                          {fastest > 0 ? results::percent(use.speed / fastest) : results::kNoValue, use.speed}};
    if (energy) row.push_back(energy_cell(use.energy_j));
    table.row(row);
  }
  return "<h3>Devices</h3>\n" + table.html(true) +
         left_out(devices.size(), kMaxDevices, "more are listed in summary.json");
}

std::string splits_table(const std::vector<results::TeamSplit>& splits) {
  if (splits.empty()) return {};
  Table table({{"fit", true}, {"from"}, {"shares"}});
  for (size_t k = 0; k < std::min(splits.size(), kMaxSplits); ++k)
    table.row({Cell::id(splits[k].fit), results::elide(splits[k].at, 60), results::elide(splits[k].shares, 200)});
  return "<h3>Shares from then on</h3>\n" + table.html(false) +
         left_out(splits.size(), kMaxSplits, "more are in logs/team.json");
}

std::string profile_table(Table table, const std::vector<ProfileLine>& lines) {
  for (const char* head : {"calls", "total", "share", "GFLOP/s", "GB/s"}) table.add_column({head, true});
  const auto rate = [](double value) -> Cell {
    const std::string text = fmt::format("{:.1f}", value);
    return value > 0 ? Cell(text, text) : Cell(results::kNoValue, 0.0);
  };
  for (const ProfileLine& line : lines) {
    std::vector<Cell> cells;
    for (const std::string& name : line.names) cells.emplace_back(results::elide(name, 60));
    for (const Cell& cell : {Cell::count(line.calls), duration_cell(line.seconds),
                             Cell(results::percent(line.share), line.seconds), rate(line.gflops), rate(line.gbytes)})
      cells.push_back(cell);
    table.row(cells);
  }
  return table.html(true);
}

}  // namespace

std::string devices_section(const results::RunView& view) {
  const std::string chart = gantt(view);
  const std::string body = (chart.empty() ? "" : inlined(chart, "plot")) + devices_table(view.devices);
  if (body.empty()) return {};
  std::string lead = fmt::format(
      "Bars are bundles of fits (red: a fit failed), the pale track is idle time. Fits kept the devices busy for {} in "
      "total. The efficiency of {} is time at work over time present, with each device weighted by its speed, which "
      "was {}.",
      results::seconds_text(results::busy_seconds(view)), results::percent(view.efficiency),
      view.speeds == results::Speeds::measured ? "measured before the run" : "estimated from the work that it did");
  lead += energy_sentence(view);
  return section("Devices at work", lead, body);
}

std::string team_section(const results::TeamAccount& account) {
  if (account.shares.empty()) return {};
  const std::vector<results::TeamShare> devices = results::by_device(account);
  double units = 0;
  for (const results::TeamShare& row : devices) units += row.units;
  Table table({{"node", true},
               {"device"},
               {"name"},
               {"share of the work", true},
               {"time per shard or batch", true},
               {"computing", true},
               {"idle", true},
               {"reducing", true}});
  for (const results::TeamShare& row : devices) {
    const double whole = results::present_seconds(row);
    table.row({Cell::id(row.node),
               results::elide(row.device, 40),
               results::elide(row.name, 80),
               share_cell(row.units, units),
               {row.units > 0 ? results::seconds_text(row.busy_s / row.units) : results::kNoValue, row.busy_s},
               share_cell(row.busy_s, whole),
               share_cell(row.idle_s, whole),
               share_cell(row.reduce_s, whole)});
  }
  return section("The team",
                 "All devices trained each network as a team. A device is idle while it has less to compute than the "
                 "busiest one. It is reducing while no device computes because gradients or weights are exchanged.",
                 table.html(true) + splits_table(account.splits));
}

std::string profile_section(const std::vector<results::DeviceProfile>& profiles) {
  if (profiles.empty()) return {};
  std::string body;
  for (size_t k = 0; k < std::min(profiles.size(), kMaxProfiles); ++k) {
    const results::DeviceProfile& profile = profiles[k];
    const ProfileTables tables = profile_tables(profile);
    body += fmt::format("<h3>Node {}, {} ({}): {}</h3>\n", profile.node, escape(results::elide(profile.id, 40)),
                        escape(results::elide(profile.name, 80)), results::seconds_text(tables.seconds)) +
            profile_table(Table({{"phase"}}), tables.phases) +
            folded("Ops within the phases", profile_table(Table({{"phase"}, {"op"}}), tables.ops));
  }
  return section(
      "Where the time went",
      "These are the times of the last profiled session. It waited for every op separately, so it took longer than an "
      "unprofiled session. GFLOP/s and GB/s are the least that the ops need, divided by the time taken.",
      body + left_out(profiles.size(), kMaxProfiles, "more devices have tables in logs/"));
}

}  // namespace mokume::report
