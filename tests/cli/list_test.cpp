// Tests that the command list shows the runs below a directory, whatever their state.
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

using namespace std::chrono_literals;

TEST(List, ShowsEveryRunAndSurvivesDamagedRuns) {
  const Place place;
  place.write("e.toml", small_experiment("host"));
  ASSERT_EQ(place.mokume("run e.toml").code, 0);
  const std::string stamp = place.run("small").filename().string();
  // Makes an unfinished run of another name, a damaged run, an interrupted creation, a foreign directory and a link.
  ASSERT_EQ(place.mokume("run e.toml --set name=later --max-time 0s").code, 75);
  fs::copy(place.run("small"), place.path() / "runs/small/2020-01-01_000000", fs::copy_options::recursive);
  place.write("runs/small/2020-01-01_000000/journal/node-0000.ndjson", "oops\nnot a journal\n");
  fs::create_directories(place.path() / "runs/small/2019-01-01_000000");
  place.write("runs/small/2019-01-01_000000/config.resolved.toml", "");
  fs::create_directories(place.path() / "runs/small/notes");
  fs::create_directory_symlink(place.run("small"), place.path() / "runs/small/2021-link");

  const Ended text = place.mokume("list");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(has(text.out, "experiment  stamp ")) << text.out;
  EXPECT_TRUE(has(text.out, stamp + "  finished ")) << text.out;
  EXPECT_TRUE(has(text.out, "error ")) << text.out;
  EXPECT_FALSE(has(text.out, "notes") || has(text.out, "link")) << text.out;

  const Ended as_json = place.mokume("list --json runs");
  ASSERT_EQ(as_json.code, 0) << as_json.err;
  const auto list = nlohmann::json::parse(as_json.out);
  ASSERT_EQ(list.size(), 4U) << as_json.out;
  const auto find = [&](const std::string& name, const std::string& at) {
    for (const auto& one : list)
      if (one["name"] == name && (at.empty() || one["stamp"] == at)) return one;
    return nlohmann::json();
  };
  const auto finished = find("small", stamp);
  EXPECT_EQ(finished["state"], "finished");
  EXPECT_EQ(finished["run"], "runs/small/" + stamp);
  EXPECT_EQ(finished["fits"], 36);
  const auto summary = nlohmann::json::parse(slurp(place.path() / "runs/small" / stamp / "summary.json"));
  EXPECT_EQ(finished["best"]["value"], summary["best"]["mean"]);
  EXPECT_GT(finished["bytes"].get<int64_t>(), 10000);
  EXPECT_GE(finished["age_s"].get<double>(), 0);
  const auto later = find("later", "");
  EXPECT_EQ(later["state"], "unfinished") << as_json.out;
  EXPECT_EQ(later["fits_planned"], 36);
  const auto cut = find("small", "2020-01-01_000000");
  EXPECT_EQ(cut["state"], "damaged");
  EXPECT_TRUE(has(cut["trouble"].get<std::string>(), "node-0000.ndjson")) << cut;
  EXPECT_EQ(find("small", "2019-01-01_000000")["trouble"], "it holds no run.json");
  EXPECT_EQ(list[2]["stamp"], "2020-01-01_000000") << "the newest first";
  EXPECT_EQ(list[3]["stamp"], "2019-01-01_000000");
}

TEST(List, SaysWhichRunIsRunning) {
  const Place place;
  place.write("e.toml", small_experiment("host", 3000));
  const pid_t pid = place.start({"run", "e.toml"});
  const auto begun = [&] {
    return fs::exists(place.path() / "runs/small") && !place.run("small").empty() &&
           fs::exists(place.run("small") / "run.json");
  };
  for (int k = 0; k < 20000 && !begun(); ++k) std::this_thread::sleep_for(1ms);
  kill(pid, SIGSTOP);
  const Ended running = place.mokume("list");
  kill(pid, SIGKILL);
  ASSERT_EQ(Place::wait(pid), 128 + SIGKILL);
  EXPECT_TRUE(has(running.out, "running")) << running.out << running.err;
  EXPECT_TRUE(has(place.mokume("list runs/small").out, "unfinished, ")) << "a directory of one experiment";
}

// The command writes the page during the run, and once more after the end of the run.
TEST(Report, WatchEndsWithTheRun) {
  const Place place;
  place.write("e.toml", small_experiment("host", 3000));
  const pid_t pid = place.start({"run", "e.toml"});
  const auto begun = [&] {
    return fs::exists(place.path() / "runs/small") && !place.run("small").empty() &&
           has(slurp(place.run("small") / "journal/node-0000.ndjson"), "\"fit\":");
  };
  for (int k = 0; k < 20000 && !begun(); ++k) std::this_thread::sleep_for(1ms);
  kill(pid, SIGSTOP);
  const fs::path page = place.run("small") / "report.html";
  Ended watched;
  std::thread watch([&] { watched = place.mokume("report --watch " + place.run("small").string()); });
  for (int k = 0; k < 60000 && !has(slurp(page), "</html>"); ++k) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(has(slurp(page), "http-equiv=\"refresh\" content=\"30\""));
  kill(pid, SIGCONT);
  EXPECT_EQ(Place::wait(pid), 0);
  watch.join();
  EXPECT_EQ(watched.code, 0) << watched.err;
  EXPECT_TRUE(has(watched.err, "/report.html is written every 30 s until the run ends\n")) << watched.err;
  EXPECT_FALSE(has(slurp(page), "refresh"));
  EXPECT_TRUE(has(slurp(page), ">done<")) << "the last report is that of the finished run";
}

TEST(List, RefusesAMissingDirectory) {
  const Place place;
  const Ended none = place.mokume("list");
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(has(none.err, "there is no directory runs, relative to ")) << none.err;
  fs::create_directory(place.path() / "runs");
  EXPECT_EQ(place.mokume("list").err, "runs holds no runs\n");
  EXPECT_EQ(place.mokume("list --json").out, "[]\n");
}

}  // namespace
}  // namespace mokume::cli_test
