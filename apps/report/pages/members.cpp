#include "report/pages/members.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/charts/members.hpp"
#include "report/pages/markup.hpp"
#include "results/format.hpp"
#include "results/stats.hpp"

namespace mokume::report {
namespace {

constexpr size_t kMaxMembers = 200;
constexpr size_t kShownExemplars = 2;  // for each kind

std::string lead(const results::RunView& view) {
  std::vector<double> values = member_values(view);
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  std::string said = fmt::format(
      "Each bootstrap drew its own rows, chose its best candidate and trained it on all of its rows. The error of the "
      "members on the test rows is between {} and {}, with a median of {}",
      shown_text(view, values.front()), shown_text(view, values.back()),
      shown_text(view, results::quantile(values, 0.5)));
  if (view.vote) said += fmt::format("; that of their vote is {}", shown_text(view, shown_result(view.vote->test)));
  return said + ".";
}

// Shows the first exemplars of each kind, and the others on demand.
std::string exemplars(const std::vector<NamedFile>& plots) {
  struct Kind {
    const char *word, *title;
  };
  std::string body;
  for (const Kind& kind : {Kind{"easy", "Certain and correct"}, Kind{"misclassified", "Certain but wrong"},
                           Kind{"uncertain", "Least certain"}}) {
    const auto found = inlined(plots, std::string(kExemplarPlots) + kind.word);
    if (!found.empty()) body += fmt::format("<h3>{}</h3>\n", kind.title) + joined(found, 0, kShownExemplars);
    if (found.size() > kShownExemplars)
      body += folded(fmt::format("{} more", found.size() - kShownExemplars), joined(found, kShownExemplars));
  }
  return body;
}

std::string members_table(const results::RunView& view) {
  const search::Plan& plan = view.plan;
  const auto metric = plan.folds > 0 ? results::selecting_metric(view.metrics) : std::nullopt;
  const bool classes = view.data_classes > 0;
  Table table({{"bootstrap", true}, {"candidate", true}});
  for (const std::string& param : plan.params) table.add_column({results::elide(param, 40), true});
  if (metric) table.add_column({"mean " + results::unit_of(view.metrics[*metric]).title, true});
  table.add_column({classes ? "test error" : "test MSE", true});
  for (size_t i = 0; i < std::min(view.refits.size(), kMaxMembers); ++i) {
    const journal::FitRecord& refit = view.refits[i];
    std::vector<Cell> cells = {Cell::id(refit.fit - plan.n_fits()),
                               refit.refit ? Cell::id(*refit.refit) : results::kNoValue};
    for (size_t p = 0; p < plan.params.size(); ++p) {
      const bool known = refit.refit && p < plan.candidates[*refit.refit].size();
      cells.emplace_back(known ? results::pretty(plan.candidates[*refit.refit][p]) : results::kNoValue);
    }
    if (metric) {
      const auto mean = results::mean_over_folds(view, refit, *metric);
      cells.push_back(mean ? Cell(results::unit_of(view.metrics[*metric]).spread(*mean), *mean) : results::kNoValue);
    }
    const auto test = results::test_of(refit, view.data_classes);
    cells.push_back(test ? Cell(shown_text(view, shown_result(*test)), shown_result(*test))
                         : Cell(journal::to_text(refit.status)));
    table.row(cells);
  }
  return table.html(true) + left_out(view.refits.size(), kMaxMembers, "more are in ensemble.csv");
}

}  // namespace

std::string members_section(const results::RunView& view, const std::vector<NamedFile>& plots) {
  if (view.plan.bootstraps == 1 || view.refits.empty()) return "";
  return section("Members", lead(view), joined(inlined(plots, kMemberPlot)) + members_table(view) + exemplars(plots));
}

}  // namespace mokume::report
