#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "report/charts/figure.hpp"
#include "report/charts/style.hpp"
#include "report/support.hpp"

namespace mokume::report {
namespace {

using testing::fill;
using testing::find;
using testing::grid;
using testing::occurrences;
using testing::record;
using testing::xml_fault;

void expect_well_formed(const std::vector<NamedFile>& files) {
  for (const NamedFile& file : files) {
    EXPECT_EQ(xml_fault(file.content), "") << file.name;
    EXPECT_HAS_NOT(file.content, "nan") << file.name;
    EXPECT_HAS_NOT(file.content, "\"inf") << file.name;
  }
}

TEST(Checker, FindsMalformedXml) {
  EXPECT_EQ(xml_fault("<a b=\"1\"><c/>&amp;&#39;</a>\n"), "");
  for (const char* text : {"<a>", "<a></b>", "<a b=1/>", "<a b=\"1\" b=\"2\"/>", "<a>&</a>", "<a>&nbsp;</a>",
                           "<a/><b/>", "<a b=\"<\"/>", "text", "<a>\x01</a>"}) {
    EXPECT_NE(xml_fault(text), "") << text;
  }
}

TEST(Plots, IncludeOneBoxPlotPerGammaAndOneHeatMap) {
  const auto files = plots(grid(5, 3));
  ASSERT_EQ(files.size(), 4U);
  EXPECT_NE(find(files, "plots/heatmap.svg"), nullptr);
  for (const char* name : {"plots/box-gamma-0.svg", "plots/box-gamma-1.svg", "plots/box-gamma-2.svg"}) {
    const NamedFile* file = find(files, name);
    ASSERT_NE(file, nullptr) << name;
    EXPECT_EQ(occurrences(file->content, "class=\"median\""), 5U);
    EXPECT_EQ(occurrences(file->content, "<circle"), 10U);
    EXPECT_HAS(file->content, "n = 2 per box");
    EXPECT_HAS(file->content, "C (log scale)");
    EXPECT_HAS(file->content, "prefers-color-scheme:dark");
  }
  EXPECT_HAS(files[1].content, "gamma = 0.001");
  expect_well_formed(files);
}

TEST(Plots, TheFirstNamedParameterIsXWhateverHasMoreValues) {
  results::RunView view = grid(3, 9);
  const auto files = plots(view);
  EXPECT_EQ(files.size(), 10U);  // nine values of gamma, the parameter named second
  EXPECT_NE(find(files, "plots/box-gamma-8.svg"), nullptr);
}

TEST(Plots, TheBestIsMarkedInOnePlotOnly) {
  const auto files = plots(grid(5, 3));
  size_t stars = 0;
  for (const NamedFile& file : files) stars += occurrences(file.content, "class=\"star\"");
  EXPECT_EQ(stars, 1U);
  EXPECT_EQ(occurrences(find(files, "plots/heatmap.svg")->content, "class=\"core\""), 1U);
  results::RunView view = grid(5, 3);
  view.best.reset();
  for (const NamedFile& file : plots(view)) EXPECT_HAS_NOT(file.content, "class=\"star\"");
}

TEST(Plots, AnAxisOfTwoDecadesIsLogarithmic) {
  const Axis wide{0, "C", {1, 10, 100}}, narrow{0, "C", {1, 10, 99}}, negative{0, "C", {-1, 10, 1000}};
  EXPECT_TRUE(positions_of(wide, 0, 100, 6).scale.log);
  EXPECT_FALSE(positions_of(narrow, 0, 100, 6).scale.log);
  EXPECT_FALSE(positions_of(negative, 0, 100, 6).scale.log);
  const Positions positions = positions_of(wide, 0, 100, 6);
  EXPECT_NEAR(positions.at(10) - positions.at(1), positions.at(100) - positions.at(10), 1e-9);
}

TEST(Plots, CrowdedValuesAreSpacedEvenly) {
  std::vector<double> values;
  for (int i = 0; i < 10; ++i) values.push_back(1 + 0.001 * i);
  values.push_back(50);
  const Positions positions = positions_of({0, "C", values}, 0, 400, 6);
  EXPECT_TRUE(positions.by_index);
  EXPECT_NEAR(positions.at(1.002) - positions.at(1.001), positions.at(50) - positions.at(1.009), 1e-9);
}

TEST(Plots, OneNumericParameterGivesOneBoxPlot) {
  results::RunView view = grid(4, 1);
  const auto files = plots(view);
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].name, "plots/box-C-0.svg");
}

