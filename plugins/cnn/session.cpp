#include "session.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "candidate.hpp"
#include "sdk/model.hpp"
#include "train/stacked.hpp"
#include "train/team_training.hpp"

namespace mokume::cnn {
namespace {

// Returns the training rows of a fit or, if `validated`, the rows that validate it.
std::vector<int32_t> rows_of(const mk_experiment& experiment, const mk_fit& fit, bool validated) {
  const mk_sample& sample = experiment.samples[fit.bootstrap];
  std::vector<int32_t> rows;
  for (int64_t i = 0; i < sample.places; ++i)
    if (sdk::is_held_out(sample, i, fit.fold) == validated) rows.push_back(int32_t(sample.row[i]));
  return rows;
}

std::string divergence(const Training& training) {
  return "the training diverged: its loss is not finite in epoch " + std::to_string(training.record().epochs()) +
         "; lower lr or scale the data";
}

std::string note_of(const Record& record) {
  const std::string best = record.rule.restore_best ? " best=" + std::to_string(record.best_epoch() + 1) : "";
  return "epochs=" + std::to_string(record.epochs()) + best;
}

// Reports `result` with the note and the curves of training. The caller sets values and status.
void send(mk_fit_result result, const Training& training, const mk_fit_sink& sink) {
  const Record& record = training.record();
  const History& h = record.history;
  std::vector<mk_curve> curves;
  const auto add = [&](const char* name, const std::vector<double>& values) {
    if (!values.empty()) curves.push_back({name, uint32_t(values.size()), 0, values.data()});
  };
  add("train_loss", h.train_loss);
  add("train_accuracy", h.train_accuracy);
  add("validation_loss", h.validation_loss);
  add("validation_accuracy", h.validation_accuracy);
  const std::string note = record.diverged ? divergence(training) : note_of(record);
  result.note = note.c_str();
  result.curves = curves.data();
  result.n_curves = uint32_t(curves.size());
  sdk::call(sink.report, sink.self, &result);
}

}  // namespace

int64_t chosen_epochs(const std::string& notes) {
  std::vector<int64_t> chosen;
  std::istringstream lines(notes);
  for (std::string line; std::getline(lines, line);) {
    int64_t epochs = 0;
    std::istringstream words(line);
    for (std::string word; words >> word;)
      for (const char* key : {"epochs=", "best="})
        if (word.starts_with(key)) epochs = std::strtoll(word.c_str() + std::strlen(key), nullptr, 10);
    if (epochs > 0) chosen.push_back(epochs);
  }
  if (chosen.empty()) return 0;
  std::sort(chosen.begin(), chosen.end());
  const size_t n = chosen.size();
  return (chosen[(n - 1) / 2] + chosen[n / 2] + 1) / 2;
}

// Holds a fit that is ready to train.
struct CnnSession::Prepared {
  uint32_t index;  // index among the requested fits
  TrainingTask task;
  Settings settings;
  Network network;

