// Tests the drawing of a network's layers.
#include <gtest/gtest.h>

#include "report/charts/repeats.hpp"
#include "report/charts/structure.hpp"
#include "report/support.hpp"

namespace mokume::report {
namespace {

using results::Step;
using testing::grid;
using testing::occurrences;
using testing::page;
using testing::xml_fault;

std::vector<Step> chain(size_t layers) {
  std::vector<Step> steps{{"", "input", "1 x 8 x 8", 0, {}}};
  for (uint32_t k = 0; k < layers; ++k) steps.push_back({std::to_string(k), "relu", "1 x 8 x 8", 0, {k}});
  return steps;
}

// Appends a block of three layers whose last one adds the block's input.
void add_block(std::vector<Step>& steps, const std::string& name) {
  const auto before = static_cast<uint32_t>(steps.size() - 1);
  steps.push_back({name + ".conv", "conv2d", "8 x 8 x 8", 584, {before}});
  steps.push_back({name + ".norm", "batch_norm", "8 x 8 x 8", 32, {before + 1}});
  steps.push_back({name + ".add", "add", "8 x 8 x 8", 0, {before + 2, before}});
}

std::string drawn(std::vector<Step> steps) {
  results::RunView view = grid(2, 1);
  view.structure = {0, std::move(steps)};
  const std::vector<NamedFile> files = structure_plot(view);
  EXPECT_EQ(files.size(), 1U);
  EXPECT_EQ(xml_fault(files.at(0).content), "");
  return files.at(0).content;
}

TEST(Structure, ShowsKindNameShapeAndParametersOfEachLayer) {
  std::vector<Step> steps = chain(1);
  add_block(steps, "first<");
  const std::string svg = drawn(steps);
  for (const char* text : {">input<", ">relu<", ">conv2d<", ">first&lt;.conv<", ">8 x 8 x 8<", ">584 parameters<",
                           "4 layers, 616 parameters", "prefers-color-scheme:dark"})
    EXPECT_HAS(svg, text);
  EXPECT_HAS_NOT(svg, ">0<");  // the number of a layer without a name
  EXPECT_EQ(occurrences(svg, "<g class=\"layer"), 5U);
  EXPECT_EQ(occurrences(svg, "<g class=\"layer box\""), 2U);
  EXPECT_EQ(occurrences(svg, "<g class=\"layer top\""), 1U);
}

TEST(Structure, DrawsAWayThatPassesLayersInALaneAtTheLeft) {
  EXPECT_EQ(occurrences(drawn(chain(5)), "<g class=\"curve"), 0U);
  std::vector<Step> steps = chain(1);
  add_block(steps, "a");
  add_block(steps, "b");
  const std::string svg = drawn(steps);
  EXPECT_EQ(occurrences(svg, "<g class=\"curve k0\""), 2U) << "the second way can take the lane that the first left";
  EXPECT_EQ(occurrences(svg, "<g class=\"curve"), 2U);
  steps.push_back({"all", "concat", "24 x 8 x 8", 0, {1, 4, 7}});
  EXPECT_EQ(occurrences(drawn(steps), "<g class=\"curve"), 4U) << "both blocks' inputs also reach the end";
  EXPECT_EQ(occurrences(drawn(steps), "<g class=\"curve k1\""), 2U);
}

TEST(Structure, ShowsRepeatsOfManyLayersOnce) {
  std::vector<Step> steps = chain(1);
  for (int block = 0; block < 16; ++block) add_block(steps, "block" + std::to_string(block));
  steps.push_back({"", "flatten", "512", 0, {static_cast<uint32_t>(steps.size() - 1)}});
  const std::vector<StepRow> rows = step_rows(steps, 40);
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows[2].times, 16U);
  EXPECT_EQ(rows[2].length, 3U);
  EXPECT_EQ(rows[4].inputs, (std::vector<size_t>{1, 3}));
  EXPECT_EQ(rows[5].inputs, std::vector<size_t>{4});
  EXPECT_EQ(step_rows(steps, 100).size(), steps.size());
  const std::string svg = drawn(steps);
  EXPECT_HAS(svg, ">× 16<");
  EXPECT_HAS(svg, "50 layers, 9\u202F856 parameters");
  EXPECT_EQ(occurrences(svg, ">conv2d<"), 1U);
}

TEST(Structure, RepeatsBeginWhereABlockBegins) {
  std::vector<Step> steps = chain(1);
  steps.back().output = "8 x 8 x 8";
  for (int block = 0; block < 16; ++block) {
    add_block(steps, "");
    steps.push_back({"", "relu", "8 x 8 x 8", 0, {static_cast<uint32_t>(steps.size() - 1)}});
  }
  const std::vector<StepRow> rows = step_rows(steps, 40);
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows[1].times, 1U) << "the relu before the first block";
  EXPECT_EQ(rows[2].times, 16U);
  EXPECT_EQ(rows[2].length, 4U);
}

TEST(Structure, ShowsWhatALaterLayerReadsOfARepeat) {
  std::vector<Step> steps = chain(1);
  for (int block = 0; block < 16; ++block) add_block(steps, "");
  steps.push_back({"", "concat", "16 x 8 x 8", 0, {static_cast<uint32_t>(steps.size() - 1), 20}});
  const std::vector<StepRow> rows = step_rows(steps, 40);
  ASSERT_GT(rows.size(), 6U) << "layer 20 is no longer equal to the others of its kind";
  EXPECT_EQ(rows.back().inputs.size(), 2U);
  EXPECT_EQ(rows[rows.back().inputs[0]].step, 20U);
}

TEST(Structure, AVeryLongNetworkEndsWithTheNumberOfOtherLayers) {
  std::vector<Step> steps = chain(0);
  for (uint32_t k = 0; k < 2000; ++k) steps.push_back({"", "relu", std::to_string(k), 0, {k}});
  const std::string svg = drawn(steps);
  EXPECT_HAS(svg, ">and 1\u202F401 more layers<");
  EXPECT_LT(svg.size(), 400000U);
}

TEST(Structure, ThePageHasTheDrawingIfTheViewHasLayers) {
  results::RunView view = grid(2, 1);
  EXPECT_HAS_NOT(page(view), "<h2>Network</h2>");
  view.structure = {0, chain(3)};
  EXPECT_HAS(page(view), "<h2>Network</h2>");
  EXPECT_HAS(page(view), "best candidate&#39;s network");
  EXPECT_EQ(xml_fault(page(view)), "");
}

}  // namespace
}  // namespace mokume::report
