// Resumes, reports on and predicts from run directories of an earlier version (commit 3a47840). They used the reference
// implementation, whose results are the same on every machine.
#include <gtest/gtest.h>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

fs::path earlier_runs() { return fs::path(test::source_directory()) / "tests/cli/earlier_runs"; }

class EarlierRuns : public testing::TestWithParam<const char*> {
 protected:
  // Copies the run directory, which the program may change.
  std::string copy(const std::string& state) const {
    const std::string name = state + "-" + GetParam();
    fs::copy(earlier_runs() / name, place_.path() / name, fs::copy_options::recursive);
    return name;
  }

  Place place_;
};

TEST_P(EarlierRuns, AKilledRunIsResumedToTheSameResults) {
  const std::string run = copy("killed");
  const std::string journal = slurp(place_.path() / run / "journal/node-0000.ndjson");
  ASSERT_NE(journal.find("\"fit\":"), std::string::npos) << "the fixture holds no finished fit";
  const Ended ended = place_.mokume("resume " + run);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(slurp(place_.path() / run / "results.csv"), slurp(earlier_runs() / (run + ".results.csv")));
  EXPECT_TRUE(
      slurp(place_.path() / run / "journal/node-0000.ndjson").starts_with(journal.substr(0, journal.rfind('\n'))))
      << "finished fits were computed again or lost";
}

TEST_P(EarlierRuns, AFinishedRunIsReportedAndExplained) {
  const std::string run = copy("finished");
  const std::string results = slurp(place_.path() / run / "results.csv");
  const std::string summary = slurp(place_.path() / run / "summary.json");
  const Ended report = place_.mokume("report " + run);
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_TRUE(fs::exists(place_.path() / run / "report.html"));
  EXPECT_EQ(slurp(place_.path() / run / "results.csv"), results);
  nlohmann::json written = nlohmann::json::parse(slurp(place_.path() / run / "summary.json"));
  EXPECT_EQ(written.erase("crc"), 1U) << "earlier versions wrote no checksum";
  written["test"].erase("interval");  // earlier versions wrote none
  EXPECT_EQ(written, nlohmann::json::parse(summary));
  EXPECT_EQ(place_.mokume("explain " + run).code, 0);
  EXPECT_EQ(place_.mokume("status " + run).code, 0);
}

TEST_P(EarlierRuns, AFinishedRunPredicts) {
  const std::string run = copy("finished");
  const Ended ended = place_.mokume("predict " + run + " --data digits,limit=50 --devices host:1");
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto before = lines_of(slurp(earlier_runs() / (run + ".predictions.csv"))), now = lines_of(ended.out);
  ASSERT_EQ(now.size(), before.size());
  for (size_t r = 0; r < now.size(); ++r)
    EXPECT_TRUE(now[r].starts_with(before[r] + ",")) << now[r] << " has more columns than " << before[r];
}

INSTANTIATE_TEST_SUITE_P(Of3a47840, EarlierRuns, testing::Values("svc", "bagging"));

}  // namespace
}  // namespace mokume::cli_test
