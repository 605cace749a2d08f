// Simulates how busy 1 to 1,000 devices are under the scheduler of real runs and under simpler rules, on recorded times
// of the SVC grid and on the 144 networks of the study under a bandwidth model.
//
// "ours" learns the times of fits as it runs; "known" has the times of an earlier run; "bound" limits every schedule.
//
//   bench_schedule [DIRECTORY WITH THE .csv FILES, default bench/results] [FILE.json for the figures]
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "inputs.hpp"
#include "rungs.hpp"
#include "sdk/error.hpp"

namespace mokume::bench {
namespace {

using scheduler::Rule;
using scheduler::Scenario;

constexpr double kLeaseSeconds = 0.001;
constexpr size_t kRungDevices = 12;
constexpr uint32_t kDraws = 8;  // repeats with other epochs, winners and random orders
const std::vector<size_t> kCounts = {1, 2, 3, 6, 9, 12, 24, 48, 96, 192, 384, 768, 1000};

struct Row {
  size_t devices;
  double contiguous, shuffled, first_come, ours, known, bound, hours;
};

// Returns a bound of all schedules, which must run the longest bundle and each bootstrap's longest chain with a refit.
double bound_of(const Scenario& scenario) {
  double speeds = 0, fastest = 0;
  for (const auto& unit : scenario.units) {
    speeds += unit.speed;
    fastest = std::max(fastest, unit.speed);
  }
  double work = 0, longest = 0;
  for (const scheduler::Bundle& bundle : scenario.workload.bundles) {
    double seconds = 0;
    for (const uint32_t fit : bundle.fits) seconds += scenario.seconds[fit];
    work += seconds;
    for (const auto& refit : scenario.refits)
      if (scenario.workload.positions[bundle.fits.front()].bootstrap == refit.bootstrap)
        longest = std::max(longest, seconds + refit.seconds);
    longest = std::max(longest, seconds);
  }
  for (const auto& refit : scenario.refits) work += refit.seconds;
  return std::min(1.0, work / (longest / fastest * speeds));
}

Row simulate_all(Scenario scenario, const std::vector<double>& speeds, size_t count) {
  scenario.units = devices(count, speeds);
  scenario.lease_s = kLeaseSeconds;
  double work = std::accumulate(scenario.seconds.begin(), scenario.seconds.end(), 0.0), sum = 0;
  for (const auto& unit : scenario.units) sum += unit.speed;
  scenario.ask_again_s = std::max(0.2, work / sum / 500);
  Row row{count, 0, 0, 0, 0, 0, bound_of(scenario), 0};
  row.contiguous = simulate(scenario, Rule::contiguous).efficiency;
  row.first_come = simulate(scenario, Rule::first_come).efficiency;
  for (scenario.seed = 1; scenario.seed <= kDraws; ++scenario.seed)
    row.shuffled += simulate(scenario, Rule::shuffled).efficiency / kDraws;
  const scheduler::Simulated ours = simulate(scenario, Rule::ours);
  row.ours = ours.efficiency;
  row.hours = ours.makespan_s / 3600;
  scenario.known = true;
  row.known = simulate(scenario, Rule::ours).efficiency;
  return row;
}

Row mean(const std::vector<Row>& rows) {
  Row all{rows.front().devices, 0, 0, 0, 0, 0, 0, 0};
  for (const Row& row : rows) {
    const double share = 1.0 / static_cast<double>(rows.size());
    all.contiguous += share * row.contiguous;
    all.shuffled += share * row.shuffled;
    all.first_come += share * row.first_come;
    all.ours += share * row.ours;
    all.known += share * row.known;
    all.bound += share * row.bound;
    all.hours += share * row.hours;
  }
  return all;
}

class Book {
 public:
  // Adds the mean of simulations of `draws`, which differ in the unknown quantities.
  void add(const std::string& title, const std::vector<Scenario>& draws, const std::vector<double>& speeds = {1}) {
    fmt::print("\n{} (simulated)\n{:>8} {:>11} {:>9} {:>11} {:>7} {:>7} {:>7} {:>9}\n", title, "devices", "contiguous",
               "shuffled", "first come", "ours", "known", "bound", "hours");
    auto& rows = json_["tables"].emplace_back(nlohmann::ordered_json{{"title", title}, {"simulated", true}});
    for (const size_t count : kCounts) {
      if (count < speeds.size()) continue;
      std::vector<Row> each;
      for (const Scenario& one : draws) each.push_back(simulate_all(one, speeds, count));
      const Row row = mean(each);
      fmt::print("{:>8} {:>11.3f} {:>9.3f} {:>11.3f} {:>7.3f} {:>7.3f} {:>7.3f} {:>9.4g}\n", count, row.contiguous,
                 row.shuffled, row.first_come, row.ours, row.known, row.bound, row.hours);
      rows["rows"].push_back({{"devices", count},
                              {"contiguous_static", row.contiguous},
                              {"random_static", row.shuffled},
                              {"first_come", row.first_come},
                              {"ours", row.ours},
                              {"ours_times_known", row.known},
                              {"bound", row.bound},
                              {"ours_hours", row.hours}});
    }
    std::fflush(stdout);
  }
  void add_rungs(const std::string& title, const std::vector<double>& speeds, Scenario search) {
    search.units = devices(kRungDevices, speeds);
    double ours = 0;
    for (uint64_t seed = 1; seed <= kDraws; ++seed) ours += efficiency_in_rungs(search, seed) / kDraws;
    fmt::print("{} in 3 rungs, {} devices of speeds {}: {:.3f} (simulated)\n", title, kRungDevices,
               fmt::join(speeds, ", "), ours);
    json_["rungs"].push_back({{"title", title}, {"devices", kRungDevices}, {"speeds", speeds}, {"ours", ours}});
  }
  std::string text() const { return json_.dump(1) + "\n"; }

