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

TEST(Energy, OfFitsIsInTheTablesTheReportAndTheCrate) {
  const std::string library = test::build_directory() + "/tests/cli/powercap.so";
  if (!fs::exists(library)) GTEST_SKIP() << "a sanitizer must be the first library";
  const Place place;
  place.write("e.toml", kExperiment);
  ASSERT_EQ(place.mokume("run e.toml --out without").code, 0);
  const Ended ended = place.shell("LD_PRELOAD=" + library + " " + Place::program() + " run e.toml");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const fs::path run = place.run("small");

  const std::vector<std::string> timeline = lines_of(slurp(run / "timeline.csv"));
  EXPECT_TRUE(timeline.at(0).ends_with(",attempt,energy_j")) << timeline.at(0);
  double sum = 0;
  for (size_t k = 1; k < timeline.size(); ++k) sum += std::stod(cells_of(timeline[k]).back());
  const Json summary = Json::parse(slurp(run / "summary.json"));
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

}  // namespace
}  // namespace mokume::cli_test
