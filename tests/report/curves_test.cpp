#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "report/charts/figure.hpp"
#include "report/support.hpp"

namespace mokume::report {
namespace {

using testing::find;
using testing::grid;
using testing::occurrences;
using testing::xml_fault;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<journal::Curve> falling(double from) {
  return {{"train_accuracy", {0.5, 0.7, 0.8}},
          {"train_loss", {from, from / 2, from / 4}},
          {"validation_loss", {from, from / 2, from / 3}}};
}

RunView trained(size_t nc = 2, size_t ng = 2) {
  RunView view = grid(nc, ng);
  for (auto& r : view.records) r.curves = falling(2 + 0.01 * r.fit);
  view.refit.emplace();
  view.refit->refit = *view.best;
  view.refit->curves = {{"train_loss", {2, 1, 0.5}}};
  return view;
}

// The plot of a family; "" if there is none.
std::string plot(const RunView& view, const std::string& family) {
  const auto files = plots(view);
  const NamedFile* file = find(files, "plots/curves-" + family + ".svg");
  if (file == nullptr) return "";
  EXPECT_EQ(xml_fault(file->content), "");
  EXPECT_EQ(file->content.find("nan,"), std::string::npos);
  return file->content;
}

// One fit with this curve of the loss.
std::string plot_of(const std::vector<double>& values) {
  RunView view = grid(1, 1);
  view.records[0].curves = {{"train_loss", values}};
  return plot(view, "loss");
}

TEST(Curves, OnePlotForEachFamily) {
  const RunView view = trained();
  const std::string loss = plot(view, "loss"), accuracy = plot(view, "accuracy");
  EXPECT_EQ(occurrences(loss, "<g class=\"curve k"), 8U + 8U);  // lines and their entries
  EXPECT_EQ(occurrences(loss, "<g class=\"curve refit\""), 2U);
  EXPECT_EQ(occurrences(loss, "class=\"dash\""), 8U);
  EXPECT_NE(loss.find("8 fits; solid: validation; dashed: training"), std::string::npos);
  EXPECT_NE(loss.find(">refit, training<"), std::string::npos);
  EXPECT_NE(loss.find("validation_loss: 0.6667 after 3 epochs"), std::string::npos);
  EXPECT_EQ(occurrences(accuracy, "class=\"dash\""), 0U);
  EXPECT_NE(accuracy.find("8 fits; on training rows"), std::string::npos);
  EXPECT_EQ(accuracy.find("refit<"), std::string::npos);
}

TEST(Curves, NoneWithoutCurves) {
  for (const NamedFile& file : plots(grid(5, 3))) EXPECT_EQ(file.name.find("curves"), std::string::npos);
  RunView view = grid(2, 2);
  view.records[0].curves = {{"train_loss", {}}};
  for (const NamedFile& file : plots(view)) EXPECT_EQ(file.name.find("curves"), std::string::npos);
}

TEST(Curves, TwelveFitsHaveNamesTheRestIsPale) {
  const std::string few = plot(trained(3, 2), "loss");
  EXPECT_EQ(occurrences(few, "curve pale"), 0U);
  EXPECT_EQ(few.find("more<"), std::string::npos);
  const std::string many = plot(trained(5, 3), "loss");
  EXPECT_EQ(occurrences(many, "curve pale"), 18U);
  EXPECT_NE(many.find(">and 18 more<"), std::string::npos);
  EXPECT_LT(many.find("curve pale"), many.find("curve k11"));  // below the others
  EXPECT_LT(many.find("curve k11"), many.find("curve k0\""));
  EXPECT_LT(many.find("curve k0\""), many.find("curve refit"));
  EXPECT_NE(many.find(">candidate 14, fold 0<"), std::string::npos);  // the best one comes first
  const std::string most = plot(trained(20, 20), "loss");
  EXPECT_EQ(occurrences(most, "curve pale"), 300U);
  EXPECT_NE(most.find("the 312 best drawn"), std::string::npos);
}

TEST(Curves, LossIsLogarithmicFromOneAndAHalfDecadesOn) {
  EXPECT_EQ(plot_of({31, 1}).find("log scale"), std::string::npos);
  EXPECT_NE(plot_of({32, 1}).find("loss, log scale"), std::string::npos);
  EXPECT_EQ(plot_of({32, 0}).find("log scale"), std::string::npos);
  EXPECT_NE(plot_of({32, kInf, 1}).find("loss, log scale"), std::string::npos);
  RunView view = grid(1, 1);
  view.records[0].curves = {{"accuracy", {0.001, 0.9}}};
  EXPECT_EQ(plot(view, "accuracy").find("log scale"), std::string::npos);
}

TEST(Curves, AFitThatDivergedDoesNotFlattenTheOthers) {
  RunView view = trained();                                // losses from 2 to 0.5
  view.records[0].curves = {{"train_loss", {1e30, 1e6}}};  // of the worst candidate
  const std::string cut = plot(view, "loss");
  EXPECT_NE(cut.find("lines along the top are beyond it"), std::string::npos);
  EXPECT_EQ(cut.find("log scale"), std::string::npos);
  EXPECT_NE(cut.find(" 62L"), std::string::npos);
  view.records[0].curves = {{"train_loss", {150, 1}}};
  const std::string whole = plot(view, "loss");
  EXPECT_EQ(whole.find("beyond"), std::string::npos);
  EXPECT_NE(whole.find("log scale"), std::string::npos);
}

TEST(Curves, WhatIsNotFiniteBreaksTheLine) {
  const auto path = [](const std::string& text) {
    const size_t from = text.find("<path d=\"", text.find("curve k0"));
    return text.substr(from, text.find('>', from) - from);
  };
  const std::string whole = plot_of({4, 3, 2, 1, 1});
  EXPECT_EQ(occurrences(path(whole), "M"), 1U);
  EXPECT_EQ(occurrences(path(whole), "L"), 4U);
  EXPECT_EQ(occurrences(whole, "class=\"cross\""), 0U);
  EXPECT_EQ(whole.find("not finite"), std::string::npos);
  for (const double bad : {kNan, kInf, -kInf, 1e200}) {
    const std::string broken = plot_of({4, 3, bad, 1, 1});
    EXPECT_EQ(occurrences(path(broken), "M"), 2U);
    EXPECT_EQ(occurrences(path(broken), "L"), 2U);
    EXPECT_EQ(occurrences(broken, "class=\"cross\""), 1U);
    EXPECT_NE(broken.find("cross: not finite"), std::string::npos);
  }
  const std::string lonely = plot_of({4, kNan, 2, kNan, kNan, 1, 1});
  EXPECT_EQ(occurrences(lonely, "<circle"), 2U);
  EXPECT_EQ(occurrences(lonely, "class=\"cross\""), 2U);
  const std::string nothing = plot_of({kNan, kNan});
  EXPECT_EQ(occurrences(nothing, "class=\"cross\""), 1U);
  EXPECT_EQ(occurrences(plot_of({0.25}), "<circle"), 1U);  // one epoch: a dot
}

TEST(Curves, LongCurvesStaySmallAndKeepTheirPeaks) {
  std::vector<double> values(1000000, 2.0);
  values[333333] = 0.5;
  values[666666] = 9.0;
  for (size_t i = 0; i < 1000; ++i) values[900000 + 2 * i] = kNan;
  const std::string text = plot_of(values);
  EXPECT_LT(text.size(), 40000U);
  // The axis goes from 0.075 to 9.425 over 278 px.
  EXPECT_NE(text.find(" 74.64L"), std::string::npos);
  EXPECT_NE(text.find(" 327.36L"), std::string::npos);
  EXPECT_NE(text.find("after 1000000 epochs"), std::string::npos);
  for (size_t i = 0; i < values.size(); i += 2) values[i] = kInf;
  EXPECT_LT(plot_of(values).size(), 80000U);
}

TEST(Curves, EpochsAreWhole) {
  for (const size_t epochs : {1U, 2U, 5U, 11U, 40U}) {
    const std::string text = plot_of(std::vector<double>(epochs, 1.0));
    EXPECT_EQ(text.find(">0.5</text>"), std::string::npos);
    EXPECT_EQ(text.find(">1.5</text>"), std::string::npos);
    EXPECT_EQ(text.find(">2.5</text>"), std::string::npos);
  }
}

TEST(Curves, HostileNamesAndNumbers) {
  RunView view = trained();
  const std::string evil = "train_</svg><script>\"&/../x";
  view.records[0].curves = {{evil, {1, 1e308, -1e308, 5e-324, 0}}, {"train_", {1}}, {"x-y", {1}}, {"x y", {1}}};
  view.refit->refit = 77;
  view.refit->curves = {{"", {1, 2}}};
  const auto files = plots(view);
  for (const NamedFile& file : files) {
    EXPECT_EQ(xml_fault(file.content), "") << file.name;
    EXPECT_EQ(file.name.find('/', 6), std::string::npos) << file.name;
    EXPECT_EQ(file.content.find("<script"), std::string::npos);
  }
  EXPECT_NE(find(files, "plots/curves-x-y.svg"), nullptr);
  EXPECT_NE(find(files, "plots/curves-x-y-2.svg"), nullptr);
}

TEST(Curves, AreDrawnWithoutAnyFitAndWithoutAMetric) {
  RunView view = trained();
  view.records.clear();
  EXPECT_NE(plot(view, "loss").find(">the refit; on training rows<"), std::string::npos);
  view = trained();
  view.metrics.clear();
  EXPECT_NE(plot(view, "loss"), "");
}

// `count` bootstraps of one candidate each; member m ends at a loss of 1 + m.
RunView bagged(uint32_t count) {
  RunView view = grid(1, 1);
  view.plan.bootstraps = count;
  view.records.clear();
  view.best.reset();
  for (uint32_t m = 0; m < count; ++m) {
    journal::FitRecord& refit = view.refits.emplace_back(testing::record(view.plan.refit_slot(m), 5));
    refit.values = {5};
    refit.refit = 0;
    refit.curves = {{"train_loss", {40, 1.0 + m}}};
  }
  return view;
}

// Names have 24 characters in the legend.
TEST(Curves, NamesOfABaggingRunFit) {
  RunView view = trained();
  view.refit.reset();
  view.plan.own_candidates = 2;  // 0 and 1 are of bootstrap 0, 2 and 3 of bootstrap 1
  view.plan.bootstraps = 2;
  const std::string own = plot(view, "loss");
  EXPECT_NE(own.find(">candidate 3, fold 1<"), std::string::npos);
  EXPECT_NE(own.find("candidate 3, bootstrap 1, fold 1\n"), std::string::npos) << "under the pointer";
  EXPECT_EQ(own.find("names are"), std::string::npos);
  view.plan.own_candidates = 0;
  const std::string shared = plot(view, "loss");
  EXPECT_NE(shared.find(">1,1,0<"), std::string::npos);
  EXPECT_NE(shared.find("candidate 1, bootstrap 1, fold 0\n"), std::string::npos);
  EXPECT_NE(shared.find("; names are candidate,bootstrap,fold; solid"), std::string::npos);
}

TEST(Curves, OfMembersHaveAPlotOfTheirOwn) {
  RunView view = bagged(12);
  view.records = {testing::record(0, 3)};
  view.records[0].curves = falling(2);
  const std::string fits = plot(view, "loss"), members = plot(view, "members-loss");
  EXPECT_NE(fits.find("1 fit; names are candidate,bootstrap,fold; solid: validation; dashed: training"),
            std::string::npos);
  EXPECT_EQ(fits.find("member"), std::string::npos);
  EXPECT_NE(members.find(">Members: loss over epochs<"), std::string::npos);
  EXPECT_NE(members.find(">12 members, named in the order of their ends; on training rows<"), std::string::npos);
  EXPECT_EQ(occurrences(members, "<g class=\"curve k"), 12U + 12U) << "lines and their entries";
  EXPECT_EQ(occurrences(members, "class=\"dash\""), 0U);
  EXPECT_NE(members.find("member 3\nC = 1, gamma = 0.001\ntrain_loss: 4 after 2 epochs"), std::string::npos);
  EXPECT_EQ(plot(view, "members-accuracy"), "");
}

// As the lines end one above the other, so do the entries of the legend; a member keeps its colour.
TEST(Curves, OfMembersAreNamedInTheOrderOfTheirEnds) {
  RunView view = bagged(12);
  view.refits[5].curves = {{"train_loss", {40, 2, kNan}}};
  const std::string text = plot(view, "members-loss");
  const auto entry = [&](const std::string& name) { return text.find(">" + name + "</text>"); };
  for (const char* name : {"member 0", "member 5", "member 11"}) ASSERT_NE(entry(name), std::string::npos) << name;
  EXPECT_LT(entry("member 11"), entry("member 10"));
  EXPECT_LT(entry("member 1"), entry("member 5")) << "equal ones as they come";
  EXPECT_LT(entry("member 5"), entry("member 0"));
  EXPECT_LT(text.find("curve k11", text.find(">epoch<")), text.find("curve k0\"", text.find(">epoch<")));
  EXPECT_NE(text.find("cross: not finite"), std::string::npos);
}

TEST(Curves, OfManyMembersTheFirstAreNamed) {
  const std::string text = plot(bagged(15), "members-loss");
  EXPECT_NE(text.find("15 members, the first ones named, in the order of their ends; on"), std::string::npos);
  EXPECT_EQ(occurrences(text, "curve pale"), 3U);
  EXPECT_NE(text.find(">and 3 more<"), std::string::npos);
  EXPECT_EQ(text.find(">member 12<"), std::string::npos);
}

TEST(Curves, OfMembersAreShownWhole) {
  RunView view = bagged(4);
  view.refits[3].curves = {{"train_loss", {1e6, 1e5}}};
  const std::string text = plot(view, "members-loss");
  EXPECT_EQ(text.find("beyond"), std::string::npos);
  EXPECT_NE(text.find("log scale"), std::string::npos);
  view.refits[0].refit.reset();  // of a bootstrap without a candidate
  view.refits[0].curves.clear();
  view.refits[1].refit = 99;
  view.refits[1].curves[0].name = "</svg><script>";
  EXPECT_EQ(plot(view, "members-loss").find(">member 0<"), std::string::npos);
}

TEST(Curves, AFamilyOfFitsNamedAsOneOfMembersKeepsItsFile) {
  RunView view = bagged(2);
  view.records = {testing::record(0, 3)};
  view.records[0].curves = {{"members-loss", {1, 2}}};
  EXPECT_EQ(plot(view, "members-loss").find("Members: "), std::string::npos);
  EXPECT_NE(plot(view, "members-loss-2").find("Members: "), std::string::npos);
}

TEST(Curves, OfMembersStandUnderTraining) {
  const RunView view = bagged(3);
  const std::string page = report_html(view, plots(view));
  EXPECT_EQ(xml_fault(page), "");
  EXPECT_LT(page.find("<h2>Training</h2>"), page.find("Members: loss over epochs</text>"));
  EXPECT_EQ(page.find("the thick one"), std::string::npos) << "there is no refit among the fits";
}

TEST(Curves, StandInThePageUnderTraining) {
  const RunView view = trained();
  const auto files = plots(view);
  const std::string page = report_html(view, files);
  EXPECT_EQ(xml_fault(page), "");
  EXPECT_EQ(occurrences(page, "<h2>Training</h2>"), 1U);
  EXPECT_EQ(occurrences(page, "over epochs</text>"), 2U);
  EXPECT_LT(page.find("<h2>Training</h2>"), page.find("over epochs</text>"));
  const RunView plain = grid(2, 2);
  EXPECT_EQ(report_html(plain, plots(plain)).find("Training"), std::string::npos);
}

}  // namespace
}  // namespace mokume::report
