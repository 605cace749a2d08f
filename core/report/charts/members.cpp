// The members of an ensemble: a plot of their test results beside that of their vote, and their table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "report/charts/figure.hpp"
#include "report/charts/svg.hpp"
#include "report/pages/markup.hpp"
#include "report/tables/stats.hpp"

namespace mokume::report {
namespace {

constexpr double kWidth = 560, kHeight = 190;
constexpr double kLeft = 40, kRight = 520, kMiddle = 96, kBottom = 132;
constexpr size_t kMaxMembers = 200;
constexpr size_t kShownExemplars = 2;  // of each kind

struct Shown {
  double value = 0;
  bool percent = true;
  std::string text() const { return percent ? fmt::format("{:.2f} %", value) : pretty(value); }
};

Shown shown(const TestResult& test) {
  if (test.mse) return {*test.mse, false};
  return {100 * static_cast<double>(test.errors) / static_cast<double>(test.n), true};
}

std::vector<double> member_values(const RunView& view) {
  std::vector<double> values;
  for (const journal::FitRecord& refit : view.refits)
    if (const auto test = test_of(refit, view.data_classes > 0)) values.push_back(shown(*test).value);
  return values;
}

std::string lead(const RunView& view, std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto text = [&](double value) { return Shown{value, view.data_classes > 0}.text(); };
  std::string said = fmt::format(
      "Each bootstrap drew its own rows, chose its best candidate and trained it on all of "
      "its rows. On the test rows the members err by {} to {}, {} in the median",
      text(values.front()), text(values.back()), text(quantile(values, 0.5)));
  if (view.vote) said += fmt::format("; together by {}", shown(view.vote->test).text());
  return said + ".";
}

struct Kind {
  const char *word, *title;
};
constexpr Kind kKinds[] = {
    {"easy", "Sure, and right"}, {"misclassified", "Sure, and wrong"}, {"uncertain", "The least sure"}};

// What was read may say anything.
const char* kind_word(const std::string& kind) {
  for (const Kind& known : kKinds)
    if (kind == known.word) return known.word;
  return "other";
}

std::string exemplar_title(const Exemplar& one) {
  const size_t vote = judge(one.certainty).vote;
  const std::string taken = vote < one.certainty.classes.size() ? one.certainty.classes[vote] : "?";
  return fmt::format("test row {}: {}{}", one.row, elide(one.label, 24),
                     taken == one.label ? ", and voted so" : ", voted " + elide(taken, 24));
}

// Some of each kind; the others on demand.
std::string exemplars(const std::vector<NamedFile>& plots) {
  std::string body;
  for (const Kind& kind : kKinds) {
    std::string some, rest;
    size_t count = 0;
    for (const NamedFile& file : plots) {
      if (!file.name.starts_with(std::string(kExemplarPlots) + kind.word)) continue;
      (count++ < kShownExemplars ? some : rest) += inlined(file.content, "plot");
    }
    if (count > 0) body += fmt::format("<h3>{}</h3>\n{}", kind.title, some);
    if (count > kShownExemplars)
      body += fmt::format("<details>\n<summary>{} more</summary>\n{}</details>\n", count - kShownExemplars, rest);
  }
  return body;
}

std::string member_rows(const RunView& view) {
  const auto metric = selecting_metric(view.metrics);
  std::string rows;
  for (size_t i = 0; i < std::min(view.refits.size(), kMaxMembers); ++i) {
    const journal::FitRecord& refit = view.refits[i];
    const uint32_t bootstrap = refit.fit - view.plan.n_fits();
    rows += "<tr>" + number_cell(std::to_string(bootstrap)) +
            (refit.refit ? number_cell(std::to_string(*refit.refit)) : number_cell("–"));
    for (size_t p = 0; p < view.plan.params.size(); ++p) {
      const bool known = refit.refit && p < view.plan.candidates[*refit.refit].size();
      rows += number_cell(known ? pretty(view.plan.candidates[*refit.refit][p]) : "–");
    }
    if (metric && view.plan.folds > 0) {
      const auto mean = mean_over_folds(view, refit, *metric);
      rows += number_cell(mean ? unit_of(view.metrics[*metric]).spread(*mean) : "–", mean ? base::shortest(*mean) : "");
    }
    const auto test = test_of(refit, view.data_classes > 0);
    rows += number_cell(test ? shown(*test).text() : journal::to_text(refit.status),
                        test ? base::shortest(shown(*test).value) : "") +
            "</tr>\n";
  }
  return rows;
}

}  // namespace

std::vector<NamedFile> member_plots(const RunView& view) {
  std::vector<double> values = member_values(view);
  if (view.plan.bootstraps == 1 || values.empty()) return {};
  const bool percent = view.data_classes > 0;
  std::sort(values.begin(), values.end());
  double low = values.front(), high = values.back();
  if (view.vote) low = std::min(low, shown(view.vote->test).value), high = std::max(high, shown(view.vote->test).value);
  const Scale scale = make_scale(low, high, false, 0.08, kLeft, kRight);
  const std::string what = percent ? "test error (%)" : "test mean squared error";
  Svg svg(kWidth, kHeight, fmt::format("{} of {} members and of their vote", what, values.size()));
  svg.text(16, 22, "Members and vote", "head");
  svg.text(16, 40, fmt::format("{}; each point is a member", counted(values.size(), "member")), "");
  bottom_axis(svg, scale, kBottom, ticks(scale, 7));
  svg.text((kLeft + kRight) / 2, kBottom + 40, what, "mid strong");
  svg.open("box", fmt::format("median {}", Shown{quantile(values, 0.5), percent}.text()));
  const Box box = box_of(values);
  svg.line(scale.at(box.low), kMiddle, scale.at(box.high), kMiddle, "");
  svg.rect(scale.at(box.q1), kMiddle - 14, std::max(1.0, scale.at(box.q3) - scale.at(box.q1)), 28, "");
  svg.line(scale.at(box.median), kMiddle - 14, scale.at(box.median), kMiddle + 14, "median");
  for (size_t i = 0; i < values.size(); ++i)
    svg.circle(scale.at(values[i]), kMiddle + (static_cast<double>(i % 5) - 2) * 4.5, 2.2, "");
  svg.close();
  if (view.vote) {
    const double x = scale.at(shown(view.vote->test).value);
    svg.open("refit", fmt::format("vote {}", shown(view.vote->test).text()));
    svg.line(x, kMiddle - 30, x, kBottom, "");
    svg.close();
    const bool right = x > (kLeft + kRight) / 2;
    svg.text(right ? x - 6 : x + 6, kMiddle - 24, fmt::format("vote {}", shown(view.vote->test).text()),
             right ? "end strong" : "strong");
  }
  std::vector<NamedFile> files = {{kMemberPlot, std::move(svg).finish()}};
  if (!view.vote) return files;
  for (size_t i = 0; i < view.vote->exemplars.size(); ++i) {
    const Exemplar& one = view.vote->exemplars[i];
    files.push_back({fmt::format("{}{}-{:02}.svg", kExemplarPlots, kind_word(one.kind), i),
                     certainty_svg(one.certainty, exemplar_title(one), one.picture)});
  }
  return files;
}

std::string members_section(const RunView& view, const std::vector<NamedFile>& plots) {
  if (view.plan.bootstraps == 1 || view.refits.empty()) return "";
  std::string body;
  for (const NamedFile& file : plots)
    if (file.name == kMemberPlot) body += inlined(file.content, "plot");
  std::vector<std::pair<std::string, bool>> heads = {{"bootstrap", true}, {"candidate", true}};
  for (const std::string& param : view.plan.params) heads.emplace_back(elide(param, 40), true);
  if (const auto metric = selecting_metric(view.metrics); metric && view.plan.folds > 0)
    heads.emplace_back("mean " + unit_of(view.metrics[*metric]).title, true);
  heads.emplace_back(view.data_classes > 0 ? "test error" : "test MSE", true);
  body += table("sort", heads, member_rows(view));
  if (view.refits.size() > kMaxMembers)
    body += fmt::format("<p class=\"soft\">{} more are in ensemble.csv.</p>\n", view.refits.size() - kMaxMembers);
  body += exemplars(plots);
  const std::vector<double> values = member_values(view);
  return section("Members", values.empty() ? "" : lead(view, values), body);
}

}  // namespace mokume::report
