#include "run/learning_curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/sealed.hpp"
#include "base/text.hpp"
#include "results/csv_text.hpp"
#include "results/stats.hpp"
#include "sdk/error.hpp"

namespace mokume::run {
namespace {

constexpr const char* kCurve = "curve.json";
constexpr uint32_t kUsualPoints = 6, kUsualFolds = 5;

// Returns how many points there can be: every fold of the smallest part keeps two rows for each class on average, and
// at least one row of the smallest class, whose share would otherwise differ between parts.
uint32_t most_points(const results::RunView& view, uint32_t folds) {
  const auto least = static_cast<double>(int64_t{folds} * 2 * std::max<int64_t>(1, view.data_classes));
  double parts = static_cast<double>(view.data_rows) / least;
  for (const int64_t rows : view.class_rows)
    if (rows > 0) parts = std::min(parts, static_cast<double>(rows) / folds);
  return 1 + static_cast<uint32_t>(std::floor(std::log2(std::max(1.0, parts))));
}

// Replaces the search by one candidate.
void fix(config::Config& config, const search::Plan& plan, uint32_t candidate) {
  config.method = plan.params.empty() ? "none" : "grid";
  config.n_candidates = config.trials = 0;
  for (search::Space& space : config.spaces)
    for (size_t p = 0; p < plan.params.size(); ++p)
      if (plan.params[p] == space.name)
        space = {search::Space::Kind::list, space.name, {plan.candidates.at(candidate).at(p)}};
}

}  // namespace

config::Config curve_config(const config::Config& whole, const results::RunView& view, const std::string& run_directory,
                            uint32_t points) {
  const auto refuse = [&](const std::string& why) -> config::Config {
    throw Error(MK_INVALID_ARGUMENT, run_directory + " has no learning curve: " + why);
  };
  if (whole.bootstraps > 0)
    return refuse("folds score each member of an ensemble, but not their vote; run the experiment without [bagging]");
  if (view.state != "done" && view.state != "failed fits")
    return refuse("it is not finished; `mokume resume` finishes it");
  if (!view.best) return refuse("no candidate has a result in every fold");
  config::Config config = whole;
  config.output = run_directory + "/curve";
  config.name = "rows";
  if (config.outer_fold == 0) config.outer = 0;
  config.repeats = 1;
  config.calibrate = false;
  config.whole = whole.folds < 2;  // the run has the folds on all rows
  if (config.folds < 2) config.folds = kUsualFolds;
  config.share = 0;
  fix(config, view.plan, *view.best);
  const uint32_t most = most_points(view, config.folds);
  if (most < 2)
    return refuse(fmt::format("half of its {} rows, or of its smallest class, is too few for {} folds", view.data_rows,
                              config.folds));
  if (points > most)
    return refuse(
        fmt::format("its {} rows, or those of its smallest class, are too few for {} points: at most {} are possible",
                    view.data_rows, points, most));
  config.rungs = (points > 0 ? points : std::min(most, kUsualPoints)) - (config.whole ? 0 : 1);
  config.factor = 2;
  return config;
}

uint32_t points_of(const config::Config& curve) { return curve.rungs + (curve.whole ? 0 : 1); }

results::LearningCurve curve_of(const results::RunView& whole, const results::RunView& measured,
                                const std::vector<int64_t>& rung_rows) {
  results::LearningCurve curve{whole.best.value(), {}, {}};
  const auto metric = results::selecting_metric(measured.metrics);
  if (!metric) return curve;
  curve.metric = measured.metrics[*metric].name;
  const search::Plan& plan = measured.plan;
  const uint32_t folds = plan.folds_in_rung();
  const auto fits = results::by_fit(plan, measured.records);
  for (uint32_t rung = 0; rung < plan.rungs(); ++rung) {
    std::vector<double> values;
    for (uint32_t fit = rung * folds; fit < (rung + 1) * folds; ++fit)
      if (const auto value = results::value_of(fits.at(fit), metric)) values.push_back(*value);
    if (values.size() < folds) continue;
    const results::Moments moments = results::moments(values);
    curve.points.push_back({rung_rows.at(rung), moments.mean, moments.sd});
  }
  if (plan.whole) return curve;
  for (const results::CandidateRow& row : results::summarise(whole.plan, whole.metrics, whole.records))
    if (row.candidate == curve.candidate) curve.points.push_back({rung_rows.back(), row.mean, row.sd});
  return curve;
}

void keep_curve(const std::string& run_directory, const results::LearningCurve& curve) {
  results::Csv csv;
  csv.add("rows", "mean_" + curve.metric, "sd");
  csv.end_row();
  for (const results::LearningCurve::Point& one : curve.points) {
    csv.add(one.rows, one.mean, one.sd);
    csv.end_row();
  }
  base::write_file(base::Below{run_directory, "curve.csv"}, std::move(csv).text());
  base::write_file(base::Below{run_directory, kCurve}, base::seal(base::to_json(curve)));
}

std::optional<results::LearningCurve> read_curve(const std::string& run_directory) {
  const base::Below file{run_directory, kCurve};
  if (!base::exists(file)) return std::nullopt;
  try {
    const auto text = base::unseal_file(base::read_file(file, 1U << 20));
    if (!text) throw Error(MK_BAD_DATA, "its checksum differs");
    return base::from_json<results::LearningCurve>(text->object);
  } catch (const Error& e) {
    throw Error(MK_BAD_DATA, fmt::format("{} is damaged ({}): remove it, and `mokume curve {}` writes it again",
                                         file.path(), e.what(), run_directory));
  }
}

}  // namespace mokume::run
