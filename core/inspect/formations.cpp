#include "inspect/formations.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "base/text.hpp"
#include "scheduler/simulate.hpp"
#include "sdk/error.hpp"

namespace mokume::inspect {
namespace {

using scheduler::Rule;

constexpr uint64_t kMostDevices = 10'000;
constexpr uint32_t kOrders = 8;          // number of random orders over which the table averages
constexpr double kLocalLease = 50e-6;    // seconds per lease within a process; see bench/overhead
constexpr double kMessagesLease = 1e-3;  // seconds per lease between nodes; between ranks of one host, it is 0.2 ms

std::optional<uint32_t> whole(const std::string& text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0) return std::nullopt;
  return number;
}

scheduler::Scenario scenario_of(const scheduler::Workload& workload, const run::Expectation& expectation,
                                double refit_factor, const Formation& formation) {
  scheduler::Scenario made;
  made.workload = workload;
  made.seconds = expectation.seconds;
  const auto devices = static_cast<size_t>(uint64_t{formation.nodes} * formation.devices);
  made.units.assign(devices, {{"device", std::numeric_limits<uint64_t>::max(), 0}, 1});
  made.lease_s = formation.nodes == 1 ? kLocalLease : kMessagesLease;
  const double work = std::accumulate(made.seconds.begin(), made.seconds.end(), 0.0);
  made.ask_again_s = std::max(0.2, work / static_cast<double>(devices) / 1000);
  std::map<uint32_t, uint32_t> fits;  // maps each bootstrap to one of its fits
  for (uint32_t fit = 0; fit < workload.positions.size(); ++fit) fits.emplace(workload.positions[fit].bootstrap, fit);
  for (const auto& [bootstrap, fit] : fits)
    made.refits.push_back({bootstrap, fit, 0, refit_factor * work / static_cast<double>(made.seconds.size())});
  return made;
}

std::string cell(const scheduler::Simulated& one, bool measured) {
  return fmt::format("{:>14} {:>10.3f}", measured ? base::human_seconds(one.makespan_s) : "-", one.efficiency);
}

}  // namespace

std::vector<Formation> parse_formations(const std::string& text) {
  std::vector<Formation> made;
  for (const std::string& part : base::split(text, ',')) {
    const std::vector<std::string> sides = base::split(base::trim(part), 'x');
    const auto nodes = sides.size() == 2 ? whole(sides[0]) : std::nullopt;
    const auto devices = sides.size() == 2 ? whole(sides[1]) : std::nullopt;
    if (!nodes || !devices)
      throw Error(MK_INVALID_ARGUMENT, "--formations " + text + ": '" + part +
                                           "' is not a formation: write nodes x devices per node, such as 1x3,3x1,4x3");
    if (uint64_t{*nodes} * *devices > kMostDevices)
      throw Error(MK_INVALID_ARGUMENT,
                  fmt::format("--formations {}: '{}' has more than {} devices", text, part, kMostDevices));
    made.push_back({*nodes, *devices});
  }
  return made;
}

std::string formations_table(const scheduler::Workload& workload, const run::Expectation& expectation,
                             double refit_factor, const std::vector<Formation>& formations) {
  std::string text = fmt::format("formations, simulated from {}\n  nodes x devices{:>26}{:>26}{:>26}\n{:17}",
                                 expectation.source, "this schedule", "static split", "random static split", "");
  for (int group = 0; group < 3; ++group) text += fmt::format("{:>15}{:>11}", "time", "efficiency");
  text += '\n';
  for (const Formation& formation : formations) {
    scheduler::Scenario scenario = scenario_of(workload, expectation, refit_factor, formation);
    scheduler::Simulated shuffled;
    for (scenario.seed = 1; scenario.seed <= kOrders; ++scenario.seed) {
      const scheduler::Simulated one = simulate(scenario, Rule::shuffled);
      shuffled.makespan_s += one.makespan_s / kOrders;
      shuffled.efficiency += one.efficiency / kOrders;
    }
    text += fmt::format("  {:>5} x {:<7} {} {} {}\n", formation.nodes, formation.devices,
                        cell(simulate(scenario, Rule::ours), expectation.measured),
                        cell(simulate(scenario, Rule::contiguous), expectation.measured),
                        cell(shuffled, expectation.measured));
  }
  return text + "including refits, each of a candidate with an average fit time\n";
}

}  // namespace mokume::inspect
