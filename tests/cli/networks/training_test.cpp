// Tests a model that learns in epochs: its curves, and its scratch directories across kills.
#include <gtest/gtest.h>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

std::string experiment(const std::string& options) {
  return std::string("name = \"k\"\nmodel = \"mean\"\nplugins.directories = [\"") + test_library() +
         "\"]\ndevices.use = \"host\"\ndata = { source = \"digits\", limit = 60 }\nvalidation.folds = 2\n"
         "search.method = \"none\"\n[model_options]\n" +
         options;
}

constexpr const char* kCurve = R"("curves":{"train_loss":[0.5,0.3333333333333333,0.25,0.2]})";

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Training, EveryAttemptResumesFromTheScratchFilesOfTheOneBefore) {
  const Place place;
  place.write("e.toml", experiment("epochs = 4\ndie_in = 2\n"));
  // The process dies once in each fit and once in the refit. A fit with an empty scratch directory would die
  // repeatedly.
  for (int attempt = 0; attempt < 3; ++attempt) {
    ASSERT_EQ(place.mokume("run e.toml").code, 128 + SIGKILL) << attempt;
    EXPECT_TRUE(fs::exists(place.run("k") / "scratch")) << attempt;
  }
  EXPECT_TRUE(fs::exists(place.run("k") / "scratch/fit-000002/losses.txt"));
  const Ended last = place.mokume("run e.toml");
  ASSERT_EQ(last.code, 0) << last.err;
  EXPECT_FALSE(fs::exists(place.run("k") / "scratch"));
  EXPECT_TRUE(fs::exists(place.run("k") / "models/best"));
  EXPECT_EQ(count(slurp(place.run("k") / "journal/node-0000.ndjson"), kCurve), 3U);
}

TEST(Training, CurvesGoIntoJournalReportAndEventFiles) {
  const Place place;
  place.write("e.toml", experiment("epochs = 4\n"));
  const Ended ended = place.mokume("run e.toml");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const fs::path run = place.run("k");
  const std::string journal = slurp(run / "journal/node-0000.ndjson");
  EXPECT_EQ(count(journal, kCurve), 3U) << journal;
  EXPECT_NE(journal.find("\"note\":\"refitted\""), std::string::npos);
  EXPECT_TRUE(fs::exists(run / "plots/curves-loss.svg"));
  EXPECT_NE(slurp(run / "report.html").find("<h2>Training</h2>"), std::string::npos);
  for (const char* folder : {"candidate-0000-fold-0", "candidate-0000-fold-1", "refit"})
    EXPECT_TRUE(fs::exists(run / "logs/tensorboard" / folder / "events.out.tfevents.mokume")) << folder;
  EXPECT_FALSE(fs::exists(run / "scratch"));
}

TEST(Training, AModelWithoutCurvesGetsNoPlot) {
  const Place place;
  place.write("e.toml", experiment(""));
  ASSERT_EQ(place.mokume("run e.toml").code, 0);
  EXPECT_FALSE(fs::exists(place.run("k") / "logs/tensorboard"));
  EXPECT_EQ(slurp(place.run("k") / "report.html").find("<h2>Training</h2>"), std::string::npos);
  EXPECT_EQ(slurp(place.run("k") / "journal/node-0000.ndjson").find("curves"), std::string::npos);
}

}  // namespace
}  // namespace mokume::cli_test
