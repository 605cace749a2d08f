// Defines data sets: the data that [data] describes, in memory as float32 rows with labels or targets.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace mokume::data {

// Selects the scaling of inputs, x' = (x - mean) / scale.
struct Standardize {
  enum class Kind { none, fixed, features } kind = Kind::none;
  double mean = 0;   // fixed: the same for every feature
  double scale = 1;  // fixed: above 0
};

enum class Missing { error, drop, mean };

inline std::span<const base::EnumName<Missing>> names_of(Missing) {
  static constexpr base::EnumName<Missing> kNames[] = {
      {Missing::error, "error"}, {Missing::drop, "drop"}, {Missing::mean, "mean"}};
  return kNames;
}

// Selects the rows that scaling and fillers are fitted on: the training rows of each fold, or all training rows once.
// Models trained on all rows use all training rows in both cases.
enum class Within { fold, training };

// Tells the order of a picture's dimensions in a NumPy array. `none` is for arrays without a channel dimension.
enum class Layout { none, nhwc, nchw };

inline std::span<const base::EnumName<Layout>> names_of(Layout) {
  static constexpr base::EnumName<Layout> kNames[] = {
      {Layout::none, ""}, {Layout::nhwc, "nhwc"}, {Layout::nchw, "nchw"}};
  return kNames;
}

// Selects the source's own test set, as the value of `test` on a command line. Sources with one are digits, friedman,
// mnist, a folder of IDX files, and a folder of pictures with a folder named test.
inline constexpr const char* kOwnTest = "own";

inline constexpr int64_t kMostImageSide = 2048;  // limit in pixels for source "images"

// Identifies the outer fold of a nested cross-validation whose rows form the test set.
struct OuterFold {
  uint32_t fold = 0;   // counted from 1, or 0 for none
  uint32_t folds = 0;  // number of outer folds
  bool shuffle = true, stratified = true;
  uint64_t seed = 0;
};

// Holds [data] of an experiment, or `--data SPEC` of a command line.
struct DataSpec {
  std::string source;                    // one of source_names() in data/spec.hpp
  std::string path;                      // file, directory or ""; relative paths are relative to the working directory
  std::string test;                      // test file or folder, or ""; a folder of IDX files in `path` replaces it
  std::string target;                    // csv: name of the label column, or "" for the last
  std::vector<std::string> categorical;  // csv: columns turned into one-hot features
  std::vector<std::string> ignore = {};  // csv: columns that are not features
  std::string group = {};                // csv: column whose equal values share a fold; not a feature
  std::string weight = {};               // weight of each training row; csv: column, not a feature; npy: file
  std::string labels = {};               // npy: label file for `path`; "" for unlabelled rows to predict
  std::string test_labels = {};          // npy: label file for `test`
  Layout layout = Layout::none;          // npy: order of dimensions for pictures with channels
  std::string folds_file = {};           // [validation] file with the fold of each training row, or ""
  std::string storage = {};              // libsvm: "sparse", "dense", "auto" or "", which is dense
  std::string task = {};                 // "classification", "regression" or "" (see learn_labels())
  int64_t size = 0;                      // images: height and width in pixels, or 0 to keep the size
  int64_t channels = 0;                  // images: 1 (grey), 3 (colour), or 0 to let the pictures decide
  Missing missing = Missing::error;      // csv: treatment of missing cells
  int64_t limit = 0;                     // number of rows to keep from the start, or 0 for all
  Standardize standardize;
  Within within = Within::fold;
  OuterFold outer = {};

  // Returns whether inputs are scaled. If they are, readers keep the values that float32 rounds (Table::exact).
  bool scales() const { return standardize.kind != Standardize::Kind::none; }

  bool subtracts_means() const {
    return standardize.kind == Standardize::Kind::features ||
           (standardize.kind == Standardize::Kind::fixed && standardize.mean != 0);
  }

  bool keeps_sparse() const { return storage == "sparse"; }
  bool chooses_storage() const { return storage == "auto"; }

  // Returns whether scaling or fillers depend on the rows on which they are fitted.
  bool learns() const { return standardize.kind == Standardize::Kind::features || missing == Missing::mean; }
};

