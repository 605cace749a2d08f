#include "inspect/dry_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/plural.hpp"
#include "base/text.hpp"
#include "data/input.hpp"
#include "data/outer_fold.hpp"
#include "node/candidate_text.hpp"
#include "node/experiment.hpp"
#include "node/machine.hpp"
#include "node/splits.hpp"
#include "run/nested.hpp"
#include "run/run_directory.hpp"
#include "run/workload.hpp"
#include "sdk/error.hpp"
#include "team/account.hpp"

namespace mokume::inspect {
namespace {

// Returns the model's summaries of its candidates, at most three and without repeats.
std::string summaries(const node::Experiment& experiment) {
  constexpr size_t kMost = 3;
  constexpr uint32_t kMostAsked = 100;
  const mk_model& model = experiment.model();
  if (model.summary == nullptr) return "";
  std::vector<std::pair<uint32_t, std::string>> different;  // each text with the first candidate that has it
  const auto count = std::min(kMostAsked, static_cast<uint32_t>(experiment.plan().candidates.size()));
  for (uint32_t c = 0; c < count && different.size() < kMost; ++c) {
    std::string text;
    sdk::call(
        model.summary, model.self, experiment.model_experiment(), c, static_cast<void*>(&text),
        +[](void* taker, const char* part) { static_cast<std::string*>(taker)->append(part); });
    if (!text.empty() && text.back() != '\n') text += '\n';
    const auto same = [&](const auto& other) { return other.second == text; };
    if (std::none_of(different.begin(), different.end(), same)) different.emplace_back(c, std::move(text));
  }
  std::string all;
  for (const auto& [candidate, text] : different) {
    if (different.size() > 1)
      all += fmt::format("candidate {}: {}\n", candidate, node::candidate_text(experiment.plan(), candidate));
    all += text;
  }
  return all;
}

std::string counted_rows(const data::Table& table, const char* noun) {
  return base::counted(static_cast<uint64_t>(table.rows), noun);
}

// Returns a text such as "3 rungs with 576, 144 and 36 candidates x 5 folds = 3780 fits".
std::string rungs_text(const search::Plan& plan) {
  std::string counts;
  uint64_t candidates = 0;
  for (uint32_t rung = 0; rung < plan.rungs(); ++rung) {
    counts += (rung == 0 ? "" : rung + 1 == plan.rungs() ? " and " : ", ") + std::to_string(plan.candidates_in(rung));
    candidates += plan.candidates_in(rung);
  }
  return fmt::format("{} rungs with {} candidates x {} = {}", plan.rungs(), counts,
                     base::counted(plan.folds_each(), "fold"), base::counted(candidates * plan.folds_each(), "fit"));
}

std::string fits_text(const search::Plan& plan, const scheduler::Workload& workload) {
  const bool bagged = plan.bootstraps > 1;
  const std::string refits = bagged ? base::counted(plan.bootstraps, "refit") : "one refit";
  if (plan.folds == 0) return fmt::format("no validation: {}\n", refits);
  std::set<uint32_t> together;
  for (const scheduler::Bundle& bundle : workload.bundles) together.insert(bundle.affinity);
  const std::string cut = together.size() == workload.bundles.size()
                              ? ""
                              : fmt::format(", split into {} where that helps", workload.bundles.size());
  const std::string candidates = base::counted(plan.n_candidates(), "candidate");
  const std::string sets =
      !bagged ? std::string()
      : plan.own_candidates > 0
          ? fmt::format("{} bootstraps x {}", plan.bootstraps, base::counted(plan.own_candidates, "separate candidate"))
          : fmt::format("{} bootstraps x {}", plan.bootstraps, candidates);
  if (plan.trials > 0)
    return fmt::format("{}{} of {} x {} = {}, then {}\n",
                       bagged ? fmt::format("{} bootstraps x ", plan.bootstraps) : "",
                       base::counted(plan.trials, "trial"),
                       base::counted(plan.candidates_per_bootstrap(), "candidate") +
                           (plan.repeats > 1 ? fmt::format(" x {} repeats", plan.repeats) : ""),
                       base::counted(plan.folds_each(), "fold"), base::counted(plan.n_computed(), "fit"), refits);
  if (plan.rungs() > 1) return rungs_text(plan) + fmt::format(", then {}\n", refits);
  const std::string repeated = plan.repeats > 1 ? fmt::format("{} repeats x ", plan.repeats) : "";
  return fmt::format("{} x {}{} = {} in {}{}, then {}\n", bagged ? sets : candidates, repeated,
                     base::counted(plan.folds_each(), "fold"), base::counted(plan.n_fits(), "fit"),
                     base::counted(together.size(), "bundle"), cut, refits);
}

// Throws if no bundle fits on any device, as the run would.
void check_memory(const scheduler::Workload& workload, const std::vector<uint64_t>& budgets) {
  uint64_t least = UINT64_MAX;
  for (const scheduler::Bundle& bundle : workload.bundles) least = std::min(least, bundle.bytes);
  const uint64_t largest = *std::max_element(budgets.begin(), budgets.end());
  if (!workload.bundles.empty() && least > largest)
    throw Error(MK_DEVICE_ERROR, fmt::format("every fit needs at least {} of memory, but the largest budget of a "
                                             "device is {}; raise devices.memory or use a device with more",
                                             base::human_bytes(least), base::human_bytes(largest)));
}

// Calls `check` with the number of an outer fold, and adds the number to its errors.
template <class Check>
void in_outer_fold(const config::Config& config, uint32_t fold, const Check& check) {
  try {
    check();
  } catch (const Error& e) {
    throw Error(e.status(), fmt::format("outer fold {} of {}: {}", fold, config.outer, e.what()), e.thrown_at());
  }
}

void warn_of_absent_classes(const data::Dataset& data, const data::Table& kept, uint32_t fold, base::Log& log) {
  if (kept.labels.empty()) return;
  const std::set<int32_t> all(data.train.labels.begin(), data.train.labels.end());
  const std::set<int32_t> left(kept.labels.begin(), kept.labels.end());
  for (const int32_t label : all)
    if (left.count(label) == 0)
      log.warn("check", fmt::format("outer fold {} holds all rows of the class {}, so the run without it cannot learn "
                                    "the class; take fewer outer folds, or leave the class out",
                                    fold, data::quoted(data.class_names[static_cast<size_t>(label)])));
}

// Throws if the rows that an outer fold leaves do not suffice for the validation. Folds of whole groups differ in size,
// and the classes may differ in every fold, so each fold is checked. Returns the fold that leaves the fewest rows.
uint32_t check_outer_rows(const node::Experiment& experiment, base::Log& log) {
  const config::Config& config = experiment.config();
  const data::Table& train = experiment.data().train;
  const std::vector<int32_t> fold_of = data::assign_outer_folds(node::outer_fold_of(config), train);
  data::Dataset rest;  // the rows without their inputs, because splits do not depend on these
  data::Table all;
  all.labels = train.labels, all.groups = train.groups, all.given_folds = train.given_folds;
  uint32_t smallest = 1;
  int64_t fewest = train.rows;
  for (uint32_t fold = 1; fold <= config.outer; ++fold) {
    std::vector<uint32_t> kept;
    for (uint32_t row = 0; row < fold_of.size(); ++row)
      if (fold_of[row] != static_cast<int32_t>(fold) - 1) kept.push_back(row);
    rest.train = data::rows_of(all, kept);
    in_outer_fold(config, fold, [&] { static_cast<void>(node::Splits(config, experiment.plan(), rest)); });
    warn_of_absent_classes(experiment.data(), rest.train, fold, log);
    if (rest.train.rows < fewest) smallest = fold, fewest = rest.train.rows;
  }
  return smallest;
}

}  // namespace

std::string check_start(registry::Registry& registry, base::Log& log, const config::Config& config) {
  run::check_output(config.output, config.name);
  const auto devices = node::Machine(registry, log, config.devices).select(config.devices);
  std::string left;
  if (config.team) left = "`mokume run` also checks the number of devices in the team, which depends on the nodes";
  std::string storage_note;
  uint32_t smallest = 0;  // outer fold that leaves the fewest rows
  {
    const node::Experiment experiment(registry, config);
    storage_note = experiment.data().storage_note;
    const scheduler::Workload workload = run::workload_of(experiment, run::kSeveralDevices);
    if (!config.repeat_splits.empty()) {
      left += fmt::format(" and must be {} for devices.repeat_splits",
                          team::devices_in(team::splits_to_repeat(config.repeat_splits).front()));
      run::check_same_plan(config.repeat_splits, experiment.plan().hash);
    }
    if (config.outer > 0 && config.outer_fold == 0) smallest = check_outer_rows(experiment, log);
    if (!config.team) check_memory(workload, node::Machine::budgets(devices, 1, config.memory_bytes));
  }
  // The model checks one outer fold, after the memory of all rows is free.
  if (smallest > 0)
    in_outer_fold(config, smallest, [&] {
      static_cast<void>(node::Experiment(registry, run::outer_config(config, config.output, smallest)));
    });
  return left.empty() || storage_note.empty() ? left + storage_note : storage_note + "; " + left;
}

std::string dry_run(registry::Registry& registry, base::Log& log, const config::Config& config,
                    const std::vector<Formation>& formations) {
  const node::Experiment experiment(registry, config);
  const node::Machine machine(registry, log, config.devices);
  const auto devices = machine.select(config.devices);
  const auto budgets = node::Machine::budgets(devices, 1, config.memory_bytes);
  const scheduler::Workload workload = run::workload_of(experiment, run::kSeveralDevices);
  const search::Plan& plan = experiment.plan();
  const data::Dataset& data = experiment.data();
  std::string text = fmt::format(
      "{}: model {}, data {} ({}, {}, {}, {})\n", config.name, config.model, data.name,
      counted_rows(data.train, "training row"), counted_rows(data.test, "test row"),
      base::counted(static_cast<uint64_t>(data.train.features), "feature"),
      data.class_names.empty() ? "numbers as targets" : base::counted(data.class_names.size(), "class", "classes"));
  if (!data.storage_note.empty()) text += data.storage_note + "\n";
  text += fits_text(plan, workload);
  for (size_t p = 0; p < plan.params.size(); ++p) {
    std::set<std::string> values;
    for (const auto& candidate : plan.candidates) values.insert(search::to_text(candidate[p]));
    text += fmt::format("  {}: {}\n", plan.params[p], base::counted(values.size(), "value"));
  }
  uint64_t needed = 0, least = UINT64_MAX;
  for (const scheduler::Bundle& bundle : workload.bundles)
    needed = std::max(needed, bundle.bytes), least = std::min(least, bundle.bytes);
  if (plan.trials > 0 && least < needed)  // nobody knows which candidates become trials
    text += fmt::format("a bundle needs {} to {}\n", base::human_bytes(least), base::human_bytes(needed));
  else if (!workload.bundles.empty())
    text += fmt::format("a bundle needs at least {}\n", base::human_bytes(needed));
  if (plan.trials > 0) needed = std::min(needed, least);
  for (size_t d = 0; d < devices.size(); ++d)
    text += fmt::format("  {:<12} {}: budget {}{}\n", devices[d].id(), devices[d].info.name,
                        base::human_bytes(budgets[d]), budgets[d] < needed ? ": too small" : "");
  text += summaries(experiment);
  text += "plan " + plan.hash + "\n";
  if (formations.empty()) return text;
  if (plan.decides())
    return text + "no formations: the cost model cannot predict which candidates the search chooses\n";
  if (workload.bundles.empty())
    return text + "no formations: without validation there are only refits, whose time the cost model cannot predict\n";
  const run::Expectation expectation =
      run::expect(plan, workload, config.output + "/" + config.name,
                  run::remembered_rates(run::rates_file(), run::rates_key(config.model, data, workload), log),
                  devices.front().device_class());
  return text + formations_table(workload, expectation, run::refit_factor(config), formations);
}

}  // namespace mokume::inspect
