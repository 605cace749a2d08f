// Tests whole runs: their files, kills, resumes, nodes and devices.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/processes.hpp"
#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

using namespace std::chrono_literals;

constexpr int kLong = 3000;  // digits of a run that the tests interrupt

const std::string& undisturbed(int digits = 500) {
  static std::map<int, std::string> texts;
  std::string& text = texts[digits];
  if (text.empty()) {
    const Place place;
    place.write("e.toml", small_experiment("host", digits));
    EXPECT_EQ(place.mokume("run e.toml").code, 0);
    text = slurp(place.run("small") / "results.csv");
  }
  return text;
}

// Waits until the run's journal holds `fits` fits or, if `fits` is 0, until the run has a run.json.
void wait_for(const Place& place, int fits) {
  const auto there = [&] {
    if (!fs::exists(place.path() / "runs/small") || place.run("small").empty()) return false;
    if (fits == 0) return fs::exists(place.run("small") / "run.json");
    const std::string journal = slurp(place.run("small") / "journal/node-0000.ndjson");
    return std::count(journal.begin(), journal.end(), '\n') > fits;  // the first line is a header
  };
  for (int k = 0; k < 20000 && !there(); ++k) std::this_thread::sleep_for(1ms);
}

std::vector<std::vector<std::string>> rows(const std::string& csv) {
  std::vector<std::vector<std::string>> table;
  std::stringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    table.emplace_back();
    std::stringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) table.back().push_back(cell);
  }
  return table;
}

// Returns the largest difference in the column `errors` of candidate,bootstrap,fold,C,gamma,n,errors,error,status.
int worst_difference(const std::string& a, const std::string& b) {
  const auto x = rows(a), y = rows(b);
  EXPECT_EQ(x.size(), y.size());
  int worst = 0;
  for (size_t r = 1; r < std::min(x.size(), y.size()); ++r)
    worst = std::max(worst, std::abs(std::stoi(x[r].at(6)) - std::stoi(y[r].at(6))));
  return worst;
}

TEST(Run, WithoutASearchNoCandidateIsCalledTheBest) {
  const Place place;
  place.write("e.toml",
              "name = \"one\"\nmodel = \"svc\"\ndata = { source = \"digits\", limit = 200 }\n"
              "validation.folds = 2\ndevices.use = \"host\"\n");
  const Ended run = place.mokume("run e.toml");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.err.find("best candidate: "), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("mokume: refitting on 200 rows\n"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("\ncross-validation error: "), std::string::npos) << run.err;
}

TEST(Run, LeavesEveryFileListedInTheDesign) {
  const Place place;
  place.write("e.toml", small_experiment("host"));
  const Ended run = place.mokume("run e.toml");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, "");
  for (const char* phrase : {"best candidate: C = ", "test error: ", "report.html"})
    EXPECT_NE(run.err.find(phrase), std::string::npos) << phrase;
  const fs::path d = place.run("small");
  for (const char* file : {"experiment.toml", "config.resolved.toml", "run.json", "journal/node-0000.ndjson",
                           "results.csv", "candidates.csv", "timeline.csv", "summary.json", "plots/heatmap.svg",
                           "report.html", "models/best/manifest.json", "logs/node-0000.log"})
    EXPECT_TRUE(fs::exists(d / file)) << file;
  EXPECT_EQ(slurp(d / "experiment.toml"), small_experiment("host"));
  const auto table = rows(slurp(d / "results.csv"));
  EXPECT_EQ(table.size(), 1U + 12 * 3);
  EXPECT_EQ(table[0], (std::vector<std::string>{"candidate", "bootstrap", "fold", "C", "gamma", "n", "errors", "error",
                                                "status"}));
  const auto summary = nlohmann::json::parse(slurp(d / "summary.json"));
  for (const char* key : {"name", "model", "seed", "plan_hash", "data", "candidates", "folds", "bootstraps", "fits",
                          "failed", "best", "test", "wall_s", "fit_s", "devices", "nodes", "efficiency", "state"})
    EXPECT_TRUE(summary.contains(key)) << key;
  EXPECT_EQ(summary["state"], "done");
  EXPECT_EQ(summary["fits"], 36);
  EXPECT_EQ(summary["test"]["n"], 1000);

  // The program does not resume a finished run, but it can write its report again, byte for byte.
  const std::string before = slurp(d / "report.html");
  for (const char* file : {"report.html", "results.csv", "summary.json"}) fs::remove(d / file);
  EXPECT_EQ(place.mokume("report " + d.string()).code, 0);
  EXPECT_EQ(slurp(d / "report.html"), before);
  EXPECT_EQ(slurp(d / "results.csv"), undisturbed());
  EXPECT_EQ(nlohmann::json::parse(slurp(d / "summary.json")), summary);
  const Ended status = place.mokume("status " + d.string());
  EXPECT_NE(status.out.find("36 of 36"), std::string::npos) << status.out;
  const Ended predicted = place.mokume("predict " + d.string() + " --data digits,limit=50");
  EXPECT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_EQ(std::count(predicted.out.begin(), predicted.out.end(), '\n'), 51);
}