 private:
  nlohmann::ordered_json json_ = {{"what",
                                   "simulated efficiency: seconds of work done once, on a device of speed 1, over "
                                   "makespan times the sum of speeds"},
                                  {"lease_seconds", kLeaseSeconds},
                                  {"draws", kDraws},
                                  {"tables", nlohmann::ordered_json::array()}};
};

int run(const std::string& inputs, const std::string& output) {
  const std::string svc = inputs + "/svc-grid-times.csv", nets = inputs + "/network-weights.csv";
  Book book;
  book.add("SVC grid, gamma x fold", {svc_grid(svc, false)});
  book.add("SVC grid, whole gammas", {svc_grid(svc, true)});
  book.add("SVC grid, gamma x fold x class, as if every class took a tenth", {svc_grid(svc, false, 10)});
  book.add("SVC grid, gamma x fold, devices of speed 1, 2 and 30", {svc_grid(svc, false)}, {1, 2, 30});
  std::vector<Scenario> fits, all;
  for (uint64_t seed = 1; seed <= kDraws; ++seed) {
    fits.push_back(networks(nets, false, seed));
    all.push_back(networks(nets, true, seed));
  }
  book.add("networks, 720 fits", fits);
  book.add("networks, 720 fits and 12 refits", all);
  book.add("networks, 720 fits, devices of speed 1, 2 and 30", fits, {1, 2, 30});
  book.add("networks, 720 fits and 12 refits, devices of speed 1, 2 and 30", all, {1, 2, 30});
  for (const auto& [title, search] : {std::pair("SVC grid, gamma x fold", svc_grid(svc, false)),
                                      std::pair("networks, 720 fits", networks(nets, false, 1))})
    for (const std::vector<double>& speeds : {std::vector<double>{1}, {1, 1.5, 2}, {1, 2, 4}, {1, 2, 30}})
      book.add_rungs(title, speeds, search);
  if (!output.empty()) base::write_file(output, book.text());
  return 0;
}

}  // namespace
}  // namespace mokume::bench

int main(int argc, char** argv) {
  try {
    return mokume::bench::run(argc > 1 ? argv[1] : "bench/results", argc > 2 ? argv[2] : "");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}
