#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "report/support.hpp"

namespace mokume::report {
namespace {

using testing::find;
using testing::grid;
using testing::occurrences;
using testing::page;
using testing::xml_fault;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<journal::Curve> falling(double from) {
  return {{"train_accuracy", {0.5, 0.7, 0.8}},
          {"train_loss", {from, from / 2, from / 4}},
          {"validation_loss", {from, from / 2, from / 3}}};
}

results::RunView trained(size_t nc = 2, size_t ng = 2) {
  results::RunView view = grid(nc, ng);
  for (auto& r : view.records) r.curves = falling(2 + 0.01 * r.fit);
  view.refit.emplace();
  view.refit->refit = *view.best;
  view.refit->curves = {{"train_loss", {2, 1, 0.5}}};
  return view;
}

// Returns the plot of a family, or "" if there is none.
std::string plot(const results::RunView& view, const std::string& family) {
  const auto files = plots(view);
  const NamedFile* file = find(files, "plots/curves-" + family + ".svg");
  if (file == nullptr) return "";
  EXPECT_EQ(xml_fault(file->content), "");
  EXPECT_HAS_NOT(file->content, "nan,");
  return file->content;
}

std::string plot_of(const std::vector<double>& values) {
  results::RunView view = grid(1, 1);
  view.records[0].curves = {{"train_loss", values}};
  return plot(view, "loss");
}

TEST(Curves, HaveOnePlotForEachFamily) {
  const results::RunView view = trained();
  const std::string loss = plot(view, "loss"), accuracy = plot(view, "accuracy");
  EXPECT_EQ(occurrences(loss, "<g class=\"curve k"), 8U + 8U);  // lines and their entries
  EXPECT_EQ(occurrences(loss, "<g class=\"curve refit\""), 2U);
  EXPECT_EQ(occurrences(loss, "class=\"dash\""), 8U);
  EXPECT_HAS(loss, "8 fits; solid: validation; dashed: training");
  EXPECT_HAS(loss, ">refit, training<");
  EXPECT_HAS(loss, "validation_loss: 0.6667 after 3 epochs");
  EXPECT_EQ(occurrences(accuracy, "class=\"dash\""), 0U);
  EXPECT_HAS(accuracy, "8 fits; on training rows");
  EXPECT_HAS_NOT(accuracy, "refit<");
}

TEST(Curves, HaveNoPlotWithoutValues) {
  for (const NamedFile& file : plots(grid(5, 3))) EXPECT_HAS_NOT(file.name, "curves");
  results::RunView view = grid(2, 2);
  view.records[0].curves = {{"train_loss", {}}};
  for (const NamedFile& file : plots(view)) EXPECT_HAS_NOT(file.name, "curves");
}

TEST(Curves, NamesTwelveFitsAndDrawsTheOthersPale) {
  const std::string few = plot(trained(3, 2), "loss");
  EXPECT_EQ(occurrences(few, "curve pale"), 0U);
  EXPECT_HAS_NOT(few, "more<");
  const std::string many = plot(trained(5, 3), "loss");
  EXPECT_EQ(occurrences(many, "curve pale"), 18U);
  EXPECT_HAS(many, ">and 18 more<");
  EXPECT_LT(many.find("curve pale"), many.find("curve k11"));  // drawn below the other lines
  EXPECT_LT(many.find("curve k11"), many.find("curve k0\""));
  EXPECT_LT(many.find("curve k0\""), many.find("curve refit"));
  EXPECT_HAS(many, ">candidate 14, fold 0<");  // the best fit comes first
  const std::string most = plot(trained(20, 20), "loss");
  EXPECT_EQ(occurrences(most, "curve pale"), 300U);
  EXPECT_HAS(most, "the 312 best drawn");
}

TEST(Curves, ALossOverOneAndAHalfDecadesIsLogarithmic) {
  EXPECT_HAS_NOT(plot_of({31, 1}), "log scale");
  EXPECT_HAS(plot_of({32, 1}), "loss, log scale");
  EXPECT_HAS_NOT(plot_of({32, 0}), "log scale");
  EXPECT_HAS(plot_of({32, kInf, 1}), "loss, log scale");
  results::RunView view = grid(1, 1);
  view.records[0].curves = {{"accuracy", {0.001, 0.9}}};
  EXPECT_HAS_NOT(plot(view, "accuracy"), "log scale");
}

TEST(Curves, AFitThatDivergedDoesNotFlattenTheOthers) {
  results::RunView view = trained();                       // losses from 2 to 0.5
  view.records[0].curves = {{"train_loss", {1e30, 1e6}}};  // the curve of the worst candidate
  const std::string cut = plot(view, "loss");
  EXPECT_HAS(cut, "lines along the top continue beyond it");
  EXPECT_HAS_NOT(cut, "log scale");
  EXPECT_HAS(cut, " 62L");
  view.records[0].curves = {{"train_loss", {150, 1}}};
  const std::string whole = plot(view, "loss");
  EXPECT_HAS_NOT(whole, "beyond");
  EXPECT_HAS(whole, "log scale");
}

TEST(Curves, ValuesThatAreNotFiniteBreakTheLine) {
  const auto path = [](const std::string& text) {
    const size_t from = text.find("<path d=\"", text.find("curve k0"));
    return text.substr(from, text.find('>', from) - from);
  };
  const std::string whole = plot_of({4, 3, 2, 1, 1});
  EXPECT_EQ(occurrences(path(whole), "M"), 1U);
  EXPECT_EQ(occurrences(path(whole), "L"), 4U);
  EXPECT_EQ(occurrences(whole, "class=\"cross\""), 0U);
  EXPECT_HAS_NOT(whole, "not finite");
  for (const double bad : {kNan, kInf, -kInf, 1e200}) {
    const std::string broken = plot_of({4, 3, bad, 1, 1});
    EXPECT_EQ(occurrences(path(broken), "M"), 2U);
    EXPECT_EQ(occurrences(path(broken), "L"), 2U);
    EXPECT_EQ(occurrences(broken, "class=\"cross\""), 1U);
    EXPECT_HAS(broken, "cross: not finite");
  }
  const std::string lonely = plot_of({4, kNan, 2, kNan, kNan, 1, 1});
  EXPECT_EQ(occurrences(lonely, "<circle"), 2U);
  EXPECT_EQ(occurrences(lonely, "class=\"cross\""), 2U);
  const std::string nothing = plot_of({kNan, kNan});
  EXPECT_EQ(occurrences(nothing, "class=\"cross\""), 1U);
  EXPECT_EQ(occurrences(plot_of({0.25}), "<circle"), 1U);  // one epoch becomes a dot
}

TEST(Curves, LongCurvesStaySmallAndKeepTheirPeaks) {
  std::vector<double> values(1000000, 2.0);
  values[333333] = 0.5;
  values[666666] = 9.0;
  for (size_t i = 0; i < 1000; ++i) values[900000 + 2 * i] = kNan;
  const std::string text = plot_of(values);
  EXPECT_LT(text.size(), 40000U);
  // The axis goes from 0.075 to 9.425 over 278 px.
  EXPECT_HAS(text, " 74.64L");
  EXPECT_HAS(text, " 327.36L");
  EXPECT_HAS(text, "after 1000000 epochs");
  for (size_t i = 0; i < values.size(); i += 2) values[i] = kInf;
  EXPECT_LT(plot_of(values).size(), 80000U);
}

TEST(Curves, EpochsAreWhole) {
  for (const size_t epochs : {1U, 2U, 5U, 11U, 40U}) {
    const std::string text = plot_of(std::vector<double>(epochs, 1.0));
    EXPECT_HAS_NOT(text, ">0.5</text>");
    EXPECT_HAS_NOT(text, ">1.5</text>");
    EXPECT_HAS_NOT(text, ">2.5</text>");
  }
}

TEST(Curves, TakesHostileNamesAndNumbers) {
  results::RunView view = trained();
  const std::string evil = "train_</svg><script>\"&/../x";
  view.records[0].curves = {{evil, {1, 1e308, -1e308, 5e-324, 0}}, {"train_", {1}}, {"x-y", {1}}, {"x y", {1}}};
  view.refit->refit = 77;
  view.refit->curves = {{"", {1, 2}}};
  const auto files = plots(view);
  for (const NamedFile& file : files) {
    EXPECT_EQ(xml_fault(file.content), "") << file.name;
    EXPECT_EQ(file.name.find('/', 6), std::string::npos) << file.name;
    EXPECT_HAS_NOT(file.content, "<script");
  }
  EXPECT_NE(find(files, "plots/curves-x-y.svg"), nullptr);
  EXPECT_NE(find(files, "plots/curves-x-y-2.svg"), nullptr);
}

TEST(Curves, AreDrawnWithoutAnyFitAndWithoutAMetric) {
  results::RunView view = trained();
  view.records.clear();
  EXPECT_HAS(plot(view, "loss"), ">the refit; on training rows<");
  view = trained();
  view.metrics.clear();
  EXPECT_NE(plot(view, "loss"), "");
}

// Returns `count` bootstraps of one candidate each; member m finishes at a loss of 1 + m.
results::RunView bagged(uint32_t count) {
  results::RunView view = grid(1, 1);
  view.plan.bootstraps = count;
  view.records.clear();
  view.best.reset();
  for (uint32_t m = 0; m < count; ++m) testing::add_refit(view, m, 0).curves = {{"train_loss", {40, 1.0 + m}}};
  return view;
}

// The legend has room for names of 24 characters.
TEST(Curves, NamesOfABaggingRunFitTheLegend) {
  results::RunView view = trained();
  view.refit.reset();
  view.plan.own_candidates = 2;  // 0 and 1 are of bootstrap 0, 2 and 3 of bootstrap 1
  view.plan.bootstraps = 2;
  const std::string own = plot(view, "loss");
  EXPECT_HAS(own, ">candidate 3, fold 1<");
  EXPECT_HAS(own, "candidate 3, bootstrap 1, fold 1\n") << "under the pointer";
  EXPECT_HAS_NOT(own, "names are");
  view.plan.own_candidates = 0;
  const std::string shared = plot(view, "loss");
  EXPECT_HAS(shared, ">1,1,0<");
  EXPECT_HAS(shared, "candidate 1, bootstrap 1, fold 0\n");
  EXPECT_HAS(shared, "; names are candidate,bootstrap,fold; solid");
}

TEST(Curves, MembersHaveTheirOwnPlot) {
  results::RunView view = bagged(12);
  view.records = {testing::record(0, 3)};
  view.records[0].curves = falling(2);
  const std::string fits = plot(view, "loss"), members = plot(view, "members-loss");
  EXPECT_HAS(fits, "1 fit; names are candidate,bootstrap,fold; solid: validation; dashed: training");
  EXPECT_HAS_NOT(fits, "member");
  EXPECT_HAS(members, ">Members: loss over epochs<");
  EXPECT_HAS(members, ">12 members, named in the order in which they end; on training rows<");
  EXPECT_EQ(occurrences(members, "<g class=\"curve k"), 12U + 12U) << "lines and their entries";
  EXPECT_EQ(occurrences(members, "class=\"dash\""), 0U);
  EXPECT_HAS(members, "member 3\nC = 1, gamma = 0.001\ntrain_loss: 4 after 2 epochs");
  EXPECT_EQ(plot(view, "members-accuracy"), "");
}

// The legend lists the lines by the heights of their ends, from top to bottom; a member keeps its colour.
TEST(Curves, MembersAreNamedInTheOrderOfTheirEnds) {
  results::RunView view = bagged(12);
  view.refits[5].curves = {{"train_loss", {40, 2, kNan}}};
  const std::string text = plot(view, "members-loss");
  const auto entry = [&](const std::string& name) { return text.find(">" + name + "</text>"); };
  for (const char* name : {"member 0", "member 5", "member 11"}) ASSERT_NE(entry(name), std::string::npos) << name;
  EXPECT_LT(entry("member 11"), entry("member 10"));
  EXPECT_LT(entry("member 1"), entry("member 5")) << "equal ones as they come";
  EXPECT_LT(entry("member 5"), entry("member 0"));
  EXPECT_LT(text.find("curve k11", text.find(">epoch<")), text.find("curve k0\"", text.find(">epoch<")));
  EXPECT_HAS(text, "cross: not finite");
}

TEST(Curves, NamesTheFirstOfManyMembers) {
  const std::string text = plot(bagged(15), "members-loss");
  EXPECT_HAS(text, "15 members, the first ones named in the order in which they end; on");
  EXPECT_EQ(occurrences(text, "curve pale"), 3U);
  EXPECT_HAS(text, ">and 3 more<");
  EXPECT_HAS_NOT(text, ">member 12<");
}

TEST(Curves, MembersThatDivergedAreShownInFull) {
  results::RunView view = bagged(4);
  view.refits[3].curves = {{"train_loss", {1e6, 1e5}}};
  const std::string text = plot(view, "members-loss");
  EXPECT_HAS_NOT(text, "beyond");
  EXPECT_HAS(text, "log scale");
  view.refits[0].refit.reset();  // the refit of a bootstrap without a candidate
  view.refits[0].curves.clear();
  view.refits[1].refit = 99;
  view.refits[1].curves[0].name = "</svg><script>";
  EXPECT_HAS_NOT(plot(view, "members-loss"), ">member 0<");
}

TEST(Curves, AFamilyOfFitsNamedAsOneOfMembersKeepsItsFile) {
  results::RunView view = bagged(2);
  view.records = {testing::record(0, 3)};
  view.records[0].curves = {{"members-loss", {1, 2}}};
  EXPECT_HAS_NOT(plot(view, "members-loss"), "Members: ");
  EXPECT_HAS(plot(view, "members-loss-2"), "Members: ");
}

TEST(Curves, MembersAreInTheSectionOnTraining) {
  const results::RunView view = bagged(3);
  const std::string text = page(view);
  EXPECT_EQ(xml_fault(text), "");
  EXPECT_LT(text.find("<h2>Training</h2>"), text.find("Members: loss over epochs</text>"));
  EXPECT_HAS_NOT(text, "the thick one") << "there is no refit among the fits";
}

TEST(Curves, AreInTheSectionOnTraining) {
  const results::RunView view = trained();
  const std::string text = page(view);
  EXPECT_EQ(xml_fault(text), "");
  EXPECT_EQ(occurrences(text, "<h2>Training</h2>"), 1U);
  EXPECT_EQ(occurrences(text, "over epochs</text>"), 2U);
  EXPECT_LT(text.find("<h2>Training</h2>"), text.find("over epochs</text>"));
  const results::RunView plain = grid(2, 2);
  EXPECT_HAS_NOT(page(plain), "Training");
}

}  // namespace
}  // namespace mokume::report
