#include "nystrom/runner.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "chain_runner.hpp"
#include "fit_report.hpp"
#include "sdk/error.hpp"
#include "sdk/ops.hpp"
#include "solver.hpp"

namespace mokume::svc {
namespace {

AscentProblem problem_of(const Settings& settings, const RowOrder& order, const BinaryProblem& rows) {
  const Places::Start start = start_of(settings, order, rows, settings.c, settings.nu);
  const bool first = rows.sign() > 0;
  return {rows,
          start.c * (first ? rows.positive_weight : rows.negative_weight),
          start.c * (first ? rows.negative_weight : rows.positive_weight),
          start.tol,
          order.regression() ? start.epsilon : 0,
          settings.max_iterations};
}

int64_t moves_of(const std::vector<LinearMachine>& machines) {
  int64_t moves = 0;
  for (const LinearMachine& machine : machines) moves += machine.moves;
  return moves;
}

// Returns the first fit and all others that share its features.
std::vector<const ApproximateFit*> sharing(std::span<const ApproximateFit> fits, size_t first) {
  std::vector<const ApproximateFit*> group;
  for (size_t k = first; k < fits.size(); ++k)
    if (fits[k].fold == fits[first].fold && same_features(fits[k].settings, fits[first].settings))
      group.push_back(&fits[k]);
  return group;
}

}  // namespace

void NystromRunner::run(std::span<const ApproximateFit> fits, const mk_fit_sink& sink, double share_done,
                        double share) {
  std::set<const ApproximateFit*> taken;
  for (size_t first = 0; first < fits.size(); ++first) {
    if (taken.count(&fits[first]) != 0) continue;
    const auto group = sharing(fits, first);
    const auto progress = [&](double of_group) {
      const double fits_done = static_cast<double>(taken.size()) + of_group * static_cast<double>(group.size());
      sink.progress(sink.self, "nystrom", share_done + share * fits_done / static_cast<double>(fits.size()));
    };
    solve(group, sink, progress, [&](const Machines& machines) { validate(machines, sink); });
    taken.insert(group.begin(), group.end());
  }
}

void NystromRunner::solve(const std::vector<const ApproximateFit*>& fits, const mk_fit_sink& sink,
                          const std::function<void(double)>& progress,
                          const std::function<void(const Machines&)>& done) {
  const Settings& shared = fits.front()->settings;
  std::vector<Machines> machines;
  std::vector<AscentProblem> problems;
  std::vector<std::pair<size_t, size_t>> places;  // fit and machine of each problem
  std::set<std::pair<int32_t, int32_t>> kinds;
  for (const ApproximateFit* fit : fits) {
    const auto binary = weighted_problems(order_.classes(), fit->settings, fit->fold);
    for (size_t k = 0; k < binary.size(); ++k) {
      problems.push_back(problem_of(fit->settings, order_, binary[k]));
      places.emplace_back(machines.size(), k);
      kinds.emplace(binary[k].positive, binary[k].negative);
    }
    machines.push_back({fit, binary, std::vector<LinearMachine>(binary.size()), binary.size()});
  }
  const auto n_kinds = static_cast<int64_t>(kinds.size());
  const uint64_t reserve = Ascent::shared_bytes(order_.rows(), n_kinds) +
                           Ascent::bytes_of_place(order_.rows(), Features::width_of(shared.landmarks)) +
                           validation_bytes(machines.front());
  if (!features_ || features_->most_landmarks() != shared.landmarks) {
    features_.reset();
    features_.emplace(host_, device_, data_, order_, shared.landmarks, reserve);
  }
  features_->compute(shared.kernel, fits.front()->fold, shared.landmark_seed);
  Ascent ascent(host_, device_, order_, *features_, static_cast<int64_t>(problems.size()), n_kinds,
                validation_bytes(machines.front()));
  size_t solved = 0;
  ascent.solve(
      problems, shared.landmark_seed,
      [&](size_t problem, LinearMachine machine) {
        const auto [fit, k] = places[problem];
        machines[fit].solved[k] = std::move(machine);
        if (--machines[fit].left == 0) done(machines[fit]);
        ++solved;
      },
      [&] {
        if (sink.cancelled(sink.self) != 0) throw Error(MK_CANCELLED, "stopped");
        progress(static_cast<double>(solved) / static_cast<double>(problems.size()));
      });
}

uint64_t NystromRunner::validation_bytes(const Machines& machines) const {
  int64_t most = 0;
  for (uint32_t f = 0; f < order_.folds(); ++f) most = std::max(most, order_.fold_rows(f));
  const auto count = static_cast<int64_t>(machines.problems.size());
  return static_cast<uint64_t>(count * (most + Features::width_of(machines.fit->settings.landmarks))) * sizeof(float);
}

// Returns the decision values of the fold's rows for each machine.
std::vector<std::vector<float>> NystromRunner::decisions_of(const Machines& machines) const {
  const auto phase = device_.phase("validate");
  const auto fold = static_cast<uint32_t>(machines.fit->fold);
  const int64_t n = order_.fold_rows(fold), begin = order_.fold_begin(fold), width = features_->width();
  const auto count = static_cast<int64_t>(machines.problems.size());
  std::vector<float> weights;
  for (const LinearMachine& machine : machines.solved)
    weights.insert(weights.end(), machine.weights.begin(), machine.weights.end());
  const sdk::Buffer on_device = device_.upload(weights);
  const sdk::Buffer values_buffer = device_.buffer<float>(static_cast<uint64_t>(n * count));
  features_->for_rows(begin, n, [&](const mk_tensor& x, int64_t first) {
    device_.submit(ops::gemm(x, false, sdk::matrix(on_device.get(), count, width), true,
                             sdk::matrix(values_buffer.get(), x.rows, count, 0, (first - begin) * count)));
  });
  std::vector<float> values(static_cast<size_t>(n * count));
  device_.read(values_buffer, values.data(), values.size());
  std::vector<std::vector<float>> decisions(machines.problems.size());
  for (size_t k = 0; k < decisions.size(); ++k) {
    const auto sign = static_cast<float>(machines.problems[k].decision_sign());
    for (int64_t r = 0; r < n; ++r)
      decisions[k].push_back(sign * (values[static_cast<size_t>(r * count) + k] + machines.solved[k].bias) + 0.0F);
  }
  return decisions;
}

void NystromRunner::validate(const Machines& machines, const mk_fit_sink& sink) const {
  const ApproximateFit& fit = *machines.fit;
  const auto fold = static_cast<uint32_t>(fit.fold);
  const auto decisions = decisions_of(machines);
  const bool capped = std::any_of(machines.solved.begin(), machines.solved.end(),
                                  [](const LinearMachine& machine) { return machine.capped; });
  Ending ending{fit.index, capped ? MK_FIT_CAPPED : MK_FIT_OK, ""};
  if (order_.regression()) {
    ending.note = make_note(moves_of(machines.solved), {}, 0);
    return report_numbers(sink, order_, fit.settings, fold, decisions.front(), ending);
  }
  std::vector<const float*> pointers;
  for (const auto& of_problem : decisions) pointers.push_back(of_problem.data());
  const Classes classes = classify(order_, fit.settings, fold, pointers);
  ending.note = make_note(moves_of(machines.solved), {}, classes.unsure);
  report_classes(sink, order_, fit.settings, fold, classes, ending);
}

void NystromRunner::refit(const Settings& settings, const mk_fit_sink& sink, Fitted& to) {
  const ApproximateFit fit{settings, MK_ALL_ROWS, 0};
  const auto progress = [&](double share) { sink.progress(sink.self, "refit", share); };
  solve({&fit}, sink, progress, [&](const Machines& machines) {
    const Basis& basis = features_->basis();
    std::vector<std::pair<int32_t, int64_t>> vectors;  // class and index in the basis
    for (int64_t k = 0; k < basis.size(); ++k) vectors.emplace_back(order_.label(features_->landmark(k)), k);
    std::stable_sort(vectors.begin(), vectors.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [label, k] : vectors) {
      const int64_t original = order_.original(features_->landmark(k));
      const float* const x = data_.x + original * order_.features();
      to.vectors.insert(to.vectors.end(), x, x + order_.features());
      to.vector_class.push_back(label);
      to.training_rows.push_back(original);
    }
    for (size_t p = 0; p < machines.problems.size(); ++p) {
      const LinearMachine& machine = machines.solved[p];
      const double sign = machines.problems[p].decision_sign();
      const std::vector<double> coefficients = coefficients_of(basis, machine.weights.data());
      for (const auto& [label, k] : vectors)
        to.coefficients.push_back(static_cast<float>(sign * coefficients[static_cast<size_t>(k)] + 0.0));
      to.rho.push_back(static_cast<float>(-sign * double{machine.bias} - order_.target_mean() + 0.0));
      to.steps.push_back(machine.moves);
      to.converged.push_back(!machine.capped);
      if (!std::isfinite(machine.bias))
        throw Error(MK_INVALID_ARGUMENT, std::string("in the refit, ") + why_not_finite(settings.kind));
    }
  });
}

}  // namespace mokume::svc
