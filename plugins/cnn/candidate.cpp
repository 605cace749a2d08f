#include "candidate.hpp"

#include <algorithm>
#include <set>

#include "augmentation.hpp"
#include "network/description.hpp"
#include "saved/start.hpp"
#include "sdk/class_weights.hpp"
#include "sdk/model.hpp"
#include "train/team_training.hpp"

namespace mokume::cnn {
namespace {

// Returns the multiply-adds of the forward pass per row.
double products(const Network& network) {
  double sum = 0;
  for (const Layer* s : network.stages) sum += s->products;
  return sum;
}

double fit_cost(const mk_experiment& experiment, const Settings& settings, const Network& network) {
  const double rows = experiment.train->rows, steps = rows / settings.batch_size;
  // Counts a forward and two backward products per row, and a few reads and writes of every parameter per step.
  if (settings.epochs == 0) return rows * products(network);
  return settings.epochs * (rows * 3 * products(network) + steps * 10 * network.n_parameters);
}

struct Bundle {
  Settings settings;
  Network network;
  size_t most;  // maximum number of fits
  std::vector<mk_fit> fits = {};
  double cost = 0;

  bool takes(const Settings& s, const Network& n) const {
    return fits.size() < most && same_shape(network, settings, n, s);
  }
};

// Puts the fits of each candidate into a bundle of their shape that has room.
std::vector<Bundle> bundles_of(const mk_experiment& experiment, bool single) {
  std::vector<Bundle> bundles;
  for (uint32_t c = 0; c < experiment.n_candidates; ++c) {
    const Settings settings = candidate_settings(experiment, c);
    const Network network = candidate_network(experiment, settings);
    const double cost = fit_cost(experiment, settings, network);
    size_t at =
        std::find_if(bundles.begin(), bundles.end(), [&](const Bundle& b) { return b.takes(settings, network); }) -
        bundles.begin();
    for (uint32_t b = 0; b < experiment.n_bootstraps; ++b)
      for (uint32_t f = 0; sdk::has(experiment, c, b) && f < experiment.n_folds; ++f) {
        if (at == bundles.size() || bundles[at].fits.size() == bundles[at].most) {
          at = bundles.size();
          bundles.push_back({settings, network, single ? 1 : stack_size(settings, network)});
        }
        bundles[at].fits.push_back({c, int32_t(f), 0, b, nullptr, ""});
        bundles[at].cost += cost;
      }
  }
  return bundles;
}

}  // namespace

Settings candidate_settings(const mk_experiment& experiment, uint32_t candidate) {
  Settings settings = settings_of(experiment.values + candidate * kParams.size(), classifies(experiment));
  settings.weighted = settings.weighted || experiment.train->weights != nullptr;
  const std::string mixing = settings.mixup_alpha > 0 ? "mixup_alpha" : "cutmix_alpha";
  if (settings.weighted && settings.mixes())
    throw Error(MK_INVALID_ARGUMENT,
                mixing +
                    " excludes weights of rows and classes, since a mixture has two rows: set it to 0, or remove "
                    "class_weight or the weights of the data");
  return settings;
}

Network candidate_network(const mk_experiment& experiment, const Settings& settings) {
  const mk_data& d = *experiment.train;
  const bool image = int64_t{d.height} * d.width > 1;
  const Shape input = image ? Shape{d.height, d.width, d.channels, false} : Shape{1, 1, d.features, true};
  augment_for(settings.augment, input);
  if (settings.mirrors && input.flat)
    throw Error(MK_INVALID_ARGUMENT,
                "test_time_augmentation mirrors images, but the data has rows of features; remove it");
  if (settings.cutmix_alpha > 0 && input.flat)
    throw Error(MK_INVALID_ARGUMENT,
                "cutmix_alpha mixes parts of images, but the data has rows of features: use mixup_alpha");
  Network network = make_network(settings, input, classifies(experiment) ? d.n_classes : 1);
  if (settings.muon.used() && muon_weights(network.parameters).empty())
    throw Error(
        MK_INVALID_ARGUMENT,
        "optimizer = \"muon\" needs a weight before that of the last layer, and this network has none: use adamw");
  return network;
}

size_t stack_size(const Settings& settings, const Network& network) {
  // The figure is rough, because stacks of 8 and of 32 small networks differ little (bench/notes/small-networks.md).
  constexpr double kEnough = 64e6;  // multiply-adds
  constexpr double kMost = 32;
  if (settings.parallel.kind != Parallel::Kind::none) return 1;  // each network takes all devices
  if (settings.cutmix_alpha > 0) return 1;                       // the rectangles of networks have different sizes
  const double step = 3 * products(network) * settings.batch_size;
  return std::clamp(kEnough / std::max(step, 1.0), 1.0, kMost);
}

void check_batches(const mk_experiment& experiment, const sdk::Team& team) {
  int64_t fewest = experiment.train->rows;
  for (const mk_sample& sample : std::span(experiment.samples, experiment.n_bootstraps))
    for (int32_t f = 0; f < int32_t(experiment.n_folds); ++f)
      fewest = std::min(fewest, sample.places - std::count(sample.fold_of, sample.fold_of + sample.places, f));
  for (uint32_t c = 0; c < experiment.n_candidates; ++c) {
    const Settings alone = candidate_settings(experiment, c);
    const int64_t batch = settings_for(alone, team).batch_size;
    if (batch <= fewest || alone.epochs == 0) continue;
    const std::string each =
        batch == alone.batch_size ? "" : " for each of " + std::to_string(team.members()) + " devices";
    throw Error(MK_INVALID_ARGUMENT, "batch_size is " + std::to_string(alone.batch_size) + each +
                                         ", but a fit trains on " + std::to_string(fewest) + " rows: lower it");
  }
}

std::vector<float> row_weights(const mk_experiment& experiment, const Settings& settings, uint32_t sample,
                               int32_t fold) {
  const mk_data& d = *experiment.train;
  if (!settings.weighted) return {};
  const std::vector<double> classes = sdk::class_weights(settings.class_weight, d, experiment.samples[sample], fold);
  std::vector<float> weights(d.rows, 1);
  for (int64_t r = 0; r < d.rows; ++r) {
    if (d.weights != nullptr) weights[r] = d.weights[r];
    if (!classes.empty()) weights[r] *= classes[d.labels[r]];
  }
  return weights;
}

namespace {

// Throws an Error if class_weight names an unknown class.
void check_class_weights(const mk_experiment& experiment) {
  for (uint32_t c = 0; c < experiment.n_candidates && experiment.n_bootstraps > 0; ++c)
    sdk::class_weights(candidate_settings(experiment, c).class_weight, *experiment.train, experiment.samples[0],
                       MK_ALL_ROWS);
}

// Warns once about each file and network that do not match completely.
void check_start(const sdk::Host& host, const mk_experiment& experiment, const Settings& settings,
                 const Network& network, std::set<std::string>& warned) {
  const bool learns = network.trained[network.output];
  if (settings.epochs > 0 && !learns)
    throw Error(MK_INVALID_ARGUMENT,
                "freeze names every layer with parameters, so nothing learns: remove one, or set epochs to 0");
  if (settings.start.empty()) return;
  const std::string warning = Start(settings.start, start_bytes(experiment, settings), network).warning();
  if (!warning.empty() && warned.insert(warning).second) host.log(MK_LOG_WARNING, "cnn", warning);
}

}  // namespace

std::string_view start_bytes(const mk_experiment& experiment, const Settings& settings) {
  if (settings.start.empty()) return {};
  for (const mk_file& file : std::span(experiment.files, experiment.n_files))
    if (file.path == settings.start) return {static_cast<const char*>(file.bytes), file.size};
  throw Error(MK_INTERNAL, "the program did not read " + settings.start);
}

void check(const sdk::Host& host, const mk_experiment& experiment) {
  const mk_data& d = *experiment.train;
  if (d.labels == nullptr && d.targets == nullptr)
    throw Error(MK_BAD_DATA, "cnn learns from labels or targets, and this data set has none");
  if (d.rows > INT32_MAX) throw Error(MK_BAD_DATA, "cnn supports at most 2^31 - 1 rows: set data.limit");
  check_batches(experiment, sdk::Team(nullptr));
  std::set<std::string> warned;
  for (uint32_t c = 0; c < experiment.n_candidates; ++c) {
    const Settings settings = candidate_settings(experiment, c);
    const Network network = candidate_network(experiment, settings);
    for (const auto& layer : network.layers) layer->check_rows(d.x, d.rows);
    check_start(host, experiment, settings, network, warned);
  }
  check_class_weights(experiment);
}

void make_bundles(const mk_experiment& experiment, uint32_t wanted, const mk_bundle_sink& sink) {
  std::vector<Bundle> bundles = bundles_of(experiment, false);
  if (wanted > bundles.size()) bundles = bundles_of(experiment, true);
  const int64_t rows = experiment.train->rows;
  for (const Bundle& b : bundles) {
    // This is the minimum, because fits whose stack exceeds the memory train one at a time.
    const uint64_t bytes = ResidentData::bytes(*experiment.train) + Training::bytes(b.network, b.settings, rows);
    const mk_bundle bundle{b.fits.data(), uint32_t(b.fits.size()), 0, b.cost, bytes};
    sdk::call(sink.add, sink.self, &bundle);
  }
}

std::string summary(const mk_experiment& experiment, uint32_t candidate) {
  const Settings settings = candidate_settings(experiment, candidate);
  return describe(candidate_network(experiment, settings), settings.batch_size);
}

void steps(const mk_experiment& experiment, uint32_t candidate, const std::function<void(const mk_step&)>& take) {
  pass_steps(candidate_network(experiment, candidate_settings(experiment, candidate)), take);
}

}  // namespace mokume::cnn
