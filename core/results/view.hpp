// Holds the results of a run as plain data from its journal and run.json. The other headers of this folder compute
// numbers, texts and files from this view; core/run reads the view from a directory.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "data/measures.hpp"
#include "device/profile.hpp"
#include "journal/read.hpp"
#include "search/plan.hpp"

namespace mokume::results {

struct Metric {
  std::string name;
  bool integer = false;
  bool selects = false;  // ranks the candidates by its mean
  bool larger = false;   // a larger value is better

  // Returns a number that is smaller for a better value.
  double loss(double value) const { return larger ? -value : value; }
};

struct DeviceUse {
  uint32_t node = 0;
  std::string id;       // "opencl:0"
  std::string backend;  // "opencl"
  std::string name;
  std::string vendor;
  uint64_t fits = 0;
  double busy_s = 0;
  double speed = 0;                     // relative to other devices (see RunView::speeds), or 0 if unknown
  std::optional<double> energy_j = {};  // counted energy of its attempts, if any has one
};

struct PredictedNumber {
  double target = 0, predicted = 0;  // both are finite
};

// Holds the result on the test rows: the errors of a classifier, or the mean squared error of predicted numbers.
struct TestResult {
  int64_t errors = 0;
  int64_t n = 0;
  std::optional<double> mse = std::nullopt;
  std::optional<data::Confusion> confusion = std::nullopt;  // empty in older runs and with many classes
  std::map<std::string, double> measures = {};              // by data::MeasureInfo::name
  int64_t distinct = 0;  // number of different rows if repeats count them more than once, otherwise 0
  std::vector<PredictedNumber> points =
      {};  // points of some rows, for a plot; only for the validated rows of a regression

  double value() const { return mse ? *mse : static_cast<double>(errors) / static_cast<double>(n); }
};

// Holds the certainty of an ensemble's members about one row. A single model is an ensemble of one.
struct Certainty {
  std::vector<std::string> classes;
  std::vector<std::vector<double>> members;  // by member and class; each row sums to 1
  bool probable = true;                      // members give probabilities; if false, each is certain of its vote
};

// Holds grey values from 0 to 255, row-major. No side is longer than kThumbnailSide. Width 0 means no picture.
inline constexpr size_t kThumbnailSide = 64;
struct Thumbnail {
  uint64_t width = 0, height = 0;
  std::vector<uint8_t> grey;
};

// Describes a test row that shows where an ensemble is certain and where it is not.
struct Exemplar {
  std::string kind;     // "easy", "misclassified" or "uncertain"
  int64_t row = 0;      // row of the test set, from 0
  std::string label;    // class of the row
  Certainty certainty;  // certainty of all members
  Thumbnail picture;    // empty if rows are not images

  // Defines the form in models/vote.json, which stores the names of the classes once.
  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("kind", self.kind);
    field("row", self.row, int64_t{0}, INT64_MAX);
    field("label", self.label);
    field("width", self.picture.width, uint64_t{0}, uint64_t{kThumbnailSide});
    field("height", self.picture.height, uint64_t{0}, uint64_t{kThumbnailSide});
    field("grey", self.picture.grey);
    field("members", self.certainty.members);
  }
};

// Holds the ensemble's prediction for the test rows: the class with the most votes, or the mean of the numbers.
struct Vote {
  TestResult test;
  uint32_t members = 0;
  std::vector<Exemplar> exemplars = {};
  // Percentiles 0 to 100 of the entropy of the members' mean certainty over the test rows, in nats; empty if unknown.
  std::vector<double> doubt = {};
};

// Holds an outer fold of a nested cross-validation: an experiment trains without the fold's rows and is tested on them.
struct NestedFold {
  uint32_t fold = 0;      // from 1
  std::string best;       // candidate that the inner folds chose; "" without a search
  double validation = 0;  // mean of the candidate in the inner folds
  int64_t errors = 0, n = 0;
  std::optional<double> mse;
  std::vector<int64_t> confusion;          // as in data::Confusion::counts; empty in older runs and with many classes
  std::map<std::string, double> measures;  // by data::MeasureInfo::name; empty in older runs

  double value() const { return mse ? *mse : n > 0 ? static_cast<double>(errors) / static_cast<double>(n) : 0; }

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("fold", self.fold, 1U, 1000U);
    field("best", self.best);
    field("validation", self.validation);
    constexpr int64_t kMostRows = int64_t{1} << 50;  // sums over 1000 folds do not overflow
    field("errors", self.errors, int64_t{0}, kMostRows);
    field("n", self.n, int64_t{1}, kMostRows);
    field("mse", self.mse);
    field.optional("confusion", self.confusion);
    field.optional("measures", self.measures);
  }
  void check() const {
    if (errors > n) base::bad_field("errors", "a number of rows");
    if (mse && !(*mse >= 0)) base::bad_field("mse", "a number from 0 up");
    for (const auto& [name, value] : measures)
      if (data::find_measure(name) == nullptr || !(std::abs(value) <= 1e100))
        base::bad_field("measures", "values of known measures");
  }
};

// Holds the finished outer folds, in ascending order.
struct Nested {
  uint32_t folds = 0;  // planned number
  std::vector<NestedFold> each = {};
  TestResult pooled = {};  // over the test rows of all finished folds; see pool() in results/nested.hpp

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("folds", self.folds, 2U, 1000U);
    field("each", self.each);
  }
  void check() const {
    for (size_t k = 0; k < each.size(); ++k)
      if (each[k].fold > folds ||
          (k > 0 && (each[k].fold <= each[k - 1].fold || each[k].mse.has_value() != each[0].mse.has_value())))
        base::bad_field("each", "a list of folds in ascending order, of one kind");
  }
};

