#include "checks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>

#include "fitted.hpp"
#include "matrix/kernel_store.hpp"
#include "nu_start.hpp"
#include "nystrom/check.hpp"
#include "rows.hpp"
#include "sdk/model.hpp"
#include "settings.hpp"

namespace mokume::svc {
namespace {

void check_precomputed(const mk_experiment& experiment) {
  const mk_data& train = *experiment.train;
  uint32_t precomputed = 0;
  for (uint32_t c = 0; c < experiment.n_candidates; ++c)
    precomputed += candidate_settings(experiment, c).precomputed ? 1 : 0;
  if (precomputed == 0) return;
  if (train.starts != nullptr)
    throw Error(MK_UNSUPPORTED, "the kernel is precomputed, and its matrix is dense: remove data.storage");
  if (precomputed < experiment.n_candidates)
    throw Error(
        MK_INVALID_ARGUMENT,
        "the kernel is precomputed for only some candidates, although the inputs are its values: use it for all");
  if (train.features != train.rows)
    throw Error(
        MK_BAD_DATA,
        "a precomputed kernel needs one column per training row, but the data has " + std::to_string(train.features) +
            " columns and " + std::to_string(train.rows) +
            " training rows: give the square matrix of the training rows without limit, outer folds or dropped rows");
  if (experiment.n_scaling > 0)
    throw Error(MK_INVALID_ARGUMENT,
                "the kernel is precomputed, and scaling would change its values: set data.standardize to \"none\"");
}

void check_kinds(const mk_experiment& experiment) {
  const mk_data& train = *experiment.train;
  uint32_t one_class = 0;
  for (uint32_t c = 0; c < experiment.n_candidates; ++c) {
    const Kind kind = candidate_settings(experiment, c).kind;
    one_class += kind == Kind::one_class ? 1 : 0;
    const bool of_numbers = kind == Kind::epsilon_svr || kind == Kind::nu_svr;
    if (train.n_classes == 0 && !of_numbers && kind != Kind::automatic)
      throw Error(MK_INVALID_ARGUMENT,
                  "kind is c_svc, nu_svc or one_class, which have classes, but the targets are numbers: set kind to "
                  "\"epsilon_svr\" or \"nu_svr\", or data.task to \"classification\"");
    if (train.n_classes > 0 && of_numbers)
      throw Error(MK_INVALID_ARGUMENT,
                  "kind is epsilon_svr or nu_svr, which predict numbers, but the targets are classes: set data.task to "
                  "\"regression\"");
  }
  if (one_class == 0) return;
  if (one_class < experiment.n_candidates)
    throw Error(MK_INVALID_ARGUMENT,
                "kind is one_class for only some candidates, although it ignores the classes: use it for all");
  if (train.n_classes != 2 || std::string_view(train.class_names[0]) != kRejected ||
      std::string_view(train.class_names[1]) != kAccepted)
    throw Error(MK_BAD_DATA,
                "kind is one_class, whose classes are 1 for accepted rows and -1 for rejected ones, but the data has "
                "other classes: use these labels, and set data.task to \"one_class\"");
}

double largest_square(const mk_data& train) {
  double most = 0;
  for (int64_t r = 0; r < train.rows; ++r) {
    const int64_t first = train.starts != nullptr ? train.starts[r] : r * train.features;
    const int64_t end = train.starts != nullptr ? train.starts[r + 1] : first + train.features;
    double sum = 0;
    for (int64_t k = first; k < end; ++k) sum += double{train.x[k]} * double{train.x[k]};
    most = std::max(most, sum);
  }
  return most;
}

double largest_size(const mk_data& train) {
  const float* const end = train.x + train.rows * train.features;
  return std::accumulate(train.x, end, 0.0, [](double most, float x) { return std::max(most, std::fabs(double{x})); });
}

// Refuses kernel values that halves cannot store. The fits look again, because each may have a gamma of its own.
void check_storage(const mk_experiment& experiment) {
  const mk_data& train = *experiment.train;
  uint32_t halves = 0;
  for (uint32_t c = 0; c < experiment.n_candidates; ++c)
    halves += candidate_settings(experiment, c).storage == Storage::fp16 ? 1 : 0;
  if (halves == 0) return;
  if (halves < experiment.n_candidates)
    throw Error(
        MK_INVALID_ARGUMENT,
        "the kernel_storage of some candidates is fp16: then it must be that of all, since they share the memory");
  const double most = largest_square(train);
  std::map<GammaUnit, double> units;
  for (uint32_t c = 0; c < experiment.n_candidates; ++c) {
    Settings settings = candidate_settings(experiment, c);
    if (settings.approximates)
      throw Error(MK_INVALID_ARGUMENT,
                  "kernel_storage is fp16, but approximation \"nystrom\" stores features in place of kernel values: "
                  "remove one of the two");
    const auto [unit, fresh] = units.try_emplace(settings.gamma_unit, 1.0);
    if (fresh) unit->second = size_of(settings.gamma_unit, experiment, 0, MK_ALL_ROWS);
    settings.kernel.gamma *= unit->second;
    check_range_of_halves(settings.precomputed ? largest_size(train) : largest_value(settings.kernel, most));
  }
}

// Returns why the fits of some fold with this nu have no solution, or "".
std::string why_infeasible_in_folds(const mk_experiment& experiment, const RowOrder& order, const Settings& settings) {
  if (experiment.n_folds == 0) return why_infeasible(order, settings, MK_ALL_ROWS, settings.nu);
  for (uint32_t fold = 0; fold < experiment.n_folds; ++fold)
    if (std::string why = why_infeasible(order, settings, static_cast<int32_t>(fold), settings.nu); !why.empty())
      return why;
  return "";
}

// Warns if some candidates have an infeasible nu, and refuses an experiment in which all have one. The smallest and the
// largest nu tell this for all others. Further bootstraps have about the same shares of classes as the first one.
void check_feasible(const sdk::Host& host, const mk_experiment& experiment) {
  uint32_t others = 0;
  std::optional<Settings> least, most;
  for (uint32_t c = 0; c < experiment.n_candidates; ++c) {
    const Settings settings = candidate_settings(experiment, c);
    if (settings.kind != Kind::nu_svc) {
      ++others;
      continue;
    }
    if (!least || settings.nu < least->nu) least = settings;
    if (!most || settings.nu > most->nu) most = settings;
  }
  if (!most) return;
  const RowOrder order(experiment, 0);
  const std::string why = why_infeasible_in_folds(experiment, order, *most);
  if (why.empty()) return;
  const std::string none = others > 0 ? "" : why_infeasible_in_folds(experiment, order, *least);
  if (!none.empty()) throw Error(MK_INVALID_ARGUMENT, none + ": lower nu");
  host.log(MK_LOG_WARNING, "svc", why + ", and fits with a larger nu fail: lower nu");
}

// Refuses parameters without effect.
void check_nu(const Settings& settings) {
  const auto refuse = [](const std::string& what) { throw Error(MK_INVALID_ARGUMENT, what); };
  if (!has_nu(settings.kind)) {
    if (settings.nu != kDefaultNu)
      refuse(
          "nu has no effect on C-SVC and epsilon-SVR: set kind to \"nu_svc\", \"nu_svr\" or \"one_class\", or "
          "remove nu");
    return;
  }
  if (settings.kind == Kind::nu_svr && settings.epsilon != kDefaultEpsilon)
    refuse("kind is nu_svr, whose nu takes the place of epsilon: remove epsilon");
  if (settings.kind != Kind::nu_svr && settings.c != 1)
    refuse("kind is nu_svc or one_class, whose nu takes the place of C: remove C");
  if (!settings.class_weight.empty()) refuse("class_weight multiplies C, which nu_svc and one_class lack: remove it");
}

}  // namespace

void check(const sdk::Host& host, const mk_experiment& experiment) {
  const mk_data& train = *experiment.train;
  const bool regression = train.n_classes == 0;
  if (regression ? train.targets == nullptr : train.labels == nullptr)
    throw Error(MK_BAD_DATA, "svc learns from labels or targets, and this data set has none");
  check_kinds(experiment);
  const bool one_class = candidate_settings(experiment, 0).kind == Kind::one_class;
  if (!regression && !one_class &&
      std::all_of(train.labels, train.labels + train.rows, [&](int32_t label) { return label == train.labels[0]; }))
    throw Error(
        MK_BAD_DATA,
        "svc needs at least two classes, but the training rows have only one: set kind to \"one_class\", or add "
        "rows of another class");
  if (train.rows >= (int64_t{1} << 31) - kBlock)
    throw Error(MK_BAD_DATA, "svc supports at most 2^31 rows: set data.limit");
  check_precomputed(experiment);
  check_approximations(experiment);
  check_storage(experiment);
  for (uint32_t c = 0; c < experiment.n_candidates; ++c) {
    const Settings settings = candidate_settings(experiment, c);
    if (!regression && (settings.epsilon != kDefaultEpsilon || settings.standardise_target))
      throw Error(MK_INVALID_ARGUMENT,
                  "epsilon and standardise_target are for numbers, but the targets are classes: remove them, or set "
                  "data.task to \"regression\"");
    if (regression && !settings.class_weight.empty())
      throw Error(MK_INVALID_ARGUMENT, "class_weight weighs classes, but the targets are numbers: remove it");
    check_nu(settings);
    if (train.starts != nullptr && settings.kernel.pairs != Pairs::products)
      throw Error(MK_UNSUPPORTED,
                  "the kernels laplacian and chi2 compare dense rows: choose another kernel, or remove data.storage");
    check_inputs(settings.kernel, train.x, train.rows, train.features, "training row");
    if (const mk_data* const test = experiment.test; test != nullptr)
      check_inputs(settings.kernel, test->x, test->rows, test->features, "test row");
    const bool weighs = !regression && !weights_of(settings.class_weight, experiment, 0, MK_ALL_ROWS).empty();
    if (weighs && train.n_classes > 2 && settings.multiclass == Multiclass::one_vs_rest)
      throw Error(MK_INVALID_ARGUMENT,
                  "class_weight has no meaning with multiclass = \"ovr\", where one side has rows of many classes: set "
                  "multiclass = \"ovo\", or remove class_weight");
  }
  check_feasible(host, experiment);
}

}  // namespace mokume::svc
