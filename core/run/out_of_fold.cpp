#include "run/out_of_fold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/sealed.hpp"
#include "base/text.hpp"
#include "node/out_of_fold.hpp"
#include "results/csv_text.hpp"
#include "run/refit_rules.hpp"
#include "sdk/error.hpp"

namespace mokume::run {
namespace {

constexpr const char* kTable = "out_of_fold.csv";
constexpr const char* kResult = "out_of_fold.json";
constexpr size_t kMostPoints = 2000;  // more cannot be distinguished in a plot
constexpr double kLargest = 1e100;    // larger numbers would overflow in a plot

// Holds the content of out_of_fold.json.
struct ResultFile {
  uint32_t candidate = 0;
  int64_t classes = 0;
  results::TestResult result;
  std::vector<int64_t> confusion;
  std::vector<double> targets, predicted;  // numbers of at most kMostPoints rows

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("candidate", self.candidate);
    field("classes", self.classes, int64_t{0}, INT64_MAX);
    field("n", self.result.n, int64_t{1}, INT64_MAX);
    field("errors", self.result.errors, int64_t{0}, INT64_MAX);
    field("distinct", self.result.distinct, int64_t{0}, INT64_MAX);
    field("mse", self.result.mse);
    field("confusion", self.confusion);
    field("measures", self.result.measures);
    field.optional("targets", self.targets);
    field.optional("predicted", self.predicted);
  }
  void check() const {
    if (result.distinct > result.n) base::bad_field("distinct", "a number of rows");
    if (result.mse && !(*result.mse >= 0)) base::bad_field("mse", "a number from 0 up");
    if (result.errors > result.n) base::bad_field("errors", "a number of rows");
    if (targets.size() != predicted.size()) base::bad_field("predicted", "as long as targets");
  }
};

// Holds one prediction for a validated row.
struct Row {
  uint32_t fold, row;
  float predicted;
};

class Pool {
 public:
  Pool(const node::Experiment& experiment, uint32_t candidate)
      : experiment_(experiment), data_(experiment.data()), plan_(experiment.plan()), candidate_(candidate) {}

  // Returns the fits of the candidate in the last rung, with their numbers of validated rows.
  std::map<uint32_t, size_t> wanted() const {
    std::map<uint32_t, size_t> fits;
    for (uint32_t fold = plan_.folds - plan_.folds_in_rung(); fold < plan_.folds; ++fold) {
      const uint32_t fit = plan_.fit_id(candidate_, 0, fold);
      fits[fit] = node::validated_rows(experiment_, fit).size();
    }
    return fits;
  }

  // Returns whether predictions give the result that counts for the fit, because another device may differ.
  bool agrees(const journal::FitRecord& record, const node::Predicted& predicted) const {
    const std::vector<results::Metric> metrics = experiment_.metrics();
    const auto counts = [&](const results::Metric& one) { return one.name == (classifies() ? "errors" : "mse"); };
    const auto place = static_cast<size_t>(std::find_if(metrics.begin(), metrics.end(), counts) - metrics.begin());
    if (place >= record.values.size()) return false;
    const std::vector<uint32_t> rows = node::validated_rows(experiment_, record.fit);
    double sum = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (classifies() && label_of(predicted[i]) < 0) return false;
      const double off = classifies() ? (label_of(predicted[i]) != data_.train.labels[rows[i]] ? 1 : 0)
                                      : double{predicted[i]} - double{data_.train.targets[rows[i]]};
      sum += off * off;
    }
    const double counted = record.values[place];
    if (classifies()) return sum == counted;
    const double mse = sum / static_cast<double>(rows.size());
    float largest = 0;
    for (const uint32_t row : rows) largest = std::max(largest, std::abs(data_.train.targets[row]));
    const double rounding = 0x1p-22 * double{largest};  // error of a rounded prediction
    return std::abs(mse - counted) <= 1e-4 * std::max(mse, counted) + rounding * (rounding + 2 * std::sqrt(counted));
  }

