// Tests refits on devices that hang, and with ranks that are requested to stop.
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "base/files.hpp"
#include "cli/processes.hpp"
#include "cli/shell.hpp"
#include "cluster/transport/transport.hpp"
#include "journal/line.hpp"
#include "node/experiment.hpp"
#include "run/run.hpp"
#include "scheduler/host_services.hpp"
#include "sdk/error.hpp"

namespace mokume::cli_test {
namespace {

// Returns an experiment without fits: the run consists of one refit for each bootstrap.
std::string only_refits(const std::string& devices, const std::string& bagging) {
  return std::string("plugins.directories = [\"") + fault_library() + "\"]\n" + bagging +
         "name = \"small\"\nmodel = \"svc\"\ndata = { source = \"digits\", limit = 200 }\nvalidation.folds = 0\n"
         "search.method = \"none\"\nmodel_options = { C = 1.0, gamma = 0.01 }\ndevices.use = \"" +
         devices + "\"\n";
}

struct HangingRun {
  run::RunResult result;
  std::string error;
  bool abandoned = false;
};

// Runs the experiment in this process. "fault:0" hangs in its first op, so the process has to exit by _exit.
HangingRun run_hanging(const Place& place, const std::string& devices, const std::string& bagging = "") {
  const std::string text = only_refits(devices, bagging);
  place.write("e.toml", text);
  setenv("XDG_CACHE_HOME", (place.path() / "cache").c_str(), 1);
  // The first run stores the measured speeds, so that the first op of the second run belongs to the refit.
  if (place.mokume("run e.toml --out plain").code != 0) _exit(98);
  setenv("MOKUME_FAULT", "hang:1", 1);
  if (chdir(place.path().c_str()) != 0) _exit(99);
  // The hanging work uses these objects until the process exits.
  auto& log = *new base::Log;
  auto& host = *new scheduler::HostServices(log, 1, "");
  const std::vector<std::string> libraries = {fault_library(), test::libraries()};
  auto& registry = *new registry::Registry(host.table(), libraries);
  cluster::Transport transport(cluster::self_transport());
  run::RunRequest request;
  request.config = *config::parse(text, "e.toml", {}, node::schema_lookup(registry)).config;
  request.source_text = text;
  request.hang_s = 5;
  HangingRun ended;
  class Hung : public run::Frontend {
   public:
    void leave_threads() override { abandoned = true; }
    bool abandoned = false;
  } frontend;
  const std::atomic<bool> stop{false};
  try {
    ended.result = run::run(registry, log, transport, request, frontend, stop);
  } catch (const Error& e) {
    ended.error = e.what();
  }
  ended.abandoned = frontend.abandoned;
  return ended;
}

void expect_exit_0(const std::function<bool()>& body) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(_exit(body() ? 0 : 1), testing::ExitedWithCode(0), "");
}

// With two bootstraps, each device usually gets one refit. On a busy machine, the host sometimes does both before the
// other device asks for one; then the test tries again.
TEST(Refit, IsDoneByAnotherDeviceWhenItHangs) {
  constexpr int kHostDidAll = 2, kMostAttempts = 10;
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto attempt = [] {
    const Place place;
    const HangingRun ended = run_hanging(place, "fault:0,host", "bagging.bootstraps = 2\n");
    const bool done = ended.result.state == "done" && fs::exists(place.run("small") / "models/member-000") &&
                      fs::exists(place.run("small") / "models/member-001");
    return !done ? 1 : ended.abandoned ? 0 : kHostDidAll;
  };
  int code = kHostDidAll;
  const auto ends_as_expected = [&](int status) {
    code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    return code == 0 || code == kHostDidAll;
  };
  for (int tried = 0; code == kHostDidAll && tried < kMostAttempts; ++tried)
    EXPECT_EXIT(_exit(attempt()), ends_as_expected, "");
  EXPECT_EQ(code, 0);
}

TEST(Refit, LeavesTheTablesWhenItHangsOnTheOnlyDevice) {
  expect_exit_0([] {
    const Place place;
    const HangingRun ended = run_hanging(place, "fault:0");
    return ended.abandoned && ended.error.find("it gave no sign of life for 5 s") != std::string::npos &&
           fs::exists(place.run("small") / "results.csv") && !fs::exists(place.run("small") / "models/best");
  });
}

// After the refit, a late result of another device class may decide a near tie differently. The other candidate then
// becomes the single winner, so the run must train it, and that refit must count.
TEST(Refit, IsReplacedWhenItsCandidateIsNoLongerTheBest) {
  const Place place;
  place.write("e.toml", R"(name = "small"
model = "svc"
data = { source = "digits", limit = 200 }
validation.folds = 2
search = { method = "grid", params = { C = [0.1, 10], gamma = [0.01] } }
devices.use = "host"
)");
  ASSERT_EQ(place.mokume("run e.toml").code, 0);
  const fs::path run = place.run("small");
  const auto best = [&] { return nlohmann::json::parse(slurp(run / "summary.json"))["best"]["candidate"].get<int>(); };
  const int before = best();
  const fs::path file = run / "journal/node-0000.ndjson";
  std::istringstream lines(slurp(file));
  std::string changed;
  for (std::string line; std::getline(lines, line);) {
    auto object = nlohmann::ordered_json::parse(*journal::unseal(line));
    if (object.contains("fit") && !object.contains("refit") && !object.contains("event") &&
        object["candidate"] == before)
      object["values"] = nlohmann::json{object["n"], 1.0};  // all rows are wrong
    changed += journal::seal(object.dump());
  }
  place.write((fs::relative(file, place.path())).string(), changed);
  rewrite(run / "run.json", "\"done\"", "\"stopped\"");
  const Ended ended = place.mokume("resume " + run.string());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(best(), before);
  const auto summary = nlohmann::json::parse(slurp(run / "summary.json"));
  EXPECT_TRUE(summary["test"].is_object()) << "of the refit of the best: " << summary.dump();
  const std::string story = place.mokume("explain " + run.string() + " refit").out;
  EXPECT_NE(story.find(" does not count: "), std::string::npos) << story;
  EXPECT_NE(slurp(run / "models/best/manifest.json").find("\"C\""), std::string::npos);
}

// One of two ranks refits, and only rank 1 receives the stop.
TEST(Refit, StopsWhenAnyRankReceivesAStop) {
  if (!have("mpirun")) GTEST_SKIP() << "mpirun is missing: install openmpi-bin";
  const Place place;
  place.write("e.toml", R"(name = "small"
model = "cnn"
data = { source = "digits", limit = 200 }
validation.folds = 0
search.method = "none"
devices.use = "host"
[model_options]
epochs = 1000000
batch_size = 1
optimizer = { type = "adam", lr = 0.001 }
layers = [{ type = "flatten" }, { type = "linear", out_features = 10 }]
)");
  Ended ended;
  std::thread run([&] {
    ended = place.shell(
        "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -np 2 sh -c "
        "'echo $$ >pid-$OMPI_COMM_WORLD_RANK; exec \"$0\" run e.toml' " +
        Place::program());
  });
  const auto refits = [&] { return slurp(place.path() / "err.txt").find("refitting") != std::string::npos; };
  EXPECT_TRUE(eventually(refits)) << slurp(place.path() / "err.txt");
  const pid_t one = std::atoi(slurp(place.path() / "pid-1").c_str());
  if (one > 0) kill(one, SIGTERM);
  run.join();
  EXPECT_EQ(ended.code, 75) << ended.err;
  EXPECT_NE(ended.err.find("stopped on request"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace mokume::cli_test
