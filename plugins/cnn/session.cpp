#include "session.hpp"

#include <algorithm>
#include <cmath>

#include "engine.hpp"
#include "sdk/error.hpp"
#include "sdk/model.hpp"
#include "team_training.hpp"

namespace mokume::cnn {
namespace {

bool classifies(const mk_experiment& experiment) { return experiment.train->n_classes > 0; }

Settings candidate_settings(const mk_experiment& experiment, uint32_t candidate) {
  return settings_of(experiment.values + static_cast<size_t>(candidate) * kParams.size(), classifies(experiment));
}

Network candidate_network(const mk_experiment& experiment, const Settings& settings) {
  const mk_data& d = *experiment.train;
  const bool image = int64_t{d.height} * d.width > 1;
  const Shape input = image ? Shape{d.height, d.width, d.channels, false} : Shape{1, 1, d.features, true};
  return make_network(settings, input, classifies(experiment) ? d.n_classes : 1);
}

// Rows that a fit of this fold trains on, or is validated on.
std::vector<int32_t> rows_of(const mk_experiment& experiment, const mk_fit& fit, bool validated) {
  const mk_sample& sample = experiment.samples[fit.bootstrap];
  std::vector<int32_t> rows;
  for (int64_t i = 0; i < sample.places; ++i)
    if (sdk::is_held_out(sample, i, fit.fold) == validated) rows.push_back(static_cast<int32_t>(sample.row[i]));
  return rows;
}

// A curve as it crosses the boundary.
void add_curve(std::vector<mk_curve>& curves, const char* name, const std::vector<double>& values) {
  if (!values.empty()) curves.push_back({name, static_cast<uint32_t>(values.size()), 0, values.data()});
}

std::vector<mk_curve> curves_of(const History& history) {
  std::vector<mk_curve> curves;
  add_curve(curves, "train_loss", history.train_loss);
  add_curve(curves, "train_accuracy", history.train_accuracy);
  add_curve(curves, "validation_loss", history.validation_loss);
  add_curve(curves, "validation_accuracy", history.validation_accuracy);
  return curves;
}

std::string divergence(const Training& training) {
  return "the training diverged: its loss is no finite number in epoch " + std::to_string(training.epochs_done()) +
         "; lower lr or scale the data";
}

// Multiply-adds of a row on its way forward.
double products(const Network& network) {
  double sum = 0;
  for (const Stage& s : network.stages) {
    const double outputs = static_cast<double>(s.out.elements());
    if (s.kind == Stage::Kind::convolution) sum += outputs * static_cast<double>(s.window.patch());
    if (s.kind == Stage::Kind::linear) sum += outputs * static_cast<double>(s.in.elements());
  }
  return sum;
}

double fit_cost(const mk_experiment& experiment, const Settings& settings, const Network& network) {
  const double rows = static_cast<double>(experiment.train->rows);
  const double steps = rows / static_cast<double>(settings.batch_size);
  // Forward and two products backward per row; a few reads and writes of every parameter per step.
  return static_cast<double>(settings.epochs) *
         (rows * 3 * products(network) + steps * 10 * static_cast<double>(network.n_parameters));
}

// Whether every fit has rows for a batch of this team. Error(MK_INVALID_ARGUMENT).
void check_batches(const mk_experiment& experiment, const sdk::Team& team) {
  int64_t fewest = experiment.train->rows;
  for (uint32_t b = 0; b < experiment.n_bootstraps; ++b) {
    const mk_sample& sample = experiment.samples[b];
    for (uint32_t f = 0; f < experiment.n_folds; ++f) {
      const auto held_out = std::count(sample.fold_of, sample.fold_of + sample.places, static_cast<int32_t>(f));
      fewest = std::min(fewest, sample.places - static_cast<int64_t>(held_out));
    }
  }
  for (uint32_t c = 0; c < experiment.n_candidates; ++c) {
    const Settings alone = candidate_settings(experiment, c);
    const int64_t batch = settings_for(alone, team).batch_size;
    if (batch <= fewest) continue;
    throw Error(MK_INVALID_ARGUMENT, "batch_size is " + std::to_string(alone.batch_size) +
                                         (batch == alone.batch_size ? ", and a fit trains on "
                                                                    : " for each of " + std::to_string(team.members()) +
                                                                          " devices, and a fit trains on ") +
                                         std::to_string(fewest) + " rows: lower it");
  }
}

// Networks of this shape that are trained side by side: until their steps are much more work than what a launch costs.
// A round figure: 8 and 32 small ones differ little (bench/README.md).
size_t most_together(const Settings& settings, const Network& network) {
  constexpr double kEnough = 64e6;  // multiply-adds
  constexpr double kMost = 32;
  if (settings.parallel.kind != Parallel::Kind::none) return 1;  // each of them takes all devices
  const double step = 3 * products(network) * static_cast<double>(settings.batch_size);
  return static_cast<size_t>(std::clamp(kEnough / std::max(step, 1.0), 1.0, kMost));
}

}  // namespace

Session::Session(const sdk::Host& host, const mk_experiment& experiment, const mk_device_services* device)
    : host_(host), experiment_(experiment), device_(device) {
  check_batches(experiment, team());
}

const ResidentData& Session::data() {
  if (!data_) data_.emplace(device_, *experiment_.train);
  return *data_;
}

TrainingTask Session::task(const mk_fit& fit) const {
  TrainingTask t;
  t.seed = experiment_.seed;
  // Fold n_folds stands for the refit.
  const uint32_t fold = fit.fold == MK_ALL_ROWS ? experiment_.n_folds : static_cast<uint32_t>(fit.fold);
  t.stream = (fit.bootstrap * experiment_.n_candidates + fit.candidate) * (experiment_.n_folds + 1) + fold;
  t.train = rows_of(experiment_, fit, false);
  t.scratch = fit.scratch;
  t.fingerprint = "candidate " + std::to_string(fit.candidate) + ", bootstrap " + std::to_string(fit.bootstrap) +
                  ", fold " + std::to_string(fold) + ", rows " + std::to_string(t.train.size());
  if (fit.fold != MK_ALL_ROWS) t.validate = rows_of(experiment_, fit, true);
  return t;
}

// As this session's devices take them.
Settings Session::settings_of(const mk_fit& fit, const TrainingTask& task) const {
  const Settings given = candidate_settings(experiment_, fit.candidate);
  return settings_for(given, team(), begun_with(host_, given, team(), task));
}

struct Session::Job {
  uint32_t index;  // among the fits that were asked for
  Settings settings;
  Network network;
  TrainingTask task;
};

void Session::fit(std::span<const mk_fit> fits, const mk_fit_sink& sink) {
  std::vector<std::unique_ptr<Job>> jobs;
  for (uint32_t k = 0; k < fits.size(); ++k) {
    if (fits[k].done != 0) continue;
    TrainingTask what = task(fits[k]);
    Settings settings = settings_of(fits[k], what);
    Network network = candidate_network(experiment_, settings);
    jobs.push_back(std::make_unique<Job>(Job{k, std::move(settings), std::move(network), std::move(what)}));
  }
  for (const std::vector<Job*>& group : groups_of(jobs)) {
    if (group.front()->settings.parallel.kind == Parallel::Kind::none)
      fit_group(group, sink);
    else
      fit_in_team(*group.front(), sink);
  }
}

void Session::fit_in_team(Job& job, const mk_fit_sink& sink) {
  Training training(host_, device_, data(), job.network, job.settings, std::move(job.task));
  train(job.settings, training, sink);
  report(job, training, sink);
}

void Session::train(const Settings& settings, Training& training, const mk_fit_sink& sink) const {
  if (settings.parallel.kind == Parallel::Kind::none)
    training.run(sink);
  else
    TeamTraining(device_, team(), settings.parallel, training, sink).run();
}

// In the order of their first members. What does not fit beside the others comes in another group.
std::vector<std::vector<Session::Job*>> Session::groups_of(std::vector<std::unique_ptr<Job>>& jobs) {
  std::vector<std::vector<Job*>> groups;
  const uint64_t data = ResidentData::bytes(*experiment_.train), budget = device_.budget_bytes();
  for (const auto& job : jobs) {
    constexpr uint64_t kSlack = uint64_t{64} << 10;  // what SharedMemory rounds up, and folds of unequal size
    const uint64_t each = Training::bytes(job->network, job->settings, experiment_.train->rows) + kSlack;
    const uint64_t fit = budget > data ? (budget - data) / std::max<uint64_t>(each, 1) : 0;
    const uint64_t most = std::min<uint64_t>(fit, most_together(job->settings, job->network));
    const auto open = std::find_if(groups.begin(), groups.end(), [&](const std::vector<Job*>& group) {
      const Job& first = *group.front();
      return group.size() < most && same_shape(first.network, first.settings, job->network, job->settings);
    });
    if (open == groups.end())
      groups.push_back({job.get()});
    else
      open->push_back(job.get());
  }
  return groups;
}

void Session::fit_group(const std::vector<Job*>& group, const mk_fit_sink& sink) {
  TrainingTask largest;
  for (const Job* job : group) {
    largest.train_room = std::max(largest.train_room, static_cast<int64_t>(job->task.train.size()));
    largest.validate_room = std::max(largest.validate_room, static_cast<int64_t>(job->task.validate.size()));
  }
  SharedMemory memory(device_, static_cast<int64_t>(group.size()));
  std::vector<std::unique_ptr<Training>> trainings;
  std::vector<Training*> members;
  for (Job* job : group) {
    job->task.train_room = largest.train_room;
    job->task.validate_room = largest.validate_room;
    trainings.push_back(
        std::make_unique<Training>(host_, device_, data(), job->network, job->settings, std::move(job->task), &memory));
    members.push_back(trainings.back().get());
    memory.next_member();
  }
  train_together(device_, members, sink, [&](Training& training) {
    const auto at = std::find(members.begin(), members.end(), &training) - members.begin();
    report(*group[static_cast<size_t>(at)], training, sink);
  });
}

void Session::report(const Job& job, const Training& training, const mk_fit_sink& sink) const {
  mk_fit_result result{};
  result.index = job.index;
  const std::vector<mk_curve> curves = curves_of(training.history());
  std::string note = "epochs=" + std::to_string(training.epochs_done());
  double values[3] = {};
  const Score score = training.validation();
  result.n = training.validation_rows();
  if (training.diverged()) {
    result.status = MK_FIT_FAILED;
    note = divergence(training);
  } else if (classifies(experiment_)) {
    values[0] = static_cast<double>(score.rows - score.hits);
    values[1] = 1 - score.accuracy();
    values[2] = score.loss;
    result.n_values = 3;
  } else {
    values[0] = score.loss;
    result.n_values = 1;
  }
  result.values = result.n_values > 0 ? &values[0] : nullptr;
  result.note = note.c_str();
  result.curves = curves.data();
  result.n_curves = static_cast<uint32_t>(curves.size());
  sdk::call(sink.report, sink.self, &result);
}

std::unique_ptr<Fitted> Session::refit(const mk_fit& fit, const mk_fit_sink& sink) {
  TrainingTask what = task(fit);
  const Settings settings = settings_of(fit, what);
  auto fitted = std::make_unique<Fitted>();
  fitted->settings = settings;
  fitted->network = candidate_network(experiment_, settings);
  Training training(host_, device_, data(), fitted->network, settings, std::move(what));
  train(settings, training, sink);
  if (training.diverged()) throw Error(MK_INVALID_ARGUMENT, divergence(training));
  {
    const auto phase = device_.phase("transfer");
    fitted->parameters = training.take_parameters();
  }
  // By the last step, behind the last loss.
  if (!std::all_of(fitted->parameters.begin(), fitted->parameters.end(), [](float p) { return std::isfinite(p); }))
    throw Error(MK_INVALID_ARGUMENT, divergence(training));
  fitted->feature_mean = training.feature_mean();
  fitted->feature_sd = training.feature_sd();
  fitted->target_mean = training.target_mean();
  fitted->target_deviation = training.target_deviation();
  sdk::take_description(experiment_, *fitted);
  const std::vector<mk_curve> curves = curves_of(training.history());
  const std::string note = "epochs=" + std::to_string(training.epochs_done());
  mk_fit_result result{};
  result.note = note.c_str();
  result.curves = curves.data();
  result.n_curves = static_cast<uint32_t>(curves.size());
  sdk::call(sink.report, sink.self, &result);
  return fitted;
}

void check(const mk_experiment& experiment) {
  const mk_data& d = *experiment.train;
  if (d.labels == nullptr && d.targets == nullptr)
    throw Error(MK_BAD_DATA, "cnn learns from labels or targets, and this data set has none");
  if (d.rows > INT32_MAX) throw Error(MK_BAD_DATA, "cnn takes at most 2^31 - 1 rows: set data.limit");
  check_batches(experiment, sdk::Team(nullptr));
  for (uint32_t c = 0; c < experiment.n_candidates; ++c)
    candidate_network(experiment, candidate_settings(experiment, c));
}

namespace {

struct Bundle {
  Settings settings;
  Network network;
  std::vector<mk_fit> fits;
  double cost = 0;
};

// Bundles of at most `most_together` fits, or of one. A candidate joins the last bundle of its shape.
std::vector<Bundle> bundles_of(const mk_experiment& experiment, bool single) {
  std::vector<Bundle> bundles;
  std::vector<size_t> open;  // the last bundle of each shape
  for (uint32_t c = 0; c < experiment.n_candidates; ++c) {
    const Settings settings = candidate_settings(experiment, c);
    const Network network = candidate_network(experiment, settings);
    const size_t most = single ? 1 : most_together(settings, network);
    const double cost = fit_cost(experiment, settings, network);
    const auto shape = std::find_if(open.begin(), open.end(), [&](size_t b) {
      return b != SIZE_MAX && same_shape(bundles[b].network, bundles[b].settings, network, settings);
    });
    size_t at = shape == open.end() ? open.size() : static_cast<size_t>(shape - open.begin());
    if (shape == open.end()) open.push_back(SIZE_MAX);
    for (uint32_t b = 0; b < experiment.n_bootstraps; ++b)
      for (uint32_t f = 0; sdk::has(experiment, c, b) && f < experiment.n_folds; ++f) {
        if (open[at] == SIZE_MAX || bundles[open[at]].fits.size() == most) {
          open[at] = bundles.size();
          bundles.push_back({settings, network, {}, 0});
        }
        Bundle& bundle = bundles[open[at]];
        bundle.fits.push_back({c, static_cast<int32_t>(f), 0, b, nullptr, ""});
        bundle.cost += cost;
      }
  }
  return bundles;
}

}  // namespace

void make_bundles(const mk_experiment& experiment, uint32_t parts, const mk_bundle_sink& sink) {
  std::vector<Bundle> bundles = bundles_of(experiment, false);
  if (parts > bundles.size()) bundles = bundles_of(experiment, true);
  const int64_t rows = experiment.train->rows;
  for (const Bundle& b : bundles) {
    // The least: what does not fit side by side is trained one after the other.
    const uint64_t bytes = ResidentData::bytes(*experiment.train) + Training::bytes(b.network, b.settings, rows);
    const mk_bundle bundle{b.fits.data(), static_cast<uint32_t>(b.fits.size()), 0, b.cost, bytes};
    sdk::call(sink.add, sink.self, &bundle);
  }
}

std::string summary(const mk_experiment& experiment, uint32_t candidate) {
  const Settings settings = candidate_settings(experiment, candidate);
  return describe(settings, candidate_network(experiment, settings));
}

}  // namespace mokume::cnn