  bool in_team() const { return settings.parallel.kind != Parallel::Kind::none; }
};

CnnSession::CnnSession(const sdk::Host& host, const mk_experiment& experiment, const mk_device_services* device)
    : host_(host), experiment_(experiment), device_(device) {
  check_batches(experiment, team());
}

const ResidentData& CnnSession::data() {
  if (!data_) data_.emplace(device_, *experiment_.train);
  return *data_;
}

CnnSession::Prepared CnnSession::prepare(const mk_fit& fit, uint32_t index) const {
  TrainingTask t;
  t.seed = experiment_.seed;
  // The refit has the number n_folds among the folds.
  const uint32_t fold = fit.fold == MK_ALL_ROWS ? experiment_.n_folds : uint32_t(fit.fold);
  t.stream = (fit.bootstrap * experiment_.n_candidates + fit.candidate) * (experiment_.n_folds + 1) + fold;
  t.train = rows_of(experiment_, fit, false);
  t.weights = row_weights(experiment_, candidate_settings(experiment_, fit.candidate), fit.bootstrap, fit.fold);
  t.scratch = fit.scratch;
  t.fingerprint = "candidate " + std::to_string(fit.candidate) + ", bootstrap " + std::to_string(fit.bootstrap) +
                  ", fold " + std::to_string(fold) + ", rows " + std::to_string(t.train.size());
  if (fit.fold != MK_ALL_ROWS) t.validate = rows_of(experiment_, fit, true);
  const Settings given = candidate_settings(experiment_, fit.candidate);
  const Settings settings = settings_for(given, team(), begun_with(host_, given, team(), t));
  t.start = start_bytes(experiment_, given);
  return {index, std::move(t), settings, candidate_network(experiment_, settings)};
}

void CnnSession::fit(std::span<const mk_fit> fits, const mk_fit_sink& sink) {
  std::vector<std::unique_ptr<Prepared>> prepared;
  std::vector<Stack> stacks;  // in the order of their first fits
  for (uint32_t k = 0; k < fits.size(); ++k) {
    if (fits[k].done != 0) continue;
    Prepared* next = prepared.emplace_back(std::make_unique<Prepared>(prepare(fits[k], k))).get();
    const auto open = std::find_if(stacks.begin(), stacks.end(), [&](const Stack& s) { return fits_into(s, *next); });
    open == stacks.end() ? stacks.push_back({next}) : open->push_back(next);
  }
  for (const Stack& stack : stacks) {
    if (stack.front()->in_team())
      report(*stack.front(), *train_alone(*stack.front(), sink), sink);
    else
      fit_stack(stack, sink);
  }
}

bool CnnSession::fits_into(const Stack& stack, const Prepared& next) const {
  constexpr uint64_t kSlack = uint64_t{64} << 10;  // covers the rounding of StackMemory and folds of unequal size
  const uint64_t data = ResidentData::bytes(*experiment_.train), budget = device_.budget_bytes();
  const uint64_t each = Training::bytes(next.network, next.settings, experiment_.train->rows) + kSlack;
  const uint64_t room = budget > data ? (budget - data) / each : 0;
  const Prepared& first = *stack.front();
  return stack.size() < std::min<uint64_t>(room, stack_size(next.settings, next.network)) &&
         same_shape(first.network, first.settings, next.network, next.settings);
}

std::unique_ptr<Training> CnnSession::train_alone(Prepared& fit, const mk_fit_sink& sink) {
  const uint64_t inputs = ResidentData::input_bytes(*experiment_.train);
  const Memory memory{inputs, ResidentData::bytes(*experiment_.train) - inputs, experiment_.train->rows};
  data();
  for (Cut cut;;) {
    const Placement placement = place(team(), device_, fit.network, fit.settings, memory, cut);
    fit.task.part = placement.parts[team().member()];
    if (placement.in_layers()) data_->keep(fit.task.part.first == 0, fit.task.part.end >= fit.network.stages.size());
    auto training = std::make_unique<Training>(host_, device_, data(), fit.network, fit.settings, fit.task);
    if (!fit.in_team()) {
      train(*training, sink);
      return training;
    }
    const auto next = TeamTraining(team(), *training, placement, cut, sink).run();
    if (!next) return training;
    cut = *next;
  }
}

void CnnSession::fit_stack(const Stack& stack, const mk_fit_sink& sink) {
  int64_t train_room = 0, validate_room = 0;
  for (const Prepared* p : stack) {
    train_room = std::max(train_room, int64_t(p->task.train.size()));
    validate_room = std::max(validate_room, int64_t(p->task.validate.size()));
  }
  StackMemory memory(device_, stack.size());
  std::vector<std::unique_ptr<Training>> trainings;
  std::vector<Training*> all;
  for (Prepared* p : stack) {
    p->task.train_room = train_room;
    p->task.validate_room = validate_room;
    trainings.push_back(
        std::make_unique<Training>(host_, device_, data(), p->network, p->settings, std::move(p->task), &memory));
    all.push_back(trainings.back().get());
    memory.next_network();
  }
  train(all, sink, [&](Training& t) { report(*stack[std::find(all.begin(), all.end(), &t) - all.begin()], t, sink); });
}

Fitted CnnSession::fitted_of(Training& training, const Settings& settings, const Network& network) const {
  Fitted fitted;
  {
    const auto phase = device_.phase("transfer");
    fitted.parameters = training.take_parameters();
    for (float& p : fitted.parameters) p += 0.0F;  // makes -0 +0: no op tells them apart (docs/explained/numbers.md)
  }
  fitted.moments = training.moments();
  sdk::take_description(experiment_, fitted);
  fitted.settings = settings;
  fitted.network = network;
  return fitted;
}

// Holds predictions for the rows that validate a fit.
struct CnnSession::Validated {
  std::vector<int64_t> original;
  std::vector<int32_t> labels, predicted;
  std::vector<float> scores;

