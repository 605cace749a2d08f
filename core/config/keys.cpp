#include "config/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "data/measures.hpp"
#include "data/spec.hpp"

namespace mokume::config {
namespace {

using data::DataSpec;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
template <class C, class T>
auto& member_of(C& config, T Config::*member) {
  return config.*member;
}
template <class C, class T>
auto& member_of(C& config, T DataSpec::*member) {
  return config.data.*member;
}

template <auto member>
constexpr Member kIn = {[](const Config& config) { return Json(member_of(config, member)); },
                        [](Config& config, const Json& value) { value.get_to(member_of(config, member)); }};

constexpr Member kInSeed = {[](const Config& config) { return Json(config.seed_text); },
                            [](Config& config, const Json& value) {
                              config.seed_text = value;
                              config.seed = seed_of(config.seed_text);
                            }};

// Returns the words of an enumeration, except "", which stands for a missing key.
template <class Enum>
std::vector<std::string> words_for() {
  std::vector<std::string> words;
  for (const auto& [value, word] : names_of(Enum()))
    if (*word != '\0') words.emplace_back(word);
  return words;
}
template <class Enum>
void set_named(Enum& member, const Json& word) {
  for (const auto& [value, name] : names_of(Enum()))
    if (word == name) member = value;
}

constexpr Member kInMissing = {[](const Config& config) { return Json(base::name_of(config.data.missing)); },
                               [](Config& config, const Json& value) { set_named(config.data.missing, value); }};

constexpr Member kInLayout = {[](const Config& config) { return Json(base::name_of(config.data.layout)); },
                              [](Config& config, const Json& value) { set_named(config.data.layout, value); }};

constexpr std::array kWithin = {"fold", "training"};  // in the order of data::Within
constexpr Member kInWithin = {
    [](const Config& config) { return Json(kWithin.at(static_cast<size_t>(config.data.within))); },
    [](Config& config, const Json& value) {
      config.data.within = value == "fold" ? data::Within::fold : data::Within::training;
    }};

std::vector<std::string> measure_names() {
  std::vector<std::string> names;
  for (const data::MeasureInfo& one : data::all_measures()) names.emplace_back(one.name);
  return names;
}

using Scaling = data::Standardize::Kind;
constexpr Member kInStandardize = {
    [](const Config& config) -> Json {
      const data::Standardize& s = config.data.standardize;
      if (s.kind == Scaling::fixed) return {{"mean", s.mean}, {"scale", s.scale}};
      return s.kind == Scaling::features ? "features" : "none";
    },
    [](Config& config, const Json& value) {
      config.data.standardize = {value == "features" ? Scaling::features : Scaling::none, 0, 1};
      if (value.is_object()) config.data.standardize = {Scaling::fixed, value["mean"], value["scale"]};
    }};

class Key : public Parameter {
 public:
  Key(const char* of_table, const char* of_name, Type of_type, const char* of_doc, uint32_t of_flags = 0,
      const Member& of_member = {}) {
    table = of_table;
    name = of_name;
    type = of_type;
    doc = of_doc;
    flags = of_flags;
    member = of_member;
  }

