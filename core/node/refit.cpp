#include "node/refit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>

#include "base/files.hpp"
#include "data/npy.hpp"
#include "node/fit_report.hpp"
#include "node/prediction.hpp"
#include "sdk/error.hpp"

namespace mokume::node {
namespace {

namespace fs = std::filesystem;

constexpr int64_t k_fewest_rows = 1024;  // of one call of predict(), after which a sign of life is given
constexpr int64_t k_most_calls = 16;
constexpr const char* k_attempt = "attempt-";

fs::path models_in(const std::string& run_directory) { return fs::path(run_directory) / "models"; }

fs::path attempt_in(const std::string& run_directory, uint32_t slot, uint32_t attempt) {
  return models_in(run_directory) / fmt::format("{}{}-{}", k_attempt, slot, attempt);
}

// Takes the one report of the model.
struct Context {
  cluster::Reporter& reporter;
  journal::FitRecord record;

  mk_fit_sink sink() {
    return {
        this,
        [](void* self, const mk_fit_result* result, mk_error* error) -> int32_t {
          return sdk::guard(error, [&] {
            journal::FitRecord& to = static_cast<Context*>(self)->record;
            to.note = note_of(*result);
            to.curves = curves_of(*result);
          });
        },
        [](void* self, const char* what, double share) { static_cast<Context*>(self)->reporter.progress(what, share); },
        [](void* self) -> int32_t { return static_cast<Context*>(self)->reporter.cancelled() ? 1 : 0; }};
  }
};

// What the file system refuses is no fault of a device.
template <class Body>
void on_disk(const Body& body) {
  try {
    body();
  } catch (const fs::filesystem_error& e) {
    throw Error(MK_STORAGE, fmt::format("cannot write {}: {}; check free space and permissions", e.path1().string(),
                                        e.code().message()));
  }
}

// Makes the directory with `fill(path)`, which a kill leaves under no name that counts.
template <class Fill>
void make_whole(const fs::path& directory, const Fill& fill) {
  const fs::path fresh = directory.string() + ".new";
  on_disk([&] {
    fs::remove_all(fresh);
    fs::remove_all(directory);  // of a session that was killed
    fs::create_directories(fresh);
    fill(fresh.string());
    fs::rename(fresh, directory);
  });
}

// A part of the rows after the other.
template <class Predict>
void in_blocks(int64_t rows, cluster::Reporter& reporter, const Predict& predict) {
  const int64_t block = std::max(k_fewest_rows, (rows + k_most_calls - 1) / k_most_calls);
  for (int64_t first = 0; first < rows; first += block) {
    reporter.progress(fmt::format("predicting {} test rows", rows),
                      static_cast<double>(first) / static_cast<double>(rows));
    if (reporter.cancelled()) throw Error(MK_CANCELLED, "stopped");
    predict(first, std::min(block, rows - first));
  }
}

// As write_test_predictions() takes them.
data::FloatTable class_predictions(const mk_model& model, const mk_fitted* fitted, const mk_device_services* device,
                                   const data::Dataset& data, cluster::Reporter& reporter) {
  const data::Table& test = data.test;
  const size_t classes = data.class_names.size();
  data::FloatTable all{test.rows, static_cast<int64_t>(classes) + 1, {}};
  in_blocks(test.rows, reporter, [&](int64_t first, int64_t rows) {
    const Classified said =
        classify(model, fitted, device, classes, test.x.data() + first * test.features, rows, test.features, true);
    for (size_t r = 0; r < said.labels.size(); ++r) {
      all.values.push_back(static_cast<float>(said.labels[r]));
      const auto row = said.certainty.begin() + static_cast<ptrdiff_t>(r * classes);
      all.values.insert(all.values.end(), row, row + static_cast<ptrdiff_t>(classes));
    }
  });
  return all;
}

double wrong_rows(const data::FloatTable& said, const std::vector<int32_t>& labels) {
  int64_t errors = 0;
  for (size_t r = 0; r < labels.size(); ++r)
    errors += said.values[r * static_cast<size_t>(said.columns)] != static_cast<float>(labels[r]) ? 1 : 0;
  return static_cast<double>(errors);
}

// The mean over the rows of (predicted - target)^2, in double.
double mean_squared_error(const std::vector<float>& predicted, const std::vector<float>& targets) {
  double sum = 0;
  for (size_t r = 0; r < predicted.size(); ++r) {
    const double off = static_cast<double>(predicted[r]) - static_cast<double>(targets[r]);
    sum += off * off;
  }
  return sum / static_cast<double>(predicted.size());
}

void train_and_test(const Prepared& prepared, OwnDevice& device, const cluster::WorkItem& item,
                    const std::string& run_directory, Context& context) {
  const mk_model& model = prepared.model();
  const data::Table& test = prepared.data().test;
  const bool classes = !test.labels.empty();
  const mk_fit_sink sink = context.sink();
  const auto destroy = [&](mk_fitted* f) { model.fitted_destroy(f); };
  const std::unique_ptr<mk_fitted, decltype(destroy)> fitted(device.train_on_all_rows(item, sink), destroy);
  const bool tested = test.rows > 0 && (classes || !test.targets.empty());
  data::FloatTable said{test.rows, 1, {}};
  if (tested) {
    device.in_phase("predict", [&] {
      try {
        if (classes)
          said = class_predictions(model, fitted.get(), device.services(), prepared.data(), context.reporter);
        else
          said.values = predict_targets(model, fitted.get(), device.services(), test);
      } catch (const Error& e) {
        if (e.status() != MK_BAD_DATA) throw;
        throw Error(MK_INVALID_ARGUMENT, e.what());  // what it says of rows that it should know
      }
    });
    context.record.n = test.rows;
    context.record.values = {classes ? wrong_rows(said, test.labels) : mean_squared_error(said.values, test.targets)};
    if (!std::isfinite(context.record.values.front()))
      throw Error(MK_INVALID_ARGUMENT,
                  "the mean squared error on the test rows is no finite number: the training diverged");
  }
  make_whole(attempt_in(run_directory, item.fits.front(), item.attempt), [&](const std::string& directory) {
    sdk::call(model.save, static_cast<const mk_fitted*>(fitted.get()), directory.c_str());
    if (tested && prepared.plan().bootstraps > 1) data::write_npy(directory + kTestPredictions, said);
    base::write_sums(directory);
  });
}

}  // namespace

std::string model_path(const std::string& run_directory, const search::Plan& plan, uint32_t slot) {
  if (plan.bootstraps == 1) return models_in(run_directory) / "best";
  return models_in(run_directory) / fmt::format("member-{:03}", slot - plan.n_fits());
}

void refit(const Prepared& prepared, OwnDevice& device, const cluster::WorkItem& item, const std::string& run_directory,
           cluster::Reporter& reporter) {
  Context context{reporter, {}};
  context.record.fit = item.fits.front();
  context.record.refit = item.refit;
  try {
    train_and_test(prepared, device, item, run_directory, context);
  } catch (const Error& e) {
    if (e.status() != MK_INVALID_ARGUMENT) throw;
    // This candidate cannot be trained on all rows, or learned nothing: that says nothing of the device.
    context.record.status = journal::FitStatus::failed;
    context.record.n = 0;
    context.record.values.clear();
    context.record.curves.clear();
    context.record.note = e.what();
  }
  reporter.report(context.record);
}

bool has_model(const std::string& run_directory, const search::Plan& plan, const journal::FitRecord& refit) {
  return refit.status == journal::FitStatus::failed || fs::exists(model_path(run_directory, plan, refit.fit)) ||
         fs::exists(attempt_in(run_directory, refit.fit, refit.attempt));
}

void adopt_models(const std::string& run_directory, const search::Plan& plan, const journal::Contents& contents) {
  for (const journal::FitRecord& refit : contents.refits) {
    if (refit.status == journal::FitStatus::failed) continue;
    const fs::path named = model_path(run_directory, plan, refit.fit);
    const fs::path made = attempt_in(run_directory, refit.fit, refit.attempt);
    const bool is_new = fs::exists(made);
    if (!is_new && !fs::exists(named))
      throw Error(MK_STORAGE, "the model of a refit is not in " + models_in(run_directory).string() +
                                  ": let every node see the same directory, and run again");
    if (!is_new) continue;  // an earlier session gave it its name
    on_disk([&] {
      fs::remove_all(named);
      fs::rename(made, named);
    });
  }
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(models_in(run_directory), none))
    if (entry.path().filename().string().starts_with(k_attempt)) on_disk([&] { fs::remove_all(entry.path()); });
}

}  // namespace mokume::node
