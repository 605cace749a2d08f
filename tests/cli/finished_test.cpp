// Tests that repeating the command for a finished run shows its result.
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

size_t runs_of(const Place& place, const char* name) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(place.path() / "runs" / name), {}));
}

// Returns the result, which begins with the line "best candidate".
std::string result_in(const std::string& err) {
  const size_t at = err.find("best candidate: ");
  return at == std::string::npos ? "" : err.substr(at);
}

TEST(Finished, RunShowsTheResultAndComputesNothing) {
  const Place place;
  place.write("e.toml", small_experiment("host"));
  const Ended first = place.mokume("run e.toml");
  ASSERT_EQ(first.code, 0) << first.err;
  const std::string journal = slurp(place.run("small") / "journal/node-0000.ndjson");
  const std::string record = slurp(place.run("small") / "run.json");

  const Ended again = place.mokume("run e.toml");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(has(again.err, "mokume: runs/small/")) << again.err;
  EXPECT_TRUE(has(again.err, " finished on 2")) << again.err;
  EXPECT_TRUE(has(again.err, " ago), and nothing is left to compute; `mokume run --fresh` starts another run\n"))
      << again.err;
  EXPECT_NE(result_in(first.err), "");
  EXPECT_EQ(result_in(again.err), result_in(first.err));
  EXPECT_EQ(runs_of(place, "small"), 1U);
  EXPECT_EQ(slurp(place.run("small") / "journal/node-0000.ndjson"), journal) << "no session was begun";
  EXPECT_EQ(slurp(place.run("small") / "run.json"), record);

  const Ended other = place.mokume("run e.toml --seed 8");
  EXPECT_EQ(other.code, 0) << other.err;
  EXPECT_FALSE(has(other.err, "nothing is left")) << "another seed is another plan: " << other.err;
  EXPECT_TRUE(has(place.mokume("run e.toml").err, "nothing is left")) << "the newest run of the plan counts";
  EXPECT_EQ(place.mokume("run e.toml --fresh").code, 0);
  EXPECT_EQ(runs_of(place, "small"), 3U);
}

TEST(Finished, FailedFitsKeepTheirExitCode) {
  const Place place;
  std::string rows = "x,y\n";
  for (int k = 1; k <= 40; ++k) rows += std::to_string(k) + "e15," + std::to_string(k) + "e16\n";
  place.write("line.csv", rows);
  place.write("line.toml",
              "name = \"line\"\nmodel = \"cnn\"\ndata = { source = \"csv\", path = \"./line.csv\" }\n"
              "validation.folds = 2\ndevices.use = \"host\"\n[model_options]\nepochs = 2\nbatch_size = 4\n"
              "optimizer = { type = \"sgd\", lr = 10.0 }\n[[model_options.layers]]\ntype = \"linear\"\n"
              "out_features = 1\n");
  const std::string last = "2 fits failed; the report shows why\n";
  const Ended first = place.mokume("run line.toml");
  EXPECT_EQ(first.code, 5) << first.err;
  EXPECT_TRUE(has(first.err, last)) << first.err;
  const Ended again = place.mokume("run line.toml");
  EXPECT_EQ(again.code, 5) << again.err;
  EXPECT_TRUE(has(again.err, "nothing is left to compute") && has(again.err, last)) << again.err;
  EXPECT_EQ(runs_of(place, "line"), 1U);
  EXPECT_EQ(place.mokume("run line.toml --fresh --set validation.folds=0").code, 5);
  const Ended refit = place.mokume("run line.toml --set validation.folds=0");
  EXPECT_EQ(refit.code, 5) << refit.err;
  EXPECT_TRUE(has(refit.err, "the refit failed: ") && has(refit.err, "nothing is left to compute")) << refit.err;
}

TEST(Finished, EveryRankAgrees) {
  if (!have("mpirun")) GTEST_SKIP() << "mpirun is missing: install openmpi-bin";
  const Place place;
  place.write("e.toml", small_experiment("host"));
  ASSERT_EQ(place.mokume("run e.toml").code, 0);
  const std::string run = Place::program() + " run e.toml";
  const std::string ranks =
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 100 mpirun --oversubscribe ";
  // Rank 1 sees no runs, but rank 0 decides.
  const Ended again = place.shell(ranks + by_rank(run, run + " --out elsewhere"));
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(has(again.err, "nothing is left to compute")) << again.err;
  EXPECT_EQ(runs_of(place, "small"), 1U);
  EXPECT_FALSE(fs::exists(place.path() / "elsewhere"));
}

TEST(Finished, ADamagedRunIsNamed) {
  const Place place;
  place.write("e.toml", small_experiment("host"));
  ASSERT_EQ(place.mokume("run e.toml").code, 0);
  fs::remove_all(place.run("small") / "journal");
  const Ended again = place.mokume("run e.toml");
  EXPECT_EQ(again.code, 3) << again.err;
  EXPECT_TRUE(has(again.err, "/journal is missing")) << again.err;
  EXPECT_EQ(place.mokume("run e.toml --fresh").code, 0);
}

}  // namespace
}  // namespace mokume::cli_test
