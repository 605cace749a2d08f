#include "report/pages/headline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/pages/markup.hpp"
#include "results/best.hpp"
#include "results/cautions.hpp"
#include "results/class_scores.hpp"
#include "results/nested.hpp"

namespace mokume::report {
namespace {

std::string counted_rows(int64_t count, const char* noun = "row") {
  return results::counted(static_cast<uint64_t>(std::max<int64_t>(0, count)), noun);
}

std::string tile(const std::string& label, const std::string& value, const std::string& below) {
  return fmt::format("<div class=\"tile\"><span>{}</span><b>{}</b><span>{}</span></div>\n", escape(label),
                     escape(value), escape(below));
}

std::string test_tile(const results::RunView& view) {
  if (!view.test || view.test->n <= 0) return tile("Test error", results::kNoValue, "no test result");
  const results::TestResult& test = *view.test;
  const auto label = [&](const char* what, const char* by) {
    return view.vote ? fmt::format("{}, {} of {}", what, by, view.vote->members) : what;
  };
  if (test.mse) return tile(label("Test MSE", "mean"), results::pretty(*test.mse), counted_rows(test.n));
  const results::Interval interval = results::wilson(test.errors, test.n);
  const std::string more = results::measures_text(test);
  return tile(label("Test error", "vote"), fmt::format("{:.2f}\u00A0%", 100 * test.value()),
              fmt::format("95\u00A0% interval {:.2f} to {:.2f}\u00A0%, {} of {}{}", 100 * interval.low,
                          100 * interval.high, test.errors, counted_rows(test.n), more.empty() ? "" : "; " + more));
}

std::string members_validation_tile(const Figure& figure, const std::string& label) {
  const results::RunView& view = figure.view;
  std::vector<double> means;
  if (const auto metric = results::selecting_metric(view.metrics))
    for (const journal::FitRecord& refit : view.refits)
      if (const auto mean = results::mean_over_folds(view, refit, *metric)) means.push_back(*mean);
  if (means.empty()) return tile(label, results::kNoValue, "no member yet");
  std::sort(means.begin(), means.end());
  return tile(label, figure.unit.text(results::quantile(means, 0.5)),
              fmt::format("median of {}, {} to {}", results::counted(means.size(), "member"),
                          figure.unit.text(means.front()), figure.unit.text(means.back())));
}

std::string validation_tile(const Figure& figure) {
  if (figure.view.plan.folds == 0) return tile("Validation", results::kNoValue, "none was requested");
  const std::string label =
      figure.unit.name.empty() ? "Validation" : "Validation, mean " + results::elide(figure.unit.name, 24);
  if (figure.view.plan.bootstraps > 1) return members_validation_tile(figure, label);
  if (!figure.best || !figure.pooled[*figure.best].complete)
    return tile(label, results::kNoValue, "no complete candidate");
  const results::CandidateRow& row = figure.pooled[*figure.best];
  return tile(label, figure.unit.text(row.mean),
              row.values.size() == 1 ? "one validation set"
                                     : fmt::format("± {} over {}", figure.unit.text(row.sd), figure.fits_text()));
}

// Shows the estimate of a nested cross-validation.
std::string nested_tile(const results::RunView& view) {
  if (!view.nested || view.nested->each.empty()) return {};
  const results::NestedEstimate estimate = results::estimate_of(view);
  const results::TestResult& pooled = view.nested->pooled;
  std::string below =
      fmt::format("sd {} over {} of {} outer folds, {}", results::score_spread(estimate.metric, estimate.sd),
                  view.nested->each.size(), view.nested->folds, counted_rows(pooled.n));
  if (!pooled.mse) {
    const results::Interval interval = results::wilson(pooled.errors, pooled.n);
    below +=
        fmt::format("; {} wrong, 95\u00A0% interval of the error {:.2f} to {:.2f}\u00A0%",
                    results::grouped(static_cast<uint64_t>(pooled.errors)), 100 * interval.low, 100 * interval.high);
  }
  const std::string more = results::measures_text(pooled);
  return tile("Nested, " + results::elide(estimate.metric, 24), results::score_text(estimate.metric, estimate.value),
              more.empty() ? below : below + "; " + more);
}

// Shows the rows that the folds of the best candidate validate as one sample.
std::string pooled_tile(const results::RunView& view) {
  if (!view.validated || view.validated->n <= 0) return {};
  const results::TestResult& pooled = *view.validated;
  const std::string more = results::measures_text(pooled);
  if (pooled.mse) return tile("Validated rows", "RMSE " + results::pretty(std::sqrt(*pooled.mse)), more);
  const results::Interval interval = results::interval_of(pooled);
  return tile("Validated rows",
              fmt::format("{} of {} wrong", results::grouped(static_cast<uint64_t>(pooled.errors)),
                          results::grouped(static_cast<uint64_t>(pooled.n))),
              fmt::format("95\u00A0% interval {:.2f} to {:.2f}\u00A0%{}", 100 * interval.low, 100 * interval.high,
                          more.empty() ? "" : "; " + more));
}

std::string fits_tile(const results::RunView& view) {
  const size_t finished = results::recorded(view).size(),
               failed = results::count_fits(view, journal::FitStatus::failed);
  const size_t refits = results::failed_refits(view);
  std::string below =
      finished < view.plan.n_computed() ? fmt::format("of {} planned, ", results::grouped(view.plan.n_computed())) : "";
  if (failed > 0 || refits == 0) below += failed > 0 ? results::grouped(failed) + " failed" : "none failed";
  if (refits > 0)
    below += (failed > 0 ? ", " : "") +
             (view.plan.bootstraps > 1 ? results::counted(refits, "member") + " failed" : "the refit failed");
  return tile("Fits", results::grouped(finished), below);
}

std::string best_panel(const Figure& figure) {
  if (!figure.best) return {};
  const auto& plan = figure.view.plan;
  const auto& values = plan.candidates[*figure.best];
  const auto entry = [](const std::string& name, const std::string& value) {
    return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value));
  };
  std::string list = entry("Best candidate", std::to_string(*figure.best));
  for (size_t p = 0; p < std::min(plan.params.size(), values.size()); ++p)
    list += entry(results::elide(plan.params[p], 40), results::pretty(values[p]));
  return element("dl", "class=\"tile best\"", list) + '\n';
}

