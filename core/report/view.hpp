// Everything in a run directory that can be rebuilt from the journal: tables, summary, plots and report.html.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "journal/read.hpp"
#include "report/tables/certainty.hpp"
#include "report/tables/efficiency.hpp"
#include "report/tables/profile.hpp"
#include "report/tables/team.hpp"
#include "search/plan.hpp"

namespace mokume::report {

struct Metric {
  std::string name;
  bool integer = false;
  bool selects = false;  // smaller mean is better
};

struct DeviceUse {
  uint32_t node = 0;
  std::string id;       // "opencl:0"
  std::string backend;  // "opencl"
  std::string name;
  std::string vendor;
  uint64_t fits = 0;
  double busy_s = 0;
  double speed = 0;  // relative to the others, see RunView::speeds; 0: unknown
};

// On the test rows: errors of a classifier, or the mean squared error of predicted numbers.
struct TestResult {
  int64_t errors = 0;
  int64_t n = 0;
  std::optional<double> mse = std::nullopt;
};

// A refit's, as journal::FitRecord has it.
std::optional<TestResult> test_of(const journal::FitRecord& refit, bool classes);

// A test row that shows what an ensemble is sure of and what not.
struct Exemplar {
  std::string kind;     // "easy", "misclassified" or "uncertain"
  int64_t row = 0;      // of the test set, from 0
  std::string label;    // its class
  Certainty certainty;  // of all members
  Thumbnail picture;    // none if rows are no images
};

// What the members of an ensemble say together of the test rows: the class with most votes, or the mean of numbers.
struct Vote {
  TestResult test;
  uint32_t members = 0;
  std::vector<Exemplar> exemplars = {};
  // Percentiles 0 to 100 of the entropy of the members' mean certainty over the test rows, nats; empty if not known.
  std::vector<double> doubt = {};
};

// What a report is made from. Records are sorted by fit and there is at most one per fit; missing ones are allowed
// (an unfinished run): tables then hold what there is.
struct RunView {
  std::string name, model, seed, plan_hash;
  std::string data_name, data_sha256;
  int64_t data_rows = 0, data_features = 0, data_classes = 0, data_test_rows = 0;
  search::Plan plan;
  std::vector<Metric> metrics;
  std::vector<journal::FitRecord> records;
  std::vector<journal::FitRecord> repeats;  // see journal::Contents, as the next two
  std::vector<journal::Disagreement> disagreements;
  std::vector<journal::EventRecord> events;
  std::vector<journal::FitRecord> refits;   // by bootstrap; sorted as records
  std::optional<journal::FitRecord> refit;  // of the best candidate; none with bagging
  std::optional<Vote> vote;                 // of an ensemble, once its run is finished
  std::optional<uint32_t> best;             // candidate
  std::optional<TestResult> test;
  double wall_s = 0;  // over all sessions of the run
  std::vector<DeviceUse> devices;
  uint32_t nodes = 1;
  std::vector<DeviceProfile> profiles;  // by node; none if the run was not profiled
  TeamAccount team;                     // empty unless its devices trained together
  double efficiency = 0;                // see report/efficiency.hpp
  Speeds speeds = Speeds::none;         // where it has the devices' speeds from
  std::string state;                    // "done" | "stopped" | "running" | "failed fits"
  std::string config_toml;              // shown in the report
  std::string environment;              // lines of "key: value" shown in the report
  std::string reproduce;                // the command
};

// Mean over folds of the first metric that selects (summed in fold order, in double), sample sd (0 for one fold), min,
// max; rank from 1 by (mean, index) among the candidates of the same bootstrap. Candidates with a fold that failed, is
// missing or has no finite value have no mean and rank last, by index. Rows are sorted by candidate, then bootstrap.
struct CandidateRow {
  uint32_t candidate = 0, bootstrap = 0;
  bool complete = false;
  double mean = 0, sd = 0, min = 0, max = 0;
  uint32_t rank = 0;
};
std::vector<CandidateRow> summarise(const search::Plan& plan, const std::vector<Metric>& metrics,
                                    const std::vector<journal::FitRecord>& records);

// The files of a run directory, whole. CSV: RFC 4180 quoting, lines end in \n, doubles shortest round-trip; what is not
// there (a metric of a failed fit, the mean of an incomplete candidate) is an empty cell, and a metric that is not
// finite stands as nan, inf or -inf. timeline.csv counts seconds from the earliest start.
//
// summary.json: the seed is text, as its digits may be any number; `fits` counts the records there are, `fits_planned`
// those of the plan; a plan without validation has one candidate and no fits, and `best` has null for its error; `best`
// speaks of all folds of all bootstraps; `fit_s` is the time in which devices worked: per
// device the union of its fits' intervals, since the fits of a bundle share the bundle's time. A number that is not
// finite is null, and bytes that are no UTF-8 become U+FFFD. `speeds` tells whether `efficiency` rests on speeds that
// were measured before the run or estimated from it.
std::string results_csv(const RunView& view);
std::string candidates_csv(const RunView& view);
// A row for each member of an ensemble: what its bootstrap chose, the means of its metrics over the folds, and what it
// does on the test rows after its refit.
std::string ensemble_csv(const RunView& view);
std::string timeline_csv(const RunView& view);
std::string summary_json(const RunView& view);

struct NamedFile {
  std::string name;  // relative to the run directory, e.g. "plots/heatmap.svg"
  std::string content;
};
// Box plots and heat maps by the rule in report/panels.hpp, or bars of candidates, where there are candidates and a
// metric that selects; then the curves of fits, refit and members, if there are any. A function of plan, metrics,
// records, refits, vote and best only, not of devices or times.
std::vector<NamedFile> plots(const RunView& view);
// One page that refers to no other file, with the given plots (plots(view)) in it.
std::string report_html(const RunView& view, const std::vector<NamedFile>& plots);

// Writes all of the above and the event files of report/tensorboard.hpp into `directory`, each file atomically, and
// removes the *.svg of plots/ that an earlier report left. Same view, same bytes. Error(MK_STORAGE) if something
// cannot be written.
void write(const RunView& view, const std::string& directory);

}  // namespace mokume::report
