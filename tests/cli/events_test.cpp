// Tests --json, --quiet and --verbose of run and resume.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

using nlohmann::json;

std::vector<json> events_in(const std::string& out) {
  std::vector<json> events;
  for (const std::string& line : lines_of(out)) events.push_back(json::parse(line));
  return events;
}

std::vector<json> named(const std::vector<json>& events, const char* name) {
  std::vector<json> found;
  std::copy_if(events.begin(), events.end(), std::back_inserter(found),
               [&](const json& one) { return one["event"] == name; });
  return found;
}

TEST(Events, EveryLineIsAnEventAndTheSummaryIsTheLast) {
  const Place place;
  place.write("e.toml", small_experiment("host"));
  const Ended run = place.mokume("run e.toml --json");
  ASSERT_EQ(run.code, 0) << run.err;
  const auto events = events_in(run.out);
  ASSERT_GT(events.size(), 38U);
  for (const json& one : events) EXPECT_GT(one["time"].get<double>(), 1e9) << one;
  const auto started = named(events, "started");
  ASSERT_EQ(started.size(), 1U);
  EXPECT_EQ(started[0]["fits"], 36);
  EXPECT_EQ(started[0]["refits"], 1);
  EXPECT_EQ(started[0]["resumed"], false);
  const auto fits = named(events, "fit");
  EXPECT_EQ(fits.size(), 36U);
  std::set<int> ids;
  for (const json& fit : fits) {
    ids.insert(fit["fit"].get<int>());
    EXPECT_EQ(fit["device"], "host:0");
    EXPECT_TRUE(fit["params"].contains("gamma") && fit["values"]["error"].is_number()) << fit;
  }
  EXPECT_EQ(ids.size(), 36U);
  const auto refits = named(events, "refit");
  ASSERT_EQ(refits.size(), 1U);
  const json& last = events.back();
  EXPECT_EQ(last["event"], "summary");
  EXPECT_EQ(last["exit_code"], 0);
  EXPECT_EQ(last["state"], "done");
  EXPECT_EQ(last["earlier"], false);
  EXPECT_EQ(last["fits"], 36);
  EXPECT_EQ(last["run"], started[0]["run"]);
  const auto best = named(events, "best");
  ASSERT_FALSE(best.empty());
  EXPECT_EQ(best.back()["candidate"], last["best"]["candidate"]);
  EXPECT_EQ(best.back()["mean"], last["best"]["mean"]);
  EXPECT_EQ(best.back()["params"], last["best"]["params"]);
  EXPECT_EQ(refits[0]["candidate"], last["best"]["candidate"]);
  const auto devices = named(events, "device");
  ASSERT_FALSE(devices.empty());
  EXPECT_EQ(devices.front()["device"], "host:0");
  EXPECT_EQ(devices.front()["what"], "ready");
  EXPECT_FALSE(has(run.err, "best candidate") || has(run.err, "mokume: loading")) << run.err;

  const auto again = events_in(place.mokume("run e.toml --json").out);
  EXPECT_EQ(again.back()["event"], "summary");
  EXPECT_EQ(again.back()["earlier"], true);
  EXPECT_EQ(again.back()["best"], last["best"]);
  EXPECT_TRUE(named(again, "fit").empty());
}

TEST(Events, NameADamagedSummaryAndReadOneWithoutAChecksum) {
  const Place place;
  place.write("e.toml", small_experiment("host"));
  ASSERT_EQ(place.mokume("run e.toml").code, 0);
  const fs::path file = place.run("small") / "summary.json";
  const std::string whole = slurp(file);
  const auto summary_of = [&](const std::string& text) {
    std::ofstream(file) << text;
    return events_in(place.mokume("run e.toml --json").out).back();
  };
  const nlohmann::json good = summary_of(whole);
  EXPECT_EQ(good["fits"], 36);
  EXPECT_FALSE(good.contains("crc"));
  std::string damaged = whole;
  damaged.replace(damaged.find("\"fits\": 36"), 10, "\"fits\": 35");
  const nlohmann::json bad = summary_of(damaged);
  EXPECT_FALSE(bad.contains("fits")) << bad;
  EXPECT_NE(bad["warnings"].dump().find("summary.json is damaged"), std::string::npos) << bad;
  const nlohmann::json older = summary_of(whole.substr(0, whole.find(",\"crc\"")) + "}\n");
  EXPECT_EQ(older["fits"], 36);
  EXPECT_EQ(older["warnings"], good["warnings"]);
}

