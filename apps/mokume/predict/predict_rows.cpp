// Predicts the rows of a table, all at once or as they arrive on standard input.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "commands.hpp"
#include "data/csv_stream.hpp"
#include "data/input.hpp"
#include "data/load.hpp"
#include "data/spec.hpp"
#include "predict/predictor.hpp"
#include "predict/row_printer.hpp"
#include "results/stats.hpp"
#include "sdk/error.hpp"

namespace mokume::app {
namespace {

using run::Combined;

// Holds the columns to the left of the predictions: the row number, and the columns that the command line requests.
class Left {
 public:
  Left(data::CopiedColumns copied, size_t rows_before) : copied_(std::move(copied)), rows_before_(rows_before) {}

  std::vector<std::string> names() const {
    std::vector<std::string> names{"row"};
    names.insert(names.end(), copied_.names.begin(), copied_.names.end());
    return names;
  }
  std::vector<RowPrinter::Cell> cells(size_t row) const {
    std::vector<RowPrinter::Cell> cells{rows_before_ + row};
    const size_t each = copied_.names.size();
    for (size_t c = 0; c < each; ++c) cells.emplace_back(std::string_view(copied_.cells[row * each + c]));
    return cells;
  }

 private:
  data::CopiedColumns copied_;
  size_t rows_before_;
};

// Prints the columns predicted[, target][, sd], and finally the error over the rows with a target.
class Numbers {
 public:
  explicit Numbers(const Models& with) : with_(with) {}

  void print(const Combined& said, const data::Table& rows, const Left& left) {
    const bool several = with_.ensemble.size() > 1, known = !rows.targets.empty();
    if (!printer_) {
      std::vector<std::string> columns = left.names();
      columns.emplace_back("predicted");
      if (known) columns.emplace_back("target");
      if (several) columns.emplace_back("sd");
      check_names(columns);
      printer_.emplace(with_.options.json, columns);
    }
    for (size_t r = 0; r < said.numbers.size(); ++r) {
      std::vector<RowPrinter::Cell> row = left.cells(r);
      row.emplace_back(static_cast<float>(said.numbers[r]));
      if (known) add_target(said.numbers[r], rows.targets[r], row);
      if (several) row.emplace_back(static_cast<float>(said.sd[r]));
      printer_->print(row);
    }
  }
  void end() const {
    if (told_ > 0) std::fprintf(stderr, "mse: %.6g of %zu\n", sum_ / static_cast<double>(told_), told_);
  }

 private:
  void add_target(double said, float target, std::vector<RowPrinter::Cell>& row) {
    if (std::isnan(target)) return row.emplace_back(), void();
    row.emplace_back(target);
    const double off = said - static_cast<double>(target);
    sum_ += off * off;
    ++told_;
  }

  const Models& with_;
  std::optional<RowPrinter> printer_;
  double sum_ = 0;
  size_t told_ = 0;
};

// Prints the table of classes, and finally the number of errors in the rows with a label.
class Classes {
 public:
  explicit Classes(const Models& with) : with_(with) {}

  void print(const Combined& said, const data::Table& rows, const Left& left) {
    const bool known = !rows.labels.empty();
    if (!table_) table_.emplace(with_, left.names(), known);
    for (size_t r = 0; r < said.labels.size(); ++r) {
      const int32_t label = known ? rows.labels[r] : data::kNoLabel;
      told_ += label != data::kNoLabel ? 1 : 0;
      errors_ += run::is_error(said.labels[r], label) ? 1 : 0;
      table_->print(said, r, left.cells(r), label);
    }
    alone_.resize(said.errors.size());
    for (size_t m = 0; m < alone_.size(); ++m) alone_[m] += static_cast<double>(said.errors[m]);
  }
  void end() {
    if (told_ == 0) return;
    say(stderr, "errors: {} of {}\n", errors_, told_);
    if (with_.ensemble.size() == 1) return;
    std::sort(alone_.begin(), alone_.end());
    say(stderr, "errors of the {} individual members: {} to {}, median {}\n", alone_.size(), alone_.front(),
        alone_.back(), results::quantile(alone_, 0.5));
  }

 private:
  const Models& with_;
  std::optional<ClassTable> table_;
  int64_t errors_ = 0, told_ = 0;
  std::vector<double> alone_;  // number of errors of each member
};

class RowPredictor {
 public:
  explicit RowPredictor(const Models& with)
      : with_(with),
        spec_(data::parse_spec(with.options.spec, &with.run.config().data)),
        trained_(trained_on(with)),
        numbers_(with),
        classes_(with) {}

  void whole() {
    predict(load(nullptr));
    end();
  }

  void stream() {
    if (spec_.source != "csv" || spec_.path != data::kStandardInput)
      throw Error(MK_INVALID_ARGUMENT,
                  "--stream answers the rows of a CSV table on standard input: write --data csv:-");
    if (spec_.missing == data::Missing::drop)
      throw Error(MK_INVALID_ARGUMENT,
                  "--stream answers every row, but data.missing is \"drop\": add missing=error to --data, and fill "
                  "missing cells in");
    data::CsvStream input(STDIN_FILENO, data::expected_in(spec_, trained_));
    for (data::CsvPiece piece; input.next(piece);) {
      predict(load(&piece));
      std::fflush(stdout);
    }
    end();
  }

 private:
  data::Dataset load(const data::CsvPiece* piece) {
    copied_ = {with_.options.columns};
    data::Dataset rows = data::load_for_prediction(spec_, trained_, copied_.names.empty() ? nullptr : &copied_, piece);
    for (const std::string& note : rows.notes)
      if (rows_ == 0) say(stderr, "{}\n", note);
    return rows;
  }
  void predict(const data::Dataset& rows) {
    // Nobody knows how many rows a stream has.
    if (!opened_) opened_ = std::make_unique<Opened>(with_, with_.options.stream ? SIZE_MAX : rows.train.x.size());
    const Combined said = run::combine(with_.model, with_.ensemble, opened_->services(), rows.train);
    const Left left(std::move(copied_), rows_);
    if (is_regression())
      numbers_.print(said, rows.train, left);
    else
      classes_.print(said, rows.train, left);
    rows_ += static_cast<size_t>(rows.train.rows);
  }
  void end() { is_regression() ? numbers_.end() : classes_.end(); }
  bool is_regression() const { return with_.ensemble.first().classes.empty(); }

  const Models& with_;
  const data::DataSpec spec_;
  const data::TrainedOn trained_;
  Numbers numbers_;
  Classes classes_;
  std::unique_ptr<Opened> opened_;  // opened after the rows have been read, because errors in the rows come first
  data::CopiedColumns copied_;
  size_t rows_ = 0;
};

}  // namespace

void predict_rows(const Models& with) {
  RowPredictor predictor(with);
  with.options.stream ? predictor.stream() : predictor.whole();
}

}  // namespace mokume::app