TEST(Plots, EveryTextValueHasItsOwnPanels) {
  results::RunView view = grid(1, 1);
  view.plan.params = {"kernel", "C", "gamma"};
  view.plan.candidates.clear();
  for (const char* kernel : {"rbf", "poly"}) {
    for (const double c : {1.0, 2.0, 3.0}) {
      for (const double g : {0.1, 0.2}) view.plan.candidates.push_back({std::string(kernel), c, g});
    }
  }
  fill(view);
  view.best = 0;
  const auto files = plots(view);
  EXPECT_EQ(files.size(), 6U);
  EXPECT_NE(find(files, "plots/heatmap-1.svg"), nullptr);
  ASSERT_NE(find(files, "plots/box-gamma-3.svg"), nullptr);
  EXPECT_HAS(find(files, "plots/box-gamma-3.svg")->content, "gamma = 0.2, kernel = poly");
  expect_well_formed(files);
}

TEST(Plots, WithoutNumbersThereAreBars) {
  results::RunView view = grid(1, 1);
  view.plan.params = {"kernel"};
  view.plan.candidates = {{std::string("rbf")}, {std::string("a<b>&")}};
  fill(view);
  view.best = 1;
  const auto files = plots(view);
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].name, "plots/candidates.svg");
  EXPECT_HAS(files[0].content, "a&lt;b&gt;&amp;");
  EXPECT_EQ(occurrences(files[0].content, "<g class=\"top\""), 1U);
  expect_well_formed(files);
}

TEST(Plots, ARandomSearchHasOnePlotPerParameterAndNoHeatMap) {
  results::RunView view = grid(1, 1);
  view.plan.params = {"lr", "units"};
  view.plan.candidates.clear();
  for (int64_t i = 0; i < 12; ++i)
    view.plan.candidates.push_back({std::pow(10.0, -0.37 * static_cast<double>(i)), i * i + 3});
  fill(view);
  const auto files = plots(view);
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].name, "plots/box-lr-0.svg");
  EXPECT_EQ(files[1].name, "plots/box-units-1.svg");
  EXPECT_EQ(occurrences(files[0].content, "class=\"median\""), 12U);
}

// A random search may draw a whole number twice. The boxes then stand side by side.
TEST(Plots, BoxesOfOneValueDoNotHideEachOther) {
  results::RunView view = grid(1, 1);
  view.plan.params = {"units", "lr"};
  view.plan.candidates.clear();
  for (int64_t i = 0; i < 12; ++i)
    view.plan.candidates.push_back({4 * (i / 3), std::pow(10.0, -0.37 * static_cast<double>(i))});
  fill(view);
  const auto files = plots(view);
  const NamedFile* file = testing::find(files, "plots/box-units-0.svg");
  ASSERT_NE(file, nullptr);
  std::vector<double> lefts;
  double width = 0;
  for (size_t at = file->content.find("<g class=\"box\""); at != std::string::npos;
       at = file->content.find("<g class=\"box\"", at + 1)) {
    const size_t rect = file->content.find("<rect x=\"", at) + 9;
    lefts.push_back(std::stod(file->content.substr(rect)));
    width = std::stod(file->content.substr(file->content.find("width=\"", rect) + 7));
  }
  ASSERT_EQ(lefts.size(), 11U) << "and the best";
  std::sort(lefts.begin(), lefts.end());
  for (size_t i = 1; i < lefts.size(); ++i) EXPECT_GE(lefts[i] - lefts[i - 1], width) << i;
}

TEST(Plots, KeepsTheBestOfManyBoxPlots) {
  results::RunView view = grid(2, 90);
  for (auto& r : view.records) r.values = {5, 0.5};
  view.records[2 * 89].values = view.records[2 * 89 + 1].values = {1, 0.1};
  view.best = 89;
  const auto files = plots(view);
  EXPECT_EQ(files.size(), 17U);
  EXPECT_NE(find(files, "plots/box-gamma-89.svg"), nullptr);
  EXPECT_EQ(find(files, "plots/box-gamma-88.svg"), nullptr);
}

