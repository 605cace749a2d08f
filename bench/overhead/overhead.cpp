// Measures the overhead of scheduling: no-op fits over the whole path (coordinator, transport, agent, feeder, journal),
// the time that a device waits from the end of one lease to the start of the next, which is the round trip of a
// request, and a commit of the journal alone.
//
//   bench_overhead [FITS=10000] [FITS_PER_BUNDLE=1] [DIRECTORY=.]
//   mpirun -np 4 --oversubscribe --bind-to none bench_overhead 10000
//
// DIRECTORY selects the file system to measure; the program removes its files there. Prints one JSON object.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "cluster/run.hpp"
#include "cluster/transport/launcher.hpp"
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

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Returns the median seconds from append() to the end of flush(), one record at a time.
double commit_seconds(const std::string& directory) {
  constexpr uint32_t kCommits = 200;
  journal::Journal journal(directory, 0, make_plan(kCommits), std::chrono::milliseconds(0));
  std::vector<double> times;
  for (uint32_t fit = 0; fit < kCommits; ++fit) {
    const auto begin = Clock::now();
    journal.append(make_record(fit));
    journal.flush();
    times.push_back(seconds_since(begin));
  }
  return median(std::move(times));
}

cluster::PlannedWork make_work(const Options& options) {
  cluster::PlannedWork work;
  work.n_fits = options.n_fits;
  for (uint32_t fit = 0; fit < options.n_fits; fit += options.per_bundle) {
    scheduler::Bundle& bundle = work.bundles.bundles.emplace_back();
    bundle.affinity = fit;  // each bundle has its own affinity
    for (uint32_t i = fit; i < std::min(options.n_fits, fit + options.per_bundle); ++i) bundle.fits.push_back(i);
  }
  return work;
}

// Stands for a device that reports at once.
class Instant : public cluster::Executor {
 public:
  std::vector<cluster::LocalDevice> devices() const override {
    return {{"null:0", "null", "Null", "mokume", "null", 1}};
  }
  void run(uint32_t, const cluster::Attempt& attempt, cluster::Reporter& reporter, const mk_team*) override {
    for (const uint32_t fit : attempt.fits) reporter.report(make_record(fit));
  }
  bool kill(uint32_t) noexcept override { return false; }
  void saved(uint32_t) noexcept override {}
  void abandon() noexcept override {}
};

class NoRefits : public cluster::SearchRules {
 public:
  cluster::Refit choose(uint32_t, const std::vector<journal::FitRecord>&) override { return {}; }
  std::optional<double> loss(const journal::FitRecord&) const override { return std::nullopt; }
};

// Returns the median seconds between two leases of a device, on nodes other than rank 0 if there are any.
double round_trip_seconds(std::vector<journal::FitRecord> records) {
  std::stable_sort(records.begin(), records.end(), [](const auto& a, const auto& b) {
    return std::tie(a.node, a.start_s, a.end_s) < std::tie(b.node, b.start_s, b.end_s);
  });
  const bool remote = !records.empty() && records.back().node > 0;
  std::vector<double> gaps;
  for (size_t i = 1; i < records.size(); ++i) {
    const auto &before = records[i - 1], &after = records[i];
    const bool counts = after.node == before.node && (after.node > 0) == remote && after.start_s != before.start_s;
    if (counts) gaps.push_back(after.start_s - before.end_s);
  }
  return median(std::move(gaps));
}

struct Figures {
  double seconds = 0;     // measured from the first request to the last commit
  double round_trip = 0;  // measured on rank 0 only
};

// Every rank calls this function.
Figures run_fits(cluster::Transport& transport, const Options& options) {
  const bool leads = transport.rank() == 0;
  Instant device;
  const std::atomic<bool> stop{false};
  const cluster::Leader leader{options.directory, {}};
  const cluster::Handshake shaken =
      cluster::handshake(transport, {MOKUME_VERSION, "bench", device.devices(), {}}, leads ? &leader : nullptr, stop);
  NoRefits rules;
  cluster::Leading leading{make_work(options), rules, {}};
  journal::Journal journal(shaken.run_directory + "/run", transport.rank(), make_plan(options.n_fits));
  const auto begin = Clock::now();
  const cluster::Outcome outcome = cluster::run(transport, shaken, device, leads ? &leading : nullptr, journal, stop);
  const double seconds = seconds_since(begin);
  if (leads && outcome.records.size() != options.n_fits) throw Error(MK_INTERNAL, "fits are missing");
  return {seconds, leads ? round_trip_seconds(outcome.records) : 0};
}

void measure(cluster::Transport& transport, Options options) {
  const bool leads = transport.rank() == 0;
  if (leads) {
    std::string pattern = std::filesystem::absolute(options.directory).string() + "/mokume-overhead-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) throw Error(MK_INTERNAL, "cannot create " + pattern);
    options.directory = pattern;
  }
  Figures figures;
  cluster::participate(transport, [&] { figures = run_fits(transport, options); });
  if (!leads) return;
  const double commit = commit_seconds(options.directory + "/commits");
  std::filesystem::remove_all(options.directory);
  fmt::print(
      "{{\"ranks\":{},\"fits\":{},\"fits_per_bundle\":{},\"seconds\":{:.4f},\"us_per_fit\":{:.2f},"
      "\"lease_round_trip_us\":{:.1f},\"journal_commit_us\":{:.1f}}}\n",
      transport.size(), options.n_fits, options.per_bundle, figures.seconds, figures.seconds / options.n_fits * 1e6,
      figures.round_trip * 1e6, commit * 1e6);
}

int run_program(const Options& options) {
  base::Log log;
  const scheduler::HostServices host(log, 1, "");
  registry::Registry registry(host.table(), {});
  cluster::Transport transport(
      cluster::mpi_launched()
          ? registry.load(MK_PLUGIN_TRANSPORT, cluster::transport_of_launcher(registry.available(MK_PLUGIN_TRANSPORT)))
                .transport()
          : cluster::self_transport());
  measure(transport, options);
  std::fflush(stdout);
  if (!transport.leave(10000)) _exit(0);
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