  Validated(const sdk::Device& device, const mk_data& data, const Fitted& fitted, std::span<const int32_t> rows)
      : original(rows.begin(), rows.end()),
        predicted(rows.size()),
        scores(rows.size() * size_t(fitted.network.outputs())) {
    std::vector<float> x;
    x.reserve(rows.size() * size_t(data.features));
    for (const int64_t row : rows) {
      x.insert(x.end(), data.x + row * data.features, data.x + (row + 1) * data.features);
      if (data.labels != nullptr) labels.push_back(data.labels[row]);
    }
    const auto phase = device.phase("validate");
    fitted.predict(device, x.data(), int64_t(rows.size()), labels.empty() ? nullptr : predicted.data(), scores.data());
  }
};

std::optional<CnnSession::Validated> CnnSession::validate(const Prepared& fit, Training& training,
                                                          bool may_lack) const {
  try {
    const Fitted fitted = fitted_of(training, fit.settings, fit.network);
    return Validated(device_, *experiment_.train, fitted, training.validated());
  } catch (const Error& e) {
    if (!may_lack || e.status() != MK_OUT_OF_MEMORY) throw;
    return std::nullopt;
  }
}

void CnnSession::report(const Prepared& fit, Training& training, const mk_fit_sink& sink) const {
  const Record& record = training.record();
  const Score score = record.validated();
  const double mse = fit.settings.loss_form.distance.distance == ops::Distance::squared ? score.loss : score.squares;
  const double classified[] = {double(score.rows - score.hits), 1 - score.accuracy(), score.loss};
  mk_fit_result result{};
  result.index = fit.index;
  result.n = training.validation_rows();
  std::optional<Validated> outcome;
  mk_validated validated{};
  if (record.diverged) {
    result.status = MK_FIT_FAILED;
  } else {
    result.values = record.classifies ? &classified[0] : &mse;
    result.n_values = record.classifies ? 3 : 1;
    if (sink.wants_validated != 0) outcome = validate(fit, training, sink.wants_validated == 2);
    if (outcome) {
      validated.rows = outcome->original.data();
      if (record.classifies) {
        validated.labels = outcome->labels.data();
        validated.predicted = outcome->predicted.data();
        validated.scores = outcome->scores.data();
        validated.scores_per_row = uint32_t(fit.network.outputs());
        validated.score_kind = MK_SCORES_LOG_PROBABILITIES;
      } else {
        validated.numbers = outcome->scores.data();
      }
      result.validated = &validated;
    }
  }
  send(result, training, sink);
}

std::unique_ptr<Fitted> CnnSession::refit(const mk_fit& fit, const mk_fit_sink& sink) {
  Prepared prepared = prepare(fit, 0);
  Settings& settings = prepared.settings;
  if (settings.stop.needs_validation() && settings.refit_validated)
    settings.stop_after = chosen_epochs(fit.note == nullptr ? "" : fit.note);
  if (settings.stop_after > 0) settings.stop = {};
  auto training = train_alone(prepared, sink);
  const auto expect = [&](bool finite) {
    if (!finite) throw Error(MK_INVALID_ARGUMENT, divergence(*training));
  };
  expect(!training->record().diverged);
  auto fitted = std::make_unique<Fitted>(fitted_of(*training, prepared.settings, prepared.network));
  // Checks the parameters, because the last step follows the last computed loss.
  expect(std::all_of(fitted->parameters.begin(), fitted->parameters.end(), [](float p) { return std::isfinite(p); }));
  send({}, *training, sink);
  training.reset();
  data_.reset();  // predictions need the memory
  return fitted;
}

}  // namespace mokume::cnn
