#include "chain_runner.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <string_view>

#include "sdk/ill_determined.hpp"
#include "sdk/ops.hpp"

namespace mokume::svc {
namespace {

std::string shortest(double x) {
  char text[32];
  const auto end = std::to_chars(&text[0], &text[0] + sizeof(text), x).ptr;
  return {&text[0], end};
}

}  // namespace

std::string make_note(int64_t steps, const std::vector<double>& settled_c, int64_t unsure) {
  std::string note = "steps=" + std::to_string(steps);
  const char* separator = " settled=";
  for (size_t k = 0; k < settled_c.size(); ++k) {
    if (settled_c[k] == 0) continue;
    note += separator + std::to_string(k) + "@" + shortest(settled_c[k]);
    separator = ",";
  }
  if (unsure > 0) note.append(" ").append(sdk::kUnsureWord) += std::to_string(unsure);
  return note;
}

std::vector<std::pair<size_t, double>> settled_in_note(const std::string& note) {
  std::vector<std::pair<size_t, double>> settled;
  const std::string_view key = " settled=";
  const size_t at = note.find(key);
  if (at == std::string::npos) return settled;
  const char* p = note.data() + at + key.size();
  const char* const end = note.data() + std::min(note.find(' ', at + key.size()), note.size());
  while (p < end) {
    size_t problem = 0;
    double c = 0;
    const auto number = std::from_chars(p, end, problem);
    if (number.ec != std::errc() || number.ptr == end || *number.ptr != '@') return {};
    const auto value = std::from_chars(number.ptr + 1, end, c);
    if (value.ec != std::errc() || !(c > 0)) return {};
    settled.emplace_back(problem, c);
    p = value.ptr;
    if (p < end && *p++ != ',') return {};
  }
  return settled;
}

ChainRunner::ChainRunner(const sdk::Device& device, const RowOrder& order, KernelStore& store, Places& places,
                         Solver& solver, const FitName& chain, Pass pass, Checkpoints& checkpoints)
    : device_(device),
      order_(order),
      store_(store),
      places_(places),
      solver_(solver),
      chain_(chain),
      settings_(chain_.settings),
      pass_(pass),
      checkpoints_(checkpoints),
      problems_(weighted_problems(order.classes(), settings_, 0)),
      rows_per_fold_(
          coef_rows_per_fold(static_cast<int64_t>(problems_.size()), places.count(), most_ahead(device.info()))) {
  int64_t most = 1;
  for (uint32_t f = 0; f < order.folds(); ++f) most = std::max(most, order.fold_rows(f));
  values_ = device.buffer<float>(static_cast<uint64_t>(most * rows_per_fold_));
}

void ChainRunner::run(const std::vector<FoldSteps>& folds, const mk_fit_sink& sink, double share_done, double share) {
  sink_ = &sink;
  share_done_ = share_done;
  share_ = share;
  folds_.clear();
  solves_ = 0;
  solves_done_ = 0;
  for (const FoldSteps& steps : folds) {
    Fold fold;
    fold.fold = steps.fold;
    for (const Step& step : steps.steps) {
      Fit fit;
      fit.step = step;
      fit.decisions.resize(problems_.size());
      fit.settled_c.assign(problems_.size(), 0.0);
      fit.solutions.resize(problems_.size());
      fit.reported = step.done;
      solves_ += step.done ? 0 : problems_.size();
      fold.fits.push_back(std::move(fit));
    }
    folds_.push_back(std::move(fold));
  }
  store_.select(kernel_of(settings_, store_));
  checkpoints_.begin(store_.mode_name());

  // Runs as many whole folds at once as the places and coefficient rows allow.
  const int64_t coef_rows = static_cast<int64_t>(places_.coefficients().bytes() / sizeof(float)) / order_.stride();
  const auto chains_per_fold = static_cast<int64_t>(problems_.size());
  const int64_t folds_at_once =
      std::max<int64_t>(1, std::min(places_.count() / chains_per_fold, coef_rows / rows_per_fold_));
  for (size_t first = 0; first < folds_.size(); first += static_cast<size_t>(folds_at_once)) {
    const size_t last = std::min(folds_.size(), first + static_cast<size_t>(folds_at_once));
    std::vector<Chain> chains;
    for (size_t f = first; f < last; ++f) {
      Fold& fold = folds_[f];
      fold.coef_base = static_cast<int64_t>(f - first) * rows_per_fold_;
      for (int64_t r = rows_per_fold_ - 1; r >= 0; --r) fold.free_rows.push_back(r);
      for (size_t k = 0; k < problems_.size(); ++k) {
        Chain chain;
        chain.fold = f;
        chain.problem = k;
        chain.ahead = most_ahead(device_.info());
        chains.push_back(std::move(chain));
      }
    }
    run_chains(chains);
    for (size_t f = first; f < last; ++f) folds_[f] = Fold{};
  }
}

void ChainRunner::save_in_time_or_stop(const std::vector<Chain>& chains) {
  const bool stops = sink_->cancelled(sink_->self) != 0;
  if (stops || checkpoints_.timer().due()) save(chains, !stops);
  if (stops) throw Error(MK_CANCELLED, "stopped");
}

void ChainRunner::save(const std::vector<Chain>& chains, bool only_long) {
  const double began = storage::SaveTimer::now_s();
  for (Fold& fold : folds_) validate(fold);  // a checkpoint keeps decision values, which are shorter than coefficients
  const auto phase = device_.phase("checkpoint");
  for (size_t f = 0; f < folds_.size(); ++f)
    for (size_t step = 0; step < folds_[f].fits.size(); ++step) {
      const Fit& fit = folds_[f].fits[step];
      if (fit.reported || !fit.began_s || (only_long && !checkpoints_.timer().is_long(*fit.began_s))) continue;
      std::vector<SavedSolve> solves = solved_of(fit);
      for (const Chain& chain : chains)
        if (chain.fold == f) add_unaccepted(chain, step, solves);
      checkpoints_.save(name_of(folds_[f], fit), std::move(solves));
    }
  checkpoints_.timer().saved(began);
}

FitName ChainRunner::name_of(const Fold& fold, const Fit& fit) const {
  FitName name = chain_;
  name.directory = fit.step.scratch;
  name.fold = static_cast<int32_t>(fold.fold);
  name.settings.c = fit.step.c;
  name.settings.nu = fit.step.nu;
  return name;
}

std::vector<SavedSolve> ChainRunner::solved_of(const Fit& fit) const {
  std::vector<SavedSolve> solves;
  for (size_t k = 0; k < problems_.size(); ++k) {
    const std::shared_ptr<Decisions>& decisions = fit.decisions[k];
    if (decisions == nullptr || decisions->empty()) continue;
    const double c = fit.settled_c[k] > 0 ? fit.settled_c[k] : fit.step.c;
    solves.push_back({static_cast<int64_t>(k), c, fit.solutions[k], *decisions, {}});
  }
  return solves;
}

void ChainRunner::add_unaccepted(const Chain& chain, size_t step, std::vector<SavedSolve>& solves) const {
  for (const Solve& solve : chain.solves) {
    if (solve.step != step) continue;
    const auto problem = static_cast<int64_t>(chain.problem);
    if (solve.solution) {
      if (!solve.target->empty()) solves.push_back({problem, solve.c, solve.solution, *solve.target, {}});
    } else if (std::optional<SolveState> state = solver_.state(places_, solve.place)) {
      solves.push_back({problem, solve.c, std::nullopt, {}, std::move(*state)});
    }
  }
}

void ChainRunner::show_progress() const {
  const double part = solves_ == 0 ? 1.0 : static_cast<double>(solves_done_) / static_cast<double>(solves_);
  const std::string what = "gamma " + shortest(settings_.kernel.gamma);
  sink_->progress(sink_->self, what.c_str(), share_done_ + share_ * part);
}

void ChainRunner::run_chains(std::vector<Chain>& chains) {
  free_places_.clear();
  validated_at_ = std::chrono::steady_clock::now();
  for (int64_t place = places_.count() - 1; place >= 0; --place) free_places_.push_back(place);
  while (true) {
    save_in_time_or_stop(chains);
    start_solves(chains);
    const bool running =
        std::any_of(chains.begin(), chains.end(), [](const Chain& chain) { return !chain.solves.empty(); });
    if (!running) break;
    solver_.advance(places_, store_, settings_.max_iterations);
    for (Chain& chain : chains) take_solutions(chain);
    validate_in_time();
    show_progress();
  }
  for (const Chain& chain : chains)
    if (chain.next < folds_[chain.fold].fits.size()) throw Error(MK_INTERNAL, "svc: a chain waits for nothing");
  for (Fold& fold : folds_) validate(fold);
}

// A validation multiplies all coefficient rows of a fold, so solutions wait to be validated together, but only so long
// that an abort loses little work. A validation may be slow, because it may have to compute kernel rows. The time at
// which it happens has no influence on its result.
void ChainRunner::validate_in_time() {
  constexpr std::chrono::seconds kWait(5);
  constexpr int kMostShare = 20;  // validations take at most about a twentieth of the time
  const auto start = std::chrono::steady_clock::now();
  if (start - validated_at_ < std::max<std::chrono::steady_clock::duration>(kWait, kMostShare * validation_took_))
    return;
  for (Fold& fold : folds_) validate(fold);
  validated_at_ = std::chrono::steady_clock::now();
  validation_took_ = validated_at_ - start;
}

// Every chain gets one place before any chain gets a second.
void ChainRunner::start_solves(std::vector<Chain>& chains) {
  const int64_t wanted = problems_at_once(device_.info());
  for (int64_t ahead = 0; ahead < most_ahead(device_.info()); ++ahead)
    for (Chain& chain : chains) {
      skip_done(chain);
      if (static_cast<int64_t>(chain.solves.size()) != ahead || ahead >= chain.ahead) continue;
      if (chain.next == folds_[chain.fold].fits.size()) continue;
      const int64_t running = places_.count() - static_cast<int64_t>(free_places_.size());
      if (free_places_.empty() || (ahead > 0 && running >= wanted)) return;
      start_next(chain);
    }
}

// Skips fits that are done, and completes fits that copy a solution.
void ChainRunner::skip_done(Chain& chain) {
  Fold& fold = folds_[chain.fold];
  for (; chain.next < fold.fits.size(); ++chain.next) {
    Fit& fit = fold.fits[chain.next];
    if (fit.step.done) {
      if (chain.settled_c) continue;
      for (const auto& [problem, c] : settled_in_note(fit.step.note))
        if (problem == chain.problem) chain.settled_c = c;
    } else if (chain.settled) {
      fit.decisions[chain.problem] = chain.settled;
      fit.settled_c[chain.problem] = *chain.settled_c;
      ++fit.copied;
      ++solves_done_;
    } else {
      return;
    }
  }
}

void ChainRunner::start_next(Chain& chain) {
  if (!chain.solves.empty() && chain.solves.back().recall) return;
  Fold& fold = folds_[chain.fold];
  if (fold.free_rows.empty()) validate(fold);
  if (fold.free_rows.empty()) return;
  Fit& fit = fold.fits[chain.next];
  Solve solve;
  solve.step = chain.next;
  solve.recall = chain.settled_c.has_value();
  solve.c = solve.recall ? *chain.settled_c : fit.step.c;
  solve.target = std::make_shared<Decisions>();
  auto saved = checkpoints_.take(name_of(fold, fit), static_cast<int64_t>(chain.problem), solve.c);
  const bool solved = saved && saved->solution && !saved->values.empty();
  if (solved && static_cast<int64_t>(saved->values.size()) == order_.fold_rows(fold.fold)) {
    solve.solution = saved->solution;
    *solve.target = std::move(saved->values);
  } else {
    BinaryProblem problem = problems_[chain.problem];
    problem.fold = static_cast<int32_t>(fold.fold);
    occupy_place(fold, problem, fit.step.nu, solve);
    if (saved && !saved->solution) solver_.restore(places_, store_, solve.place, saved->state);
  }
  if (!fit.began_s) fit.began_s = storage::SaveTimer::now_s();
  if (!solve.recall) ++chain.next;
  chain.solves.push_back(std::move(solve));
}

void ChainRunner::occupy_place(Fold& fold, const BinaryProblem& problem, double nu, Solve& solve) {
  solve.coef_row = fold.free_rows.back();
  fold.free_rows.pop_back();
  solve.place = free_places_.back();
  free_places_.pop_back();
  places_.occupy(solve.place, problem);
  places_.start(solve.place, start_of(settings_, order_, problem, solve.c, nu), fold.coef_base + solve.coef_row);
}

void ChainRunner::take_solutions(Chain& chain) {
  Fold& fold = folds_[chain.fold];
  for (Solve& solve : chain.solves) {
    if (solve.solution) continue;
    solve.solution = places_.solution(solve.place);
    if (!solve.solution) continue;
    places_.stop(solve.place);
    free_places_.push_back(solve.place);
    const int32_t sign = problems_[chain.problem].decision_sign();
    fold.pending.push_back({solve.coef_row, solve.solution->rho, sign, solve.target});
  }
  while (!chain.solves.empty() && chain.solves.front().solution) {
    const Solve solve = std::move(chain.solves.front());
    chain.solves.pop_front();
    accept(chain, solve);
  }
}

void ChainRunner::accept(Chain& chain, const Solve& solve) {
  const Solution& solution = *solve.solution;
  Fold& fold = folds_[chain.fold];
  if (solve.recall) {
    chain.settled = solve.target;  // skip_done() copies the solution into the waiting fits
    return;
  }
  Fit& fit = fold.fits[solve.step];
  fit.decisions[chain.problem] = solve.target;
  fit.solutions[chain.problem] = solution;
  fit.steps += solution.steps;
  fit.capped = fit.capped || solution.capped;
  ++solves_done_;
  if (has_nu(settings_.kind)) return;
  if (solution.vectors > 0 && device_.info().kind != MK_DEVICE_GPU)
    chain.ahead = 1 + (most_ahead(device_.info()) - 1) * solution.at_c / solution.vectors;
  if (solution.at_c > 0 || solution.capped || pass_ == Pass::handed_over || pass_ == Pass::again) return;
  chain.settled_c = solve.c;
  chain.settled = solve.target;
  fit.settled_c[chain.problem] = solve.c;
  cancel_solves(chain);
  chain.next = solve.step + 1;
}

void ChainRunner::cancel_solves(Chain& chain) {
  for (const Solve& solve : chain.solves) {
    if (solve.solution) continue;
    places_.stop(solve.place);
    free_places_.push_back(solve.place);
    folds_[chain.fold].free_rows.push_back(solve.coef_row);
  }
  chain.solves.clear();
}

void ChainRunner::validate(Fold& fold) {
  const auto phase = device_.phase("validate");
  if (!fold.pending.empty()) {
    const int64_t n = order_.rows(), ld = order_.stride(), count = order_.fold_rows(fold.fold);
    const int64_t begin = order_.fold_begin(fold.fold);
    const mk_tensor coef = sdk::matrix(places_.coefficients().get(), rows_per_fold_, n, ld, fold.coef_base * ld);
    store_.for_rows(begin, count, [&](const mk_tensor& k, int64_t first) {
      device_.submit(
          ops::gemm(k, false, coef, true,
                    sdk::matrix(values_.get(), k.rows, rows_per_fold_, 0, (first - begin) * rows_per_fold_)));
    });
    std::vector<float> values(static_cast<size_t>(count * rows_per_fold_));
    device_.read(values_, values.data(), values.size());
    for (const Pending& p : fold.pending) {
      p.target->resize(static_cast<size_t>(count));
      for (int64_t r = 0; r < count; ++r) {
        const float sum = values[static_cast<size_t>(r * rows_per_fold_ + p.row)];
        (*p.target)[static_cast<size_t>(r)] = static_cast<float>(p.sign) * (sum - p.rho) + 0.0F;  // never -0
      }
      fold.free_rows.push_back(p.row);
    }
    fold.pending.clear();
  }
  report_complete(fold);
}

void ChainRunner::report_complete(Fold& fold) {
  for (Fit& fit : fold.fits) {
    if (fit.reported) continue;
    const bool complete = std::all_of(fit.decisions.begin(), fit.decisions.end(),
                                      [](const auto& d) { return d != nullptr && !d->empty(); });
    if (!complete && order_.fold_rows(fold.fold) > 0) continue;
    report_fit(fold, fit);
  }
}

void ChainRunner::hand_over(const Fold& fold, const Fit& fit) {
  auto at = std::find_if(handed_over_.begin(), handed_over_.end(), [&](const auto& f) { return f.fold == fold.fold; });
  if (at == handed_over_.end()) at = handed_over_.insert(handed_over_.end(), {fold.fold, {}});
  if (fit.began_s && checkpoints_.timer().is_long(*fit.began_s)) checkpoints_.save(name_of(fold, fit), solved_of(fit));
  // The note keeps the settled problems of the first pass, because later fits of the chain copy solutions of that pass.
  at->steps.push_back({fit.step.c, fit.step.nu, fit.step.fit, false, "", fit.step.scratch,
                       fit.step.settled_c.empty() ? fit.settled_c : fit.step.settled_c});
}

Ending ChainRunner::ending_of(const Fit& fit, int64_t unsure) const {
  const std::vector<double>& settled = fit.step.settled_c.empty() ? fit.settled_c : fit.step.settled_c;
  mk_fit_status status = fit.copied == problems_.size() ? MK_FIT_COPIED : MK_FIT_OK;
  if (fit.capped) status = MK_FIT_CAPPED;
  return {fit.step.fit, status, make_note(fit.steps, settled, unsure)};
}

void ChainRunner::report_fit(const Fold& fold, Fit& fit) {
  if (order_.regression()) {
    report_numbers(*sink_, order_, settings_, fold.fold, *fit.decisions.front(), ending_of(fit, 0));
  } else {
    std::vector<const float*> decisions;
    for (const auto& of_problem : fit.decisions) decisions.push_back(of_problem ? of_problem->data() : nullptr);
    const Classes classes = classify(order_, settings_, fold.fold, decisions);
    const bool hands_over = pass_ == Pass::first || pass_ == Pass::again;
    if (hands_over && classes.finite &&
        sdk::is_ill_determined(classes.unsure, static_cast<int64_t>(classes.labels.size())))
      hand_over(fold, fit);
    else
      report_classes(*sink_, order_, settings_, fold.fold, classes, ending_of(fit, classes.unsure));
  }
  fit.reported = true;
  fit.decisions.clear();
}

}  // namespace mokume::svc
