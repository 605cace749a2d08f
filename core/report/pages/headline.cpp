#include "report/pages/headline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/pages/markup.hpp"

namespace mokume::report {
namespace {

uint64_t at_least_zero(int64_t count) { return static_cast<uint64_t>(std::max<int64_t>(0, count)); }

std::string tile(const std::string& label, const std::string& value, const std::string& below) {
  return fmt::format("<div class=\"tile\"><span>{}</span><b>{}</b><span>{}</span></div>\n", escape(label),
                     escape(value), escape(below));
}

std::string test_tile(const RunView& view) {
  if (!view.test || view.test->n <= 0) return tile("Test error", "–", "no test result");
  if (view.test->mse)
    return tile(view.vote ? fmt::format("Test MSE, mean of {}", view.vote->members) : "Test MSE",
                pretty(*view.test->mse), counted(at_least_zero(view.test->n), "row"));
  const double share = static_cast<double>(view.test->errors) / static_cast<double>(view.test->n);
  const Interval interval = wilson(view.test->errors, view.test->n);
  return tile(view.vote ? fmt::format("Test error, vote of {}", view.vote->members) : "Test error",
              fmt::format("{:.2f}\u00A0%", 100 * share),
              fmt::format("95\u00A0% interval {:.2f} to {:.2f}\u00A0%, {} of {} rows", 100 * interval.low,
                          100 * interval.high, view.test->errors, grouped(at_least_zero(view.test->n))));
}

// Over what the members' bootstraps chose.
std::string members_validation_tile(const Figure& figure, const std::string& label) {
  const RunView& view = figure.view;
  std::vector<double> means;
  if (const auto metric = selecting_metric(view.metrics))
    for (const journal::FitRecord& refit : view.refits)
      if (const auto mean = mean_over_folds(view, refit, *metric)) means.push_back(*mean);
  if (means.empty()) return tile(label, "–", "no member yet");
  std::sort(means.begin(), means.end());
  return tile(label, figure.unit.text(quantile(means, 0.5)),
              fmt::format("median of {}, {} to {}", counted(means.size(), "member"), figure.unit.text(means.front()),
                          figure.unit.text(means.back())));
}

std::string validation_tile(const Figure& figure) {
  const std::string label = figure.unit.name.empty() ? "Validation" : "Validation, mean " + elide(figure.unit.name, 24);
  if (figure.view.plan.folds == 0) return tile("Validation", "–", "none was asked for");
  if (figure.view.plan.bootstraps > 1) return members_validation_tile(figure, label);
  if (!figure.best || !figure.pooled[*figure.best].complete) return tile(label, "–", "no complete candidate");
  const Pooled& row = figure.pooled[*figure.best];
  if (row.values.size() == 1) return tile(label, figure.unit.text(row.mean), "one validation set");
  return tile(label, figure.unit.text(row.mean),
              fmt::format("± {} over {}", figure.unit.text(row.sd), figure.fits_text()));
}

std::string best_panel(const Figure& figure) {
  if (!figure.best) return {};
  std::string list;
  const auto& plan = figure.view.plan;
  const auto& values = plan.candidates[*figure.best];
  for (size_t p = 0; p < std::min(plan.params.size(), values.size()); ++p) {
    list +=
        fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", escape(elide(plan.params[p], 40)), escape(pretty(values[p])));
  }
  return fmt::format("<dl class=\"tile best\"><div><dt>Best candidate</dt><dd>{}</dd></div>{}</dl>\n", *figure.best,
                     list);
}

std::string data_line(const RunView& view) {
  std::string text =
      fmt::format("{}{}, {}", view.data_name.empty() ? "" : elide(view.data_name, 80) + ": ",
                  counted(at_least_zero(view.data_rows), "row"), counted(at_least_zero(view.data_features), "feature"));
  if (view.data_classes > 0) text += fmt::format(", {} classes", view.data_classes);
  if (view.data_test_rows > 0)
    text += fmt::format("; {} for testing", counted(at_least_zero(view.data_test_rows), "row"));
  return text;
}

}  // namespace

Counts count(const RunView& view) {
  Counts counts;
  for (const auto* record : by_fit(view.plan, view.records)) {
    ++counts.planned;
    if (record == nullptr) continue;
    ++counts.finished;
    switch (record->status) {
      case journal::FitStatus::ok:
        ++counts.ok;
        break;
      case journal::FitStatus::copied:
        ++counts.copied;
        break;
      case journal::FitStatus::capped:
        ++counts.capped;
        break;
      case journal::FitStatus::failed:
        ++counts.failed;
        break;
    }
  }
  counts.failed_refits = failed_refits(view);
  return counts;
}

std::string headline(const Figure& figure, const Counts& counts) {
  const RunView& view = figure.view;
  const std::string pill = view.state.empty()
                               ? ""
                               : fmt::format("<span class=\"pill{}\">{}</span>", view.state == "done" ? " done" : "",
                                             escape(elide(view.state, 40)));
  const bool own = view.plan.own_candidates > 0;
  std::string plan = own ? fmt::format("{} each in {} bootstraps", counted(view.plan.own_candidates, "candidate"),
                                       view.plan.bootstraps)
                         : counted(view.plan.candidates.size(), "candidate");
  plan += view.plan.folds == 0 ? std::string(", no validation") : " × " + figure.fits_text();
  if (!view.seed.empty()) plan += ", seed " + elide(view.seed, 48);
  std::string out = fmt::format(
      "<header>\n<div class=\"over\"><span>mokume</span><span>{}</span>{}</div>\n"
      "<h1>{}</h1>\n<p class=\"soft\">{}<br/>{}</p>\n</header>\n<div class=\"tiles\">\n",
      escape(elide(view.model, 60)), pill, escape(elide(view.name, 160)), escape(data_line(view)), escape(plan));
  out += test_tile(view) + validation_tile(figure);
  const std::string of =
      counts.finished < counts.planned ? fmt::format("of {} planned, ", grouped(counts.planned)) : "";
  std::string failed = counts.failed > 0 ? grouped(counts.failed) + " failed" : "";
  if (counts.failed_refits > 0)
    failed += (failed.empty() ? "" : ", ") +
              (view.plan.bootstraps > 1 ? counted(counts.failed_refits, "member") + " failed" : "the refit failed");
  out += tile("Fits", grouped(counts.finished), of + (failed.empty() ? "none failed" : failed));
  out += tile("Wall time", seconds_text(view.wall_s),
              fmt::format("{} on {}; efficiency {}", counted(view.devices.size(), "device"),
                          counted(view.nodes, "node"), percent(view.efficiency)));
  return out + "</div>\n" + best_panel(figure);
}

}  // namespace mokume::report
