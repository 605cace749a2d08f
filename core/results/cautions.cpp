#include "results/cautions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.hpp"
#include "results/constant_answer.hpp"
#include "results/format.hpp"
#include "results/stats.hpp"
#include "sdk/ill_determined.hpp"

namespace mokume::results {
namespace {

constexpr double kExploded = 10;  // multiple of a guess's loss
constexpr size_t kFewestValues = 3;

// Compares a result with that of a constant answer, which may be as good by chance if the difference is below `margin`.
std::optional<std::string> compare(const std::string& what, double value, double constant, double margin,
                                   const Metric& metric, bool classes) {
  if (metric.loss(value) < metric.loss(constant) - margin - 1e-9 * std::abs(constant)) return std::nullopt;
  const bool share = classes && metric.name.find("loss") == std::string::npos;
  const auto text_of = [&](double one) { return share ? fmt::format("{:.1f} %", 100 * one) : pretty(one); };
  const bool better = metric.loss(value) < metric.loss(constant);
  return fmt::format(
      "{} is {}, and always answering {} gives {}: {}. Check the target, the inputs, their scaling and the searched "
      "ranges.",
      what, text_of(value), classes ? "the most frequent class" : "the mean", text_of(constant),
      better ? fmt::format("the difference is within one standard error, {}, so the model may have learned nothing",
                           share ? fmt::format("{:.1f} points", 100 * margin) : pretty(margin))
             : "the model has learned nothing from these inputs");
}

std::optional<std::string> validation_caution(const RunView& view, const std::vector<CandidateRow>& rows) {
  const auto selecting = selecting_metric(view.metrics);
  if (!selecting || !view.best || *view.best >= rows.size() || !rows[*view.best].complete) return std::nullopt;
  const auto has_rows = [](int64_t of_class) { return of_class > 0; };
  if (std::count_if(view.class_rows.begin(), view.class_rows.end(), has_rows) == 1)
    return std::nullopt;  // a one-class machine learns from one class, and no answer beats that class
  const Metric& metric = view.metrics[*selecting];
  const auto constant = constant_answer(view, metric.name);
  if (!constant) return std::nullopt;
  const CandidateRow& best = rows[*view.best];
  const double error = best.sd / std::sqrt(static_cast<double>(best.values.size()));
  const std::string name = metric.name == "mse" ? "MSE" : metric.name;
  return compare("The validation " + name + " of the best candidate", best.mean, *constant, error, metric,
                 view.data_classes > 0);
}

std::optional<std::string> test_caution(const RunView& view) {
  const auto constant = constant_answer_on_test(view);
  if (!view.test || view.test->n == 0 || !constant) return std::nullopt;
  const bool classes = view.data_classes > 0;
  if (classes && *constant == 0) return std::nullopt;  // all test rows are of one class
  return compare(classes ? "The test error" : "The test MSE", view.test->value(), *constant, 0, Metric(), classes);
}

std::string class_name(const RunView& view, size_t label) {
  return label < view.class_names.size() ? "'" + view.class_names[label] + "'" : fmt::format("class {}", label);
}

std::optional<std::string> guess_caution(const RunView& view, const std::vector<CandidateRow>& rows) {
  auto caution = validation_caution(view, rows);
  if (!caution) caution = test_caution(view);
  if (const auto only = view.test ? only_class(*view.test) : std::nullopt)
    caution = fmt::format("The model answers {} for every test row. {}", class_name(view, *only), caution.value_or(""));
  if (caution) caution = base::trim(*caution);
  return caution;
}

std::optional<std::string> loss_caution(const RunView& view) {
  const double guess =
      view.data_classes > 1 ? std::log(static_cast<double>(view.data_classes)) : view.guess.value_or(0);
  if (!(guess > 0)) return std::nullopt;
  size_t exploded = 0;
  double worst = 0;
  std::string example;
  for (const journal::FitRecord& record : all_work(view))
    for (const journal::Curve& curve : record.curves) {
      if (curve.name != "train_loss" || curve.values.empty()) continue;
      const double last = curve.values.back();
      if (!std::isfinite(last) || last <= kExploded * guess) continue;
      ++exploded;
      if (last > worst) example = fit_name(view.plan, record.fit);
      worst = std::max(worst, last);
    }
  if (exploded == 0) return std::nullopt;
  return fmt::format(
      "The training loss of {} exploded, up to {} ({}), where a guess costs {}: a smaller learning rate "
      "or scaled inputs help.",
      counted(exploded, "fit"), pretty(worst), example, pretty(guess));
}

std::optional<double> number_of(const search::Value& value) {
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* whole = std::get_if<int64_t>(&value)) return static_cast<double>(*whole);
  return std::nullopt;
}

// Returns a text such as "C = 1000 is the largest", or "" if the best value of parameter `p` is not on an edge.
std::string edge_of(const RunView& view, const std::vector<CandidateRow>& rows, size_t p) {
  const auto& candidates = view.plan.candidates;
  const CandidateRow& best = rows[*view.best];
  if (!view.plan.counts(*view.best, p)) return "";
  std::set<double> values;
  for (size_t c = 0; c < candidates.size(); ++c) {
    if (!view.plan.counts(c, p)) continue;
    const auto number = number_of(candidates[c][p]);
    if (!number) return "";
    values.insert(*number);
  }
  const double chosen = *number_of(candidates[*view.best][p]);
  if (values.size() < kFewestValues || (chosen != *values.begin() && chosen != *values.rbegin())) return "";
  for (size_t c = 0; c < candidates.size(); ++c)
    if (view.plan.counts(c, p) && rows[c].complete && rows[c].mean == best.mean &&
        *number_of(candidates[c][p]) != chosen)
      return "";
  return fmt::format("{} = {} is the {}", view.plan.params[p], pretty(chosen),
                     chosen == *values.begin() ? "smallest" : "largest");
}

std::optional<std::string> edge_caution(const RunView& view, const std::vector<CandidateRow>& rows) {
  if (!view.grid || !view.best || !rows[*view.best].complete) return std::nullopt;
  std::string edges;
  for (size_t p = 0; p < view.plan.params.size(); ++p)
    if (const std::string edge = edge_of(view, rows, p); !edge.empty()) edges += (edges.empty() ? "" : " and ") + edge;
  if (edges.empty()) return std::nullopt;
  return fmt::format(
      "The best candidate is on the edge of the grid: {} value that was tried. Better ones may lie "
      "outside; widen the range.",
      edges);
}

std::optional<std::string> unsure_caution(const RunView& view, const std::vector<CandidateRow>& rows) {
  if (!view.best || *view.best >= rows.size()) return std::nullopt;
  const CandidateRow& best = rows[*view.best];
  if (!sdk::is_ill_determined(best.unsure, best.rows)) return std::nullopt;
  return fmt::format(
      "The best candidate is ill-determined: the solver's tolerance leaves the class of {} of its {} validated rows "
      "open, and another solver or tolerance gives other errors. A smaller tol determines more of them.",
      best.unsure, best.rows);
}

}  // namespace

std::vector<std::string> cautions(const RunView& view) {
  const std::vector<CandidateRow> rows = pool(view);
  std::vector<std::string> all;
  for (auto& one :
       {guess_caution(view, rows), loss_caution(view), unsure_caution(view, rows), edge_caution(view, rows)})
    if (one) all.push_back(*one);
  return all;
}

}  // namespace mokume::results
