#include "session.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>

#include "refit_runner.hpp"
#include "sdk/model.hpp"
#include "sdk/ops.hpp"

namespace mokume::svc {
namespace {

constexpr double kLeastTol = 1e-6;       // lower limit of the tolerance when ill-determined fits are solved again
constexpr int64_t kPlacesOnTheFly = 64;  // each place may need two kernel rows at once

int64_t most_problems(const mk_experiment& experiment) {
  int64_t most = 1;
  for (uint32_t c = 0; c < experiment.n_candidates; ++c) {
    const Settings s = candidate_settings(experiment, c);
    most = std::max(most, static_cast<int64_t>(binary_problems(experiment.train->n_classes, s.multiclass, 0).size()));
  }
  return most;
}

// Returns the number of features times the variance of all inputs, estimated from fewer than 2000 rows. Its inverse is
// scikit-learn's gamma = "scale".
double spread(const mk_data& data) {
  const int64_t step = std::max<int64_t>(1, data.rows / 1000);
  double sum = 0, squares = 0, count = 0;
  for (int64_t r = 0; r < data.rows; r += step) {
    const int64_t first = data.starts != nullptr ? data.starts[r] : r * data.features;
    const int64_t end = data.starts != nullptr ? data.starts[r + 1] : first + data.features;
    for (const float* x = data.x + first; x < data.x + end; ++x) {
      sum += *x;
      squares += static_cast<double>(*x) * static_cast<double>(*x);
    }
    count += static_cast<double>(data.features);
  }
  if (count == 0) return 1;
  const double mean = sum / count;
  return static_cast<double>(data.features) * std::max(0.0, squares / count - mean * mean);
}

// Returns whether an RBF kernel is at least as narrow as with scikit-learn's gamma = "scale". Nearly all rows then
// become support vectors, and their multipliers move once or twice. Large working sets therefore gain nothing over
// LIBSVM's steps, and are slower if the kernel matrix exceeds the caches (ADR 34).
bool is_narrow(const Kernel& kernel, double spread) {
  return kernel.pairs == Pairs::products && kernel.kind == ops::KernelKind::rbf && kernel.gamma * spread >= 1;
}

bool any_blocked(const mk_experiment& experiment, double spread) {
  if (experiment.train->n_classes == 0) return false;
  for (uint32_t c = 0; c < experiment.n_candidates; ++c) {
    const Settings s = candidate_settings(experiment, c);
    const bool narrow = s.gamma_unit == GammaUnit::one && is_narrow(s.kernel, spread);
    if (s.solver == SolverKind::blocked && !s.approximates && !narrow && !has_nu(s.kind)) return true;
  }
  return false;
}

bool any_nu(const mk_experiment& experiment) {
  for (uint32_t c = 0; c < experiment.n_candidates; ++c)
    if (has_nu(candidate_settings(experiment, c).kind)) return true;
  return false;
}

// Guesses the relative duration of a fit until measurements are available. Wide kernels take many steps, and narrow
// kernels have many support vectors. The formulas fit grids on MNIST over four decades of gamma (LIBSVM's steps:
// bench/results/svc-grid-times.csv; default solver: ADR 34).
double guessed_cost(SolverKind solver, const ops::KernelFunction& kernel, double gamma, double spread) {
  if (kernel.kind != ops::KernelKind::rbf) return 1;
  const double narrowness = std::clamp(gamma * spread, 1e-6, 1e3);
  if (solver == SolverKind::libsvm) return 1 / std::cbrt(narrowness) + narrowness / 2;
  return std::pow(narrowness, -0.2) + 0.55 * narrowness;
}

// Lists candidates that share a kernel matrix or features, in ascending order of C.
struct Group {
  uint32_t bootstrap = 0;
  Settings settings;  // parameters of the first candidate
  std::vector<uint32_t> candidates;
};

// Converts the gamma of a group to the unit 1, using all rows in place of the training rows of a fit.
double gamma_in_one(const Group& group, const mk_data& data, double spread) {
  const double gamma = group.settings.kernel.gamma;
  if (group.settings.gamma_unit == GammaUnit::automatic) return gamma / static_cast<double>(data.features);
  return group.settings.gamma_unit == GammaUnit::scale && spread > 0 ? gamma / spread : gamma;
}

std::vector<Group> kernel_groups(const mk_experiment& experiment) {
  std::vector<Group> groups;
  for (uint32_t b = 0; b < experiment.n_bootstraps; ++b) {
    const size_t first = groups.size();
    for (uint32_t c = 0; c < experiment.n_candidates; ++c) {
      if (!sdk::has(experiment, c, b)) continue;
      const Settings s = candidate_settings(experiment, c);
      size_t g = first;
      while (g < groups.size() &&
             !(same_features(groups[g].settings, s) && groups[g].settings.gamma_unit == s.gamma_unit))
        ++g;
      if (g == groups.size()) groups.push_back({b, s, {}});
      groups[g].candidates.push_back(c);
    }
  }
  for (Group& group : groups)
    std::stable_sort(group.candidates.begin(), group.candidates.end(), [&](uint32_t a, uint32_t b) {
      return candidate_settings(experiment, a).c < candidate_settings(experiment, b).c;
    });
  return groups;
}

// Limits the problems that are solved at once.
struct Room {
  int64_t places, folds;
};

}  // namespace

Settings SvcSession::settings_for(const mk_fit& fit) {
  Settings settings = candidate_settings(experiment_, fit.candidate);
  const auto [known, fresh] = gamma_units_.try_emplace({settings.gamma_unit, fit.bootstrap, fit.fold}, 1.0);
  if (fresh) known->second = size_of(settings.gamma_unit, experiment_, fit.bootstrap, fit.fold);
  settings.kernel.gamma *= known->second;
  settings.gamma_unit = GammaUnit::one;
  settings.class_weights = weights_of(settings.class_weight, experiment_, fit.bootstrap, fit.fold);
  const bool regression = experiment_.train->n_classes == 0;
  if (settings.kind == Kind::automatic) settings.kind = regression ? Kind::epsilon_svr : Kind::c_svc;
  if (regression || has_nu(settings.kind) || is_narrow(settings.kernel, spread_)) settings.solver = SolverKind::libsvm;
  return settings;
}

SvcSession::SvcSession(const sdk::Host& host, const mk_experiment& experiment, const mk_device_services* device)
    : host_(host),
      experiment_(experiment),
      device_(device),
      spread_(spread(*experiment.train)),
      checkpoints_(host, device_.info(), experiment) {}

void SvcSession::release_matrix() {
  blocked_.reset();
  places_.reset();
  store_.reset();
}

void SvcSession::prepare(uint32_t bootstrap, bool approximates) {
  const auto phase = device_.phase("load");
  if (!order_ || bootstrap != bootstrap_) {
    nystrom_.reset();
    release_matrix();
    order_.emplace(experiment_, bootstrap);
    bootstrap_ = bootstrap;
    warn_of_unit();
  }
  if (approximates) {
    release_matrix();
    if (!nystrom_) nystrom_.emplace(host_, device_, *experiment_.train, *order_);
  } else if (!store_) {
    nystrom_.reset();
    prepare_matrix();
  }
}

void SvcSession::prepare_matrix() {
  const int64_t problems = most_problems(experiment_);
  const int64_t folds = std::max<int64_t>(1, experiment_.n_folds);
  const int64_t max_places = most_places(device_.info(), working_set(order_->rows()));
  const int64_t folds_at_once = std::max<int64_t>(1, std::min(folds, max_places / problems));
  const bool blocked = any_blocked(experiment_, spread_), has_nus = any_nu(experiment_);
  const int64_t sides = has_nus ? 2 : 1;
  const int64_t fewest = std::min(max_places, folds_at_once * problems);
  const int64_t ahead = most_ahead(device_.info());
  const int64_t most_running = std::min(ahead * fewest, problems_at_once(device_.info()));
  Room room{std::clamp(most_running, fewest, max_places), folds_at_once};
  const auto reserve = [&] {
    const int64_t coef_rows = coef_rows_per_fold(problems, room.places, ahead);
    return Places::bytes(*order_, room.places, room.folds * coef_rows, sides) +
           (blocked ? BlockedSolver::bytes(*order_, room.places) : 0) +
           static_cast<uint64_t>(order_->rows() * coef_rows) * sizeof(float);
  };
  const Settings first = candidate_settings(experiment_, 0);
  const auto matrices = [&](KernelMode mode) {
    return matrix_bytes(order_->rows(), order_->stride(), first.storage, mode);
  };
  const uint64_t budget = device_.budget_bytes();
  const auto fits = [&](int64_t places, KernelMode mode) {
    room.places = places;
    return reserve() + matrices(mode) <= budget;
  };
  // Running ahead must not take the memory of the Gram matrix or the kernel matrix.
  const int64_t most = room.places;
  const KernelMode mode = fits(fewest, KernelMode::gram_kept) ? KernelMode::gram_kept : KernelMode::in_place;
  if (fits(fewest, mode)) {
    for (int64_t places = most; !fits(places, mode);) places = std::max(fewest, places / 2);
  } else {
    room = {std::min(fewest, kPlacesOnTheFly), 1};
    while (room.places > 1 && reserve() > budget / 2) room.places = (room.places + 1) / 2;
  }
  // While a problem with nu waits for a row, it keeps one of each side.
  const int64_t rows_of_places = sides * room.places;
  const int64_t rows_at_once = blocked ? std::max(rows_of_places, working_set(order_->rows()) / 2) : rows_of_places;
  store_.emplace(host_, device_, *experiment_.train, *order_, reserve(), rows_at_once, first);
  places_.emplace(device_, *order_, room.places, room.folds * coef_rows_per_fold(problems, room.places, ahead), sides);
  if (!libsvm_) libsvm_.emplace(host_, device_, order_->regression(), first.storage);
  if (has_nus && !nu_) nu_.emplace(host_, device_, order_->regression(), first.storage);
  if (blocked) blocked_.emplace(host_, device_, *order_, room.places, first.storage);
  host_.log(
      MK_LOG_INFO, "svc",
      std::string(device_.info().name) + ": " + store_->mode_name() + ", " + std::to_string(order_->rows()) + " rows");
}

// The default C and epsilon of a regression suit targets with a deviation of about 1.
void SvcSession::warn_of_unit() {
  constexpr double kFar = 30;
  if (warned_ || !order_->regression()) return;
  warned_ = true;
  const double deviation = order_->target_deviation(MK_ALL_ROWS);
  if (candidate_settings(experiment_, 0).standardise_target || (deviation < kFar && deviation > 1 / kFar)) return;
  char text[32];
  std::snprintf(&text[0], sizeof(text), "%.3g", deviation);
  host_.log(
      MK_LOG_WARNING, "svc",
      std::string("the targets deviate by ") + &text[0] +
          ", and C and epsilon are in their unit: set standardise_target = true in [model_options], or scale them");
}

Solver& SvcSession::solver_for(const Settings& settings) {
  if (has_nu(settings.kind)) return *nu_;
  if (settings.solver == SolverKind::blocked) return *blocked_;
  return *libsvm_;
}

void SvcSession::fit(std::span<const mk_fit> fits, const mk_fit_sink& sink) {
  std::vector<Settings> settings;
  for (const mk_fit& fit : fits) settings.push_back(settings_for(fit));

  // Groups fits that differ only in C and fold, in order of first appearance.
  std::vector<bool> taken(fits.size(), false);
  for (size_t first = 0; first < fits.size(); ++first) {
    if (taken[first] || settings[first].approximates) continue;
    prepare(fits[first].bootstrap, false);
    const auto before = std::count(taken.begin(), taken.end(), true);
    std::vector<ChainRunner::FoldSteps> folds = take_chain(fits, settings, first, taken);
    const auto members = static_cast<double>(std::count(taken.begin(), taken.end(), true) - before);
    const double share_done = static_cast<double>(before) / static_cast<double>(fits.size());
    report_infeasible(settings[first], folds, sink);
    run_chains({"", fits[first].bootstrap, fits[first].fold, 1, settings[first]}, folds, sink, share_done,
               members / static_cast<double>(fits.size()));
  }
  fit_approximately(fits, settings, sink);
}

std::vector<ChainRunner::FoldSteps> SvcSession::take_chain(std::span<const mk_fit> fits,
                                                           const std::vector<Settings>& settings, size_t first,
                                                           std::vector<bool>& taken) const {
  std::vector<ChainRunner::FoldSteps> folds;
  for (size_t k = first; k < fits.size(); ++k) {
    if (taken[k] || fits[first].bootstrap != fits[k].bootstrap || !same_chain(settings[first], settings[k])) continue;
    taken[k] = true;
    const auto fold = static_cast<uint32_t>(fits[k].fold);
    auto at = std::find_if(folds.begin(), folds.end(), [&](const auto& f) { return f.fold == fold; });
    if (at == folds.end()) at = folds.insert(folds.end(), {fold, {}});
    at->steps.push_back({settings[k].c,
                         settings[k].nu,
                         static_cast<uint32_t>(k),
                         fits[k].done != 0,
                         fits[k].note != nullptr ? fits[k].note : "",
                         fits[k].scratch,
                         {}});
  }
  for (auto& fold : folds)
    std::stable_sort(fold.steps.begin(), fold.steps.end(), [](const auto& a, const auto& b) { return a.c < b.c; });
  return folds;
}

void SvcSession::fit_approximately(std::span<const mk_fit> fits, const std::vector<Settings>& settings,
                                   const mk_fit_sink& sink) {
  std::map<uint32_t, std::vector<ApproximateFit>> of_bootstrap;
  size_t left = 0;
  for (size_t k = 0; k < fits.size(); ++k) {
    if (!settings[k].approximates || fits[k].done != 0) continue;
    of_bootstrap[fits[k].bootstrap].push_back({settings[k], fits[k].fold, static_cast<uint32_t>(k)});
    ++left;
  }
  for (const auto& [bootstrap, here] : of_bootstrap) {
    prepare(bootstrap, true);
    const auto all = static_cast<double>(fits.size());
    nystrom_->run(here, sink, static_cast<double>(fits.size() - left) / all, static_cast<double>(here.size()) / all);
    left -= here.size();
  }
}

void SvcSession::report_infeasible(const Settings& settings, std::vector<ChainRunner::FoldSteps>& folds,
                                   const mk_fit_sink& sink) {
  for (ChainRunner::FoldSteps& fold : folds)
    std::erase_if(fold.steps, [&](const ChainRunner::Step& step) {
      const std::string why =
          step.done ? "" : why_infeasible(*order_, settings, static_cast<int32_t>(fold.fold), step.nu);
      if (why.empty()) return false;
      mk_fit_result result{};
      result.index = step.fit;
      result.status = MK_FIT_FAILED;
      result.n = order_->fold_rows(fold.fold);
      result.note = why.c_str();
      sdk::call(sink.report, sink.self, &result);
      return true;
    });
}

void SvcSession::run_chains(const FitName& chain, const std::vector<ChainRunner::FoldSteps>& folds,
                            const mk_fit_sink& sink, double share_done, double share) {
  const Settings& settings = chain.settings;
  const bool tightens = settings.tighten && settings.tol > kLeastTol && !order_->regression() && !has_nu(settings.kind);
  const bool hands_over = settings.solver == SolverKind::blocked || tightens;
  FitName by = chain;
  Pass pass = hands_over ? Pass::first : Pass::only;
  for (std::vector<ChainRunner::FoldSteps> left = folds; !left.empty();) {
    // The progress display attributes the whole share of the bundle to the first pass; later passes run at its end.
    const bool first = pass == Pass::first || pass == Pass::only;
    ChainRunner runner(device_, *order_, *store_, *places_, solver_for(by.settings), by, pass, checkpoints_);
    runner.run(left, sink, share_done + (first ? 0 : share), first ? share : 0);
    left = runner.handed_over();
    ++by.pass;
    by.settings.solver = SolverKind::libsvm;
    double& tol = by.settings.tol;
    if (tightens) tol = std::max(kLeastTol, tol / 10);
    pass = !tightens || tol <= kLeastTol ? Pass::handed_over : Pass::again;
  }
}

std::unique_ptr<Fitted> SvcSession::refit(const mk_fit& fit, const mk_fit_sink& sink) {
  const Settings settings = settings_for(fit);
  prepare(fit.bootstrap, settings.approximates);
  if (settings.approximates) {
    auto fitted = std::make_unique<Fitted>();
    fitted->settings = settings;
    fitted->features = order_->features();
    sdk::take_description(experiment_, *fitted);
    nystrom_->refit(settings, sink, *fitted);
    return fitted;
  }
  const auto problems = weighted_problems(order_->classes(), settings, MK_ALL_ROWS);
  if (const std::string why = why_infeasible(*order_, settings, MK_ALL_ROWS, settings.nu); !why.empty())
    throw Error(MK_INVALID_ARGUMENT, why);
  const FitName name{fit.scratch, fit.bootstrap, fit.fold, 1, settings};
  RefitRunner runner(*order_, *store_, *places_, solver_for(settings), name, checkpoints_);
  return collect(settings, problems, runner.run(problems, sink));
}

std::unique_ptr<Fitted> SvcSession::collect(const Settings& settings, const std::vector<BinaryProblem>& problems,
                                            const std::vector<Solution>& solutions) {
  auto fitted = std::make_unique<Fitted>();
  const auto phase = device_.phase("collect");
  const int64_t ld = order_->stride(), d = order_->features();
  std::vector<float> coef(problems.size() * static_cast<size_t>(ld));
  device_.read(places_->coefficients(), coef.data(), coef.size());
  std::vector<int64_t> used;
  for (int64_t r = 0; r < order_->rows(); ++r)
    for (size_t p = 0; p < problems.size(); ++p)
      if (coef[p * static_cast<size_t>(ld) + static_cast<size_t>(r)] != 0) {
        used.push_back(r);
        break;
      }
  std::stable_sort(used.begin(), used.end(), [&](int64_t a, int64_t b) { return order_->label(a) < order_->label(b); });
  fitted->settings = settings;
  fitted->features = d;
  const mk_data& train = *experiment_.train;
  fitted->keeps_sparse = train.starts != nullptr;
  sdk::take_description(experiment_, *fitted);
  for (const int64_t r : used) {
    if (settings.precomputed) {
      fitted->vectors.resize(fitted->vectors.size() + static_cast<size_t>(d), 0.0F);
      fitted->vectors[fitted->vectors.size() - static_cast<size_t>(d - order_->original(r))] = 1;
    } else if (fitted->keeps_sparse) {
      fitted->sparse.append(train, order_->original(r));
    } else {
      const float* x = train.x + order_->original(r) * d;
      fitted->vectors.insert(fitted->vectors.end(), x, x + d);
    }
    fitted->vector_class.push_back(order_->label(r));
    fitted->training_rows.push_back(order_->original(r));
  }
  for (size_t p = 0; p < problems.size(); ++p) {
    const auto sign = static_cast<float>(problems[p].decision_sign());
    double sum = 0;
    for (const int64_t r : used) {
      const float coefficient = sign * coef[p * static_cast<size_t>(ld) + static_cast<size_t>(r)];
      fitted->coefficients.push_back(coefficient + 0.0F);  // never -0, which devices may have in place of 0
      sum += static_cast<double>(fitted->coefficients.back());
    }
    // Subtracting 1 from a kernel changes rho by the sum of the coefficients, which rounding may keep from being 0.
    const double ones = kernel_of(settings, *store_).kind == ops::KernelKind::rbf_minus_one ? sum : 0;
    fitted->rho.push_back(
        static_cast<float>(static_cast<double>(sign * solutions[p].rho) + ones - order_->target_mean()));
    fitted->steps.push_back(solutions[p].steps);
    fitted->converged.push_back(!solutions[p].capped);
    if (!std::isfinite(solutions[p].rho))
      throw Error(MK_INVALID_ARGUMENT, std::string("in the refit, ") + why_not_finite(settings.kind));
  }
  return fitted;
}

void make_bundles(const mk_experiment& experiment, uint32_t parts, const mk_bundle_sink& sink) {
  const std::vector<Group> groups = kernel_groups(experiment);
  const uint32_t folds = experiment.n_folds;
  if (folds == 0) return;
  const auto wanted = static_cast<uint32_t>((parts + groups.size() - 1) / groups.size());
  const uint32_t pieces = std::clamp<uint32_t>(wanted, 1, folds);
  const mk_data& train = *experiment.train;
  const auto n = static_cast<uint64_t>(train.rows);
  const auto inputs = static_cast<uint64_t>(train.starts != nullptr ? 2 * (train.starts[train.rows] - train.starts[0])
                                                                    : train.rows * train.features);
  // A bundle needs the training rows, and kernel rows in the mode on_the_fly.
  const uint64_t bytes_of_matrix = inputs * sizeof(float) + 256 * n * sizeof(float);
  const double rows_spread = spread(train);
  for (size_t g = 0; g < groups.size(); ++g) {
    const Settings& settings = groups[g].settings;
    const double gamma = gamma_in_one(groups[g], train, rows_spread);
    const double each = guessed_cost(settings.solver, settings.kernel, gamma, rows_spread);
    const uint64_t bytes =
        settings.approximates ? Features::bytes(train.rows, train.features, settings.landmarks) : bytes_of_matrix;
    for (uint32_t piece = 0; piece < pieces; ++piece) {
      std::vector<mk_fit> fits;
      for (const uint32_t c : groups[g].candidates)
        for (uint32_t f = piece * folds / pieces; f < (piece + 1) * folds / pieces; ++f)
          fits.push_back({c, static_cast<int32_t>(f), 0, groups[g].bootstrap, nullptr, ""});
      const mk_bundle bundle{fits.data(), static_cast<uint32_t>(fits.size()), 0,
                             each * static_cast<double>(fits.size()), bytes};
      sdk::call(sink.add, sink.self, &bundle);
    }
  }
}

}  // namespace mokume::svc
