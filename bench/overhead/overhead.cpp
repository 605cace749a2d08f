// What scheduling costs beside the work: no-op fits over the whole path (coordinator, transport, agent, feeder,
// journal), and a commit of the journal alone.
//
//   bench_overhead [FITS=10000] [FITS_PER_BUNDLE=1] [DIRECTORY=.]
//   mpirun -np 4 --oversubscribe --bind-to none bench_overhead 10000
//
// DIRECTORY says which file system is measured; what is written there is removed again. Prints one JSON object.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "cluster/run.hpp"
#include "registry/registry.hpp"
#include "scheduler/host_services.hpp"

namespace mokume {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  uint32_t n_fits = 10000;
  uint32_t per_bundle = 1;
  std::string directory = ".";
};

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

search::Plan make_plan(uint32_t n_fits) {
  search::Plan plan;
  plan.candidates.resize(n_fits);
  plan.folds = 1;
  plan.hash = "bench";
  return plan;
}

journal::FitRecord make_record(uint32_t fit) {
  journal::FitRecord record;
  record.fit = fit;
  record.n = 1000;
  record.values = {fit % 100 * 1.0, fit % 100 / 1000.0};
  record.device = "null:0";
  return record;
}

// Median seconds from append() to the end of flush(), one record at a time.
double commit_seconds(const std::string& directory) {
  constexpr uint32_t k_commits = 200;
  journal::Journal journal(directory, 0, make_plan(k_commits), std::chrono::milliseconds(0));
  std::vector<double> times;
  for (uint32_t fit = 0; fit < k_commits; ++fit) {
    const auto begin = Clock::now();
    journal.append(make_record(fit), {});
    journal.flush();
    times.push_back(seconds_since(begin));
  }
  std::nth_element(times.begin(), times.begin() + k_commits / 2, times.end());
  return times[k_commits / 2];
}

cluster::CoordinatorSetup make_setup(const Options& options) {
  cluster::CoordinatorSetup setup;
  setup.n_fits = options.n_fits;
  for (uint32_t fit = 0; fit < options.n_fits; fit += options.per_bundle) {
    cluster::Bundle& bundle = setup.bundles.emplace_back();
    for (uint32_t i = fit; i < std::min(options.n_fits, fit + options.per_bundle); ++i) bundle.fits.push_back(i);
  }
  return setup;
}

// Every rank. Seconds from the first request to the last commit.
double run_fits(cluster::Transport& transport, const Options& options) {
  const bool leads = transport.rank() == 0;
  cluster::AgentSetup agent;
  agent.devices = {{"null:0", "null", "Null", "mokume", "null", 1}};
  agent.work = [](uint32_t, const cluster::WorkItem& item, cluster::Reporter& reporter) {
    for (const uint32_t fit : item.fits) reporter.report(make_record(fit));
  };
  const std::atomic<bool> stop{false};
  const cluster::Leader leader{options.directory, {}};
  const cluster::Handshake shaken =
      cluster::handshake(transport, {MOKUME_VERSION, "bench", agent.devices, {}}, leads ? &leader : nullptr, stop);
  std::optional<cluster::CoordinatorSetup> setup;
  if (leads) setup = make_setup(options);
  journal::Journal journal(shaken.run_directory + "/run", transport.rank(), make_plan(options.n_fits));
  const auto begin = Clock::now();
  const cluster::Outcome outcome = cluster::run(transport, shaken, agent, setup ? &*setup : nullptr, journal, stop);
  const double seconds = seconds_since(begin);
  if (leads && outcome.records.size() != options.n_fits) throw Error(MK_INTERNAL, "fits are missing");
  return seconds;
}

void measure(cluster::Transport& transport, Options options) {
  const bool leads = transport.rank() == 0;
  if (leads) {
    std::string pattern = std::filesystem::absolute(options.directory).string() + "/mokume-overhead-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) throw Error(MK_INTERNAL, "cannot create " + pattern);
    options.directory = pattern;
  }
  double seconds = 0;
  cluster::participate(transport, [&] { seconds = run_fits(transport, options); });
  if (!leads) return;
  const double commit = commit_seconds(options.directory + "/commits");
  std::filesystem::remove_all(options.directory);
  fmt::print(
      "{{\"ranks\":{},\"fits\":{},\"fits_per_bundle\":{},\"seconds\":{:.4f},\"us_per_fit\":{:.2f},"
      "\"journal_commit_us\":{:.1f}}}\n",
      transport.size(), options.n_fits, options.per_bundle, seconds, seconds / options.n_fits * 1e6, commit * 1e6);
}

int run_program(const Options& options) {
  base::Log log;
  const scheduler::HostServices host(log, 1, "");
  registry::Registry registry(host.table(), {});
  cluster::Transport transport(cluster::mpi_launched() ? registry.load(MK_PLUGIN_TRANSPORT, "mpi").transport()
                                                       : cluster::self_transport());
  measure(transport, options);
  return 0;
}

}  // namespace
}  // namespace mokume

int main(int argc, char** argv) {
  mokume::Options options;
  if (argc > 1) options.n_fits = static_cast<uint32_t>(std::max(1, std::atoi(argv[1])));
  if (argc > 2) options.per_bundle = static_cast<uint32_t>(std::max(1, std::atoi(argv[2])));
  if (argc > 3) options.directory = argv[3];
  try {
    return mokume::run_program(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