std::string data_line(const results::RunView& view) {
  std::string text = fmt::format("{}{}, {}", view.data_name.empty() ? "" : results::elide(view.data_name, 80) + ": ",
                                 counted_rows(view.data_rows), counted_rows(view.data_features, "feature"));
  if (view.data_classes > 0) text += fmt::format(", {} classes", view.data_classes);
  if (view.data_test_rows > 0) text += fmt::format("; {} for testing", counted_rows(view.data_test_rows));
  return view.inputs.empty() ? text : text + "; " + view.inputs;
}

std::string plan_line(const Figure& figure) {
  const search::Plan& plan = figure.view.plan;
  std::string text = plan.trials > 0 ? results::counted(plan.trials, "trial") + " of " : "";
  text += results::counted(plan.own_candidates > 0 ? plan.own_candidates : plan.candidates.size(), "candidate");
  if (plan.own_candidates > 0) text += fmt::format(" each in {} bootstraps", plan.bootstraps);
  if (plan.rungs() > 1)
    text += fmt::format(" in {} rungs × {}", plan.rungs(), results::counted(plan.folds_each(), "fold"));
  else
    text += plan.folds == 0 ? ", no validation" : " × " + figure.fits_text();
  if (const size_t reused = results::count_reused(figure.view); reused > 0)
    text += fmt::format(", {} taken over from {}", results::counted(reused, "fit"),
                        results::elide(figure.view.reused_from, 80));
  return figure.view.seed.empty() ? text : text + ", seed " + results::elide(figure.view.seed, 48);
}

std::string cautions_panel(const results::RunView& view) {
  std::string items;
  if (view.state == "done" || view.state == "failed fits")
    for (const std::string& one : results::cautions(view))
      items += element("p", "", escape(results::elide(one, 600))) + '\n';
  return items.empty() ? "" : element("div", "class=\"tile cautions\"", "<span>Warnings</span>\n" + items) + '\n';
}

}  // namespace

std::string headline(const Figure& figure) {
  const results::RunView& view = figure.view;
  const std::string pill = view.state.empty()
                               ? ""
                               : element("span", view.state == "done" ? "class=\"pill done\"" : "class=\"pill\"",
                                         escape(results::elide(view.state, 40)));
  return fmt::format(
             "<header>\n<div class=\"over\"><span>mokume</span><span>{}</span>{}</div>\n"
             "<h1>{}</h1>\n<p class=\"soft\">{}<br/>{}</p>\n</header>\n<div class=\"tiles\">\n",
             escape(results::elide(view.model, 60)), pill, escape(results::elide(view.name, 160)),
             escape(data_line(view)), escape(plan_line(figure))) +
         test_tile(view) + validation_tile(figure) + nested_tile(view) + pooled_tile(view) + fits_tile(view) +
         tile("Wall time", results::seconds_text(view.wall_s),
              fmt::format("{} on {}; efficiency {}", results::counted(view.devices.size(), "device"),
                          results::counted(view.nodes, "node"), results::percent(view.efficiency))) +
         "</div>\n" + best_panel(figure) + cautions_panel(view);
}

}  // namespace mokume::report
