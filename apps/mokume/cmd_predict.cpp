// The command predict: rows of a data set as CSV or JSON, or one picture with the certainties of all members.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "commands.hpp"
#include "data/load.hpp"
#include "data/picture.hpp"
#include "data/picture_image.hpp"
#include "data/scale.hpp"
#include "data/spec.hpp"
#include "node/machine.hpp"
#include "report/charts/certainty_plot.hpp"
#include "report/tables/certainty.hpp"
#include "report/tables/format.hpp"
#include "report/tables/stats.hpp"
#include "row_printer.hpp"
#include "run/ensemble.hpp"
#include "run/run_directory.hpp"
#include "run/vote.hpp"
#include "sdk/error.hpp"
#include "stored_run.hpp"

namespace mokume::app {
namespace {

constexpr int32_t kLeastSide = 8;  // of a square image, if only the number of features is known

using run::Combined;
using run::Ensemble;
using run::Trained;

// The selected device, opened.
struct Opened {
  Opened(Runtime& runtime, const StoredRun& run, const std::string& devices)
      : machine(runtime.registry(), runtime.log(), devices) {
    const std::vector<device::Listed> chosen{run.with_devices([&] { return machine.select(devices).front(); })};
    device = machine.open(chosen[0], {}, node::Machine::budgets(chosen, 1, run.config().memory_bytes)[0]);
  }
  node::Machine machine;
  std::unique_ptr<device::Device> device;
};

// Prints row, predicted[, target][, sd].
void print_numbers(const Combined& said, const std::vector<float>& targets, bool several, bool json) {
  std::vector<std::string> columns{"row", "predicted"};
  if (!targets.empty()) columns.emplace_back("target");
  if (several) columns.emplace_back("sd");
  const RowPrinter printer(json, columns);
  double sum = 0;
  size_t told = 0;
  for (size_t r = 0; r < said.numbers.size(); ++r) {
    std::vector<RowPrinter::Cell> row{r, static_cast<float>(said.numbers[r])};
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

// Prints row, predicted[, label][, votes], and the scores.
void print_classes(const Combined& said, const std::vector<int32_t>& labels, const std::vector<std::string>& names,
                   size_t members, bool json) {
  const bool known = !labels.empty(), several = members > 1;
  std::vector<std::string> columns{"row", "predicted"};
  if (known) columns.emplace_back("label");
  if (several) columns.emplace_back("votes");
  columns.insert(columns.end(), said.score_names.begin(), said.score_names.end());
  const RowPrinter printer(json, columns);
  const auto name_of = [&](int32_t label) {
    return label < 0 ? RowPrinter::Cell() : RowPrinter::Cell(names[static_cast<size_t>(label)]);
  };
  const size_t scores = said.score_names.size();
  int64_t errors = 0, told = 0;
  for (size_t r = 0; r < said.labels.size(); ++r) {
    std::vector<RowPrinter::Cell> row{r, name_of(said.labels[r])};
    if (known) {
      told += labels[r] != data::kNoLabel ? 1 : 0;
      errors += run::is_error(said.labels[r], labels[r]) ? 1 : 0;
      row.push_back(name_of(labels[r]));
    }
    if (several) row.emplace_back(size_t{said.votes[r]});
    const auto first = said.scores.begin() + static_cast<ptrdiff_t>(r * scores);
    row.insert(row.end(), first, first + static_cast<ptrdiff_t>(scores));
    printer.print(row);
  }
  if (told == 0) return;
  say(stderr, "errors: {} of {}\n", errors, told);
  if (!several) return;
  std::vector<double> alone(said.errors.begin(), said.errors.end());
  std::sort(alone.begin(), alone.end());
  say(stderr, "errors of the {} individual members: {} to {}, median {}\n", members, alone.front(), alone.back(),
      report::quantile(alone, 0.5));
}

// Returns the image shape of the model's rows. `guessed` gets a remark if only the number of features is known.
data::Shape image_shape(const Trained& model, const std::string& run, std::string& guessed) {
  const data::Shape& shape = model.shape;
  if (int64_t{shape.height} * shape.width > 1) return shape;
  const auto side = static_cast<int32_t>(std::lround(std::sqrt(static_cast<double>(model.features))));
  if (side < kLeastSide || int64_t{side} * side != model.features)
    throw Error(
        MK_INVALID_ARGUMENT,
        fmt::format("the model of {} takes rows of {} features, which are not an image: predict rows with --data SPEC",
                    run, model.features));
  guessed = fmt::format("; the model's {} features are interpreted as {} x {} pixels", model.features, side, side);
  return {side, side, 1};
}

report::Thumbnail thumbnail(const std::vector<float>& values, const data::Shape& shape) {
  const auto channels = static_cast<size_t>(shape.channels);
  std::vector<double> grey;
  for (size_t i = 0; i < values.size(); i += channels) {
    double sum = 0;
    for (size_t c = 0; c < channels; ++c) sum += static_cast<double>(values[i + c]);
    grey.push_back(sum / static_cast<double>(channels));
  }
  return report::thumbnail(static_cast<size_t>(shape.width), static_cast<size_t>(shape.height), grey);
}

void print_json(const PredictOptions& options, const std::string& how, const report::Certainty& certainty,
                const std::vector<double>& doubt) {
  const report::Verdict verdict = report::judge(certainty);
  nlohmann::ordered_json out;
  out["image"] = options.image;
  out["conversion"] = how;
  out["vote"] = certainty.classes[verdict.vote];
  out["members"] = certainty.members.size();
  out["entropy"] = verdict.entropy;
  if (!doubt.empty()) out["test_rows_below"] = report::share_below(doubt, verdict.entropy);
  out["mutual_information"] = verdict.mutual_information;
  out["classes"] = certainty.classes;
  out["votes"] = verdict.votes;
  out["mean"] = verdict.mean;
  out["sd"] = verdict.sd;
  out["certainty"] = certainty.members;
  const std::string text = out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::fprintf(stdout, "%s\n", text.c_str());
}

// Everything that a prediction needs.
struct Models {
  Runtime& runtime;
  const StoredRun& run;
  const PredictOptions& options;
  const mk_model& model;
  const Ensemble& ensemble;
};

void predict_rows(const Models& with, const run::RunRecord& record) {
  const Trained& first = with.ensemble.first();
  const data::Dataset rows = data::load_for_prediction(data::parse_spec(with.options.spec, &with.run.config().data),
                                                       first.classes, first.mean, first.scale, first.features,
                                                       record.data.columns, record.data.shape.value_or(data::Shape{}));
  for (const std::string& note : rows.notes) say(stderr, "{}\n", note);
  const Opened opened(with.runtime, with.run, with.options.devices);
  const Combined said = run::combine(with.model, with.ensemble, opened.device->services(), rows.train);
  if (first.classes.empty())
    print_numbers(said, rows.train.targets, with.ensemble.size() > 1, with.options.json);
  else
    print_classes(said, rows.train.labels, first.classes, with.ensemble.size(), with.options.json);
}

void predict_picture(const Models& with, const run::RunRecord& record) {
  const Trained& first = with.ensemble.first();
  const PredictOptions& options = with.options;
  if (first.classes.empty())
    throw Error(
        MK_INVALID_ARGUMENT,
        fmt::format(
            "the model of {} predicts numbers, but a picture requires a classifier: predict rows with --data SPEC",
            options.run));
  std::string guessed;
  const data::Shape shape = record.data.shape ? *record.data.shape : image_shape(first, options.run, guessed);
  const data::Picture picture = data::read_picture(options.image);
  data::ModelImage image =
      record.data.shape ? data::to_plain_image(picture, shape) : data::to_model_image(picture, shape);
  image.how += guessed;
  say(stderr, "{}\n{}", image.how, data::preview(image.values, shape));

  data::Dataset row;
  row.name = picture.name;
  row.train.rows = 1;
  row.train.features = static_cast<int64_t>(image.values.size());
  row.train.x = image.values;
  data::check_scaling(row, first.features, first.mean, first.scale);
  data::apply_scaling(first.mean, first.scale, row.name, row.train);
  const Opened opened(with.runtime, with.run, options.devices);
  const report::Certainty certainty =
      run::certainty_of(with.model, with.ensemble, opened.device->services(), row.train);
  if (!options.svg.empty())
    base::write_file(options.svg, report::certainty_svg(certainty, picture.name, thumbnail(image.values, shape)));
  // A vote of other members does not apply to these.
  const auto vote = run::read_vote(options.run);
  const bool same = vote && vote->members == with.ensemble.size();
  const std::vector<double> doubt = same ? vote->doubt : std::vector<double>{};
  if (options.json)
    print_json(options, image.how, certainty, doubt);
  else
    std::fputs(report::certainty_text(certainty, report::kTextWidth, doubt).c_str(), stdout);
}

}  // namespace

int predict(Runtime& runtime, const PredictOptions& options) {
  if (options.image.empty() == options.spec.empty())
    throw Error(MK_INVALID_ARGUMENT, "name either an IMAGE (a PNG or JPEG file) or rows with --data SPEC");
  const StoredRun run(runtime, options.run);
  run.warn();
  const mk_model& model = *runtime.registry().load(MK_PLUGIN_MODEL, run.config().model).model();
  const Ensemble ensemble(model, options.run);
  const Trained& first = ensemble.first();
  const run::RunRecord record = run::read_run_record(options.run);
  if (!record.checked || !first.checked)
    say(stderr, "{} was written by an older version without checksums: damage to its files would not be noticed\n",
        options.run);
  if (ensemble.size() > 1 && record.state != "done")
    say(stderr, "{} is {}: using the {} members that it has\n", options.run,
        record.state == "failed fits" ? "incomplete" : "not finished", ensemble.size());
  const Models with{runtime, run, options, model, ensemble};
  if (options.spec.empty())
    predict_picture(with, record);
  else
    predict_rows(with, record);
  return kDone;
}

}  // namespace mokume::app
