// Saves and loads a fitted model as LIBSVM files and a manifest.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "fitted.hpp"
#include "libsvm_file.hpp"
#include "rows.hpp"
#include "saved/vectors_file.hpp"
#include "sdk/error.hpp"
#include "sdk/json.hpp"
#include "sdk/storage.hpp"

namespace mokume::svc {
namespace {

using nlohmann::json;

// Returns the labels that svm-predict prints, which are integers: the class names if all of them are integers,
// otherwise their indices.
std::vector<int64_t> numeric_labels(const std::vector<std::string>& names) {
  std::vector<int64_t> labels;
  for (const std::string& name : names) {
    int64_t value = 0;
    const auto r = std::from_chars(name.data(), name.data() + name.size(), value);
    if (r.ec != std::errc() || r.ptr != name.data() + name.size() || value > 2147483647 || value < -2147483647) {
      labels.resize(names.size());
      std::iota(labels.begin(), labels.end(), int64_t{0});
      return labels;
    }
    labels.push_back(value);
  }
  return labels;
}

void negate(LibsvmModel& m) {
  for (double& coefficient : m.coefficients) coefficient = -coefficient;
  for (double& rho : m.rho) rho = -rho;
}

// Returns binary_model() without its vectors, and in `which` the indices of these.
LibsvmModel binary_numbers(const Fitted& f, int64_t problem, const std::vector<int64_t>& labels,
                           std::vector<int64_t>& which) {
  LibsvmModel m;
  m.kind = f.settings.kind;
  m.kernel = f.settings.kernel;
  m.labels = labels;
  m.rho = {static_cast<double>(f.rho[static_cast<size_t>(problem)])};
  m.features = f.features;
  m.vectors_per_class = {0, 0};
  for (int side = 0; side < 2; ++side)
    for (int64_t v = 0; v < f.n_vectors(); ++v) {
      const float c = f.coefficients[static_cast<size_t>(problem * f.n_vectors() + v)];
      if (side == 0 ? c <= 0 : c >= 0) continue;
      m.coefficients.push_back(static_cast<double>(c));
      which.push_back(v);
      ++m.vectors_per_class[static_cast<size_t>(side)];
    }
  return m;
}

}  // namespace

LibsvmModel binary_model(const Fitted& f, int64_t problem, const std::vector<int64_t>& labels) {
  std::vector<int64_t> which;
  LibsvmModel m = binary_numbers(f, problem, labels, which);
  for (const int64_t v : which) f.append_vector(v, m.vectors);
  return m;
}

LibsvmModel unlabelled_model(const Fitted& f) {
  LibsvmModel m;
  m.kind = f.settings.kind;
  m.kernel = f.settings.kernel;
  m.vectors_per_class = {f.n_vectors()};
  m.rho = {static_cast<double>(f.rho.front())};
  m.coefficients.assign(f.coefficients.begin(), f.coefficients.end());
  for (int64_t v = 0; v < f.n_vectors(); ++v) f.append_vector(v, m.vectors);
  m.features = f.features;
  if (f.one_class()) negate(m);
  return m;
}

LibsvmModel pairs_model(const Fitted& f, const std::vector<int64_t>& labels) {
  LibsvmModel m;
  m.kind = f.settings.kind;
  m.kernel = f.settings.kernel;
  m.labels = labels;
  m.rho.assign(f.rho.begin(), f.rho.end());
  m.features = f.features;
  for (int64_t v = 0; v < f.n_vectors(); ++v) f.append_vector(v, m.vectors);
  m.vectors_per_class.assign(f.class_names.size(), 0);
  const int64_t n = f.n_vectors();
  m.coefficients.assign(static_cast<size_t>((f.classes() - 1) * n), 0.0);
  for (int64_t v = 0; v < n; ++v) ++m.vectors_per_class[static_cast<size_t>(f.vector_class[static_cast<size_t>(v)])];
  for (int32_t a = 0, p = 0; a < f.classes(); ++a)
    for (int32_t b = a + 1; b < f.classes(); ++b, ++p)
      for (int64_t v = 0; v < n; ++v) {
        const int32_t c = f.vector_class[static_cast<size_t>(v)];
        const double x = static_cast<double>(f.coefficients[static_cast<size_t>(p * n + v)]);
        if (c == a) m.coefficients[static_cast<size_t>((b - 1) * n + v)] = x;
        if (c == b) m.coefficients[static_cast<size_t>(a * n + v)] = x;
      }
  return m;
}

namespace {

// LIBSVM's files of many classes have no vector with a coefficient in a pair without its class, as landmarks have.
bool one_file(const Fitted& f) {
  return f.classes() <= 2 || (f.settings.multiclass == Multiclass::one_vs_one && !f.settings.approximates);
}

// Returns how the names of files with this kernel end. LIBSVM reads only .libsvm.
const char* ending_of(const Kernel& kernel) { return kernel.pairs == Pairs::products ? ".libsvm" : ".svm"; }

// Returns the name of the file of one problem of many: of a class, or of a pair of classes.
std::string problem_file(int64_t k, const Settings& settings) {
  const char* const what = settings.multiclass == Multiclass::one_vs_one ? "pair-" : "class-";
  return what + std::to_string(k) + ending_of(settings.kernel);
}
std::string model_file(const Kernel& kernel) { return std::string("model") + ending_of(kernel); }

void load_pairs(Fitted& f, LibsvmModel m) {
  const int64_t n = m.n_vectors();
  f.take_vectors(m.vectors);
  f.coefficients.assign(m.rho.size() * static_cast<size_t>(n), 0.0F);
  f.rho.assign(m.rho.begin(), m.rho.end());
  for (size_t c = 0; c < m.vectors_per_class.size(); ++c)
    f.vector_class.insert(f.vector_class.end(), static_cast<size_t>(m.vectors_per_class[c]), static_cast<int32_t>(c));
  const auto classes = static_cast<int32_t>(m.labels.size());
  for (int32_t a = 0, p = 0; a < classes; ++a)
    for (int32_t b = a + 1; b < classes; ++b, ++p)
      for (int64_t v = 0; v < n; ++v) {
        const int32_t c = f.vector_class[static_cast<size_t>(v)];
        if (c != a && c != b) continue;
        f.coefficients[static_cast<size_t>(p * n + v)] =
            static_cast<float>(m.coefficients[static_cast<size_t>((c == a ? b - 1 : a) * n + v)]);
      }
}

void load_unlabelled(Fitted& f, LibsvmModel m) {
  if (f.one_class()) negate(m);
  f.vector_class.assign(static_cast<size_t>(m.n_vectors()), 0);
  f.take_vectors(m.vectors);
  f.coefficients.assign(m.coefficients.begin(), m.coefficients.end());
  f.rho = {static_cast<float>(m.rho.front())};
}

// Returns the training rows in the order of the vectors in the files: those of two classes are sorted by the sign of
// their coefficient, which is that of their class unless they are landmarks.
std::vector<int64_t> rows_in_files(const Fitted& f) {
  if (!f.settings.approximates || f.classes() != 2) return f.training_rows;
  std::vector<int64_t> rows;
  for (const float sign : {1.0F, -1.0F})
    for (size_t v = 0; v < f.training_rows.size(); ++v)
      if (sign * f.coefficients[v] > 0) rows.push_back(f.training_rows[v]);
  return rows;
}

LibsvmModel model_of(const Fitted& f) {
  if (f.regression() || f.one_class()) return unlabelled_model(f);
  const std::vector<int64_t> labels = numeric_labels(f.class_names);
  return f.classes() == 2 ? binary_model(f, 0, labels) : pairs_model(f, labels);
}

// Gives equal vectors one index.
class Vectors {
 public:
  explicit Vectors(Fitted& to) : to_(to) {}

