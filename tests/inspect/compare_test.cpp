#include "inspect/compare.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "inspect/inspection.hpp"

namespace mokume::inspect {
namespace {

using testing::killed;

Inspection finished() {
  Inspection run = killed();
  run.view.state = "done";
  run.view.model = "svc";
  run.view.plan_hash = "abc";
  run.view.data_sha256 = "of the data";
  run.view.config_toml = "seed = 1\n[search.params]\nC = [0.1, 1.0, 10.0]\n[[layers]]\ntype = \"relu\"\n";
  for (uint32_t fit = 4; fit < 6; ++fit) run.view.records.push_back(test::fit_record(fit, 1));
  run.view.refits = {test::fit_record(6, 73)};
  run.view.refits.front().refit = 2;
  run.view.best = 2;
  run.view.test = {73, 10000};
  run.view.wall_s = 10;
  run.view.efficiency = 0.99;
  return run;
}

TEST(Compare, ARunEqualsItself) {
  Inspection run = finished();
  run.view.records[1].values[1] = std::numeric_limits<double>::quiet_NaN();
  const std::string text = compare(run, run).text;
  EXPECT_HAS(text, "settings     the same\n");
  EXPECT_HAS(text, "data         the same\n");
  EXPECT_HAS(text, "6 of 6 in both, with the same values bit for bit\n");
  EXPECT_HAS(text, "refits       1 of 1 in both, with the same values bit for bit\n");
  EXPECT_HAS(text, "best         C = 10 in both\n");
  EXPECT_HAS(text, "validation   10.00");
  EXPECT_HAS(text, "test         0.730 % (73 of 10000, 95 % interval 0.58 to 0.92 %) in both\n");
  EXPECT_HAS(text, ": 1.00 of A\n");
}

TEST(Compare, ReportsByHowMuchFitsDiffer) {
  const Inspection a = finished();
  Inspection b = finished();
  b.view.records[3].values = {4, 0.4};
  b.view.records[4].values = {6, 0.6};
  b.view.records[5].status = journal::FitStatus::failed;
  b.view.records[5].values.clear();
  const std::string text = compare(a, b).text;
  EXPECT_HAS(text, "fits         6 of 6 in both, 3 of them differ\n");
  EXPECT_HAS(text, "  errors by up to 5: 1 | 6 (fit 4: candidate 2, fold 0");
  EXPECT_HAS(text, "  error by up to 0.5: 0.1 | 0.6 (fit 4: candidate 2, fold 0");
  EXPECT_HAS(text, "  1 with a different status or candidate\n");
}

TEST(Compare, NamesSettingsThatDiffer) {
  const Inspection a = finished();
  Inspection b = finished();
  b.view.plan_hash = "abd";
  b.view.data_sha256 = "of others";
  b.view.config_toml = "seed = 2\n[search.params]\nC = [0.1, 1.0, 10.0]\n[[layers]]\ntype = \"tanh\"\nn = 3\n";
  const std::string text = compare(a, b).text;
  EXPECT_HAS(text, "settings     3 differ\n");
  EXPECT_HAS(text, "  seed: 1 | 2\n");
  EXPECT_HAS(text, "  layers[0].type: 'relu' | 'tanh'\n");
  EXPECT_HAS(text, "  layers[0].n: not set | 3\n");
  EXPECT_HAS_NOT(text, "search.params");
  EXPECT_HAS(text, "errors on different data\n");
  EXPECT_HAS(text, "from different plans, not compared individually: 6 of 6 | 6 of 6\n");
}

TEST(Compare, AcceptsRunsWithoutResults) {
  Inspection a = finished();
  a.view.records.clear();
  a.view.best.reset();
  a.view.test.reset();
  a.view.devices.clear();
  a.view.wall_s = 0;
  a.view.config_toml = "not = [toml";
  const std::string text = compare(a, a).text;
  EXPECT_HAS(text, "0 of 6 in both\n");
  EXPECT_HAS(text, "best         none yet in both\n");
  EXPECT_HAS(text, "test         none in both\n");
}

}  // namespace
}  // namespace mokume::inspect
