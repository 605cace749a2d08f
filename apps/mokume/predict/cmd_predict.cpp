// Implements the command predict for rows of a table (predict_rows.cpp) and for pictures (predict_pictures.cpp).
#include <functional>
#include <optional>

#include "commands.hpp"
#include "node/model_inputs.hpp"
#include "predict/predictor.hpp"
#include "sdk/error.hpp"

namespace mokume::app {
namespace {

using run::Ensemble;
using run::Trained;

// Returns the part of a run's record that predictions need, for a model without its run.
run::RunRecord record_of(const node::ModelInputs& inputs) {
  run::RunRecord record;
  record.state = "done";
  record.data.columns = inputs.columns;
  record.data.shape = inputs.shape;
  return record;
}

// Reads the models and passes them to `body`.
void with_models(Runtime& runtime, const PredictOptions& options, const std::function<void(const Models&)>& body) {
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
  body({runtime, run, options, model, ensemble, record});
}

}  // namespace

int predict(Runtime& runtime, const PredictOptions& options) {
  if (options.images.empty() == options.spec.empty())
    throw Error(MK_INVALID_ARGUMENT, "name either an IMAGE (a PNG or JPEG file) or rows with --data SPEC");
  int code = kDone;
  with_models(runtime, options, [&](const Models& with) {
    if (options.spec.empty())
      code = predict_pictures(with);
    else
      predict_rows(with);
  });
  return code;
}

int explain_columns(Runtime& runtime, const PredictOptions& options, uint32_t repeats) {
  with_models(runtime, options, [&](const Models& with) { explain_columns(with, repeats); });
  return kDone;
}

}  // namespace mokume::app
