// Defines the common parts of all forms of the command predict: the models of a run, the selected device, and the table
// of classes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "data/dataset.hpp"
#include "data/load.hpp"
#include "device/device.hpp"
#include "node/machine.hpp"
#include "predict/row_printer.hpp"
#include "run/ensemble.hpp"
#include "run/run_directory.hpp"
#include "stored_run.hpp"

namespace mokume::app {

struct Models {
  Runtime& runtime;
  const StoredRun& run;
  const PredictOptions& options;
  const mk_model& model;
  const run::Ensemble& ensemble;
  const run::RunRecord& record;
};

// Returns what the models know of their training set.
data::TrainedOn trained_on(const Models& with);

// Throws Error(MK_INVALID_ARGUMENT) if two output columns have the same name, which --columns can cause.
void check_names(const std::vector<std::string>& columns);

// Opens the device that --devices selects. Without that option, the host predicts few values, because it has answered
// before another backend has started.
class Opened {
 public:
  // `values` is the number of features of all rows, if it is known.
  explicit Opened(const Models& with, size_t values = SIZE_MAX);
  const mk_device_services* services() const { return device_->services(); }

 private:
  void open(const Models& with, const std::string& selection);

  std::optional<node::Machine> machine_;
  std::unique_ptr<device::Device> device_;
};

// Prints the caller's columns, predicted[, label][, votes], and the scores. Each Combined must come from this ensemble.
class ClassTable {
 public:
  // `left` names the caller's columns. `known` tells whether the rows have labels.
  ClassTable(const Models& with, std::vector<std::string> left, bool known)
      : with_(with), left_(std::move(left)), known_(known) {}

  // Prints row `r` of `said`. `cells` holds the caller's columns. Ignores `label` if the rows have no labels.
  void print(const run::Combined& said, size_t r, std::vector<RowPrinter::Cell> cells, int32_t label = data::kNoLabel);

 private:
  RowPrinter::Cell name_of(int32_t label) const;

  const Models& with_;
  std::vector<std::string> left_;
  bool known_;
  std::optional<RowPrinter> printer_;  // made for the first row, which determines the names of the scores
};

// Predicts the rows of a table. With options.stream, answers each row as soon as it arrives on standard input.
void predict_rows(const Models& with);

// Prints how much the error rises if the cells of a column are shuffled among the rows of options.spec, or among the
// run's own rows, with `repeats` shuffles of each column.
void explain_columns(const Models& with, uint32_t repeats);

// Prints all certainties of the members for one picture, as text or JSON, or one row for each of several pictures.
// Returns the exit code, which is kData if some of several pictures cannot be read.
int predict_pictures(const Models& with);

}  // namespace mokume::app
