#include "experiment/refit.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "experiment/fit_report.hpp"
#include "sdk/error.hpp"

namespace mokume::experiment {
namespace {

namespace fs = std::filesystem;

// Takes the one report of a refit.
struct Watcher {
  journal::RefitRecord& record;
  const StepProgress& progress;
  const std::atomic<bool>& stop;

  mk_fit_sink sink() {
    return {this,
            [](void* self, const mk_fit_result* result, mk_error* error) -> int32_t {
              return sdk::guard(error, [&] {
                journal::RefitRecord& to = static_cast<Watcher*>(self)->record;
                to.note = note_of(*result);
                to.curves = curves_of(*result);
              });
            },
            [](void* self, const char* what, double share) { static_cast<Watcher*>(self)->progress(what, share); },
            [](void* self) -> int32_t { return static_cast<Watcher*>(self)->stop ? 1 : 0; }};
  }
};

// Beside the old one first, so that a kill leaves no half model under the final name.
void save(const mk_model& model, const mk_fitted* fitted, const std::string& directory) {
  const std::string final_path = directory + "/models/best", fresh = directory + "/models/best.new";
  fs::remove_all(fresh);
  fs::create_directories(fresh);
  sdk::call(model.save, fitted, fresh.c_str());
  fs::remove_all(final_path);
  fs::rename(fresh, final_path);
}

using Values = std::map<std::string, double>;

Values predict_classes(const mk_model& model, const mk_fitted* fitted, const mk_device_services* device,
                       const data::Table& test) {
  std::vector<int32_t> labels(static_cast<size_t>(test.rows));
  sdk::call(model.predict, model.self, fitted, device, test.x.data(), test.rows, test.features, labels.data(),
            static_cast<float*>(nullptr));
  int64_t errors = 0;
  for (size_t r = 0; r < labels.size(); ++r) errors += labels[r] != test.labels[r] ? 1 : 0;
  return {{"errors", static_cast<double>(errors)}};
}

Values predict_numbers(const mk_model& model, const mk_fitted* fitted, const mk_device_services* device,
                       const data::Table& test) {
  const std::vector<float> predicted = predict_targets(model, fitted, device, test);
  double sum = 0;
  for (size_t r = 0; r < predicted.size(); ++r) {
    const double off = static_cast<double>(predicted[r]) - static_cast<double>(test.targets[r]);
    sum += off * off;
  }
  return {{"mse", sum / static_cast<double>(predicted.size())}};
}

}  // namespace

std::vector<float> predict_targets(const mk_model& model, const mk_fitted* fitted, const mk_device_services* device,
                                   const data::Table& rows) {
  if (const uint32_t scores = model.scores_per_row(fitted); scores != 1)
    throw Error(MK_DEVICE_ERROR,
                fmt::format("the model predicts {} numbers per row, but the data has one target", scores));
  std::vector<float> predicted(static_cast<size_t>(rows.rows));
  sdk::call(model.predict, model.self, fitted, device, rows.x.data(), rows.rows, rows.features,
            static_cast<int32_t*>(nullptr), predicted.data());
  return predicted;
}

bool is_refitted(const std::string& directory, const std::optional<journal::RefitRecord>& refit, uint32_t candidate) {
  return refit && refit->candidate == candidate && fs::exists(directory + "/models/best");
}

journal::RefitRecord refit(const Prepared& prepared, OwnDevice& device, uint32_t candidate,
                           const std::string& directory, const StepProgress& progress, const std::atomic<bool>& stop) {
  const mk_model& model = prepared.model();
  const data::Table& test = prepared.data().test;
  journal::RefitRecord record;
  record.candidate = candidate;
  record.device = device.info().id;
  record.start_s = base::wall_s();
  Watcher watcher{record, progress, stop};
  const mk_fit_sink sink = watcher.sink();
  const auto destroy = [&](mk_fitted* f) { model.fitted_destroy(f); };
  const std::unique_ptr<mk_fitted, decltype(destroy)> fitted(device.train_on_all_rows(candidate, sink), destroy);
  if (stop) throw Error(MK_CANCELLED, "stopped during the refit");  // another device may be at it by now
  save(model, fitted.get(), directory);
  if (test.rows > 0 && !(test.labels.empty() && test.targets.empty())) {
    progress(fmt::format("predicting {} test rows", test.rows), 0);
    record.n = test.rows;
    device.in_phase("predict", [&] {
      record.values = test.labels.empty() ? predict_numbers(model, fitted.get(), device.services(), test)
                                          : predict_classes(model, fitted.get(), device.services(), test);
    });
  }
  record.end_s = base::wall_s();
  return record;
}

}  // namespace mokume::experiment