TEST(Run, ResumesAfterAKillToTheSameBytes) {
  const Place place;
  place.write("e.toml", small_experiment("host", kLong));
  for (const int fits : {0, 1, 9}) {
    const pid_t pid = place.start({"run", "e.toml"});
    wait_for(place, fits);
    kill(pid, SIGKILL);
    ASSERT_EQ(Place::wait(pid), 128 + SIGKILL) << "the run ended before it could be killed";
  }
  const Ended last = place.mokume("run e.toml");
  ASSERT_EQ(last.code, 0) << last.err;
  EXPECT_EQ(slurp(place.run("small") / "results.csv"), undisturbed(kLong));
  const auto summary = nlohmann::json::parse(slurp(place.run("small") / "summary.json"));
  EXPECT_EQ(rows(slurp(place.run("small") / "out_of_fold.csv")).size(), 1 + summary["data"]["rows"].get<size_t>())
      << "predictions survive a kill";
}

TEST(Run, RungsDropMostCandidatesAndResumeToTheSameBytes) {
  const std::string command = "run e.toml --set search.rungs=3 --set search.factor=2 --set validation.calibrate=true";
  const Place place, killed;
  for (const Place* one : {&place, &killed}) one->write("e.toml", small_experiment("host", kLong));
  const Ended dry = place.mokume(command + " --dry-run");
  EXPECT_NE(dry.err.find("3 rungs with "), std::string::npos) << dry.err;
  const Ended whole = place.mokume(command);
  ASSERT_EQ(whole.code, 0) << whole.err;
  const fs::path run = place.run("small");
  const auto summary = nlohmann::json::parse(slurp(run / "summary.json"));
  const auto candidates = rows(slurp(run / "candidates.csv")), fits = rows(slurp(run / "results.csv"));
  EXPECT_EQ(candidates.at(0).at(4), "rung");
  std::map<std::string, size_t> reached;
  for (size_t r = 1; r < candidates.size(); ++r) ++reached[candidates[r].at(4)];
  const size_t all = candidates.size() - 1, second = (all + 1) / 2, third = (second + 1) / 2;
  EXPECT_EQ(reached, (std::map<std::string, size_t>{{"0", all - second}, {"1", second - third}, {"2", third}}));
  const size_t folds = summary.at("folds");
  EXPECT_EQ(fits.size() - 1, folds * (all + second + third));
  EXPECT_EQ(summary.at("dropped"), folds * (2 * all - second - third));
  EXPECT_NE(whole.err.find("cross-validation error"), std::string::npos) << whole.err;
  const Ended explained = place.mokume("explain " + run.string());
  EXPECT_NE(explained.out.find(" dropped"), std::string::npos) << explained.out;

  for (const int lines : {0, 3, 12}) {
    const pid_t pid = killed.start(
        {"run", "e.toml", "--set", "search.rungs=3", "--set", "search.factor=2", "--set", "validation.calibrate=true"});
    wait_for(killed, lines);
    kill(pid, SIGKILL);
    Place::wait(pid);
  }
  ASSERT_EQ(killed.mokume(command).code, 0);
  for (const char* file : {"results.csv", "candidates.csv", "models/best/calibration.json"})
    EXPECT_EQ(slurp(killed.run("small") / file), slurp(run / file)) << file;
}