TEST(Plots, HeatMapShowsFailuresGapsAndValues) {
  results::RunView view = grid(5, 3);
  view.records[0].status = journal::FitStatus::failed;
  view.records[0].values.clear();
  view.records.erase(view.records.begin() + 2);
  const std::string map = find(plots(view), "plots/heatmap.svg")->content;
  EXPECT_EQ(occurrences(map, "class=\"blank\""), 2U);
  EXPECT_EQ(occurrences(map, "class=\"cross\""), 1U);
  EXPECT_HAS(map, "a fit failed; grey: not finished");
  view.plan.trials = 14;
  EXPECT_HAS(find(plots(view), "plots/heatmap.svg")->content, "a fit failed; grey: not computed");
  EXPECT_EQ(occurrences(map, "onlight\">") + occurrences(map, "ondark\">"), 13U);
}

TEST(Plots, HeatMapColoursOverATenfoldRangeAreLogarithmic) {
  results::RunView view = grid(2, 2);
  const double errors[] = {1, 1, 2, 2, 5, 5, 9, 9};
  for (size_t i = 0; i < 8; ++i) view.records[i] = record(static_cast<uint32_t>(i), errors[i], 20);
  EXPECT_HAS(find(plots(view), "plots/heatmap.svg")->content, ">linear scale<");
  view.records[6] = record(6, 11, 20), view.records[7] = record(7, 11, 20);
  EXPECT_HAS(find(plots(view), "plots/heatmap.svg")->content, ">log scale<");
}

TEST(Plots, TheColoursOfASmallHeatMapHaveTwoNumbers) {
  results::RunView view = grid(2, 2);
  const double errors[] = {262, 262, 266, 266, 267, 267, 269, 269};
  for (size_t i = 0; i < 8; ++i) view.records[i] = record(static_cast<uint32_t>(i), errors[i], 300);
  const std::string map = find(plots(view), "plots/heatmap.svg")->content;
  EXPECT_HAS(map, ">88<");
  EXPECT_HAS(map, ">89<");
}

TEST(Plots, TakesHostileNamesAndNumbers) {
  results::RunView view = grid(5, 3);
  view.plan.params = {"<C & \"x\">", "../g/\xFF"};
  view.plan.candidates[3][0] = std::numeric_limits<double>::infinity();
  view.records[4].values[1] = std::numeric_limits<double>::quiet_NaN();
  view.records[6].values[1] = std::numeric_limits<double>::infinity();
  view.records[8].values[1] = 1e308;
  view.records[10].values[1] = -1e99;
  const auto files = plots(view);
  ASSERT_FALSE(files.empty());
  expect_well_formed(files);
  for (const NamedFile& file : files) {
    EXPECT_EQ(file.name.rfind("plots/", 0), 0U);
    EXPECT_EQ(file.name.find('/', 6), std::string::npos) << file.name;
    EXPECT_HAS_NOT(file.content, "<C ");
  }
}

TEST(Plots, DoNotDependOnDevicesAndTimes) {
  const results::RunView one = grid(5, 3);
  results::RunView other = one;
  for (auto& r : other.records) r.start_s += 5, r.end_s += 9, r.device = "host:1", r.bundle = 3;
  other.devices.clear();
  other.wall_s = 1;
  const auto a = plots(one), b = plots(other);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].content, b[i].content) << a[i].name;
}

// Returns the distance by which a text exceeds the picture, by the upper bound of its width.
double excess(const std::string& svg) {
  const auto number = [&](const std::string& text, size_t at) { return std::stod(text.substr(at)); };
  const size_t box = svg.find("viewBox=\"") + 9;
  const double left = number(svg, box), right = left + number(svg, svg.find("width=\"") + 7);
  double most = -1;
  for (size_t at = svg.find("<text x="); at != std::string::npos; at = svg.find("<text x=", at + 1)) {
    const std::string tag = svg.substr(at, svg.find('>', at) - at);
    const size_t begin = svg.find('>', at) + 1;
    const double width = text_width(svg.substr(begin, svg.find('<', begin) - begin), tag.find("small") < 99 ? 9 : 11);
    const double start = number(tag, tag.find("x=\"") + 3) - (tag.find("end") < tag.size()   ? width
                                                              : tag.find("mid") < tag.size() ? width / 2
                                                                                             : 0);
    most = std::max({most, left - start, start + width - right});
  }
  return most;
}

