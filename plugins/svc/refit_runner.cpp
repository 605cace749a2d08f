#include "refit_runner.hpp"

#include <algorithm>
#include <utility>

namespace mokume::svc {

RefitRunner::RefitRunner(const RowOrder& order, KernelStore& store, Places& places, Solver& solver, const FitName& fit,
                         Checkpoints& checkpoints)
    : order_(order), store_(store), places_(places), solver_(solver), fit_(fit), checkpoints_(checkpoints) {}

std::vector<Solution> RefitRunner::run(const std::vector<BinaryProblem>& problems, const mk_fit_sink& sink) {
  store_.select(kernel_of(fit_.settings, store_));
  checkpoints_.begin(store_.mode_name());
  solves_.assign(problems.size(), {});
  for (int64_t row = 0; row < static_cast<int64_t>(problems.size()); ++row) {
    const int64_t place = row % places_.count();
    start(row, place, problems[static_cast<size_t>(row)]);
    if (place + 1 == places_.count()) finish_batch(sink);
  }
  finish_batch(sink);
  std::vector<Solution> solutions;
  for (const Solve& solve : solves_) solutions.push_back(*solve.solution);
  return solutions;
}

void RefitRunner::start(int64_t row, int64_t place, const BinaryProblem& problem) {
  const Settings& settings = fit_.settings;
  Solve& solve = solves_[static_cast<size_t>(row)];
  const auto saved = checkpoints_.take(fit_, row, settings.c);
  if (saved && saved->solution && static_cast<int64_t>(saved->values.size()) == places_.stride()) {
    solve.solution = saved->solution;
    places_.device().write(places_.coefficients(), saved->values.data(), saved->values.size(),
                           static_cast<uint64_t>(row * places_.stride()));
    return;
  }
  solve.place = place;
  places_.occupy(place, problem);
  places_.start(place, start_of(settings, order_, problem, settings.c, settings.nu), row);
  if (saved && !saved->solution) solver_.restore(places_, store_, place, saved->state);
}

void RefitRunner::finish_batch(const mk_fit_sink& sink) {
  const auto is_running = [](const Solve& solve) { return solve.place >= 0; };
  while (std::any_of(solves_.begin(), solves_.end(), is_running)) {
    const bool stops = sink.cancelled(sink.self) != 0;
    if (stops || checkpoints_.timer().due()) save();
    if (stops) throw Error(MK_CANCELLED, "stopped");
    solver_.advance(places_, store_, fit_.settings.max_iterations);
    int64_t solved = 0;
    for (Solve& solve : solves_) {
      if (solve.place >= 0) solve.solution = places_.solution(solve.place);
      if (!solve.solution) continue;
      ++solved;
      if (solve.place >= 0) places_.stop(std::exchange(solve.place, -1));
    }
    sink.progress(sink.self, "refit", static_cast<double>(solved) / static_cast<double>(solves_.size()));
  }
}

void RefitRunner::save() {
  const double began = storage::SaveTimer::now_s();
  const auto phase = places_.device().phase("checkpoint");
  std::vector<SavedSolve> saved;
  for (size_t k = 0; k < solves_.size(); ++k) {
    SavedSolve one;
    one.problem = static_cast<int64_t>(k);
    one.c = fit_.settings.c;
    if (solves_[k].solution) {
      one.solution = solves_[k].solution;
      one.values.resize(static_cast<size_t>(places_.stride()));
      places_.device().read(places_.coefficients(), one.values.data(), one.values.size(), k * one.values.size());
    } else if (solves_[k].place >= 0) {
      std::optional<SolveState> state = solver_.state(places_, solves_[k].place);
      if (!state) continue;
      one.state = std::move(*state);
    } else {
      continue;
    }
    saved.push_back(std::move(one));
  }
  checkpoints_.save(fit_, std::move(saved));
  checkpoints_.timer().saved(began);
}

}  // namespace mokume::svc
