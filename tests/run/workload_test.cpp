#include "run/workload.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/log.hpp"

namespace mokume::run {
namespace {

search::Space list(const std::string& name, std::vector<search::Value> values) {
  search::Space space;
  space.name = name;
  space.values = std::move(values);
  return space;
}

search::Space drawn(const std::string& name, search::Space::Kind kind, double low, double high) {
  search::Space space;
  space.name = name;
  space.kind = kind;
  space.low = low;
  space.high = high;
  return space;
}

TEST(Workload, PlacesLieBetween0And1InTheOrderOfTheValues) {
  using Drawn = search::Space::Kind;
  const std::vector<search::Space> spaces = {list("C", {0.1, 1000.0, 1.0, 1.0}),
                                             list("kernel", {std::string("rbf"), std::string("linear")}),
                                             list("shrink", {true}),
                                             drawn("lr", Drawn::log10_uniform, -4, -2),
                                             drawn("units", Drawn::integer_uniform, 10, 20),
                                             drawn("filters", Drawn::integer_log, 1, 100)};
  search::Plan plan;
  plan.params = {"C", "kernel", "shrink", "lr", "units", "filters"};
  plan.folds = 2;
  plan.bootstraps = 2;
  plan.candidates = {{1.0, std::string("rbf"), true, 1e-3, int64_t{10}, int64_t{10}},
                     {1000.0, std::string("linear"), true, 1e-2, int64_t{15}, int64_t{100}}};
  const auto positions = positions_of(plan, spaces);
  ASSERT_EQ(positions.size(), plan.n_fits());
  const std::vector<double> first = {0.5, 0, 0, 0.5, 0, 0.5}, second = {1, 1, 0, 1, 0.5, 1};
  for (uint32_t fit = 0; fit < plan.n_fits(); ++fit) {
    EXPECT_EQ(positions[fit].bootstrap, plan.key(fit).bootstrap);
    EXPECT_EQ(positions[fit].fold, plan.key(fit).fold);
    for (size_t p = 0; p < first.size(); ++p)
      EXPECT_NEAR(positions[fit].point.at(p), (fit < 4 ? first : second)[p], 1e-12) << fit << " " << p;
  }
}

TEST(Workload, ARefitHasMoreRowsThanAFit) {
  config::Config config;
  config.folds = 5;
  EXPECT_DOUBLE_EQ(refit_factor(config), 1.25);
  config.folds = 1;
  config.share = 0.2;
  EXPECT_DOUBLE_EQ(refit_factor(config), 1.25);
  config = {};
  config.folds = 0;
  EXPECT_DOUBLE_EQ(refit_factor(config), 1);
}

}  // namespace
}  // namespace mokume::run