TEST(Run, TrialsAreTheSameAfterKillsAndForAnyNumberOfRanks) {
  if (!have("mpirun")) GTEST_SKIP() << "mpirun is missing: install openmpi-bin";
  const std::string command = "run e.toml --devices host";
  const Place place, killed, two;
  std::string experiment = small_experiment("host", kLong);
  const std::string grid = "C = { log10 = [-1, 4], n = 6 }\ngamma = [0.001, 0.01]", method = "method = \"grid\"\n";
  experiment.replace(experiment.find(grid), grid.size(),
                     "C = { log10 = [-1, 4], n = 12 }\ngamma = [0.001, 0.003, 0.01]");
  experiment.insert(experiment.find(method) + method.size(), "trials = 16\nat_once = 3\n");
  for (const Place* one : {&place, &killed, &two}) one->write("e.toml", experiment);
  EXPECT_NE(place.mokume(command + " --dry-run").err.find("16 trials of 36 candidates"), std::string::npos);
  const Ended whole = place.mokume(command);
  ASSERT_EQ(whole.code, 0) << whole.err;
  const fs::path run = place.run("small");
  const auto summary = nlohmann::json::parse(slurp(run / "summary.json"));
  const size_t folds = summary.at("folds");
  EXPECT_EQ(summary.at("trials"), 16);
  EXPECT_EQ(summary.at("fits"), 16 * folds);
  EXPECT_EQ(rows(slurp(run / "candidates.csv")).size(), 1U + 16);
  EXPECT_EQ(rows(slurp(run / "results.csv")).size(), 1 + 16 * folds);
  const Ended status = place.mokume("status " + run.string());
  EXPECT_NE(status.out.find(fmt::format("{0} of {0} fits", 16 * folds)), std::string::npos) << status.out;

  for (const int lines : {0, 12, 33}) {
    const pid_t pid = killed.start({"run", "e.toml"});
    wait_for(killed, lines);
    kill(pid, SIGKILL);
    Place::wait(pid);
  }
  ASSERT_EQ(killed.mokume(command).code, 0);
  const Ended ranks =
      two.shell("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -np 2 " +
                Place::program() + " run e.toml");
  ASSERT_EQ(ranks.code, 0) << ranks.err;
  for (const char* file : {"results.csv", "candidates.csv"})
    for (const Place* other : {&killed, &two}) EXPECT_EQ(slurp(other->run("small") / file), slurp(run / file)) << file;
}

TEST(Run, RefusesMoreTrialsThanCandidates) {
  const Place place;
  place.write("e.toml", small_experiment("host"));
  const Ended refused = place.mokume("run e.toml --set search.trials=1000");
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("search.trials is 1000, but there are "), std::string::npos) << refused.err;
}

// Otherwise, results of candidates that this search drops would decide.
TEST(Run, RungsTakeNothingOverFromAGridButTheirFirstFits) {
  const Place alone, after;
  for (const Place* one : {&alone, &after}) one->write("e.toml", small_experiment("host"));
  ASSERT_EQ(after.mokume("run e.toml").code, 0);
  const std::string command = "run e.toml --set search.rungs=2 --set search.factor=3";
  ASSERT_EQ(alone.mokume(command).code, 0);
  const fs::path grid = after.run("small");
  ASSERT_EQ(after.mokume(command).code, 0);
  for (const auto& run : fs::directory_iterator(grid.parent_path())) {
    if (run.path() == grid) continue;
    for (const char* file : {"candidates.csv", "results.csv"})
      EXPECT_EQ(slurp(run.path() / file), slurp(alone.run("small") / file)) << file;
  }
}

// If the run is killed before everything is written, the next run resumes it.
TEST(Run, IsDoneOnlyOnceEverythingIsWritten) {
  const Place place;
  place.write("e.toml", small_experiment("host"));
  const pid_t pid = place.start({"run", "e.toml"});
  wait_for(place, 1);
  const fs::path run = place.run("small");
  while (slurp(run / "run.json").find(R"("state": "done")") == std::string::npos && !is_dead(pid)) {
  }
  EXPECT_TRUE(fs::exists(run / "report.html"));
  EXPECT_EQ(Place::wait(pid), 0) << slurp(place.path() / "child.txt");
}

