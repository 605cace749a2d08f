// Runs one rank of a small run with simulated results; mpirun_test.cpp starts it. Rank 0 writes DIRECTORY/results.txt.
//
//   node DIRECTORY N_FITS [plain | throw | plan | stop | large]
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "base/text.hpp"
#include "cluster/fixtures.hpp"
#include "cluster/run.hpp"
#include "cluster/transport/launcher.hpp"
#include "journal/read.hpp"
#include "registry/registry.hpp"
#include "scheduler/host_services.hpp"

namespace mokume::cluster {
namespace {

struct Options {
  std::string directory;
  uint32_t n_fits = 0;
  std::string mode = "plain";
};

journal::FitRecord make_result(uint32_t fit, const Options& options) {
  journal::FitRecord record = result_of(fit);
  if (options.mode == "large") record.note.assign(300000, static_cast<char>('a' + fit % 26));
  return record;
}

// Holds back the first item of every rank until all ranks have one, so that a rank that starts late still takes part.
void wait_for_all(const Options& options, uint32_t rank, uint32_t size) {
  const auto mark = [&](uint32_t of) { return options.directory + "/started-" + std::to_string(of); };
  std::ofstream(mark(rank)) << rank;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (uint32_t other = 0; other < size; ++other) {
    while (!std::filesystem::exists(mark(other)) && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
}

void work(const Options& options, uint32_t rank, const Attempt& item, Reporter& reporter, std::atomic<bool>& stop) {
  for (const uint32_t fit : item.fits) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (reporter.cancelled()) throw Error(MK_CANCELLED, "cancelled");
    reporter.report(make_result(fit, options));
    if (options.mode == "die-" + std::to_string(rank)) raise(SIGKILL);
  }
  if (rank == 1 && options.mode == "throw") throw Error(MK_BAD_DATA, "host:0: a file has changed");
  if (rank == 1 && options.mode == "stop") stop = true;
}

void write_results(const Options& options, const std::vector<journal::FitRecord>& records) {
  std::ofstream results(options.directory + "/results.txt"), nodes(options.directory + "/nodes.txt");
  for (const journal::FitRecord& one : records) {
    results << one.fit << ' ' << to_text(one.status) << ' ' << one.n << ' ' << base::shortest(one.values.at(0)) << ' '
            << base::shortest(one.values.at(1)) << ' ' << one.note << '\n';
    nodes << one.node << '\n';
  }
}

int run_node(Transport& transport, const Options& options) {
  const uint32_t rank = transport.rank();
  search::Plan plan = make_plan(options.n_fits);
  if (rank == 1 && options.mode == "plan") plan.hash = "another";
  std::atomic<bool> stop{false};
  const uint32_t size = transport.size();  // read here because only this thread may use the transport
  TestExecutor executor(rank, 2, [&, size](uint32_t, uint32_t, const Attempt& attempt, Reporter& reporter) {
    wait_for_all(options, rank, size);
    work(options, rank, attempt, reporter, stop);
  });
  TestRules rules;
  TestObserver observer;
  int code = 0;
  participate(transport, [&] {
    const Leader leader{options.directory, {}};
    const Handshake shaken =
        handshake(transport, {"0.1.0", plan.hash, executor.devices(), {}}, rank == 0 ? &leader : nullptr, stop);
    Leading leading{make_work(plan.n_fits(), 3), rules, {&observer}};
    if (rank == 0) leading.work.done = journal::read_all(shaken.run_directory + "/journal", plan).records;
    journal::Journal journal(shaken.run_directory + "/journal", rank, plan);
    const Outcome outcome = run(transport, shaken, executor, rank == 0 ? &leading : nullptr, journal, stop);
    journal.close(outcome.finished ? "done" : outcome.reason);
    if (rank == 0) write_results(options, outcome.records);
    code = outcome.finished ? 0 : 75;
  });
  return code;
}

int run_program(const Options& options) {
  base::Log log;
  const scheduler::HostServices host(log, 1, "");
  registry::Registry registry(host.table(), {});
  Transport transport(
      mpi_launched()
          ? registry.load(MK_PLUGIN_TRANSPORT, transport_of_launcher(registry.available(MK_PLUGIN_TRANSPORT)))
                .transport()
          : self_transport());
  int code = 0;
  try {
    code = run_node(transport, options);
  } catch (const Error& error) {
    std::fprintf(stderr, "rank %u: %s\n", transport.rank(), error.what());
    // A launcher may lose the ranks' output after the death of a rank.
    std::ofstream(options.directory + "/end-" + std::to_string(transport.rank()) + ".txt") << error.what();
    code = error.status();
  }
  if (!transport.leave(30000)) _exit(code);
  return code;
}

}  // namespace
}  // namespace mokume::cluster

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) return 2;
  mokume::cluster::Options options{argv[1], static_cast<uint32_t>(std::stoul(argv[2])), argc > 3 ? argv[3] : "plain"};
  try {
    return mokume::cluster::run_program(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
