// Tests status and explain on runs that are alive, killed, stopped for lack of disk space, or finished.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

using namespace std::chrono_literals;

constexpr int kLongRun = 3000;  // digits of a run that the tests interrupt

std::string results_of_an_undisturbed_run(int digits) {
  const Place place;
  place.write("e.toml", small_experiment("host", digits));
  EXPECT_EQ(place.mokume("run e.toml").code, 0);
  return slurp(place.run("small") / "results.csv");
}

void wait_for_a_fit(const Place& place) {
  const auto there = [&] {
    if (!fs::exists(place.path() / "runs/small") || place.run("small").empty()) return false;
    return slurp(place.run("small") / "journal/node-0000.ndjson").find("\"fit\":") != std::string::npos;
  };
  for (int k = 0; k < 20000 && !there(); ++k) std::this_thread::sleep_for(1ms);
}

// Returns a fit that the journal of the run does not contain yet, or -1 if it contains all 36.
int a_fit_that_waits(const std::string& run) {
  const std::string journal = slurp(fs::path(run) / "journal/node-0000.ndjson");
  for (int fit = 35; fit >= 0; --fit)
    if (!has(journal, "\"fit\":" + std::to_string(fit) + ",")) return fit;
  return -1;
}

TEST(Status, DistinguishesLiveAndDeadRuns) {
  const Place place;
  place.write("e.toml", small_experiment("host", kLongRun));
  const pid_t pid = place.start({"run", "e.toml"});
  wait_for_a_fit(place);
  kill(pid, SIGSTOP);  // keeps the run alive during the following commands
  const std::string run = place.run("small").string();
  const Ended live = place.mokume("status " + run);
  const int fit = a_fit_that_waits(run);
  const Ended waits = place.mokume(fmt::format("explain {} {},{}", run, fit / 3, fit % 3));
  const Ended as_json = place.mokume("status --json " + run);
  kill(pid, SIGKILL);
  ASSERT_EQ(Place::wait(pid), 128 + SIGKILL) << "the run ended before it could be stopped";
  ASSERT_GE(fit, 0) << "the fits ended before they could be stopped";
  EXPECT_EQ(live.code, 0) << live.err;
  EXPECT_TRUE(has(live.out, ": live on ")) << live.out;
  EXPECT_TRUE(has(live.out, " of 36 fits, ETA ")) << live.out;
  EXPECT_TRUE(has(waits.out, fmt::format("fit {}: candidate {}, fold {} (", fit, fit / 3, fit % 3))) << waits.out;
  EXPECT_TRUE(has(waits.out, "needs ")) << waits.out;
  EXPECT_EQ(nlohmann::json::parse(as_json.out)["state"], "live");
  EXPECT_TRUE(nlohmann::json::parse(as_json.out).contains("best"));

  EXPECT_EQ(nlohmann::json::parse(slurp(fs::path(run) / "run.json"))["state"], "running") << "nobody could change it";
  const Ended dead = place.mokume("status " + run);
  EXPECT_TRUE(has(dead.out, ": dead (killed), ")) << dead.out;
  EXPECT_TRUE(has(dead.out, "next: mokume resume " + run)) << dead.out;
  const Ended nobody = place.mokume("explain " + run + " " + std::to_string(fit));
  EXPECT_TRUE(has(nobody.out, "no device is working on it: the run is dead (killed)")) << nobody.out;

  ASSERT_EQ(place.mokume("resume " + run).code, 0);
  const Ended done = place.mokume("status " + run);
  EXPECT_TRUE(has(done.out, ": done, 36 of 36 fits")) << done.out;
  EXPECT_TRUE(has(done.out, "\n  best: error ") && has(done.out, " % with C = ")) << done.out;
  const Ended ran = place.mokume("explain " + run + " 35");
  EXPECT_TRUE(has(ran.out, "computed by node 0, host:0 (")) << ran.out;
  EXPECT_TRUE(has(ran.out, "errors ")) << ran.out;
  EXPECT_TRUE(has(place.mokume("explain " + run).out, "no device was retired, no node lost"));
  const Ended refit = place.mokume("explain " + run + " refit");
  EXPECT_TRUE(has(refit.out, "slot 36: the refit: candidate ")) << refit.out;
  EXPECT_TRUE(has(refit.out, " test rows wrong\n")) << refit.out;
  EXPECT_TRUE(has(refit.out, "its model: " + run + "/models/best\n")) << refit.out;
  EXPECT_EQ(place.mokume("explain " + run + " 36").out, refit.out);
  const Ended wrong = place.mokume("explain " + run + " 37");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(has(wrong.err, "'37' is not a fit of this run: write its id (0 to 35, 36 for refits)")) << wrong.err;
}