TEST(Events, AStopAndItsResumeAreReported) {
  const Place place;
  place.write("e.toml", small_experiment("host", 3000));
  const Ended stopped = place.mokume("run e.toml --json --max-time 0s");
  EXPECT_EQ(stopped.code, 75);
  const auto events = events_in(stopped.out);
  ASSERT_FALSE(events.empty());
  EXPECT_TRUE(events.back()["event"] == "error" || events.back()["event"] == "summary") << events.back();
  place.write("e.toml", small_experiment("host"));
  ASSERT_EQ(place.mokume("run e.toml --out other").code, 0);
  const std::string run = fs::directory_iterator(place.path() / "other/small")->path().string();
  const Ended resumed = place.mokume("resume " + run + " --json");
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  const auto more = events_in(resumed.out);
  EXPECT_EQ(named(more, "started").at(0)["fits_done"], 36);
  EXPECT_EQ(named(more, "started").at(0)["resumed"], true);
  EXPECT_EQ(more.back()["event"], "summary");
}

TEST(Verbosity, QuietPrintsProblemsAndVerbosePrintsTheLog) {
  const Place place;
  place.write("e.toml", small_experiment("host"));
  const Ended quiet = place.mokume("run e.toml --quiet --set search.params.C=[10] --set search.params.gamma=[0.01]");
  EXPECT_EQ(quiet.code, 0);
  EXPECT_EQ(quiet.out + quiet.err, "");
  const Ended warned = place.mokume("run e.toml --quiet --set search.params.C=[1e-6] --set search.params.gamma=[10]");
  EXPECT_EQ(warned.code, 0);
  EXPECT_EQ(warned.err.rfind("warning: ", 0), 0U) << warned.err;
  EXPECT_FALSE(has(warned.err, "report: ")) << warned.err;

  const Ended usual = place.mokume("run e.toml"), verbose = place.mokume("run e.toml --fresh --verbose");
  EXPECT_EQ(verbose.code, 0) << verbose.err;
  EXPECT_FALSE(has(usual.err, "mokume: info: ")) << usual.err;
  EXPECT_TRUE(has(verbose.err, "mokume: info: ")) << verbose.err;
  EXPECT_TRUE(has(verbose.err, "best candidate: ")) << verbose.err;
}

TEST(Verbosity, VerboseAndTheLogShowWhereAnErrorWasThrown) {
  const Place place;
  place.write("e.toml",
              "plugins.directories = [\"" + std::string(fault_library()) + "\"]\n" + small_experiment("fault:0"));
  const Ended usual = place.mokume("run e.toml --devices quantum");
  const Ended verbose = place.mokume("run e.toml --devices quantum --verbose");
  EXPECT_EQ(usual.code, 4);
  EXPECT_FALSE(has(usual.err, "thrown at")) << usual.err;
  EXPECT_TRUE(has(verbose.err, "the error was thrown at core/device/select.cpp:")) << verbose.err;

  // This error comes from a library, across the boundary.
  const Ended failed = place.shell("MOKUME_FAULT=fail:4 " + Place::program() + " run e.toml");
  EXPECT_EQ(failed.code, 4);
  EXPECT_FALSE(has(failed.err, "thrown at")) << failed.err;
  const std::string log = slurp(place.run("small") / "logs/node-0000.log");
  EXPECT_TRUE(has(log, "the error was thrown at tests/faults/plugin.cpp:")) << log;
}

TEST(Verbosity, IsASingleChoice) {
  const Place place;
  place.write("e.toml", small_experiment("host"));
  for (const char* two : {"--json --quiet", "--json --verbose", "--quiet --verbose", "--json --dry-run"})
    EXPECT_EQ(place.mokume(std::string("run e.toml ") + two).code, 2) << two;
  EXPECT_FALSE(fs::exists(place.path() / "runs"));
}

}  // namespace
}  // namespace mokume::cli_test