TEST(Plots, CutNoText) {
  results::RunView view = grid(2, 2);
  view.plan.params = {"a_parameter_with_a_rather_long_name", "another_parameter_with_a_long_name"};
  view.class_names = {"healthy control without any medication", "b", "chronic lymphocytic leukaemia stage II"};
  results::TestResult test;
  test.n = 30, test.errors = 5;
  test.confusion = data::Confusion{3, {5, 1, 4, 0, 10, 0, 0, 0, 10}};
  view.test = test;
  const auto files = plots(view);
  ASSERT_NE(find(files, "plots/confusion.svg"), nullptr);
  expect_well_formed(files);
  for (const NamedFile& file : files) {
    EXPECT_LE(excess(file.content), 0) << file.name;
    EXPECT_HAS_NOT(file.content, "predicted clas<");
  }
  const std::string& map = find(files, "plots/heatmap.svg")->content;
  EXPECT_HAS(map, "y=\"48\" class=\"caption\"") << "the caption has two lines";
}

TEST(Svg, EscapeLeavesNoMarkupAndNoForbiddenBytes) {
  EXPECT_EQ(escape("<a href='x'>&\"</a>"), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;&lt;/a&gt;");
  EXPECT_EQ(escape(std::string("a\0b", 3)),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(escape("\xC3\xA9"), "\xC3\xA9");
  EXPECT_EQ(escape("\xC3"), "\xEF\xBF\xBD");                                 // cut off
  EXPECT_EQ(escape("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD");                 // overlong
  EXPECT_EQ(results::count_characters(results::clean("\xED\xA0\x80")), 3U);  // a surrogate
  EXPECT_EQ(escape("\xEF\xBF\xBF"), "\xEF\xBF\xBD");                         // U+FFFF
}

TEST(Svg, CoordinatesAreShortAndFinite) {
  EXPECT_EQ(coordinate(1.5), "1.5");
  EXPECT_EQ(coordinate(10), "10");
  EXPECT_EQ(coordinate(-0.001), "0");
  EXPECT_EQ(coordinate(std::numeric_limits<double>::quiet_NaN()), "0");
}

TEST(Svg, TicksAreRoundAndFew) {
  const auto labels = [](const Scale& scale, int wanted) {
    std::string text;
    for (const Tick& tick : ticks(scale, wanted)) {
      if (!tick.label.empty()) text += tick.label + (tick.exponent.empty() ? "" : "^" + tick.exponent) + " ";
    }
    return text;
  };
  EXPECT_EQ(labels({false, 0, 1, 0, 100}, 5), "0 0.2 0.4 0.6 0.8 1 ");
  EXPECT_EQ(labels({false, -3, 17, 0, 100}, 4), "0 5 10 15 ");
  EXPECT_EQ(labels({true, 0.5, 200, 0, 100}, 5), "1 10 100 ");
  EXPECT_EQ(labels({true, 1e-6, 1e-2, 0, 100}, 7), "10^-6 10^-5 10^-4 10^-3 10^-2 ");
  EXPECT_EQ(labels({true, 4, 90, 0, 100}, 5), "5 10 20 50 ");
  for (const Scale& scale : {make_scale(5, 5, false, 0.05, 0, 100), make_scale(0, 0, true, 0.05, 0, 100),
                             make_scale(1e99, 1e100, false, 0, 0, 100), make_scale(1e-300, 1e300, true, 0, 0, 100),
                             make_scale(5e-324, 5e-324, true, 0, 0, 100)}) {
    EXPECT_LT(scale.low, scale.high);
    EXPECT_LT(ticks(scale, 5).size(), 60U);
  }
}

TEST(Svg, TheColourScaleGetsSteadilyLighter) {
  double before = -1;
  for (int i = 0; i <= 40; ++i) {
    const Colour c = colour_scale(i / 40.0);
    const double luma = 0.2126 * c.red + 0.7152 * c.green + 0.0722 * c.blue;
    EXPECT_GT(luma, before);
    before = luma;
  }
  EXPECT_EQ(colour_scale(std::numeric_limits<double>::quiet_NaN()).hex(), colour_scale(0).hex());
  EXPECT_TRUE(colour_scale(1).light());
  EXPECT_FALSE(colour_scale(0).light());
}

}  // namespace
}  // namespace mokume::report
