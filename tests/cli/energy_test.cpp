// Tests that the energy of fits reaches the tables, the report and the crate of a run.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

using Json = nlohmann::json;

constexpr const char* kExperiment = R"(name = "small"
model = "svc"
data = { source = "digits", limit = 120, standardize = { mean = 127.5, scale = 73.61 } }
validation.folds = 2
devices.use = "host"
[search]
method = "grid"
[search.params]
C = [1.0, 10.0]
)";

std::string counter() { return test::build_directory() + "/tests/cli/powercap.so"; }

// Returns summary.json of a run of "e.toml" on a computer with a counter.
Json summary_with_counter(const Place& place, const std::string& more) {
  const Ended ended = place.shell("LD_PRELOAD=" + counter() + " " + Place::program() + " run e.toml --fresh " + more);
  EXPECT_EQ(ended.code, 0) << ended.err;
  return Json::parse(slurp(place.run("small") / "summary.json"));
}

TEST(Energy, OfFitsIsInTheTablesTheReportAndTheCrate) {
  if (!fs::exists(counter())) GTEST_SKIP() << "a sanitizer must be the first library";
  const Place place;
  place.write("e.toml", kExperiment);
  ASSERT_EQ(place.mokume("run e.toml --out without").code, 0);
  const Json summary = summary_with_counter(place, "");
  const fs::path run = place.run("small");

  const std::vector<std::string> timeline = lines_of(slurp(run / "timeline.csv"));
  EXPECT_TRUE(timeline.at(0).ends_with(",attempt,energy_j")) << timeline.at(0);
  double sum = 0;
  for (size_t k = 1; k < timeline.size(); ++k) sum += std::stod(cells_of(timeline[k]).back());
  EXPECT_EQ(summary["fits_with_energy"], 5);  // four fits and the refit
  EXPECT_GT(sum, 0);
  EXPECT_GT(summary["energy_j"].get<double>(), sum);  // the refit has energy, too
  EXPECT_EQ(summary["devices"][0]["energy_j"], summary["energy_j"]);
  EXPECT_TRUE(has(slurp(run / "report.html"), "for 5 fits and refits, "));
  ASSERT_EQ(place.mokume("export " + run.string() + " --provenance crate").code, 0);
  EXPECT_TRUE(has(slurp(place.path() / "crate/ro-crate-metadata.json"), "\"resourceUsage\""));

  for (const auto& entry : fs::directory_iterator(place.path() / "without/small")) {
    EXPECT_EQ(slurp(entry.path() / "results.csv"), slurp(run / "results.csv"));
    EXPECT_FALSE(has(slurp(entry.path() / "summary.json"), "energy"));
    EXPECT_FALSE(has(slurp(entry.path() / "timeline.csv"), "energy"));
    EXPECT_FALSE(has(slurp(entry.path() / "report.html"), ">energy<"));
  }
}

TEST(Energy, IsAlsoThatOfADeviceInAProcessOfItsOwn) {
  if (!fs::exists(counter())) GTEST_SKIP() << "a sanitizer must be the first library";
  const Place place;
  place.write("e.toml", kExperiment);
  const Json summary = summary_with_counter(place, "--set devices.isolation=process");
  EXPECT_EQ(summary["fits_with_energy"], 5);
  EXPECT_GT(summary["energy_j"].get<double>(), 0);
}

TEST(Energy, OfATeamIsTheSumOfItsMembers) {
  if (!fs::exists(counter())) GTEST_SKIP() << "a sanitizer must be the first library";
  const Place place;
  place.write("e.toml", R"(name = "small"
model = "cnn"
data = { source = "digits", limit = 100, standardize = { mean = 127.5, scale = 73.61 } }
validation.folds = 0
devices = { use = "host", team = true }
model_options.epochs = 1
model_options.layers = [{ type = "flatten" }, { type = "linear", out_features = 10 }, { type = "log_softmax" }]
)");
  const Json summary = summary_with_counter(place, "");
  EXPECT_EQ(summary["fits_with_energy"], 1);
  EXPECT_GT(summary["energy_j"].get<double>(), 0);
  EXPECT_FALSE(summary["devices"][0].contains("energy_j"));  // nobody knows what each member has used
}

}  // namespace
}  // namespace mokume::cli_test
