// Saves and loads a fitted model as LIBSVM files and a manifest.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "fitted.hpp"
#include "libsvm_file.hpp"
#include "rows.hpp"
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

}  // namespace

LibsvmModel binary_model(const Fitted& f, int64_t problem, const std::vector<int64_t>& labels) {
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
      f.append_vector(v, m.vectors);
      ++m.vectors_per_class[static_cast<size_t>(side)];
    }
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

// Gives each vector an index: its place among all vectors, or among different ones if the problems share vectors.
class Vectors {
 public:
  Vectors(Fitted& to, bool shared) : to_(to), shared_(shared) {}

  size_t index_of(const SparseRows& rows, int64_t v, int32_t problem) {
    SparseRows vector;
    vector.append(rows.view(to_.features), v);
    const size_t next = to_.vector_class.size();
    const auto [known, fresh] =
        shared_ ? index_.try_emplace({vector.column, vector.x}, next) : std::pair(index_.end(), true);
    if (!fresh) return known->second;
    to_.take_vectors(vector);
    to_.vector_class.push_back(shared_ ? 0 : problem);
    return next;
  }

 private:
  Fitted& to_;
  bool shared_;
  std::map<std::pair<std::vector<int32_t>, std::vector<float>>, size_t> index_;
};

// Reads one file per problem.
void load_problems(Fitted& f, const std::string& directory) {
  const auto classes = static_cast<size_t>(f.classes());
  const size_t count = f.settings.multiclass == Multiclass::one_vs_one ? classes * (classes - 1) / 2 : classes;
  std::vector<std::vector<std::pair<size_t, float>>>
      coefficients;  // by problem; the first of a pair is the index of a vector
  Vectors vectors(f, f.settings.approximates);
  for (size_t k = 0; k < count; ++k) {
    const std::string path = directory + "/" + problem_file(static_cast<int64_t>(k), f.settings);
    const LibsvmModel m = read_libsvm(path, f.features, f.keeps_sparse);
    if (m.labels.size() != 2) throw Error(MK_BAD_DATA, path + ": expected a two-class model: the file is damaged");
    if (k == 0) {
      f.settings.kernel = m.kernel;
      f.settings.kind = m.kind;
    }
    f.rho.push_back(static_cast<float>(m.rho[0]));
    coefficients.emplace_back();
    for (int64_t v = 0; v < m.n_vectors(); ++v)
      coefficients.back().emplace_back(vectors.index_of(m.vectors, v, static_cast<int32_t>(k)),
                                       static_cast<float>(m.coefficients[static_cast<size_t>(v)]));
  }
  const auto total = static_cast<size_t>(f.n_vectors());
  f.coefficients.assign(count * total, 0.0F);
  for (size_t k = 0; k < count; ++k)
    for (const auto& [vector, coefficient] : coefficients[k]) f.coefficients[k * total + vector] += coefficient;
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
  json files = json::array();
  if (one_file(*this)) {
    write_libsvm(directory + "/" + model_file(settings.kernel), model_of(*this));
    files.push_back(model_file(settings.kernel));
  } else {
    for (int64_t k = 0; k < problems(); ++k) {
      write_libsvm(directory + "/" + problem_file(k, settings), binary_model(*this, k, {1, -1}));
      files.push_back(problem_file(k, settings));
    }
  }
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
  if (!one_file(f)) {
    load_problems(f, directory);
  } else {
    const std::string path = directory + "/" + model_file(f.settings.kernel);
    LibsvmModel m = read_libsvm(path, f.features, f.keeps_sparse);
    const bool one_class = m.kind == Kind::one_class;
    if (one_class ? f.classes() != 2 : static_cast<int32_t>(m.labels.size()) != f.classes())
      throw Error(MK_BAD_DATA, path + ": the number of classes differs from the manifest");
    f.settings.kernel = m.kernel;
    f.settings.kind = m.kind;
    if (f.regression() || one_class)
      load_unlabelled(f, std::move(m));
    else
      load_pairs(f, std::move(m));
  }
  for (const std::vector<float>* numbers : {&f.vectors, &f.sparse.x, &f.coefficients, &f.rho})
    if (!std::all_of(numbers->begin(), numbers->end(), [](float v) { return std::isfinite(v); }))
      throw Error(MK_BAD_DATA, directory + ": a number in its model files does not fit into float32: they are damaged");
  return f;
}

}  // namespace mokume::svc
