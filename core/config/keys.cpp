#include "config/keys.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace mokume::config {
namespace {

constexpr int64_t kMany = std::numeric_limits<int64_t>::max();

constexpr std::array kKeys = {
    Key{"", "name", Type::name, "name of the experiment and of its directory under the output directory",
        [](Config& c) -> Slot { return &c.name; }, kRequired},
    Key{"", "model", Type::name, "model plugin that fits the candidates, e.g. svc",
        [](Config& c) -> Slot { return &c.model; }, kRequired | kInPlan},
    Key{"", "seed", Type::seed, "seed of every random number: an integer, or a decimal text of any length",
        [](Config& c) -> Slot { return &c.seed_text; }, kInPlan},
    Key{"", "data", Type::table, "what to train and test on", nullptr, kRequired},
    Key{"", "validation", Type::table, "how a candidate is validated"},
    Key{"", "bagging", Type::table, "an ensemble: each bootstrap draws rows and gives a model of its own"},
    Key{"", "search", Type::table, "which candidates are fitted"},
    Key{"", "random", Type::table, "how random numbers are made"},
    Key{"", "model_options", Type::options, "parameters of the model that are the same for all candidates"},
    Key{"", "devices", Type::table, "which devices work, and how"},
    Key{"", "plugins", Type::table, "where backends and models are looked for"},
    Key{"", "output", Type::table, "where results go"},

    Key{"data", "source", Type::choice, "kind of data: digits and friedman are built in, mnist is looked up by name",
        [](Config& c) -> Slot { return &c.data.source; }, kRequired | kInPlan, 0, 0,
        "digits|friedman|mnist|idx|libsvm|csv"},
    Key{"data", "path", Type::text, "file or directory of the training data",
        [](Config& c) -> Slot { return &c.data.path; }, kInPlan, 0, 0, "", "mnist|idx|libsvm|csv"},
    Key{"data", "test", Type::text, "file of the test data", [](Config& c) -> Slot { return &c.data.test; }, kInPlan, 0,
        0, "", "idx|libsvm|csv"},
    Key{"data", "target", Type::text, "name of the label column; the last one if not given",
        [](Config& c) -> Slot { return &c.data.target; }, kInPlan, 0, 0, "", "csv"},
    Key{"data", "categorical", Type::texts, "columns to turn into one feature per value",
        [](Config& c) -> Slot { return &c.data.categorical; }, kInPlan | kEmptyAllowed, 0, 0, "", "csv"},
    Key{"data", "missing", Type::choice, "what an empty cell means: an error, a dropped row, or the column's mean",
        [](Config& c) -> Slot { return &c.data.missing; }, kInPlan, 0, 0, "error|drop|mean", "csv"},
    Key{"data", "limit", Type::integer, "use only the first N training rows; a test set stays whole",
        [](Config& c) -> Slot { return &c.data.limit; }, kInPlan, 1, kMany},
    Key{"data", "standardize", Type::standardize,
        "inputs become (x - mean) / scale: two numbers, \"features\" (fitted once on the training rows) or \"none\"",
        [](Config& c) -> Slot { return &c.data.standardize; }, kInPlan},

    Key{"validation", "folds", Type::integer, "number of folds of the cross-validation",
        [](Config& c) -> Slot { return &c.folds; }, kInPlan | kZeroAllowed, 2, 1000},
    Key{"validation", "share", Type::share, "instead of folds: validate on this share of the rows, drawn with the seed",
        [](Config& c) -> Slot { return &c.share; }, kInPlan},
    Key{"validation", "shuffle", Type::boolean, "draw the rows of a fold at random instead of in a row",
        [](Config& c) -> Slot { return &c.shuffle; }, kInPlan},
    Key{"validation", "stratified", Type::boolean, "give every fold the same share of each class",
        [](Config& c) -> Slot { return &c.stratified; }, kInPlan},

    Key{"bagging", "bootstraps", Type::integer, "number of bootstraps: samples drawn with replacement within the folds",
        [](Config& c) -> Slot { return &c.bootstraps; }, kInPlan, 1, 100'000},

    Key{"search", "method", Type::choice,
        "grid: every combination; random: drawn candidates; list: the n-th values of all lists; none: one candidate",
        [](Config& c) -> Slot { return &c.method; }, kInPlan, 0, 0, "grid|random|list|none"},
    Key{"search", "candidates", Type::integer,
        "random: how many are drawn, for each bootstrap anew; list: how many each bootstrap takes of it, in turn",
        [](Config& c) -> Slot { return &c.n_candidates; }, kInPlan, 1, 10'000'000},
    Key{"search", "select", Type::text, "the metric whose mean over the folds chooses the best candidate, e.g. loss",
        [](Config& c) -> Slot { return &c.select; }, kInPlan},
    Key{"search", "params", Type::params, "parameters of the model that differ between candidates"},

    Key{"random", "compat", Type::choice,
        "numpy: draw bootstraps and candidates as the study of bagged networks did with NumPy, to replay it",
        [](Config& c) -> Slot { return &c.random_compat; }, kInPlan, 0, 0, "numpy"},

    Key{"devices", "use", Type::selection, "devices that work, e.g. all, opencl:gpu or pocl,host",
        [](Config& c) -> Slot { return &c.devices; }},
    Key{"devices", "memory", Type::size, "memory that one device may use, in bytes or as \"4 GiB\"",
        [](Config& c) -> Slot { return &c.memory_bytes; }, 0, 1, kMany},
    Key{"devices", "isolation", Type::choice,
        "thread: all devices in this process; process: each in a child of its own, which a driver may crash",
        [](Config& c) -> Slot { return &c.isolation; }, 0, 0, 0, "thread|process"},
    Key{"devices", "team", Type::boolean,
        "true: all devices of all nodes train each network together, as the model's own options say (cnn: parallel)",
        [](Config& c) -> Slot { return &c.team; }},
    Key{"devices", "repeat_splits", Type::text,
        "a run directory: a team splits work at the places and in the shares of that run, instead of by speed",
        [](Config& c) -> Slot { return &c.repeat_splits; }},

    Key{"plugins", "directories", Type::directories, "absolute paths of directories with further plugins",
        [](Config& c) -> Slot { return &c.plugin_directories; }},

    Key{"output", "directory", Type::text, "directory that holds the run directories",
        [](Config& c) -> Slot { return &c.output; }},
};

using Kind = search::Space::Kind;
constexpr std::array kShapes = {
    Shape{"log10", false, 10, Kind::list, "n values from 10^first to 10^last, evenly spaced in the exponent"},
    Shape{"log2", false, 2, Kind::list, "n values from 2^first to 2^last, evenly spaced in the exponent"},
    Shape{"linear", false, 0, Kind::list, "n evenly spaced values from first to last"},
    Shape{"log10_uniform", true, 10, Kind::log10_uniform, "drawn from 10^first to 10^last, uniform in the exponent"},
    Shape{"uniform", true, 0, Kind::real_uniform, "drawn uniformly from first to last"},
    Shape{"int", true, 0, Kind::integer_uniform, "an integer drawn from first to last, both included"},
};

}  // namespace

std::span<const Key> keys() { return kKeys; }
std::span<const Shape> shapes() { return kShapes; }

const Key* find_key(std::string_view table, std::string_view name) {
  const auto found =
      std::find_if(kKeys.begin(), kKeys.end(), [&](const Key& k) { return table == k.table && name == k.name; });
  return found == kKeys.end() ? nullptr : &*found;
}

std::vector<std::string> names_in(std::string_view table) {
  std::vector<std::string> names;
  for (const Key& key : kKeys)
    if (table == key.table) names.emplace_back(key.name);
  return names;
}

std::string dotted(std::string_view table, std::string_view name) {
  return table.empty() ? std::string(name) : std::string(table) + "." + std::string(name);
}

std::string title(std::string_view table) { return table.empty() ? "the top level" : "[" + std::string(table) + "]"; }

std::string inside(std::string_view table) { return (table.empty() ? "at " : "in ") + title(table); }

}  // namespace mokume::config