// Holds the scores of one candidate on growing parts of the training rows, in ascending order of rows.
struct LearningCurve {
  struct Point {
    int64_t rows = 0;         // training rows of each fold
    double mean = 0, sd = 0;  // over the folds

    template <class Self, class Fields>
    static void fields(Self& self, Fields& field) {
      field("rows", self.rows, int64_t{0}, INT64_MAX);
      field("mean", self.mean);
      field("sd", self.sd);
    }
  };
  uint32_t candidate = 0;
  std::string metric;
  std::vector<Point> points;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("candidate", self.candidate);
    field("metric", self.metric);
    field("points", self.points);
  }
};

// Describes a step of a candidate's computation, such as a layer of a network.
struct Step {
  std::string name, kind;  // kind is a word like "conv2d"
  std::string output;      // shape of a row of the output, for people
  int64_t parameters = 0;
  std::vector<uint32_t> inputs;  // indices of earlier steps

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("name", self.name);
    field("kind", self.kind);
    field("output", self.output);
    field("parameters", self.parameters, int64_t{0}, INT64_MAX);
    field.optional("inputs", self.inputs);
  }
};

// Holds the steps of the best candidate, or of the only one, in order.
struct Structure {
  uint32_t candidate = 0;
  std::vector<Step> steps;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("candidate", self.candidate);
    field("steps", self.steps);
  }
  void check() const {
    for (size_t k = 0; k < steps.size(); ++k)
      for (const uint32_t input : steps[k].inputs)
        if (input >= k) base::bad_field("inputs", "a list of earlier steps");
  }
};

// Holds the profile of a device, over all calls of the model in one session.
struct DeviceProfile {
  uint32_t node = 0;
  std::string id;    // "opencl:0"
  std::string name;  // name of the device
  std::vector<device::ProfileRow> rows;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("id", self.id);
    field("name", self.name);
    field("rows", self.rows);
  }
};

struct TeamShare {
  uint32_t fit = 0;
  uint32_t node = 0;
  std::string device, name;  // device is "opencl:0"
  double units = 0;          // shards or batches
  double busy_s = 0;         // time spent computing
  double idle_s = 0;         // time spent waiting for the busiest device
  double reduce_s = 0;       // time in which the team exchanges gradients and no device computes

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("fit", self.fit);
    field("node", self.node);
    field("device", self.device);
    field("name", self.name);
    field("units", self.units);
    field("busy_s", self.busy_s);
    field("idle_s", self.idle_s);
    field("reduce_s", self.reduce_s);
  }
};

// Describes a split of the work, which applies from `at` on. Splits follow the measured speeds of devices.
struct TeamSplit {
  uint32_t fit = 0;
  std::string at, shares;  // such as "epoch 2, batch 17" and "5+3"

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("fit", self.fit);
    field("at", self.at);
    field("shares", self.shares);
  }
};

struct TeamAccount {
  std::vector<TeamShare> shares;
  std::vector<TeamSplit> splits;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("shares", self.shares);
    field("splits", self.splits);
  }
};

enum class Speeds {
  none,      // nothing has been computed yet
  measured,  // each device was measured alone before the run
  estimated  // per device class, from this run: work per busy second
};

// Holds the results of a run. There is at most one record per fit, sorted by fit; an unfinished run lacks some records.
struct RunView {
  std::string name, model, seed, plan_hash;
  std::string data_name, data_sha256;
  int64_t data_rows = 0, data_features = 0, data_classes = 0, data_test_rows = 0;
  std::vector<std::string> class_names;  // empty in older runs
  std::vector<int64_t> class_rows;       // number of training rows of each class; empty in older runs
  std::string inputs;                    // tells on which rows scaling and fillers were fitted, or ""
  std::optional<double> guess;           // error or mean squared error of a constant answer on the training rows
  bool grid = false;                     // the candidates are a grid
  search::Plan plan;
  std::vector<Metric> metrics;
  std::vector<journal::FitRecord> records;
  std::vector<journal::FitRecord> repeats;  // see journal::Contents, also for the next two
  std::vector<journal::Disagreement> disagreements;
  std::vector<journal::EventRecord> events;
  std::vector<std::string> notices;         // skipped lines of the journal
  std::vector<journal::FitRecord> refits;   // by bootstrap; sorted like records
  std::optional<journal::FitRecord> refit;  // refit of the best candidate; empty with bagging
  std::optional<Vote> vote;                 // set for an ensemble once its run is finished
  std::optional<Nested> nested;             // set for a run with outer folds
  std::optional<Structure> structure;       // set for a model with steps once its run has ended
  std::optional<LearningCurve> curve;       // set once `mokume curve` has measured it
  std::optional<uint32_t> best;             // index of the best candidate
  std::optional<TestResult> test;
  std::optional<TestResult> validated;  // the best candidate's, pooled over the rows that its folds validate
  double wall_s = 0;                    // over all sessions of the run
  std::vector<DeviceUse> devices;
  std::string reused_from;  // run directory of reused fits, or ""
  uint32_t nodes = 1;
  std::vector<DeviceProfile> profiles;  // by node; empty if the run was not profiled
  TeamAccount team;                     // empty unless the devices trained as a team
  double efficiency = 0;                // see results/efficiency.hpp
  Speeds speeds = Speeds::none;
  std::string state;        // "done", "stopped", "running" or "failed fits"
  std::string config_toml;  // shown in the report
  std::string environment;  // lines of "key: value" shown in the report
  std::string reproduce;    // command that repeats the run

  // Returns the candidate whose structure the report shows: the only one, or the best one.
  std::optional<uint32_t> shown_candidate() const {
    return plan.n_candidates() == 1 ? std::optional(uint32_t{0}) : best;
  }
};

}  // namespace mokume::results
