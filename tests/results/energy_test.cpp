#include "results/energy.hpp"

#include <gtest/gtest.h>

#include "results/support.hpp"

namespace mokume::results {
namespace {

using testing::record;

using Joules = std::vector<std::optional<double>>;

// record() makes two fits of each bundle, and bundles one after another.
TEST(EnergyByFit, DividesTheEnergyOfAnAttemptEqually) {
  std::vector<journal::FitRecord> records = {record(0, 1), record(1, 1), record(2, 1), record(3, 1)};
  records[0].energy_j = 10, records[1].energy_j = 24;  // counted from the start of the attempt
  records[2].energy_j = 7;
  EXPECT_EQ(energy_by_fit(records), (Joules{12, 12, 7, std::nullopt}));
}

TEST(EnergyByFit, KeepsDevicesAndNodesApart) {
  std::vector<journal::FitRecord> records = {record(0, 1), record(1, 1), record(1, 1)};
  for (auto& one : records) one.energy_j = 8;
  records[1].device = "opencl:1";
  records[2].node = 1;
  EXPECT_EQ(energy_by_fit(records), (Joules{8, 8, 8}));
}

TEST(EnergyOf, CountsRefitsAndTellsOfHowManyFitsTheEnergyIsKnown) {
  RunView view = testing::grid(2, 1);
  view.refits.clear();
  EXPECT_EQ(energy_of(view).counted, 0);
  view.records[0].energy_j = 3;
  testing::add_refit(view, 0, 0).energy_j = 4.5;
  const Energy energy = energy_of(view);
  EXPECT_EQ(energy.joules, 7.5);
  EXPECT_EQ(energy.counted, 2);
  EXPECT_EQ(energy.all, view.records.size() + 1);
}

TEST(EnergyText, HasAUnitThatFits) {
  EXPECT_EQ(energy_text(0.25), "0.25 J");
  EXPECT_EQ(energy_text(999), "999 J");
  EXPECT_EQ(energy_text(12'345), "12.3 kJ");
  EXPECT_EQ(energy_text(4.2e6), "4.2 MJ");
}

}  // namespace
}  // namespace mokume::results
