#include "report/charts/members.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/certainty.hpp"
#include "report/charts/axes.hpp"
#include "report/charts/certainty_plot.hpp"
#include "results/format.hpp"
#include "results/stats.hpp"

namespace mokume::report {
namespace {

constexpr double kVotesLeft = 40, kVotesRight = 520, kVotesMiddle = 96, kVotesBottom = 132;

// The view may come from a file with arbitrary contents, which must not become part of a file name.
const char* kind_word(const std::string& kind) {
  for (const char* known : {"easy", "misclassified", "uncertain"})
    if (kind == known) return known;
  return "other";
}

std::string exemplar_title(const results::Exemplar& one) {
  const size_t vote = take_vote(one.certainty).winner;
  const std::string taken = vote < one.certainty.classes.size() ? one.certainty.classes[vote] : "?";
  return fmt::format("test row {}: {}{}", one.row, results::elide(one.label, 24),
                     taken == one.label ? ", voted correctly" : ", voted " + results::elide(taken, 24));
}

void draw_vote(Svg& svg, const Scale& scale, double shown, const std::string& text) {
  const double x = scale.at(shown);
  svg.open("refit", text);
  svg.line(x, kVotesMiddle - 30, x, kVotesBottom);
  svg.close();
  const bool right = x > scale.middle();
  svg.text(right ? x - 6 : x + 6, kVotesMiddle - 24, text, right ? "end strong" : "strong");
}

std::string plot_of(const results::RunView& view, std::vector<double> values) {
  const std::string what = view.data_classes > 0 ? "test error (%)" : "test mean squared error";
  Svg svg(560, 190, fmt::format("{} of {} members and of their vote", what, values.size()), "Members and vote",
          fmt::format("{}; each point is a member", results::counted(values.size(), "member")));
  std::sort(values.begin(), values.end());
  results::Extent extent{values.front(), values.back()};
  if (view.vote) extent.add(shown_result(view.vote->test));
  const Scale scale = make_scale(extent.low, extent.high, false, 0.08, kVotesLeft, kVotesRight);
  bottom_axis(svg, scale, kVotesBottom, kVotesBottom, ticks(scale, 7), what);
  const results::Box box = results::box_of(values);
  svg.open("box", "median " + shown_text(view, box.median));
  draw_box(svg, box, scale, kVotesMiddle, 28, false);
  for (size_t i = 0; i < values.size(); ++i)
    svg.circle(scale.at(values[i]), kVotesMiddle + (static_cast<double>(i % 5) - 2) * 4.5, 2.2);
  svg.close();
  if (view.vote) {
    const double shown = shown_result(view.vote->test);
    draw_vote(svg, scale, shown, "vote " + shown_text(view, shown));
  }
  return std::move(svg).finish();
}

}  // namespace

std::vector<double> member_values(const results::RunView& view) {
  std::vector<double> values;
  for (const journal::FitRecord& refit : view.refits)
    if (const auto test = results::test_of(refit, view.data_classes)) values.push_back(shown_result(*test));
  return values;
}

double shown_result(const results::TestResult& test) { return test.mse ? *test.mse : 100.0 * test.errors / test.n; }

std::string shown_text(const results::RunView& view, double shown) {
  return view.data_classes > 0 ? fmt::format("{:.2f} %", shown) : results::pretty(shown);
}

std::vector<NamedFile> member_plots(const results::RunView& view) {
  const std::vector<double> values = member_values(view);
  if (view.plan.bootstraps == 1 || values.empty()) return {};
  std::vector<NamedFile> files = {{kMemberPlot, plot_of(view, values)}};
  if (!view.vote) return files;
  for (size_t i = 0; i < view.vote->exemplars.size(); ++i) {
    const results::Exemplar& one = view.vote->exemplars[i];
    files.push_back({fmt::format("{}{}-{:02}.svg", kExemplarPlots, kind_word(one.kind), i),
                     certainty_svg(one.certainty, exemplar_title(one), one.picture)});
  }
  return files;
}

}  // namespace mokume::report
