// The command predict: rows of a data set as CSV or JSON, or pictures (predict_pictures.cpp).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "commands.hpp"
#include "data/load.hpp"
#include "data/spec.hpp"
#include "node/model_inputs.hpp"
#include "predictor.hpp"
#include "report/tables/stats.hpp"
#include "row_printer.hpp"
#include "sdk/error.hpp"

namespace mokume::app {
namespace {

using run::Combined;
using run::Ensemble;
using run::Trained;

// The columns to the left of the predictions: the number of the row, and those that the command line asks for.
class Left {
 public:
  explicit Left(data::CopiedColumns copied) : copied_(std::move(copied)) {}

  std::vector<std::string> names() const {
    std::vector<std::string> names{"row"};
    names.insert(names.end(), copied_.names.begin(), copied_.names.end());
    return names;
  }
  std::vector<RowPrinter::Cell> cells(size_t row) const {
    std::vector<RowPrinter::Cell> cells{row};
    const size_t each = copied_.names.size();
    for (size_t c = 0; c < each; ++c) cells.emplace_back(std::string_view(copied_.cells[row * each + c]));
    return cells;
  }

 private:
  data::CopiedColumns copied_;
};

// Prints predicted[, target][, sd].
void print_numbers(const Combined& said, const std::vector<float>& targets, const Left& left, bool several, bool json) {
  std::vector<std::string> columns = left.names();
  columns.emplace_back("predicted");
  if (!targets.empty()) columns.emplace_back("target");
  if (several) columns.emplace_back("sd");
  check_names(columns);
  const RowPrinter printer(json, columns);
  double sum = 0;
  size_t told = 0;
  for (size_t r = 0; r < said.numbers.size(); ++r) {
    std::vector<RowPrinter::Cell> row = left.cells(r);
    row.emplace_back(static_cast<float>(said.numbers[r]));
    if (!targets.empty() && std::isnan(targets[r])) {
      row.emplace_back();
    } else if (!targets.empty()) {
      const double off = said.numbers[r] - static_cast<double>(targets[r]);
      sum += off * off;
      ++told;
      row.emplace_back(targets[r]);
    }
    if (several) row.emplace_back(static_cast<float>(said.sd[r]));
    printer.print(row);
  }
  if (told > 0) std::fprintf(stderr, "mse: %.6g of %zu\n", sum / static_cast<double>(told), told);
}

// Prints the table of classes, and the errors if there are labels.
void print_classes(const Models& with, const Combined& said, const std::vector<int32_t>& labels, const Left& left) {
  const bool known = !labels.empty();
  ClassTable table(with, left.names(), known);
  int64_t errors = 0, told = 0;
  for (size_t r = 0; r < said.labels.size(); ++r) {
    const int32_t label = known ? labels[r] : data::kNoLabel;
    told += label != data::kNoLabel ? 1 : 0;
    errors += run::is_error(said.labels[r], label) ? 1 : 0;
    table.print(said, r, left.cells(r), label);
  }
  if (told == 0) return;
  say(stderr, "errors: {} of {}\n", errors, told);
  const size_t members = with.ensemble.size();
  if (members == 1) return;
  std::vector<double> alone(said.errors.begin(), said.errors.end());
  std::sort(alone.begin(), alone.end());
  say(stderr, "errors of the {} individual members: {} to {}, median {}\n", members, alone.front(), alone.back(),
      report::quantile(alone, 0.5));
}

void predict_rows(const Models& with) {
  const Trained& first = with.ensemble.first();
  data::CopiedColumns copied{with.options.columns};
  const data::Dataset rows = data::load_for_prediction(
      data::parse_spec(with.options.spec, &with.run.config().data), first.classes, first.mean, first.scale,
      first.features, with.record.data.columns, with.record.data.shape.value_or(data::Shape{}),
      copied.names.empty() ? nullptr : &copied);
  for (const std::string& note : rows.notes) say(stderr, "{}\n", note);
  const Opened opened(with);
  const Combined said = run::combine(with.model, with.ensemble, opened.services(), rows.train);
  const Left left(std::move(copied));
  if (first.classes.empty())
    print_numbers(said, rows.train.targets, left, with.ensemble.size() > 1, with.options.json);
  else
    print_classes(with, said, rows.train.labels, left);
}

// What a run's record says about predictions, of a model without its run.
run::RunRecord record_of(const node::ModelInputs& inputs) {
  run::RunRecord record;
  record.state = "done";
  record.data.columns = inputs.columns;
  record.data.shape = inputs.shape;
  return record;
}

}  // namespace

int predict(Runtime& runtime, const PredictOptions& options) {
  if (options.images.empty() == options.spec.empty())
    throw Error(MK_INVALID_ARGUMENT, "name either an IMAGE (a PNG or JPEG file) or rows with --data SPEC");
  const std::optional<node::ModelInputs> alone = node::read_inputs(options.run);
  const StoredRun run = alone ? StoredRun(runtime, options.run, *alone) : StoredRun(runtime, options.run);
  run.warn();
  const mk_model& model = *runtime.registry().load(MK_PLUGIN_MODEL, run.config().model).model();
  const Ensemble ensemble(model, options.run);
  const Trained& first = ensemble.first();
  const run::RunRecord record = alone ? record_of(*alone) : run::read_run_record(options.run);
  if (!record.checked || !first.checked)
    say(stderr, "{} was written by an older version without checksums: damage to its files would not be noticed\n",
        options.run);
  if (ensemble.size() > 1 && record.state != "done")
    say(stderr, "{} is {}: using the {} members that it has\n", options.run,
        record.state == "failed fits" ? "incomplete" : "not finished", ensemble.size());
  const Models with{runtime, run, options, model, ensemble, record};
  if (options.spec.empty()) return predict_pictures(with);
  predict_rows(with);
  return kDone;
}

}  // namespace mokume::app
