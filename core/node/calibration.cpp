#include "node/calibration.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/files.hpp"
#include "node/validated.hpp"
#include "sdk/error.hpp"

namespace mokume::node {
namespace {

constexpr const char* kFile = "calibration.json";

// What the fits of some folds say about the rows they validate, by the index of the fit.
class Collector {
 public:
  Collector(cluster::Reporter& reporter, size_t folds, size_t classes)
      : reporter_(reporter), classes_(classes), folds_(folds) {}

  mk_fit_sink table() {
    return {this,
            [](void* self, const mk_fit_result* result, mk_error* error) -> int32_t {
              return sdk::guard(error, [&] { static_cast<Collector*>(self)->take(*result); });
            },
            [](void* self, const char*, double share) {
              static_cast<Collector*>(self)->reporter_.progress("calibrating", share);
            },
            [](void* self) -> int32_t { return static_cast<Collector*>(self)->reporter_.cancelled() ? 1 : 0; },
            1,
            0};
  }

  // Fits the sigmoids to the rows of all folds, in the order of folds. Nothing if a fold has none.
  std::optional<Calibration> sigmoids() const {
    Calibration calibration;
    calibration.decisions = kind_ == MK_SCORES_ONE_VS_REST ? Decisions::one_vs_rest : Decisions::one_vs_one;
    for (const Fold& fold : folds_)
      if (fold.labels.empty()) return std::nullopt;
    const bool rest = calibration.decisions == Decisions::one_vs_rest;
    size_t k = 0;
    for (size_t a = 0; a < classes_; ++a)
      for (size_t b = rest ? a : a + 1; b < (rest ? a + 1 : classes_); ++b)
        calibration.sigmoids.push_back(sigmoid(k++, a, b));
    return calibration;
  }

 private:
  struct Fold {
    std::vector<int32_t> labels;
    std::vector<float> scores;
  };

  void take(const mk_fit_result& result) {
    if (result.index >= folds_.size()) throw Error(MK_INTERNAL, "the model reported a fit it was not given");
    if (result.status == MK_FIT_FAILED || result.validated == nullptr) return;
    const mk_validated& rows = *result.validated;
    check(rows, result.n, classes_);
    kind_ = static_cast<mk_score_kind>(rows.score_kind);
    each_ = rows.scores_per_row;
    Fold& fold = folds_[result.index];
    fold.labels.assign(rows.labels, rows.labels + result.n);
    fold.scores.assign(rows.scores, rows.scores + static_cast<size_t>(result.n) * each_);
  }

  // Fits decision value k, which separates class a from class b, or from all others if b is a.
  data::Sigmoid sigmoid(size_t k, size_t a, size_t b) const {
    std::vector<double> decisions;
    std::vector<bool> positive;
    for (const Fold& fold : folds_)
      for (size_t r = 0; r < fold.labels.size(); ++r) {
        const auto label = static_cast<size_t>(fold.labels[r]);
        if (a != b && label != a && label != b) continue;
        decisions.push_back(static_cast<double>(fold.scores[r * each_ + k]));
        positive.push_back(label == a);
      }
    return data::fit_sigmoid(decisions, positive);
  }

  cluster::Reporter& reporter_;
  const size_t classes_;
  std::vector<Fold> folds_;
  mk_score_kind kind_ = MK_SCORES_UNKNOWN;
  size_t each_ = 0;
};

}  // namespace

void Calibration::apply(std::span<const float> row, size_t classes, double* to) const {
  std::vector<double> p;
  for (size_t k = 0; k < sigmoids.size(); ++k) p.push_back(sigmoids[k](static_cast<double>(row[k])));
  if (decisions == Decisions::one_vs_one) p = data::couple_pairs(p, classes);
  double sum = 0;
  for (const double one : p) sum += one;
  for (size_t c = 0; c < classes; ++c) to[c] = sum > 0 ? p[c] / sum : 1 / static_cast<double>(classes);
}

std::optional<Calibration> calibrate(const OpenModel& model, const cluster::Attempt& attempt,
                                     cluster::Reporter& reporter) {
  const Experiment& experiment = model.experiment;
  if (experiment.model().validated != MK_VALIDATED_SCORES) return std::nullopt;
  const search::Plan& plan = experiment.plan();
  const uint32_t bootstrap = attempt.fits.front() - plan.n_fits();
  std::vector<mk_fit> fits;
  for (uint32_t fold = 0; fold < plan.folds; ++fold) {
    const Splits::Place place = experiment.splits().place_of({bootstrap, fold});
    fits.push_back({attempt.refit.value(), place.fold, 0, place.sample, nullptr, ""});
  }
  Collector collector(reporter, fits.size(), experiment.data().class_names.size());
  const mk_fit_sink sink = collector.table();
  const sdk::Scope phase = model.phase("calibrate");
  sdk::call(experiment.model().fit, model.session, static_cast<const mk_fit*>(fits.data()),
            static_cast<uint32_t>(fits.size()), &sink);
  return collector.sigmoids();
}

void write_calibration(const std::string& model_directory, const Calibration& calibration) {
  base::write_file(base::Below{model_directory, kFile}, base::indented(base::to_json(calibration)) + "\n");
}

std::optional<Calibration> read_calibration(const std::string& model_directory, uint32_t scores_per_row) {
  const base::Below file{model_directory, kFile};
  const std::string path = file.path();
  if (!base::exists(file)) return std::nullopt;
  const auto damaged = [&](const std::string& why) {
    return Error(MK_BAD_DATA, path + " is damaged (" + why + "): restore it");
  };
  try {
    auto calibration = base::from_json<Calibration>(base::read_file(file, 1U << 26));
    if (calibration.sigmoids.size() != scores_per_row)
      throw damaged(fmt::format("{} sigmoids for {} decision values", calibration.sigmoids.size(), scores_per_row));
    for (const data::Sigmoid& one : calibration.sigmoids)
      if (!std::isfinite(one.a) || !std::isfinite(one.b)) throw damaged("a sigmoid is not finite");
    return calibration;
  } catch (const Error& e) {
    if (std::string(e.what()).starts_with(path)) throw;
    throw damaged(e.what());
  }
}

}  // namespace mokume::node