TEST(Compare, ReportsWhetherTwoRunsAreTheSame) {
  const Place place;
  place.write("e.toml", small_experiment("host"));
  for (const char* run : {"run e.toml --out a", "run e.toml --out b", "run e.toml --out c --set data.limit=400"})
    ASSERT_EQ(place.mokume(run).code, 0) << run;
  const auto run = [&](const char* out) {
    return fs::directory_iterator(place.path() / out / "small")->path().string();
  };
  const Ended same = place.mokume("compare " + run("a") + " " + run("b"));
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_TRUE(has(same.out, "36 of 36 in both, with the same values bit for bit\n")) << same.out;
  const Ended other = place.mokume("compare " + run("a") + " " + run("c"));
  EXPECT_EQ(other.code, 1) << other.err;
  EXPECT_TRUE(has(other.out, "  data.limit: 500 | 400\n")) << other.out;
  EXPECT_TRUE(has(other.out, "from different plans")) << other.out;
  EXPECT_EQ(place.mokume("compare " + run("a") + " nowhere").code, 2);
  EXPECT_EQ(place.mokume("compare " + run("a")).code, 2);
}

TEST(Status, EfficiencyNamesTheSourceOfItsSpeeds) {
  const Place place;
  place.write("e.toml", small_experiment("host"));
  ASSERT_EQ(place.mokume("run e.toml").code, 0);
  const auto summary = nlohmann::json::parse(slurp(place.run("small") / "summary.json"));
  EXPECT_GT(summary["efficiency"].get<double>(), 0);
  EXPECT_LE(summary["efficiency"].get<double>(), 1);
  EXPECT_TRUE(summary["speeds"] == "measured" || summary["speeds"] == "estimated") << summary["speeds"];
  EXPECT_GT(summary["devices"][0]["speed"].get<double>(), 0);
}

// Expects exit code 75, one error message, and a status that recommends `mokume resume`.
void expect_a_clean_stop(const Ended& stopped, const Place& place, const std::string& directory) {
  EXPECT_EQ(stopped.code, 75) << stopped.err;
  EXPECT_TRUE(has(stopped.err, "cannot write ")) << stopped.err;
  EXPECT_TRUE(has(stopped.err, "node-0000.ndjson: ")) << stopped.err;
  EXPECT_TRUE(has(stopped.err, "run the same command again")) << stopped.err;
  size_t errors = 0;
  for (size_t at = stopped.err.find("error: "); at != std::string::npos; at = stopped.err.find("error: ", at + 1))
    ++errors;
  EXPECT_EQ(errors, 1U) << stopped.err;
  const Ended status = place.mokume("status " + directory);
  EXPECT_TRUE(has(status.out, "next: mokume resume ")) << status.out << status.err;
}

TEST(FullDisk, StopsTheRunAndLosesNothing) {
  const Place place;
  place.write("e.toml", small_experiment("host"));
  // A file-size limit of 6 KiB imitates a full disk. It is enough for run.json, but not for the journal of 36 fits.
  const Ended stopped = place.shell("ulimit -f 12; " + Place::program() + " run e.toml");
  expect_a_clean_stop(stopped, place, place.run("small").string());
  const Ended rest = place.mokume("run e.toml");
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(slurp(place.run("small") / "results.csv"), results_of_an_undisturbed_run(500));
}

// Mounts a file system of 64 MiB below `place`, if this user may mount it.
class SmallDisk {
 public:
  explicit SmallDisk(const Place& place) : path_(place.path() / "runs") {
    fs::create_directories(path_);
    mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=64m") == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }
  void fill() const {
    std::ofstream file(path_ / "filler", std::ios::binary);
    const std::string block(4096, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) continue;
  }
  void empty() const { fs::remove(path_ / "filler"); }

 private:
  fs::path path_;
  bool mounted_ = false;
};

TEST(FullDisk, OnARealFileSystemStopsTheRunAndLosesNothing) {
  const Place place;
  const SmallDisk disk(place);
  if (!disk.mounted()) GTEST_SKIP() << "this user may not mount a file system";
  place.write("e.toml", small_experiment("host", kLongRun));
  const pid_t pid = place.start({"run", "e.toml"});
  wait_for_a_fit(place);
  kill(pid, SIGSTOP);
  disk.fill();
  kill(pid, SIGCONT);
  Ended stopped;
  stopped.code = Place::wait(pid);
  stopped.err = slurp(place.path() / "child.txt");
  disk.empty();
  expect_a_clean_stop(stopped, place, place.run("small").string());
  const Ended rest = place.mokume("run e.toml");
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(slurp(place.run("small") / "results.csv"), results_of_an_undisturbed_run(kLongRun));
}

}  // namespace
}  // namespace mokume::cli_test
