// Measures how much a model relies on each column: permutation importance (Breiman, Random Forests, Machine Learning
// 45, 2001; Fisher, Rudin, Dominici, JMLR 20, 2019). The cells of one column are shuffled among the rows, and the
// importance is the rise of the error.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "commands.hpp"
#include "data/load.hpp"
#include "data/spec.hpp"
#include "predict/predictor.hpp"
#include "results/best.hpp"
#include "results/format.hpp"
#include "results/stats.hpp"
#include "run/view.hpp"
#include "sdk/error.hpp"
#include "sdk/philox.hpp"

namespace mokume::app {
namespace {

constexpr size_t kCopiedValues = size_t{16} << 20;  // limit of the values that are predicted together

// Holds the features of a column, which are shuffled together: a categorical column has one for each level.
struct Group {
  std::string name;
  int64_t first = 0, features = 1;
};

bool is_of_images(const Models& with) {
  const data::Shape& shape = with.ensemble.first().shape;
  const std::string& source = with.run.config().data.source;
  return int64_t{shape.height} * shape.width > 1 || source == "digits" || source == "mnist" || source == "idx" ||
         source == "images";
}

std::vector<Group> groups_of(const Models& with, const data::Table& rows) {
  std::vector<Group> groups;
  int64_t next = 0;
  for (const data::Column& column : with.record.data.columns) {
    const auto features = static_cast<int64_t>(std::max<size_t>(1, column.levels.size()));
    groups.push_back({column.name, next, features});
    next += features;
  }
  if (next == rows.features) return groups;
  if (is_of_images(with))
    throw Error(MK_INVALID_ARGUMENT, with.options.run + " has a model of images: --columns explains tables only");
  groups.clear();
  for (int64_t f = 0; f < rows.features; ++f) groups.push_back({fmt::format("feature {}", f + 1), f, 1});
  return groups;
}

// Removes rows whose class or target is unknown.
data::Table with_answers(const data::Table& rows) {
  data::Table kept;
  kept.features = rows.features;
  const auto width = static_cast<ptrdiff_t>(rows.features);
  for (size_t r = 0; r < static_cast<size_t>(rows.rows); ++r) {
    if (rows.labels.empty() && rows.targets.empty()) break;
    if (!rows.labels.empty() ? rows.labels[r] == data::kNoLabel : std::isnan(rows.targets[r])) continue;
    const auto first = rows.x.begin() + static_cast<ptrdiff_t>(r) * width;
    kept.x.insert(kept.x.end(), first, first + width);
    if (!rows.labels.empty()) kept.labels.push_back(rows.labels[r]);
    if (!rows.targets.empty()) kept.targets.push_back(rows.targets[r]);
    ++kept.rows;
  }
  if (kept.rows < 2)
    throw Error(MK_BAD_DATA, "the importance of columns needs at least 2 rows with a class or target, but there are " +
                                 std::to_string(kept.rows));
  return kept;
}

// Returns the order of the rows in one shuffle of a column (Fisher and Yates).
std::vector<size_t> shuffled(size_t rows, uint64_t seed, size_t column, size_t repeat) {
  std::vector<size_t> order(rows);
  std::iota(order.begin(), order.end(), size_t{0});
  const sdk::Random random(seed, sdk::Purpose::importance, static_cast<uint32_t>(column),
                           static_cast<uint32_t>(repeat));
  for (size_t i = rows; i > 1; --i) std::swap(order[i - 1], order[random.below(i, i)]);
  return order;
}

// Predicts copies of the same rows together, because each call of combine() loads the members of an ensemble.
class Copies {
 public:
  Copies(const Models& with, const mk_device_services* device, const data::Table& rows)
      : with_(with), device_(device), rows_(rows) {
    most_ = std::max<size_t>(1, kCopiedValues / std::max<size_t>(1, rows.x.size()));
  }

  void add(const Group* group, const std::vector<size_t>& order) {
    const auto width = static_cast<size_t>(rows_.features);
    const size_t at = block_.x.size();
    block_.x.insert(block_.x.end(), rows_.x.begin(), rows_.x.end());
    for (size_t r = 0; group != nullptr && r < order.size(); ++r)
      for (auto f = static_cast<size_t>(group->first); f < static_cast<size_t>(group->first + group->features); ++f)
        block_.x[at + r * width + f] = rows_.x[order[r] * width + f];
    if (++copies_ == most_) predict();
  }

  // Returns the error of each copy: a share, or the root of the mean squared error.
  std::vector<double> errors() {
    predict();
    return std::move(errors_);
  }

 private:
  void predict() {
    if (copies_ == 0) return;
    block_.features = rows_.features;
    block_.rows = rows_.rows * static_cast<int64_t>(copies_);
    const run::Combined said = run::combine(with_.model, with_.ensemble, device_, block_);
    const auto n = static_cast<size_t>(rows_.rows);
    for (size_t copy = 0; copy < copies_; ++copy) {
      double sum = 0;
      for (size_t r = 0; r < n; ++r) {
        const size_t i = copy * n + r;
        const double off = rows_.labels.empty() ? said.numbers[i] - double{rows_.targets[r]}
                                                : (run::is_error(said.labels[i], rows_.labels[r]) ? 1.0 : 0.0);
        sum += off * off;
      }
      const double mean = sum / static_cast<double>(n);
      errors_.push_back(rows_.labels.empty() ? std::sqrt(mean) : mean);
    }
    copies_ = 0;
    block_.x.clear();
  }

