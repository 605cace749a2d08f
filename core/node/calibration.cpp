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

// Collects the labels and scores of the rows that some folds validate, by the index of the fit.
class Collector {
 public:
  Collector(cluster::Reporter& reporter, size_t folds, const data::Dataset& data)
      : reporter_(reporter), train_(data.train), classes_(data.class_names.size()), folds_(folds) {}

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

  // Calibrates the model on the rows of all folds, in fold order. Returns nothing if a fold has no rows.
  std::optional<Calibration> calibrated(const mk_model& model) const {
    Fold all;
    for (const Fold& fold : folds_) {
      if (fold.labels.empty()) return std::nullopt;
      all.labels.insert(all.labels.end(), fold.labels.begin(), fold.labels.end());
      all.scores.insert(all.scores.end(), fold.scores.begin(), fold.scores.end());
    }
    Calibration calibration;
    calibration.decisions = kind_ == MK_SCORES_ONE_VS_REST ? Decisions::one_vs_rest : Decisions::one_vs_one;
    calibration.sigmoids.resize(each_);
    mk_validated rows{};
    rows.labels = all.labels.data();
    rows.scores = all.scores.data();
    rows.scores_per_row = each_;
    rows.score_kind = kind_;
    sdk::call(model.calibrate, model.self, &rows, static_cast<int64_t>(all.labels.size()),
              static_cast<int32_t>(classes_), static_cast<mk_sigmoid*>(calibration.sigmoids.data()));
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
    check(rows, result.n, train_, classes_);
    if (rows.score_kind == MK_SCORES_UNKNOWN) return;
    kind_ = static_cast<mk_score_kind>(rows.score_kind);
    each_ = rows.scores_per_row;
    Fold& fold = folds_[result.index];
    fold.labels.assign(rows.labels, rows.labels + result.n);
    fold.scores.assign(rows.scores, rows.scores + static_cast<size_t>(result.n) * each_);
  }

  cluster::Reporter& reporter_;
  const data::Table& train_;
  const size_t classes_;
  std::vector<Fold> folds_;
  mk_score_kind kind_ = MK_SCORES_UNKNOWN;
  uint32_t each_ = 0;
};

}  // namespace

std::vector<double> Calibration::probabilities(const mk_model& model, std::span<const float> scores, size_t rows,
                                               size_t classes) const {
  if (model.probabilities == nullptr)
    throw Error(MK_UNSUPPORTED,
                "the trained model has a calibration, and its library computes no probabilities from it: install the "
                "library that trained it");
  std::vector<double> found(rows * classes);
  const mk_score_kind kind = decisions == Decisions::one_vs_rest ? MK_SCORES_ONE_VS_REST : MK_SCORES_ONE_VS_ONE;
  sdk::call(model.probabilities, model.self, static_cast<const mk_sigmoid*>(sigmoids.data()),
            static_cast<uint32_t>(sigmoids.size()), static_cast<int32_t>(kind), scores.data(),
            static_cast<int64_t>(rows), static_cast<int32_t>(classes), found.data());
  return found;
}

std::optional<Calibration> calibrate(const OpenModel& model, const cluster::Attempt& attempt,
                                     cluster::Reporter& reporter) {
  const Experiment& experiment = model.experiment;
  if (experiment.model().calibrate == nullptr) return std::nullopt;
  const search::Plan& plan = experiment.plan();
  const uint32_t bootstrap = attempt.fits.front() - plan.n_fits();
  std::vector<mk_fit> fits;
  for (uint32_t fold = plan.folds - plan.folds_in_rung(); fold < plan.folds; ++fold) {  // the last rung
    const Splits::Place place = experiment.splits().place_of({bootstrap, fold});
    fits.push_back({attempt.refit.value(), place.fold, 0, place.sample, nullptr, ""});
  }
  Collector collector(reporter, fits.size(), experiment.data());
  const mk_fit_sink sink = collector.table();
  const sdk::Scope phase = model.phase("calibrate");
  sdk::call(experiment.model().fit, model.session, static_cast<const mk_fit*>(fits.data()),
            static_cast<uint32_t>(fits.size()), &sink);
  return collector.calibrated(experiment.model());
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
    for (const Sigmoid& one : calibration.sigmoids)
      if (!std::isfinite(one.a) || !std::isfinite(one.b)) throw damaged("a sigmoid is not finite");
    return calibration;
  } catch (const Error& e) {
    if (std::string(e.what()).starts_with(path)) throw;
    throw damaged(e.what());
  }
}

}  // namespace mokume::node
