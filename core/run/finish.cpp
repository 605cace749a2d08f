#include "run/finish.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.hpp"
#include "journal/read.hpp"
#include "node/models.hpp"
#include "node/scratch.hpp"
#include "run/fit_times.hpp"
#include "run/out_of_fold.hpp"
#include "run/result.hpp"
#include "run/structure.hpp"
#include "run/view.hpp"
#include "run/vote.hpp"
#include "sdk/error.hpp"

namespace mokume::run {
namespace {

class Finisher {
 public:
  Finisher(const Finishing& run, RunResult& result) : run_(run), plan_(run.experiment.plan()), result_(result) {}

  void operator()(const cluster::Outcome& outcome, const cluster::ClassChoices& choices) {
    RunRecord& record = run_.recorded.record();
    const journal::Contents contents = counted(outcome);
    if (outcome.finished) {
      tell_failures(plan_, contents.records, contents.refits, result_);
      tell_best(plan_, run_.experiment.metrics(), contents.records, result_);
      node::adopt_models(result_.directory, plan_, contents);
      pool_validated_rows(contents.records);
      if (plan_.bootstraps > 1) write_vote(result_.directory, run_.experiment, contents.refits);
      if (result_.failed > 0 || result_.refit_failed) result_.state = "failed fits";
    } else {
      adopt_those_there_are(contents);
    }
    for (const auto& [name, more] : choices) record.choices[name].insert(more.begin(), more.end());
    record.state = result_.state;
    record.exit_reason = result_.reason;
    run_.journal.close(result_.state);
    // Every fit and refit is on disk now.
    if (result_.state != "stopped") node::Scratch(result_.directory).remove_all();
    remember_run(run_.experiment, record, contents.records, run_.log);
    report_all(record);
  }

 private:
  journal::Contents read_journals() const {
    return journal::read_all(run_.recorded.directory().journal_path(), plan_, run_.experiment.bounds());
  }

  // Returns the records that count, read from the files so that they agree with results.csv.
  journal::Contents counted(const cluster::Outcome& outcome) const {
    run_.journal.flush();
    journal::Contents contents = read_journals();
    // A node that was declared lost may have written records that the coordinator never received.
    const std::vector<journal::FitRecord> rivals = journal::rivals(outcome.records, contents);
    for (const journal::FitRecord& one : rivals)
      run_.journal.append(journal::supersede(one, base::wall_s(), "another record of this fit was counted first"));
    if (!rivals.empty()) {
      run_.journal.flush();
      contents = read_journals();
    }
    for (const journal::Disagreement& one : contents.disagreements) run_.log.warn("journal", one.text);
    const size_t found = contents.records.size() + contents.refits.size();
    if (found >= outcome.records.size()) return contents;
    run_.log.warn(
        "journal",
        fmt::format(
            "{} holds only {} of {} finished fits: make the same directory visible to every node, and run again",
            run_.recorded.directory().journal_path(), found, outcome.records.size()));
    contents.records = outcome.records;
    contents.refits.clear();
    const auto refits = std::partition_point(contents.records.begin(), contents.records.end(),
                                             [&](const auto& r) { return !plan_.is_refit(r.fit); });
    contents.refits.assign(refits, contents.records.end());
    contents.records.erase(refits, contents.records.end());
    return contents;
  }

  // Makes the trained members of a stopped run available for prediction. The next session trains members again if their
  // models were lost. If nothing can be written, it adopts the models.
  void adopt_those_there_are(journal::Contents contents) const {
    std::erase_if(contents.refits,
                  [&](const auto& refit) { return !node::has_model(result_.directory, plan_, refit); });
    try {
      node::adopt_models(result_.directory, plan_, contents);
    } catch (const std::exception&) {
    }
  }

  // A run whose table cannot be written is complete without it.
  void pool_validated_rows(const std::vector<journal::FitRecord>& records) const {
    try {
      write_out_of_fold(result_.directory, run_.experiment, records);
    } catch (const std::exception& e) {
      run_.log.warn("run", fmt::format("there is no out_of_fold.csv: {}", e.what()));
    }
  }

  void report_all(const RunRecord& record) {
    cluster::notify(run_.observers, &cluster::Observer::phase, std::string("writing the report"));
    results::RunView view = write_tables(run_.registry, result_.directory, record);
    add_structure(view);
    run_.frontend.draw(view, result_.directory);
    run_.recorded.write();  // last, so that the next session resumes a run that is killed before this line
    tell_tests(view, result_);
    if (run_.request.profile) result_.profiles = view.profiles;
  }

  // Keeps the steps of the best candidate, such as the layers of its network, for the report.
  void add_structure(results::RunView& view) const {
    const mk_model& model = run_.experiment.model();
    const std::optional<uint32_t> candidate = view.shown_candidate();
    if (model.steps == nullptr || !candidate) return;
    results::Structure structure{*candidate, {}};
    sdk::call(
        model.steps, model.self, run_.experiment.model_experiment(), *candidate, static_cast<void*>(&structure),
        +[](void* taker, const mk_step* s) {
          static_cast<results::Structure*>(taker)->steps.push_back(
              {s->name, s->kind, s->output, s->parameters, {s->inputs, s->inputs + s->n_inputs}});
        });
    structure.check();
    keep_structure(result_.directory, structure);
    view.structure = std::move(structure);
  }

  const Finishing& run_;
  const search::Plan& plan_;
  RunResult& result_;
};

}  // namespace

RunResult finish(const Finishing& run, const cluster::Outcome& outcome, const cluster::ClassChoices& choices) {
  RunResult result;
  result.directory = run.recorded.directory().path();
  result.state = outcome.finished ? "done" : "stopped";
  result.reason = outcome.reason;
  result.reproducibility = run.recorded.reproducibility(run.request.config.team);
  Finisher(run, result)(outcome, choices);
  return result;
}

}  // namespace mokume::run