  const Models& with_;
  const mk_device_services* const device_;
  const data::Table& rows_;
  data::Table block_;
  size_t copies_ = 0, most_ = 1;
  std::vector<double> errors_;
};

struct Importance {
  std::string column;
  results::Moments rise;
};

struct Importances {
  std::string metric;  // "error" or "rmse"
  int64_t rows = 0;
  double error = 0;  // error on the rows as they are
  std::vector<Importance> columns;
};

Importances measure(const Models& with, const data::Table& rows, uint32_t repeats) {
  const std::vector<Group> groups = groups_of(with, rows);
  const Opened opened(with);
  Copies copies(with, opened.services(), rows);
  copies.add(nullptr, {});
  const uint64_t seed = with.run.config().seed;
  for (size_t g = 0; g < groups.size(); ++g)
    for (size_t k = 0; k < repeats; ++k) copies.add(&groups[g], shuffled(static_cast<size_t>(rows.rows), seed, g, k));
  const std::vector<double> errors = copies.errors();
  Importances report{rows.labels.empty() ? "rmse" : "error", rows.rows, errors[0], {}};
  for (size_t g = 0; g < groups.size(); ++g) {
    std::vector<double> rises;
    for (size_t k = 0; k < repeats; ++k) rises.push_back(errors[1 + g * repeats + k] - errors[0]);
    report.columns.push_back({groups[g].name, results::moments(rises)});
  }
  if (!std::all_of(errors.begin(), errors.end(), [](double error) { return std::isfinite(error); }))
    throw Error(MK_BAD_DATA, "the model predicts numbers that are not finite, so no error can be measured");
  std::stable_sort(report.columns.begin(), report.columns.end(),
                   [](const auto& a, const auto& b) { return a.rise.mean > b.rise.mean; });
  return report;
}

void print_columns_json(const Importances& report, uint32_t repeats) {
  nlohmann::ordered_json out = {
      {"metric", report.metric}, {"value", report.error}, {"rows", report.rows}, {"repeats", repeats}};
  nlohmann::ordered_json& columns = out["columns"] = nlohmann::ordered_json::array();
  for (const Importance& one : report.columns)
    columns.push_back({{"column", one.column}, {"rise", one.rise.mean}, {"sd", one.rise.sd}});
  std::fprintf(stdout, "%s\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

void print_columns(const Importances& report, uint32_t repeats) {
  const auto text = [&](double value) { return results::score_text(report.metric, value); };
  size_t widest = 6;
  for (const Importance& one : report.columns) widest = std::max(widest, results::elide(one.column, 40).size());
  say(stdout, "{} of {} on {}; {}\n\n", report.metric, text(report.error),
      results::counted(static_cast<uint64_t>(report.rows), "row"),
      results::counted(repeats, "shuffle") + " of each column");
  say(stdout, "{:<{}}  {:>12}  {:>10}\n", "column", widest, report.metric + " rises", "sd");
  for (const Importance& one : report.columns)
    say(stdout, "{:<{}}  {:>12}  {:>10}\n", results::elide(one.column, 40), widest, text(one.rise.mean),
        text(one.rise.sd));
  say(stdout,
      "\nAn important column is one that the model uses; it need not be a cause. Columns with the same "
      "information share their importance.\n");
}

}  // namespace

void explain_columns(const Models& with, uint32_t repeats) {
  if (with.options.spec.empty() && with.run.config().outer_fold > 0)
    throw Error(MK_INVALID_ARGUMENT,
                with.options.run +
                    " trained without the rows of an outer fold, which are in the same file as the "
                    "others: name rows with --data SPEC");
  const data::DataSpec spec =
      with.options.spec.empty() ? with.run.config().data : data::parse_spec(with.options.spec, &with.run.config().data);
  if (spec.keeps_sparse())
    throw Error(
        MK_INVALID_ARGUMENT,
        "data.storage is 'sparse', but the columns of sparse rows cannot be shuffled: name dense rows with --data "
        "libsvm:PATH,storage=dense");
  const data::Dataset loaded = data::load_for_prediction(spec, trained_on(with));
  for (const std::string& note : loaded.notes) say(stderr, "{}\n", note);
  if (with.options.spec.empty() && with.record.data.test_rows == 0)
    say(stderr,
        "these are the rows on which the model was trained, because the run has no test rows: name new rows with "
        "--data SPEC to see what matters for them\n");
  const Importances report = measure(with, with_answers(loaded.train), repeats);
  with.options.json ? print_columns_json(report, repeats) : print_columns(report, repeats);
}

}  // namespace mokume::app