TEST(Run, DrainsOnSigtermAndResumes) {
  const Place place;
  place.write("e.toml", small_experiment("host", kLong));
  const pid_t pid = place.start({"run", "e.toml"});
  wait_for(place, 1);
  kill(pid, SIGTERM);
  EXPECT_EQ(Place::wait(pid), 75) << slurp(place.path() / "child.txt");
  EXPECT_EQ(nlohmann::json::parse(slurp(place.run("small") / "run.json"))["state"], "stopped");
  // Recovery files of unfinished fits stay until the run is done.
  const fs::path scratch = place.run("small") / "scratch";
  fs::create_directories(scratch / "fit-999999/deep");
  const Ended rest = place.mokume("resume " + place.run("small").string());
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_FALSE(fs::exists(scratch));
  EXPECT_EQ(slurp(place.run("small") / "results.csv"), undisturbed(kLong));
}

TEST(Run, ASecondRunOnADirectoryIsRefused) {
  const Place place;
  place.write("e.toml", small_experiment("host", kLong));
  const pid_t pid = place.start({"run", "e.toml"});
  wait_for(place, 0);
  const Ended second = place.mokume("run e.toml");
  EXPECT_EQ(second.code, 75) << "the same command can succeed later";
  EXPECT_NE(second.err.find("another mokume process"), std::string::npos) << second.err;
  kill(pid, SIGKILL);
  EXPECT_EQ(Place::wait(pid), 128 + SIGKILL) << "the run ended before the second began";
}

TEST(Run, RefusesADamagedJournal) {
  const Place place;
  place.write("e.toml", small_experiment("host"));
  ASSERT_EQ(place.mokume("run e.toml").code, 0);
  const fs::path d = place.run("small");
  std::string text = slurp(d / "journal/node-0000.ndjson");
  text[text.size() / 2] ^= 1;
  std::ofstream(d / "journal/node-0000.ndjson", std::ios::binary) << text;
  const Ended report = place.mokume("report " + d.string());
  EXPECT_EQ(report.code, 3) << report.err;
  EXPECT_NE(report.err.find("node-0000.ndjson"), std::string::npos) << report.err;
}

TEST(Run, TwoNodesWriteTheSameBytesAsOne) {
  if (!have("mpirun")) GTEST_SKIP() << "mpirun is missing: install openmpi-bin";
  const Place place;
  place.write("e.toml", small_experiment("host"));
  const Ended run =
      place.shell("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -np 2 " +
                  Place::program() + " run e.toml");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(slurp(place.run("small") / "results.csv"), undisturbed());
  EXPECT_TRUE(fs::exists(place.run("small") / "journal/node-0001.ndjson"));
  EXPECT_EQ(nlohmann::json::parse(slurp(place.run("small") / "summary.json"))["nodes"], 2);
}

TEST(Run, DevicesCanBeSwappedAndMixed) {
  const Place place;
  place.write("e.toml", small_experiment("host", kLong));
  const Ended probe = place.mokume("run e.toml --devices opencl");
  if (probe.code == 4) GTEST_SKIP() << "no OpenCL device: install pocl-opencl-icd";
  ASSERT_EQ(probe.code, 0) << probe.err;
  EXPECT_LE(worst_difference(slurp(place.run("small") / "results.csv"), undisturbed(kLong)), 2);
  // One device may finish all the work before the other one is open. Therefore, the work (one bundle for each gamma)
  // grows until both devices take part.
  std::map<std::string, int> fits;
  for (int n = 2; n <= 64 && (fits["opencl:0"] == 0 || fits["host:0"] == 0); n *= 2) {
    const auto run_on = [&](const std::string& devices) {
      const std::string out = devices.substr(0, 4) + std::to_string(n);
      const Ended ended =
          place.mokume("run e.toml --devices " + devices + " --out " + out +
                       " --set 'search.params.gamma={ log10 = [-3, -2], n = " + std::to_string(n) + " }'");
      EXPECT_EQ(ended.code, 0) << ended.err;
      return fs::directory_iterator(place.path() / out / "small")->path();
    };
    const fs::path mixed = run_on("opencl:0,host");
    EXPECT_LE(worst_difference(slurp(mixed / "results.csv"), slurp(run_on("host") / "results.csv")), 2);
    fits.clear();
    for (const auto& row : rows(slurp(mixed / "timeline.csv"))) ++fits[row.at(5)];
  }
  EXPECT_GT(fits["opencl:0"], 0);
  EXPECT_GT(fits["host:0"], 0);
}

}  // namespace
}  // namespace mokume::cli_test