// Holds inputs, and per row one of `labels` (0..classes-1) or `targets` (regression). The inputs of dense rows are
// row-major rows x features in `x`. A sparse row r has the values x[i] in the columns column[i], which ascend, for i in
// [starts[r], starts[r + 1]); its other values are 0.
struct Table {
  int64_t rows = 0;
  int64_t features = 0;
  std::vector<float> x;
  std::vector<int32_t> labels;
  std::vector<float> targets;
  std::vector<float> weights = {};        // cost of an error on each training row, at least 0; from DataSpec::weight
  std::vector<uint32_t> groups = {};      // group of each row, numbered densely from 0; from DataSpec::group
  std::vector<int32_t> given_folds = {};  // fold of each row (see read_folds()); from DataSpec::folds_file
  std::vector<double> exact = {};         // x before rounding, until it is scaled; empty if x holds all values exactly

  std::vector<int64_t> starts = {};  // rows + 1 values if the rows are sparse, else none
  std::vector<int32_t> column = {};  // column of each value of sparse rows

  bool sparse() const { return !starts.empty(); }

  double value(size_t at) const { return exact.empty() ? double{x[at]} : exact[at]; }

  void set(size_t at, double value) {
    x[at] = static_cast<float>(value);
    if (!exact.empty()) exact[at] = value;
  }
};

inline constexpr int32_t kNoLabel = -2;  // marks a row to predict whose label is empty

// Describes how to convert a column of the training file to features, so that other rows can be converted alike.
struct Column {
  std::string name;
  std::vector<std::string> levels;  // one-hot features in this order; empty for a numeric column
  double fill = 0;                  // numeric: mean, which replaces missing cells under Missing::mean
  std::string mode = {};            // categorical: most frequent level, used like `fill`; "" in older runs
  double low = 0, high = 0;         // numeric: range of the training rows; 0 and 0 in older runs
  bool decimal_comma = false;       // numeric: the training file writes 1,5 for one and a half

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("name", self.name);
    field("levels", self.levels);
    field("fill", self.fill);
    field.optional("mode", self.mode);
    field.optional("low", self.low);
    field.optional("high", self.high);
    field.optional("decimal_comma", self.decimal_comma);
  }
};

// Holds the shape of a row. An image has features = height * width * channels values, channels innermost. A row that is
// not an image is 1 x 1 with one channel per feature.
struct Shape {
  int32_t height = 1;
  int32_t width = 1;
  int32_t channels = 0;

  int64_t values() const { return int64_t{height} * width * channels; }
  bool operator==(const Shape&) const = default;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    constexpr int32_t kMost = 1 << 24;
    field("height", self.height, 1, kMost);
    field("width", self.width, 1, kMost);
    field("channels", self.channels, 1, 3);
  }
};

// Marks a missing cell of a training row.
struct Gap {
  uint32_t row = 0;
  uint32_t column = 0;  // index into Dataset::columns
};

// Names columns of a CSV file, such as IDs, and holds copies of their cells.
struct CopiedColumns {
  std::vector<std::string> names;
  std::vector<std::string> cells = {};  // rows x names
};

struct Dataset {
  std::string name;  // the source, or the stem of the file name
  Table train;       // has at least one row
  Table test;        // may be empty; has the same features
  Shape shape;       // shape of a row; set for digits, mnist, images and IDX files of three or four dimensions
  std::vector<std::string> class_names;  // ascending (numerically if all are numbers); empty for regression
  std::vector<double> mean;              // applied scaling: one value, one per feature, or none
  std::vector<double> scale;
  std::string sha256;              // content_hash() before scaling
  std::vector<Column> columns;     // csv: feature columns in order; otherwise empty
  Table unscaled;                  // x and exact of `train` before scaling if each fold scales or fills, else empty
  std::vector<Gap> gaps;           // filled cells of train.x if each fold scales or fills
  std::vector<std::string> notes;  // findings from reading the files, one sentence each
  std::string storage_note;        // the chosen storage and the reason if DataSpec::storage is "auto", else ""
  CopiedColumns ids;               // csv: columns that are no features, of the training rows
};

}  // namespace mokume::data