  void add(uint32_t fit, const node::Predicted& predicted) {
    const std::vector<uint32_t> rows = node::validated_rows(experiment_, fit);
    const uint32_t fold = plan_.key(fit).fold;
    for (size_t i = 0; i < rows.size(); ++i) all_.push_back({fold, rows[i], predicted[i]});
  }

  ResultFile result() const {
    ResultFile file;
    file.candidate = candidate_;
    file.classes = static_cast<int64_t>(data_.class_names.size());
    file.result.n = static_cast<int64_t>(all_.size());
    std::set<uint32_t> different;
    for (const Row& one : all_) different.insert(one.row);
    if (different.size() < all_.size()) file.result.distinct = static_cast<int64_t>(different.size());
    classifies() ? pool_classes(file) : pool_numbers(file);
    return file;
  }

  std::string table() const {
    const data::CopiedColumns& ids = data_.ids;
    results::Csv csv;
    csv.add("row");
    csv.add_names(ids.names);
    csv.add("fold", classifies() ? "class" : "target", "predicted");
    csv.end_row();
    std::vector<Row> sorted = all_;
    std::stable_sort(sorted.begin(), sorted.end(), [](const Row& a, const Row& b) { return a.row < b.row; });
    for (const Row& one : sorted) {
      csv.add(one.row);
      for (size_t c = 0; c < ids.names.size(); ++c) csv.add(ids.cells[one.row * ids.names.size() + c]);
      csv.add(one.fold);
      if (classifies())
        csv.add(name_of(data_.train.labels[one.row]), name_of(label_of(one.predicted)));
      else
        csv.add(base::shortest(data_.train.targets[one.row]), base::shortest(one.predicted));
      csv.end_row();
    }
    return std::move(csv).text();
  }

 private:
  bool classifies() const { return !data_.class_names.empty(); }
  // Returns -1 for a value that is no class.
  int32_t label_of(float value) const {
    const bool known = value >= 0 && value < static_cast<float>(data_.class_names.size());
    return known ? static_cast<int32_t>(value) : -1;
  }
  const std::string& name_of(int32_t label) const { return data_.class_names.at(static_cast<size_t>(label)); }

  void pool_classes(ResultFile& file) const {
    std::vector<int32_t> labels, predicted;
    for (const Row& one : all_) {
      labels.push_back(data_.train.labels[one.row]);
      predicted.push_back(label_of(one.predicted));
      file.result.errors += labels.back() != predicted.back() ? 1 : 0;
    }
    const data::Confusion confusion = data::count_confusion(labels, predicted, data_.class_names.size());
    if (confusion.classes <= data::kMostConfusedClasses) file.confusion = confusion.counts;
    for (const data::MeasureInfo& one : data::all_measures())
      if (one.needs == data::Needs::classes) file.result.measures[one.name] = data::value_of(one.measure, confusion);
  }

  void pool_numbers(ResultFile& file) const {
    results::TestResult& result = file.result;
    std::vector<float> targets, predicted;
    for (const Row& one : all_) {
      targets.push_back(data_.train.targets[one.row]);
      predicted.push_back(one.predicted);
    }
    const size_t points = std::min(kMostPoints, all_.size());
    for (size_t k = 0; k < points; ++k) {
      const size_t i = k * all_.size() / points;
      if (!std::isfinite(targets[i]) || !std::isfinite(predicted[i])) continue;
      file.targets.push_back(targets[i]);
      file.predicted.push_back(predicted[i]);
    }
    for (const data::MeasureInfo& one : data::all_measures()) {
      if (one.needs != data::Needs::numbers) continue;
      const auto value = data::value_of(one.measure, targets, predicted);
      if (value && std::isfinite(*value)) result.measures[one.name] = *value;
    }
    const double rmse = result.measures.contains("rmse") ? result.measures.at("rmse") : 0;
    result.mse = rmse * rmse;
  }

