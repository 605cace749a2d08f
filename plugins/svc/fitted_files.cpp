// Saves and loads a fitted model as LIBSVM files and a manifest.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <numeric>
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

bool one_file(const Fitted& f) { return f.classes() <= 2 || f.settings.multiclass == Multiclass::one_vs_one; }

// Returns how the names of files with this kernel end. LIBSVM reads only .libsvm.
const char* ending_of(const Kernel& kernel) { return kernel.pairs == Pairs::products ? ".libsvm" : ".svm"; }

std::string class_file(int64_t k, const Kernel& kernel) { return "class-" + std::to_string(k) + ending_of(kernel); }
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

LibsvmModel model_of(const Fitted& f) {
  if (f.regression() || f.one_class()) return unlabelled_model(f);
  const std::vector<int64_t> labels = numeric_labels(f.class_names);
  return f.classes() == 2 ? binary_model(f, 0, labels) : pairs_model(f, labels);
}

// Reads one file per class and concatenates the vectors of all files.
void load_rest(Fitted& f, const std::string& directory) {
  std::vector<LibsvmModel> parts;
  int64_t total = 0;
  for (int64_t k = 0; k < f.classes(); ++k) {
    parts.push_back(read_libsvm(directory + "/" + class_file(k, f.settings.kernel), f.features, f.keeps_sparse));
    if (parts.back().labels.size() != 2)
      throw Error(MK_BAD_DATA, directory + "/" + class_file(k, f.settings.kernel) +
                                   ": expected a two-class model: the file is damaged");
    total += parts.back().n_vectors();
  }
  f.coefficients.assign(parts.size() * static_cast<size_t>(total), 0.0F);
  int64_t at = 0;
  for (size_t k = 0; k < parts.size(); ++k) {
    LibsvmModel& m = parts[k];
    f.rho.push_back(static_cast<float>(m.rho[0]));
    f.take_vectors(m.vectors);
    m.vectors = {};
    f.vector_class.insert(f.vector_class.end(), static_cast<size_t>(m.n_vectors()), static_cast<int32_t>(k));
    for (int64_t v = 0; v < m.n_vectors(); ++v)
      f.coefficients[k * static_cast<size_t>(total) + static_cast<size_t>(at + v)] =
          static_cast<float>(m.coefficients[static_cast<size_t>(v)]);
    at += m.n_vectors();
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
    if (manifest.at("format") != "mokume-svc" || manifest.at("version") != 1)
      throw Error(MK_BAD_DATA, path + ": not a mokume-svc manifest of version 1");
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
      write_libsvm(directory + "/" + class_file(k, settings.kernel), binary_model(*this, k, {1, -1}));
      files.push_back(class_file(k, settings.kernel));
    }
  }
  json manifest = {{"format", "mokume-svc"},
                   {"version", 1},
                   {"multiclass", one_file(*this) ? "ovo" : "ovr"},
                   {"classes", class_names},
                   {"labels", numeric_labels(class_names)},
                   {"features", features},
                   {"scaling", {{"mean", mean}, {"scale", scale}}},
                   {"kind", kind_name(settings.kind)},
                   {"kernel", kernel_name(settings.kernel)},
                   {"C", settings.c},
                   {"files", files}};
  if (keeps_sparse) manifest["storage"] = "sparse";
  // The training rows are in the order of the vectors in the file.
  if (one_file(*this) && !training_rows.empty()) manifest["training_rows"] = training_rows;
  if (!steps.empty()) manifest["steps"] = steps;
  if (!converged.empty()) manifest["converged"] = converged;
  sdk::OutputFile out(directory + "/manifest.json");
  out.append(manifest.dump(2) + "\n");
  out.close();
}

Fitted Fitted::load(const std::string& directory) {
  Fitted f = read_manifest(directory);
  if (f.settings.multiclass == Multiclass::one_vs_rest) {
    load_rest(f, directory);
    const LibsvmModel first =
        read_libsvm(directory + "/" + class_file(0, f.settings.kernel), f.features, f.keeps_sparse);
    f.settings.kernel = first.kernel;
    f.settings.kind = first.kind;
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