  Key& within(double low, double high = kInfinity) {
    range.low = low;
    range.high = high;
    return *this;
  }
  Key& between(double low, double high) {
    range = {low, high, true, true};
    return *this;
  }
  Key& one_of(std::vector<std::string> words) {
    choices = std::move(words);
    return *this;
  }
  Key& for_sources(std::vector<std::string> words) {
    sources = std::move(words);
    return *this;
  }
  // `value` is JSON.
  Key& as_before(const char* value) {
    before = value;
    return *this;
  }
  // In `line`, {0} is the model and {1} a parameter to search.
  Key& in_init(std::string line) {
    init = std::move(line);
    return *this;
  }
  Key& or_table_of(std::vector<Parameter> parameters) {
    tags = {{"", "", std::move(parameters)}};
    return *this;
  }
};

std::vector<Parameter> top_keys() {
  return {
      Key("", "name", Type::name, "name of the experiment and of its directory under the output directory", kRequired,
          kIn<&Config::name>)
          .in_init("\"my-{0}\""),
      Key("", "model", Type::name, "model plugin that fits the candidates, e.g. svc", kRequired | kInPlan,
          kIn<&Config::model>)
          .in_init("\"{0}\""),
      Key("", "seed", Type::seed, "seed of all random numbers: an integer, or a string of decimal digits of any length",
          kInPlan, kInSeed)
          .in_init("1"),
      Key("", "data", Type::table, "the data to train and test on", kRequired),
      Key("", "validation", Type::table, "how a candidate is validated"),
      Key("", "bagging", Type::table, "an ensemble: each bootstrap draws rows and trains its own model"),
      Key("", "search", Type::table, "which candidates to fit"),
      Key("", "random", Type::table, "how random numbers are generated"),
      Key("", "model_options", Type::options, "parameters of the model that are the same for all candidates"),
      Key("", "devices", Type::table, "which devices to use, and how"),
      Key("", "plugins", Type::table, "where to look for backends and models"),
      Key("", "output", Type::table, "where to write results"),
  };
}

// Returns the keys that determine where rows, targets and weights come from.
std::vector<Parameter> file_keys() {
  return {
      Key("data", "source", Type::text, "kind of data: digits and friedman are built in, mnist is looked up by name",
          kRequired | kInPlan, kIn<&DataSpec::source>)
          .one_of(data::source_names())
          .in_init(fmt::format("\"digits\"            # {}", fmt::join(data::source_names(), " | "))),
      Key("data", "path", Type::text, "file or directory of the training data", kInPlan, kIn<&DataSpec::path>)
          .for_sources({"mnist", "idx", "libsvm", "csv", "npy", "images"}),
      Key("data", "test", Type::text, "file or directory of the test data", kInPlan, kIn<&DataSpec::test>)
          .for_sources({"idx", "libsvm", "csv", "npy", "images"}),
      Key("data", "labels", Type::text, "file of the labels: an array of one number for each row", kInPlan | kPlanIfSet,
          kIn<&DataSpec::labels>)
          .for_sources({"npy"}),
      Key("data", "test_labels", Type::text, "file of the labels of the test data", kInPlan | kPlanIfSet,
          kIn<&DataSpec::test_labels>)
          .for_sources({"npy"}),
      Key("data", "layout", Type::text,
          "the order of the dimensions of pictures with channels: (N, H, W, C) or (N, C, H, W)", kInPlan | kPlanIfSet,
          kInLayout)
          .one_of(words_for<data::Layout>())
          .for_sources({"npy"}),
      Key("data", "target", Type::text, "name of the label column; without it, the last column", kInPlan,
          kIn<&DataSpec::target>)
          .for_sources({"csv"}),
      Key("data", "categorical", Type::texts, "columns to encode as one feature per value", kInPlan | kEmptyAllowed,
          kIn<&DataSpec::categorical>)
          .for_sources({"csv"}),
      Key("data", "ignore", Type::texts, "columns that are not features, such as names and IDs",
          kInPlan | kPlanIfSet | kEmptyAllowed, kIn<&DataSpec::ignore>)
          .for_sources({"csv"}),
      Key("data", "weight", Type::text,
          "column, or for libsvm and npy the file, with the weight of each training row: in training, an error on a "
          "row costs "
          "this "
          "many times as much",
          kInPlan | kPlanIfSet, kIn<&DataSpec::weight>)
          .for_sources({"libsvm", "csv", "npy"}),
  };
}

// Returns the keys that determine the form of rows, targets and inputs.
std::vector<Parameter> row_keys() {
  const Key mean("data.standardize", "mean", Type::real, "", kRequired);
  const Key scale = Key("data.standardize", "scale", Type::real, "", kRequired).between(0, kInfinity);
  return {
      Key("data", "task", Type::text,
          "what the targets are; without it, whole numbers with at most 1000 different values are classes, and "
          "other numbers are targets of a regression; one_class: 1 for rows to accept and -1 for rows to reject, of "
          "which the training rows may have only one",
          kInPlan | kPlanIfSet, kIn<&DataSpec::task>)
          .one_of({"classification", "regression", "one_class"})
          .for_sources({"libsvm", "csv", "npy"}),
      Key("data", "storage", Type::text,
          "sparse: keep only the values that are not 0, in memory and on the device, for models that take such rows "
          "(svc); auto: sparse if the model takes such rows, dense ones would take more than 256 MiB and less than 10 "
          "% of "
          "the values are not 0; without it, dense",
          kInPlan | kPlanIfSet, kIn<&DataSpec::storage>)
          .one_of({"sparse", "dense", "auto"})
          .for_sources({"libsvm"}),
      Key("data", "missing", Type::text,
          "what a missing cell causes: an error, a dropped row, or the mean of the column (for words, the most "
          "frequent one) in its place",
          kInPlan, kInMissing)
          .one_of(words_for<data::Missing>())
          .for_sources({"csv"}),
      Key("data", "size", Type::integer,
          "height and width in pixels to which pictures are cropped and scaled; needed if their sizes differ",
          kInPlan | kPlanIfSet, kIn<&DataSpec::size>)
          .within(1, static_cast<double>(data::kMostImageSide))
          .for_sources({"images"}),
      Key("data", "channels", Type::integer,
          "1: grey, 3: colour; without it, colour if any picture has a pixel that is not grey", kInPlan | kPlanIfSet,
          kIn<&DataSpec::channels>)
          .within(1, 3)
          .for_sources({"images"}),
      Key("data", "limit", Type::integer, "use only the first N training rows; test rows are not limited", kInPlan,
          kIn<&DataSpec::limit>)
          .within(1),
      Key("data", "standardize", Type::standardize,
          "how inputs are scaled: (x - mean) / scale with two constants; \"features\": each feature to mean 0 and "
          "deviation "
          "1 on the training rows; \"none\"",
          kInPlan, kInStandardize)
          .one_of({"none", "features"})
          .or_table_of({mean, scale})
          .in_init("\"features\"     # or {{ mean = 127.5, scale = 73.61 }}, or \"none\""),
      Key("data", "within", Type::text,
          "the rows on which standardize = \"features\" and missing = \"mean\" are fitted: those on which each fold "
          "trains, "
          "or all training rows, so that all folds share their inputs (and svc its kernel matrix)",
          kInPlan | kPlanIfSet, kInWithin)
          .one_of({kWithin.begin(), kWithin.end()})
          .as_before("\"training\""),
  };
}

std::vector<Parameter> validation_keys() {
  return {
      Key("validation", "folds", Type::integer, "number of folds of the cross-validation",
          kInPlan | kZeroAllowed | kFoldsOnly, kIn<&Config::folds>)
          .within(2, 1000)
          .in_init("5                    # or share = 0.15: one validation set of this share of the rows"),
      Key("validation", "share", Type::real,
          "instead of folds: validate on this share of the rows, drawn with the seed", kInPlan | kPlanIfSet,
          kIn<&Config::share>)
          .between(0, 1),
      Key("validation", "shuffle", Type::boolean, "draw the rows of each fold with the seed; false: consecutive rows",
          kInPlan | kFoldsOnly, kIn<&Config::shuffle>)
          .in_init("true               # rows are drawn with the seed; false: consecutive rows make a fold"),
      Key("validation", "stratified", Type::boolean,
          "give every fold the same share of each class; no effect on targets of a regression", kInPlan,
          kIn<&Config::stratified>)
          .in_init("true            # every fold has the same share of each class\n"
                   "# repeats = 1, ordered = false, calibrate = false; group, file, outer, outer_fold, share and score "
                   "have no\n"
                   "# default: docs/howto/tune.md explains them"),
      Key("validation", "group", Type::text, "column that names the group of a row: one fold has all rows of a group",
          kInPlan | kPlanIfSet, kIn<&DataSpec::group>)
          .for_sources({"csv"}),
      Key("validation", "file", Type::text,
          "file with the fold of each training row, from 0 (-1: never validated): a number on each line, or an .npy "
          "array",
          kInPlan | kPlanIfSet | kFoldsOnly, kIn<&DataSpec::folds_file>),
      Key("validation", "repeats", Type::integer,
          "number of cross-validations with different folds, which are averaged", kInPlan | kPlanIfSet | kFoldsOnly,
          kIn<&Config::repeats>)
          .within(1, 1000),
      Key("validation", "ordered", Type::boolean,
          "the rows are in chronological order: every fold trains on the rows before those that validate it",
          kInPlan | kPlanIfSet, kIn<&Config::ordered>),
      Key("validation", "outer", Type::integer,
          "nested cross-validation: the number of outer folds; the experiment is repeated without each of them, and "
          "the "
          "tuned model tested on it",
          0, kIn<&Config::outer>)
          .within(2, 1000),
      Key("validation", "outer_fold", Type::integer,
          "run without this outer fold, counted from 1, and test on its rows", kInPlan | kPlanIfSet,
          kIn<&Config::outer_fold>)
          .within(1, 1000),
      Key("validation", "score", Type::texts,
          "measures of each fit in addition to the model's: balanced_error; precision, recall and f1 as means over the "
          "classes; auc; log_loss; for numbers to predict rmse, mae, r2, explained_variance",
          kInPlan | kPlanIfSet, kIn<&Config::score>)
          .one_of(measure_names()),
      Key("validation", "calibrate", Type::boolean,
          "fit the folds of the best candidate again, and learn class probabilities from their decision values",
          kInPlan | kPlanIfSet, kIn<&Config::calibrate>),
  };
}

std::vector<Parameter> search_keys() {
  return {
      Key("bagging", "bootstraps", Type::integer,
          "number of bootstraps: samples drawn with replacement within the folds", kInPlan, kIn<&Config::bootstraps>)
          .within(1, 100'000),
      Key("search", "method", Type::text,
          "grid: every combination; random: drawn candidates; list: candidate n has the n-th value of every list; "
          "none: "
          "one candidate",
          kInPlan, kIn<&Config::method>)
          .one_of({"grid", "random", "list", "none"})
          .in_init("\"none\"             # grid: add [search.params], e.g. {1}"),
      Key("search", "candidates", Type::integer,
          "random: number of candidates to draw, separately for each bootstrap; list: number that each bootstrap "
          "takes, in "
          "list order",
          kInPlan, kIn<&Config::n_candidates>)
          .within(1, 10'000'000),
      Key("search", "rungs", Type::integer,
          "successive halving: number of rungs; the first fits every candidate on few rows, each further one only the "
          "best "
          "candidates on more rows",
          kInPlan | kPlanIfSet, kIn<&Config::rungs>)
          .within(1, 10),
      Key("search", "factor", Type::integer,
          "successive halving: each rung has 1/factor of the candidates and factor times the rows of the one before",
          kInPlan | kPlanIfSet, kIn<&Config::factor>)
          .within(2, 100),
      Key("search", "whole", Type::boolean,
          "false, which `mokume curve` writes: the last rung has 1/factor of the rows, and no model of all rows "
          "follows",
          kInPlan | kPlanIfSet | kWritten, kIn<&Config::whole>),
      Key("search", "trials", Type::integer,
          "number of candidates to compute in each bootstrap; each is chosen by the results of earlier ones",
          kInPlan | kPlanIfSet, kIn<&Config::trials>)
          .within(1, 1'000),
      Key("search", "at_once", Type::integer,
          "number of trials that may run at once; more of them keep more devices busy, but each knows fewer results",
          kInPlan | kPlanIfSet, kIn<&Config::at_once>)
          .within(1, 10'000),
      Key("search", "select", Type::text,
          "the metric or measure whose mean over the folds chooses the best candidate, e.g. loss or f1", kInPlan,
          kIn<&Config::select>),
      Key("search", "params", Type::params, "parameters of the model that differ between candidates"),
      Key("random", "compat", Type::text,
          "numpy: draw bootstraps and candidates as NumPy does, to replay the published study of bagged networks",
          kInPlan, kIn<&Config::random_compat>)
          .one_of({"numpy"}),
  };
}

std::vector<Parameter> device_keys() {
  return {
      Key("devices", "use", Type::selection, "devices to use, e.g. all, opencl:gpu or pocl,host", 0,
          kIn<&Config::devices>)
          .in_init("\"all\"                 # every GPU and one CPU device; see `mokume devices`"),
      Key("devices", "memory", Type::size, "memory that one device may use, in bytes or as \"4 GiB\"", 0,
          kIn<&Config::memory_bytes>)
          .within(1),
      Key("devices", "isolation", Type::text,
          "thread: all devices in this process; process: each in its own child process, so that a driver crash does "
          "not end the run",
          0, kIn<&Config::isolation>)
          .one_of({"thread", "process"}),
      Key("devices", "team", Type::boolean,
          "true: all devices of all nodes train one network at a time, in the way that the model's options select "
          "(cnn: "
          "parallel)",
          0, kIn<&Config::team>),
      Key("devices", "split", Type::text,
          "what each device of a team keeps in memory; no effect on results. batch: the whole network, which it trains "
          "on "
          "a part of each batch; states: the same, but the optimizer's states for only a part of the weights; layers: "
          "some of the layers (pipeline parallelism); auto: the first of these that fits",
          0, kIn<&Config::split>)
          .one_of({"auto", "batch", "states", "layers"}),
      Key("devices", "sums", Type::text,
          "what carries the sums of a team between nodes. mpi: MPI if available, where each node adds up a slice of "
          "each "
          "sum; sockets: TCP, where node 0 adds up everything",
          0, kIn<&Config::sums>)
          .one_of({"mpi", "sockets"}),
      Key("devices", "precision", Type::text,
          "for networks. tf32 or bf16: matrix units of GPUs, and the host backend, multiply operands rounded to 10 or "
          "7 "
          "bits of mantissa and sum in fp32; other devices compute in fp32",
          kInPlan | kPlanIfSet, kIn<&Config::precision>)
          .one_of({"fp32", "tf32", "bf16"}),
      Key("devices", "numerics", Type::text,
          "fast: each device may order sums and choose algorithms as suits it, within stated tolerances. strict: every "
          "op has one definition to the bit, so that all devices give the same results",
          kInPlan | kPlanIfSet, kIn<&Config::numerics>)
          .one_of({"fast", "strict"}),
      Key("devices", "repeat_splits", Type::text,
          "run directory; a team divides its work as in that run, at the same points, instead of by speed", 0,
          kIn<&Config::repeat_splits>),
      Key("plugins", "directories", Type::directories, "absolute paths of additional plugin directories", 0,
          kIn<&Config::plugin_directories>),
      Key("output", "directory", Type::text, "directory that holds the run directories", 0, kIn<&Config::output>),
  };
}

// Returns all keys in the order of the resolved file. The keys of a table are adjacent.
std::vector<Parameter> all_keys() {
  std::vector<Parameter> all = top_keys();
  for (const auto& more : {file_keys(), row_keys(), validation_keys(), search_keys(), device_keys()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

const std::vector<Parameter>& keys() {
  static const std::vector<Parameter> all = all_keys();
  return all;
}

const Parameter* find_key(std::string_view table, std::string_view name) {
  const auto found = std::find_if(keys().begin(), keys().end(),
                                  [&](const Parameter& key) { return table == key.table && name == key.name; });
  return found == keys().end() ? nullptr : &*found;
}

Json value_before(const Parameter& key) {
  return key.before.empty() ? key.member.get(Config()) : Json::parse(key.before);
}

std::vector<std::string> names_in(std::string_view table) {
  std::vector<std::string> names;
  for (const Parameter& key : keys())
    if (table == key.table && !key.has(kWritten)) names.push_back(key.name);
  return names;
}

std::string title(std::string_view table) { return table.empty() ? "the top level" : "[" + std::string(table) + "]"; }

std::string inside(std::string_view table) { return (table.empty() ? "at " : "in ") + title(table); }

std::string without_leading_zeros(const std::string& digits) {
  const size_t first = digits.find_first_not_of('0');
  return first == std::string::npos ? "0" : digits.substr(first);
}

uint64_t seed_of(const std::string& digits) {
  const std::string plain = without_leading_zeros(digits);
  uint64_t seed = 0;
  if (std::from_chars(plain.data(), plain.data() + plain.size(), seed).ec == std::errc{}) return seed;
  const std::string hash = base::sha256(plain);
  std::from_chars(hash.data(), hash.data() + 16, seed, 16);
  return seed;
}

}  // namespace mokume::config