  const node::Experiment& experiment_;
  const data::Dataset& data_;
  const search::Plan& plan_;
  const uint32_t candidate_;
  std::vector<Row> all_;
};

std::map<uint32_t, journal::FitRecord> by_fit(const std::vector<journal::FitRecord>& records) {
  std::map<uint32_t, journal::FitRecord> found;
  for (const journal::FitRecord& record : records) found[record.fit] = record;
  return found;
}

}  // namespace

void write_out_of_fold(const std::string& run_directory, const node::Experiment& experiment,
                       const std::vector<journal::FitRecord>& records) {
  const search::Plan& plan = experiment.plan();
  if (plan.bootstraps > 1 || plan.folds == 0 || !plan.whole) return;
  const auto best = best_row(plan, experiment.metrics(), records, 0);
  if (!best || !best->complete) return;
  Pool pool(experiment, best->candidate);
  const std::map<uint32_t, size_t> wanted = pool.wanted();
  const auto counted = by_fit(records);
  const auto accept = [&](uint32_t fit, const node::Predicted& predicted) {
    const auto record = counted.find(fit);
    return record != counted.end() && pool.agrees(record->second, predicted);
  };
  const auto predictions = node::read_out_of_fold(run_directory, wanted, accept);
  if (predictions.size() < wanted.size()) return node::keep_out_of_fold(run_directory, {});
  for (const auto& [fit, predicted] : predictions) pool.add(fit, predicted);
  base::write_file(base::Below{run_directory, kTable}, pool.table());
  base::write_file(base::Below{run_directory, kResult}, base::seal(base::to_json(pool.result())));
  node::keep_out_of_fold(run_directory, predictions);
}

std::optional<results::TestResult> read_out_of_fold_result(const std::string& run_directory, uint32_t candidate,
                                                           int64_t classes) {
  const base::Below place{run_directory, kResult};
  if (!base::exists(place)) return std::nullopt;
  const auto unsealed = base::unseal_file(base::read_file(place, 1U << 24));
  const std::string cure = "remove it, and the report omits its numbers";
  if (!unsealed) throw Error(MK_BAD_DATA, place.path() + " is damaged: " + cure);
  try {
    auto file = base::from_json<ResultFile>(unsealed->object);
    if (file.candidate != candidate) return std::nullopt;
    if (file.classes != classes) base::bad_field("classes", "the number of classes of the data");
    if (file.result.mse.has_value() == (classes > 0)) base::bad_field("mse", "there for numbers only");
    if (file.classes > 0) file.result.confusion = data::checked_confusion(file.confusion, file.classes, file.result.n);
    for (size_t i = 0; i < file.targets.size(); ++i)
      if (std::abs(file.targets[i]) <= kLargest && std::abs(file.predicted[i]) <= kLargest)
        file.result.points.push_back({file.targets[i], file.predicted[i]});
    return file.result;
  } catch (const Error& e) {
    throw Error(MK_BAD_DATA, place.path() + " is damaged (" + e.what() + "): " + cure);
  }
}

void take_over_out_of_fold(const std::string& from, const std::map<uint32_t, uint32_t>& fits,
                           const node::Experiment& experiment, const std::string& to) {
  std::map<uint32_t, size_t> wanted;
  for (const auto& [fit, other] : fits) wanted[other] = node::validated_rows(experiment, fit).size();
  std::map<uint32_t, node::Predicted> there;
  try {
    there = node::read_out_of_fold(from, wanted, [](uint32_t, const node::Predicted&) { return true; });
  } catch (const Error&) {
    return;  // the other run offers none
  }
  std::map<uint32_t, node::Predicted> taken;
  for (const auto& [fit, other] : fits)
    if (const auto one = there.find(other); one != there.end()) taken[fit] = one->second;
  node::keep_out_of_fold(to, taken);
}

}  // namespace mokume::run