  size_t index_of(const SparseRows& rows, int64_t v) {
    SparseRows vector;
    vector.append(rows.view(to_.features), v);
    const size_t hash =
        std::hash<std::string_view>()(bytes_of(vector.x)) ^ std::hash<std::string_view>()(bytes_of(vector.column)) * 31;
    const auto [first, last] = index_.equal_range(hash);
    for (auto known = first; known != last; ++known)
      if (seen_.equals(static_cast<int64_t>(known->second), vector)) return known->second;
    const size_t next = to_.vector_class.size();
    index_.emplace(hash, next);
    seen_.append(vector.view(to_.features), 0);
    to_.take_vectors(vector);
    to_.vector_class.push_back(0);
    return next;
  }

 private:
  template <class T>
  static std::string_view bytes_of(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
  }

  Fitted& to_;
  SparseRows seen_;
  std::unordered_multimap<size_t, size_t> index_;  // by hash
};

size_t count_problems(const Fitted& f) {
  const auto classes = static_cast<size_t>(f.classes());
  if (f.regression() || classes <= 2) return 1;
  return f.settings.multiclass == Multiclass::one_vs_one ? classes * (classes - 1) / 2 : classes;
}

// Returns the names of the files in LIBSVM's format.
std::vector<std::string> texts_of(const Fitted& f) {
  if (one_file(f)) return {model_file(f.settings.kernel)};
  std::vector<std::string> names;
  for (size_t k = 0; k < count_problems(f); ++k) names.push_back(problem_file(static_cast<int64_t>(k), f.settings));
  return names;
}

// Takes the numbers of a model of one file.
void take_model(Fitted& f, LibsvmModel m) {
  if (f.regression() || f.one_class())
    load_unlabelled(f, std::move(m));
  else
    load_pairs(f, std::move(m));
}

struct Problem {
  float rho = 0;
  std::vector<std::pair<size_t, float>> coefficients;  // the first of a pair is the index of a vector
};

// Takes the numbers of one file per problem, which `next` returns in their order.
void take_problems(Fitted& f, const std::function<Problem(size_t, Vectors&)>& next) {
  Vectors vectors(f);
  std::vector<Problem> problems;
  for (size_t k = 0; k < count_problems(f); ++k) {
    problems.push_back(next(k, vectors));
    f.rho.push_back(problems.back().rho);
  }
  const auto total = static_cast<size_t>(f.n_vectors());
  f.coefficients.assign(problems.size() * total, 0.0F);
  for (size_t k = 0; k < problems.size(); ++k)
    for (const auto& [vector, coefficient] : problems[k].coefficients)
      f.coefficients[k * total + vector] += coefficient;
}

// Takes kind and kernel from the header of a file.
void take_header(Fitted& f, const LibsvmModel& m, const std::string& path) {
  const bool one_class = m.kind == Kind::one_class;
  if (!one_file(f) && m.labels.size() != 2)
    throw Error(MK_BAD_DATA, path + ": expected a two-class model: the file is damaged");
  if (one_file(f) && (one_class ? f.classes() != 2 : static_cast<int32_t>(m.labels.size()) != f.classes()))
    throw Error(MK_BAD_DATA, path + ": the number of classes differs from the manifest");
  f.settings.kernel = m.kernel;
  f.settings.kind = m.kind;
}

// Reads the numbers of a model, whose first text has taken the header already, from its texts.
void read_texts(Fitted& f, const std::string& directory, const std::vector<std::string>& texts) {
  const auto read = [&](size_t k) {
    const std::string path = directory + "/" + texts[k];
    LibsvmModel m = read_libsvm(path, f.features, f.keeps_sparse);
    if (!one_file(f) && m.labels.size() != 2)
      throw Error(MK_BAD_DATA, path + ": expected a two-class model: the file is damaged");
    return m;
  };
  if (one_file(f)) return take_model(f, read(0));
  take_problems(f, [&](size_t k, Vectors& vectors) {
    const LibsvmModel m = read(k);
    Problem problem{static_cast<float>(m.rho[0]), {}};
    for (int64_t v = 0; v < m.n_vectors(); ++v)
      problem.coefficients.emplace_back(vectors.index_of(m.vectors, v),
                                        static_cast<float>(m.coefficients[static_cast<size_t>(v)]));
    return problem;
  });
}

// Returns the model as its texts give it back.
Fitted as_loaded(const Fitted& f) {
  Fitted loaded;
  loaded.settings = f.settings;
  loaded.features = f.features;
  loaded.class_names = f.class_names;
  loaded.keeps_sparse = f.keeps_sparse;
  if (one_file(f)) {
    take_model(loaded, model_of(f));
    return loaded;
  }
  std::vector<std::optional<size_t>> indices(static_cast<size_t>(f.n_vectors()));
  take_problems(loaded, [&](size_t k, Vectors& vectors) {
    std::vector<int64_t> which;
    const LibsvmModel m = binary_numbers(f, static_cast<int64_t>(k), {1, -1}, which);
    Problem problem{static_cast<float>(m.rho[0]), {}};
    for (size_t v = 0; v < which.size(); ++v) {
      std::optional<size_t>& index = indices[static_cast<size_t>(which[v])];
      if (!index) {
        SparseRows vector;
        f.append_vector(which[v], vector);
        index = vectors.index_of(vector, 0);
      }
      problem.coefficients.emplace_back(*index, static_cast<float>(m.coefficients[v]));
    }
    return problem;
  });
  return loaded;
}

// Writes a file per problem. The problems share vectors, each of which becomes text once.
void write_problems(const Fitted& f, const std::string& directory, const std::vector<std::string>& files) {
  std::vector<std::string> pairs(static_cast<size_t>(f.n_vectors()));
  for (size_t k = 0; k < files.size(); ++k) {
    std::vector<int64_t> which;
    const LibsvmModel m = binary_numbers(f, static_cast<int64_t>(k), {1, -1}, which);
    write_libsvm(directory + "/" + files[k], m, [&](int64_t v) -> const std::string& {
      const int64_t index = which[static_cast<size_t>(v)];
      std::string& text = pairs[static_cast<size_t>(index)];
      if (text.empty()) {
        SparseRows vector;
        f.append_vector(index, vector);
        text = pairs_of(vector, 0);
      }
      return text;
    });
  }
}

// Reads everything that the LIBSVM files do not contain.
Fitted read_manifest(const std::string& directory) {
  const std::string path = directory + "/manifest.json";
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(MK_BAD_DATA, "cannot open " + path + ": is " + directory + " a model directory?");
  Fitted f;
  bool rest = false;
  try {
    const auto manifest = sdk::parse_json<json>(in);
    f.settings.approximates = manifest.value("approximation", "none") == "nystrom";
    if (manifest.at("format") != "mokume-svc" || manifest.at("version") != (f.settings.approximates ? 2 : 1))
      throw Error(MK_BAD_DATA, path + ": not a mokume-svc manifest of version 1 or, with nystrom, 2");
    f.class_names = manifest.at("classes").get<std::vector<std::string>>();
    f.features = sdk::whole_number(manifest.at("features"));
    f.mean = manifest.at("scaling").at("mean").get<std::vector<double>>();
    f.scale = manifest.at("scaling").at("scale").get<std::vector<double>>();
    f.settings.c = manifest.at("C").get<double>();
    rest = manifest.at("multiclass") == "ovr";
    f.keeps_sparse = manifest.value("storage", "") == "sparse";
    if (const auto kernel = manifest.value("kernel", ""); kernel == "laplacian" || kernel == "chi2")
      f.settings.kernel.pairs = kernel == "chi2" ? Pairs::chi_squared : Pairs::manhattan;
  } catch (const json::exception& e) {
    throw Error(MK_BAD_DATA, path + " is damaged: " + e.what());
  }
  const auto fits = [&](const std::vector<double>& s) {
    return s.size() <= 1 || s.size() == static_cast<size_t>(f.features);
  };
  if (f.classes() == 1 || (rest && f.classes() < 3) || f.classes() > 10000 || f.features < 1 ||
      f.features > (1 << 24) || !fits(f.mean) || f.mean.size() != f.scale.size() ||
      std::any_of(f.scale.begin(), f.scale.end(), [](double s) { return !(s > 0); }))
    throw Error(MK_BAD_DATA, path + ": classes, features or scaling are out of range: the file is damaged");
  f.settings.multiclass = rest ? Multiclass::one_vs_rest : Multiclass::one_vs_one;
  return f;
}

}  // namespace

void Fitted::save(const std::string& directory) const {
  const std::vector<std::string> files = texts_of(*this);
  if (one_file(*this))
    write_libsvm(directory + "/" + files[0], model_of(*this));
  else
    write_problems(*this, directory, files);
  if (worth_vectors(directory, files)) write_vectors(directory, files, as_loaded(*this));
  json manifest = {{"format", "mokume-svc"},
                   {"version", settings.approximates ? 2 : 1},
                   {"multiclass", classes() <= 2 || settings.multiclass == Multiclass::one_vs_one ? "ovo" : "ovr"},
                   {"classes", class_names},
                   {"labels", numeric_labels(class_names)},
                   {"features", features},
                   {"scaling", {{"mean", mean}, {"scale", scale}}},
                   {"kind", kind_name(settings.kind)},
                   {"kernel", kernel_name(settings.kernel)},
                   {"C", settings.c},
                   {"files", files}};
  if (keeps_sparse) manifest["storage"] = "sparse";
  // The training rows are in the order of the vectors in the file, if there is one file.
  if ((one_file(*this) || settings.approximates) && !training_rows.empty())
    manifest["training_rows"] = rows_in_files(*this);
  if (settings.approximates) manifest["approximation"] = "nystrom";
  if (!steps.empty()) manifest["steps"] = steps;
  if (!converged.empty()) manifest["converged"] = converged;
  sdk::OutputFile out(directory + "/manifest.json");
  out.append(manifest.dump(2) + "\n");
  out.close();
}

Fitted Fitted::load(const std::string& directory) {
  Fitted f = read_manifest(directory);
  const std::vector<std::string> texts = texts_of(f);
  const std::string first = directory + "/" + texts.front();
  take_header(f, read_libsvm_header(first, f.features), first);
  if (!read_vectors(directory, texts, static_cast<int64_t>(count_problems(f)), f)) read_texts(f, directory, texts);
  for (const std::vector<float>* numbers : {&f.vectors, &f.sparse.x, &f.coefficients, &f.rho})
    if (!std::all_of(numbers->begin(), numbers->end(), [](float v) { return std::isfinite(v); }))
      throw Error(MK_BAD_DATA, directory + ": a number in its model files does not fit into float32: they are damaged");
  return f;
}

}  // namespace mokume::svc
