// Tests that a report does not grow with the number of fits beyond the needs of a reader.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "report/pages/write.hpp"
#include "report/support.hpp"
#include "results/tables.hpp"
#include "support/scratch.hpp"

namespace mokume::report {
namespace {

namespace fs = std::filesystem;
using testing::record;

constexpr size_t kMiB = size_t{1} << 20;

struct Shape {
  const char* name;
  std::vector<size_t> values;  // number of values of each parameter
  uint32_t bootstraps, folds;
  size_t epochs;
};

results::RunView large(const Shape& shape) {
  results::RunView view = testing::grid(1, 1);
  view.plan.params.clear();
  size_t candidates = 1;
  for (size_t p = 0; p < shape.values.size(); ++p) {
    view.plan.params.push_back("parameter_" + std::to_string(p));
    candidates *= shape.values[p];
  }
  view.plan.candidates.clear();
  view.plan.bootstraps = shape.bootstraps;
  view.plan.folds = shape.folds;
  view.grid = shape.values.size() > 1;
  for (size_t c = 0; c < candidates; ++c) {
    size_t rest = c;
    std::vector<search::Value> values;
    for (const size_t n : shape.values) {
      values.emplace_back(0.001234567 * std::pow(1.01, static_cast<double>(rest % n)));
      rest /= n;
    }
    view.plan.candidates.push_back(values);
  }
  view.records.clear();
  view.data_rows = 100000;
  std::vector<double> loss;
  for (size_t e = 0; e < shape.epochs; ++e) loss.push_back(1.2345678 / static_cast<double>(e + 1));
  for (uint32_t f = 0; f < view.plan.n_fits(); ++f) {
    view.records.push_back(record(f, static_cast<double>((f * 7919) % 4999), 10000));
    view.records.back().bundle = f;
    view.records.back().start_s = 1000 + f * 0.75;
    view.records.back().end_s = view.records.back().start_s + 0.5;
    if (shape.epochs > 0)
      for (const char* name : {"train_accuracy", "train_loss", "validation_accuracy", "validation_loss"})
        view.records.back().curves.push_back({name, loss});
  }
  view.best = 0;
  return view;
}

size_t bytes_of_report(const results::RunView& view, std::string& account) {
  const test::Scratch scratch;
  results::write_tables(view, scratch.path());
  write(view, scratch.path());
  std::map<std::string, size_t> files;
  size_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(scratch.path())) {
    if (!entry.is_regular_file()) continue;
    const size_t size = entry.file_size();
    bytes += size;
    const std::string name = fs::relative(entry.path(), scratch.path()).string();
    files[name.starts_with("logs/") ? "logs" : name] += size;
  }
  account.clear();
  for (const auto& [name, size] : files)
    if (size > kMiB / 4) account += name + " " + std::to_string(size) + "\n";
  return bytes;
}

TEST(ReportSize, SaysWhichEventFilesItLeavesOut) {
  const std::string page = testing::page(large({"networks", {20, 10}, 1, 5, 500}));
  EXPECT_HAS(page, "logs/tensorboard has the ");
  EXPECT_HAS(page, " best of 1\u202F000 fits; the journal has all curves.");
  EXPECT_EQ(testing::page(large({"networks", {2, 2}, 1, 5, 50})).find("logs/tensorboard"), std::string::npos);
}

TEST(ReportSize, StaysSmallWithManyFits) {
  for (const Shape& shape :
       {Shape{"a grid of two parameters", {100, 100}, 1, 5, 0}, Shape{"a grid with one fold", {250, 200}, 1, 1, 0},
        Shape{"a grid of three parameters", {10, 50, 20}, 1, 5, 0}, Shape{"one parameter", {10000}, 1, 5, 0},
        Shape{"many maps", {50, 50, 20}, 1, 1, 0}, Shape{"networks", {100, 100}, 1, 5, 50},
        Shape{"long trainings", {20, 10}, 1, 5, 2000}, Shape{"bagging", {10, 10}, 100, 5, 0}}) {
    std::string account;
    const results::RunView view = large(shape);
    const size_t bytes = bytes_of_report(view, account);
    EXPECT_LE(bytes, 25 * kMiB) << shape.name << ", " << view.plan.n_fits() << " fits:\n" << account;
  }
}

}  // namespace
}  // namespace mokume::report
