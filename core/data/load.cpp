#include "data/load.hpp"

#include <utility>

#include "base/files.hpp"
#include "data/csv.hpp"
#include "data/dataset.hpp"
#include "data/digits.hpp"
#include "data/fold_file.hpp"
#include "data/fold_inputs.hpp"
#include "data/friedman.hpp"
#include "data/idx.hpp"
#include "data/images/image_set.hpp"
#include "data/input.hpp"
#include "data/labels.hpp"
#include "data/libsvm.hpp"
#include "data/locate.hpp"
#include "data/npy/npy_file.hpp"
#include "data/npy/npy_rows.hpp"
#include "data/outer_fold.hpp"
#include "data/precision.hpp"
#include "data/scale.hpp"
#include "data/spec.hpp"
#include "sdk/error.hpp"

namespace mokume::data {
namespace {

Parts read_digits(const DataSpec& spec) {
  return {"digits", draw_digits(DigitSet::train, spec.limit), draw_digits(DigitSet::test, 0), {}};
}

Parts read_friedman(const DataSpec& spec) {
  return {"friedman", draw_friedman(false, spec.limit), draw_friedman(true, 0), {}};
}

RawTable read_pair(const IdxPair& pair, int64_t limit) {
  return read_idx(pair.images, pair.labels, limit, limit > 0 ? base::cache_directory() : "");
}

// Throws unless test rows have the form of the training rows.
void check_same_rows(const RawTable& train, const RawTable& test) {
  if (test.table.rows == 0) return;
  if (test.table.features != train.table.features)
    bad_data(test.path, "",
             "has " + std::to_string(test.table.features) + " features, but the training file '" + train.path +
                 "' has " + std::to_string(train.table.features) + "; use the files of one set");
  if (!(test.shape == train.shape))
    bad_data(test.path, "",
             "has images of a different size than the training file '" + train.path + "'; use the files of one set");
}

Parts read_idx_sets(const DataSpec& spec) {
  const std::string path = spec.path.empty() ? locate_name(spec.source) : locate(spec.path);
  Parts parts;
  parts.name = spec.path.empty() ? spec.source : stem(path);
  if (is_directory(path)) {
    parts.train = read_pair(idx_in_directory(path, "train"), spec.limit);
    parts.test = read_pair(idx_in_directory(path, "t10k"), 0);
  } else {
    parts.train = read_pair(idx_beside(path, true), spec.limit);
    if (!spec.test.empty())
      parts.test =
          read_pair(is_directory(spec.test) ? idx_in_directory(spec.test, "t10k") : idx_beside(spec.test, true), 0);
  }
  check_same_rows(parts.train, parts.test);
  return parts;
}

// Chooses the storage of rows that were read as sparse ones, unless means make them dense.
void settle_storage(Parts& parts) {
  StorageChoice choice{false, "the rows become dense, because data.standardize subtracts means"};
  if (parts.train.table.sparse()) choice = choose_storage(parts.train.table, parts.test.table);
  for (RawTable* part : {&parts.train, &parts.test})
    if (part->table.sparse() && !choice.sparse) make_dense(*part);
  parts.storage_note = "data.storage is 'auto': " + choice.sentence;
}

Parts read_libsvm_files(const DataSpec& spec) {
  const std::string path = single_file(locate(spec.path));
  const bool sparse = spec.keeps_sparse() || (spec.chooses_storage() && !spec.subtracts_means());
  Parts parts{stem(path), read_libsvm(path, spec.limit, 0, spec.scales(), sparse), {}, {}};
  if (!spec.weight.empty())
    parts.train.table.weights =
        read_npy_weights(spec.weight, static_cast<int64_t>(parts.train.labels.size()), spec.limit);
  if (!spec.test.empty()) {
    parts.test = read_libsvm(spec.test, 0, 0, spec.scales(), sparse);
    widen(path, parts.train.table.features, parts.test);
    widen(spec.test, parts.test.table.features, parts.train);  // a feature that no training row has is 0 there
  }
  if (spec.chooses_storage()) settle_storage(parts);
  return parts;
}

CsvOptions csv_options(const DataSpec& spec) {
  CsvOptions options;
  options.target = spec.target;
  options.categorical = spec.categorical;
  options.ignore = spec.ignore;
  options.group = spec.group;
  options.weight = spec.weight;
  options.missing = spec.missing;
  options.limit = spec.limit;
  options.exact = spec.scales();
  return options;
}

Parts read_csv_files(const DataSpec& spec) {
  const std::string path = single_file(locate(spec.path));
  CsvOptions options = csv_options(spec);
  CopiedColumns ids{spec.ignore};
  if (!spec.group.empty()) ids.names.push_back(spec.group);
  options.copy = ids.names;
  CsvTable train = read_csv(path, options);
  ids.cells = std::move(train.copied);
  options.copy.clear();
  Parts parts{stem(path),    {}, {}, std::move(train.columns), std::move(train.notes), std::move(train.gaps),
              std::move(ids)};
  if (!spec.test.empty()) {
    options.target = train.target;
    options.limit = 0;
    options.columns = &parts.columns;
    CsvTable test = read_csv(spec.test, options);
    parts.notes.insert(parts.notes.end(), test.notes.begin(), test.notes.end());
    parts.test = std::move(test);
  }
  parts.train = std::move(train);
  return parts;
}

Parts read_npy_files(const DataSpec& spec) {
  if (spec.labels.empty())
    throw Error(MK_INVALID_ARGUMENT, "data.source 'npy' needs data.labels; name the file with the label of each row");
  if (!spec.test.empty() && spec.test_labels.empty())
    throw Error(MK_INVALID_ARGUMENT, "data.test of source 'npy' needs data.test_labels; name the file with its labels");
  const std::string path = single_file(locate(spec.path));
  Parts parts{stem(path), read_npy_rows({path, spec.labels, spec.layout, spec.scales()}, spec.limit), {}, {}};
  if (!spec.weight.empty())
    parts.train.table.weights = read_npy_weights(spec.weight, NpyFile(path).shape()[0], spec.limit);
  if (!spec.test.empty()) parts.test = read_npy_rows({spec.test, spec.test_labels, spec.layout, spec.scales()}, 0);
  check_same_rows(parts.train, parts.test);
  return parts;
}

Parts read_parts(const DataSpec& spec) {
  if (spec.source == "digits") return read_digits(spec);
  if (spec.source == "friedman") return read_friedman(spec);
  if (spec.source == "libsvm") return read_libsvm_files(spec);
  if (spec.source == "csv") return read_csv_files(spec);
  if (spec.source == "npy") return read_npy_files(spec);
  if (spec.source == "images") return read_image_sets(spec);
  return read_idx_sets(spec);
}

Parts read_csv_to_predict(const DataSpec& spec, const std::string& path, const TrainedOn& trained,
                          CopiedColumns* copied, const CsvPiece* piece) {
  const std::vector<Column>& columns = trained.columns;
  if (columns.empty() && (!spec.categorical.empty() || spec.missing == Missing::mean))
    throw Error(MK_INVALID_ARGUMENT,
                "data.categorical and data.missing = \"mean\" need the columns of the training "
                "file, and this model has none; leave them out");
  CsvOptions options = csv_options(spec);
  options.columns = columns.empty() ? nullptr : &columns;
  options.exact = trained.scales();
  options.target_required = false;
  options.piece = piece;
  if (copied != nullptr) options.copy = copied->names;
  CsvTable table = read_csv(path, options);
  if (copied != nullptr) copied->cells = std::move(table.copied);
  std::vector<std::string> notes = std::move(table.notes);
  return {stem(path), std::move(table), {}, columns, std::move(notes)};
}

Parts read_idx_to_predict(const DataSpec& spec) {
  const bool test = !spec.test.empty(), own = spec.test == kOwnTest;
  const std::string path = test && !own ? spec.test : spec.path.empty() ? locate_name(spec.source) : locate(spec.path);
  if (own && !is_directory(path))
    throw Error(MK_INVALID_ARGUMENT, "data.test is 'own', but '" + path + "' is a file: name its test file instead");
  const IdxPair pair = is_directory(path) ? idx_in_directory(path, test ? "t10k" : "train") : idx_beside(path, false);
  return {stem(path), read_pair(pair, spec.limit), {}, {}};
}

Parts read_images_to_predict(const DataSpec& spec, const Shape& shape) {
  const bool test = !spec.test.empty(), own = spec.test == kOwnTest;
  return read_images_to_predict(spec, test && !own ? spec.test : image_set_path(locate(spec.path), test), shape);
}

// Reads the test file, or `path` if no test file is named, with the encoding of the training file.
Parts read_to_predict(const DataSpec& spec, int64_t features, const TrainedOn& trained, CopiedColumns* copied,
                      const CsvPiece* piece) {
  if (copied != nullptr && spec.source != "csv")
    throw Error(MK_INVALID_ARGUMENT, "columns can be copied from csv only, but the rows are of source '" + spec.source +
                                         "'; leave --columns out");
  const bool test = !spec.test.empty(), own = spec.test == kOwnTest;
  if (test && !own && is_built_in(spec.source))
    throw Error(MK_INVALID_ARGUMENT, "the built-in " + spec.source + " has one test set; write test=own");
  if (spec.source == "digits")
    return {"digits", draw_digits(test ? DigitSet::test : DigitSet::train, spec.limit), {}, {}};
  if (spec.source == "friedman") return {"friedman", draw_friedman(test, spec.limit), {}, {}};
  if (spec.source == "images") return read_images_to_predict(spec, trained.shape);
  if (spec.source != "libsvm" && spec.source != "csv" && spec.source != "npy") return read_idx_to_predict(spec);
  const bool standard = !test && spec.path == kStandardInput;
  const std::string path = standard ? spec.path : single_file(test ? spec.test : locate(spec.path));
  if (spec.source == "csv") return read_csv_to_predict(spec, path, trained, copied, piece);
  if (spec.source == "npy")
    return {stem(path),
            read_npy_rows({path, test ? spec.test_labels : spec.labels, spec.layout, trained.scales()}, spec.limit),
            {},
            {}};
  return {stem(path), read_libsvm(path, spec.limit, features, trained.scales(), spec.keeps_sparse()), {}, {}};
}

// Returns whether the classes may be measurements, because whole numbers are classes unless data.task overrides this.
bool may_be_numbers(const LabelMap& map, int64_t rows) {
  constexpr int64_t kMany = 20, kFewRows = 10;
  const auto classes = static_cast<int64_t>(map.class_names.size());
  return map.numeric && classes > kMany && rows < kFewRows * classes;
}

std::string task_note(const LabelMap& map, const std::string& task, int64_t rows) {
  std::string text = map.regression
                         ? "the targets are numbers to predict (regression)"
                         : "the targets are " + std::to_string(map.class_names.size()) + " classes (classification)";
  if (!task.empty()) return text;
  if (!map.regression && may_be_numbers(map, rows))
    return text + " of few rows each; if they are numbers to predict, set data.task to \"regression\"";
  return text + "; set data.task to override this";
}

Shape shape_of(const RawTable& part) {
  return part.shape.channels > 0 ? part.shape : Shape{1, 1, static_cast<int32_t>(part.table.features)};
}

}  // namespace

Dataset load(const DataSpec& spec) {
  check_spec(spec);
  if (spec.path == kStandardInput)
    throw Error(MK_INVALID_ARGUMENT, "data.path is '-', but only `mokume predict` reads standard input; name a file");
  Parts parts = read_parts(spec);
  Dataset data;
  data.name = std::move(parts.name);
  data.columns = std::move(parts.columns);
  data.shape = shape_of(parts.train);
  data.train = std::move(parts.train.table);
  data.test = std::move(parts.test.table);
  LabelMap map =
      learn_labels(parts.train.labels, parts.train.path, spec.source == "images" ? "classification" : spec.task);
  data.notes = std::move(parts.notes);
  data.storage_note = std::move(parts.storage_note);
  data.ids = std::move(parts.ids);
  if (spec.source == "csv" || spec.source == "libsvm" || spec.source == "npy")
    data.notes.push_back(task_note(map, spec.task, data.train.rows));
  if (std::string alike = classes_alike(map.class_names); !alike.empty()) data.notes.push_back(std::move(alike));
  for (const Column& column : data.columns)
    if (std::string alike = levels_alike(column); !alike.empty()) data.notes.push_back(std::move(alike));
  apply_labels(map, parts.train.path, parts.train.labels, Unknown::error, data.train);
  data.test.features = data.train.features;
  if (data.test.rows > 0) apply_labels(map, parts.test.path, parts.test.labels, Unknown::error, data.test);
  data.class_names = std::move(map.class_names);
  if (!spec.folds_file.empty()) data.train.given_folds = read_folds(spec.folds_file, data.train.rows);
  if (spec.outer.fold > 0) hold_out(spec.outer, data, parts.gaps);
  data.sha256 = content_hash(data);
  if (spec.within == Within::fold && spec.learns()) {
    data.unscaled = inputs_of(data.train);
    data.gaps = std::move(parts.gaps);
  }
  for (std::string& sentence : lost_digits(spec, data)) data.notes.push_back(std::move(sentence));
  standardize(spec.standardize, data);
  return data;
}

CsvExpected expected_in(const DataSpec& spec, const TrainedOn& trained) {
  CsvOptions options = csv_options(spec);
  options.columns = trained.columns.empty() ? nullptr : &trained.columns;
  return expected_of(options);
}

Dataset load_for_prediction(const DataSpec& spec, const TrainedOn& trained, CopiedColumns* copied,
                            const CsvPiece* piece) {
  check_spec(spec);
  if (spec.chooses_storage())
    throw Error(MK_INVALID_ARGUMENT,
                "data.storage is 'auto', which chooses for training rows: write storage=sparse or storage=dense for "
                "rows to predict, or leave it out");
  int64_t features = trained.features;
  if (features == 0 && trained.mean.size() > 1) features = static_cast<int64_t>(trained.mean.size());
  Parts parts = read_to_predict(spec, features, trained, copied, piece);
  Dataset data;
  data.name = std::move(parts.name);
  data.columns = std::move(parts.columns);
  data.notes = std::move(parts.notes);
  data.shape = shape_of(parts.train);
  data.train = std::move(parts.train.table);
  data.test.features = data.train.features;
  data.class_names = trained.class_names;
  check_scaling(data, features, trained.mean, trained.scale);
  if (parts.train.labels.size() != 0)
    apply_labels(label_map(data.class_names), parts.train.path, parts.train.labels, Unknown::keep, data.train);
  data.sha256 = content_hash(data);
  data.mean = trained.mean;
  data.scale = trained.scale;
  apply_scaling(data.mean, data.scale, data.name, data.train);
  return data;
}

}  // namespace mokume::data
