#include "node/refit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/files.hpp"
#include "data/npy/npy.hpp"
#include "node/calibration.hpp"
#include "node/fit_sink.hpp"
#include "node/model_inputs.hpp"
#include "node/models.hpp"
#include "node/prediction.hpp"
#include "node/validated.hpp"
#include "sdk/error.hpp"

namespace mokume::node {
namespace {

constexpr int64_t kFewestRows = 1024;  // lower limit for one call of predict(), before which progress is reported
constexpr int64_t kMostCalls = 16;

// Predicts block by block, and reports progress before each block.
template <class Predict>
void in_blocks(int64_t rows, cluster::Reporter& reporter, const Predict& predict) {
  const int64_t block = std::max(kFewestRows, (rows + kMostCalls - 1) / kMostCalls);
  for (int64_t first = 0; first < rows; first += block) {
    reporter.progress(fmt::format("predicting {} test rows", rows),
                      static_cast<double>(first) / static_cast<double>(rows));
    if (reporter.cancelled()) throw Error(MK_CANCELLED, "stopped");
    predict(first, std::min(block, rows - first));
  }
}

struct Said {
  data::FloatTable votes;            // in the format of kTestPredictions
  std::vector<int32_t> labels;       // empty without classes
  std::vector<double> class_values;  // see node::class_values()
  mk_score_kind kind = MK_SCORES_UNKNOWN;
};

Said class_predictions(const mk_model& model, const mk_fitted* fitted, const mk_device_services* device,
                       const data::Dataset& data, const std::optional<Calibration>& calibration,
                       cluster::Reporter& reporter) {
  const data::Table& test = data.test;
  const size_t classes = data.class_names.size();
  Said all{{test.rows, static_cast<int64_t>(classes) + 1, {}}, {}, {}};
  in_blocks(test.rows, reporter, [&](int64_t first, int64_t rows) {
    const Classified said = classify(model, fitted, device, classes, input_rows(test, first, rows), true,
                                     calibration ? &*calibration : nullptr);
    all.kind = said.kind;
    const bool probable = said.kind == MK_SCORES_LOG_PROBABILITIES;
    const std::vector<double> values = probable ? said.certainty : class_values(said.kind, said.scores, classes);
    all.class_values.insert(all.class_values.end(), values.begin(), values.end());
    for (size_t r = 0; r < said.labels.size(); ++r) {
      all.labels.push_back(said.labels[r]);
      all.votes.values.push_back(static_cast<float>(said.labels[r]));
      const auto row = said.certainty.begin() + static_cast<ptrdiff_t>(r * classes);
      all.votes.values.insert(all.votes.values.end(), row, row + static_cast<ptrdiff_t>(classes));
    }
  });
  return all;
}

// Adds the number of errors on the test rows, the confusion of classes and all measures to the record.
void count_errors(const Said& said, const data::Dataset& data, journal::FitRecord& record) {
  const data::Confusion confusion = data::count_confusion(data.test.labels, said.labels, data.class_names.size());
  int64_t hits = 0;
  for (size_t c = 0; c < confusion.classes; ++c) hits += confusion.at(c, c);
  record.values = {static_cast<double>(record.n - hits)};
  if (confusion.classes <= data::kMostConfusedClasses) record.confusion = confusion.counts;
  record.measures = all_measured(data.test.labels, confusion, said.kind, said.class_values);
}

double mean_squared_error(const std::vector<float>& predicted, const std::vector<float>& targets) {
  double sum = 0;
  for (size_t r = 0; r < predicted.size(); ++r) {
    const double off = static_cast<double>(predicted[r]) - static_cast<double>(targets[r]);
    sum += off * off;
  }
  return sum / static_cast<double>(predicted.size());
}

Said predict_test(const OpenModel& model, const mk_fitted* fitted, const std::optional<Calibration>& calibration,
                  cluster::Reporter& reporter) {
  const mk_model& table = model.experiment.model();
  const data::Dataset& data = model.experiment.data();
  try {
    if (!data.test.labels.empty()) return class_predictions(table, fitted, model.device, data, calibration, reporter);
    return {{data.test.rows, 1, predict_targets(table, fitted, model.device, data.test)}, {}, {}};
  } catch (const Error& e) {
    if (e.status() != MK_BAD_DATA) throw;
    throw Error(MK_INVALID_ARGUMENT, e.what());  // the error concerns the experiment's rows
  }
}

using Fitted = std::unique_ptr<mk_fitted, void (*)(mk_fitted*)>;

Fitted train_on_all_rows(const OpenModel& model, const cluster::Attempt& attempt, const FitSink& sink) {
  const mk_model& table = model.experiment.model();
  const std::string scratch = model.scratch(attempt, attempt.fits.front());
  const uint32_t bootstrap = attempt.fits.front() - model.experiment.plan().n_fits();
  const uint32_t sample = model.experiment.splits().sample_of_refit(bootstrap);
  std::string notes;
  for (const std::string& note : attempt.done_notes) notes += (notes.empty() ? "" : "\n") + note;
  const mk_fit fit{attempt.refit.value(), MK_ALL_ROWS, 0, sample, notes.empty() ? nullptr : notes.c_str(),
                   scratch.c_str()};
  mk_fitted* fitted = nullptr;
  const sdk::Scope phase = model.phase(device::kOtherPhase);
  sdk::call(table.refit, model.session, &fit, sink.table(), &fitted);
  return {fitted, table.fitted_destroy};
}

void train_and_test(const OpenModel& model, const cluster::Attempt& attempt, cluster::Reporter& reporter,
                    journal::FitRecord& record) {
  const data::Table& test = model.experiment.data().test;
  const FitSink sink(reporter, record);
  const Fitted fitted = train_on_all_rows(model, attempt, sink);
  if (!model.leads) return;  // a team's leader tests and keeps the same model
  const bool tested = test.rows > 0 && (!test.labels.empty() || !test.targets.empty());
  std::optional<Calibration> calibration;
  if (model.experiment.config().calibrate) calibration = calibrate(model, attempt, reporter);
  Said said;
  if (tested) {
    {
      const sdk::Scope phase = model.phase("predict");
      said = predict_test(model, fitted.get(), calibration, reporter);
    }
    record.n = test.rows;
    if (test.labels.empty())
      record.values = {mean_squared_error(said.votes.values, test.targets)};
    else
      count_errors(said, model.experiment.data(), record);
    if (!std::isfinite(record.values.front()))
      throw Error(MK_INVALID_ARGUMENT, "the mean squared error on the test rows is not finite: the training diverged");
  }
  if (model.run_directory.empty()) return;
  keep_model(model.run_directory, attempt.fits.front(), attempt.number, [&](const std::string& directory) {
    sdk::call(model.experiment.model().save, static_cast<const mk_fitted*>(fitted.get()), directory.c_str());
    if (tested && model.experiment.plan().bootstraps > 1) data::write_npy(directory + kTestPredictions, said.votes);
    write_inputs(directory, model.experiment.config(), model.experiment.data());
    if (calibration) write_calibration(directory, *calibration);
    base::write_sums(directory);
  });
}

}  // namespace

void refit(const OpenModel& model, const cluster::Attempt& attempt, cluster::Reporter& reporter) {
  journal::FitRecord record;
  record.fit = attempt.fits.front();
  record.refit = attempt.refit;
  try {
    train_and_test(model, attempt, reporter, record);
  } catch (const Error& e) {
    if (e.status() != MK_INVALID_ARGUMENT) throw;
    // The candidate cannot be trained on all rows, or learned nothing. The device is not at fault.
    record.status = journal::FitStatus::failed;
    record.n = 0;
    record.values.clear();
    record.curves.clear();
    record.confusion.clear();
    record.measures.clear();
    record.note = e.what();
  }
  reporter.report(record);
}

}  // namespace mokume::node
