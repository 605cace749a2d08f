#include "libsvm_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string_view>
#include <utility>

#include "sdk/storage.hpp"

namespace mokume::svc {
namespace {

constexpr const char* kKindNames[] = {"", "c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr"};  // indexed by Kind

// Lists LIBSVM's kernels, indexed by ops::KernelKind, and the kernels that it lacks, indexed by Pairs.
constexpr const char* kKernelNames[] = {"linear", "polynomial", "rbf", "sigmoid"};
constexpr const char* kDistanceNames[] = {"", "laplacian", "chi2"};

template <class T>
void append(std::string& text, T value) {
  char buffer[40];
  const auto end = std::to_chars(&buffer[0], &buffer[0] + sizeof(buffer), value).ptr;
  text.append(&buffer[0], end);
}

// Reads one line word by word. Knows the path and the number of the line for error messages.
class Line {
 public:
  Line(const std::string& path, int64_t number, std::string_view text) : path_(path), number_(number), text_(text) {}

  // Replaces bytes that are not plain text, because the file may contain anything and the terminal shows the message.
  [[noreturn]] void fail(std::string why) const {
    std::replace_if(
        why.begin(), why.end(), [](unsigned char c) { return c < 0x20 || c > 0x7E; }, '?');
    throw Error(MK_BAD_DATA, path_ + ":" + std::to_string(number_) + ": " + why + ": the file is truncated or damaged");
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(MK_BAD_DATA, path_ + ":" + std::to_string(number_) + ": " + why);
  }
  std::string_view word() {
    skip();
    size_t end = at_;
    while (end < text_.size() && text_[end] != ' ') ++end;
    const std::string_view w = text_.substr(at_, end - at_);
    at_ = end;
    return w;
  }
  bool done() {
    skip();
    return at_ >= text_.size();
  }
  template <class T>
  T number(const char* what) {
    const std::string_view w = word();
    T value{};
    const auto r = std::from_chars(w.data(), w.data() + w.size(), value);
    if (r.ec != std::errc() || r.ptr != w.data() + w.size())
      fail(std::string("bad ") + what + " '" + std::string(w.substr(0, 40)) + "'");
    if constexpr (std::is_floating_point_v<T>)
      if (!std::isfinite(value)) fail(std::string(what) + " is not finite");
    return value;
  }
  template <class T>
  std::vector<T> numbers(const char* what) {
    std::vector<T> list;
    while (!done()) list.push_back(number<T>(what));
    return list;
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  const std::string& path_;
  int64_t number_;
  std::string_view text_;
  size_t at_ = 0;
};

void read_vector(Line& line, LibsvmModel& m, int64_t v) {
  const int64_t rows = m.coefficient_rows(), n = m.n_vectors();
  for (int64_t k = 0; k < rows; ++k)
    m.coefficients[static_cast<size_t>(k * n + v)] = line.number<double>("coefficient");
  int64_t previous = 0;
  while (!line.done()) {
    const std::string_view pair = line.word();
    const size_t colon = pair.find(':');
    if (colon == std::string_view::npos)
      line.fail("expected index:value, found '" + std::string(pair.substr(0, 40)) + "'");
    int64_t index = 0;
    double value = 0;
    const char* const middle = pair.data() + colon;
    const char* const end = pair.data() + pair.size();
    const auto i = std::from_chars(pair.data(), middle, index);
    const auto x = std::from_chars(middle + 1, end, value);
    if (i.ec != std::errc() || i.ptr != middle || x.ec != std::errc() || x.ptr != end || !std::isfinite(value))
      line.fail("bad feature '" + std::string(pair.substr(0, 40)) + "'");
    if (index <= previous || index > m.features)
      line.fail("feature index " + std::to_string(index) + " is out of order or above " + std::to_string(m.features));
    previous = index;
    const auto rounded = static_cast<float>(value);
    if (rounded != 0) m.vectors.add(static_cast<int32_t>(index - 1), rounded);
  }
  m.vectors.end_row();
}

}  // namespace

const char* kernel_name(const Kernel& kernel) {
  return kernel.pairs == Pairs::products ? kKernelNames[static_cast<int>(kernel.kind)]
                                         : kDistanceNames[static_cast<int>(kernel.pairs)];
}

const char* kind_name(Kind kind) { return kKindNames[static_cast<int>(kind)]; }

int64_t LibsvmModel::n_vectors() const {
  return std::accumulate(vectors_per_class.begin(), vectors_per_class.end(), int64_t{0});
}

std::string pairs_of(const SparseRows& rows, int64_t row) {
  std::string text;
  const auto first = static_cast<size_t>(rows.starts[static_cast<size_t>(row)]);
  const auto last = static_cast<size_t>(rows.starts[static_cast<size_t>(row) + 1]);
  for (size_t i = first; i < last; ++i) {
    append(text, rows.column[i] + 1);
    text += ':';
    append(text, rows.x[i]);
    text += ' ';
  }
  return text;
}

void write_libsvm(const std::string& path, const LibsvmModel& m) {
  std::string line;
  write_libsvm(path, m, [&](int64_t v) -> const std::string& { return line = pairs_of(m.vectors, v); });
}

void write_libsvm(const std::string& path, const LibsvmModel& m,
                  const std::function<const std::string&(int64_t)>& pairs_of_vector) {
  sdk::OutputFile file(path);
  std::string text = std::string("svm_type ") + kind_name(m.kind) + "\nkernel_type ";
  text += kernel_name(m.kernel);
  const auto value_line = [&](const char* key, double value) {
    text += std::string("\n") + key + " ";
    append(text, value);
  };
  if (m.kernel.kind == ops::KernelKind::polynomial) {
    text += "\ndegree ";
    append(text, m.kernel.degree);
  }
  if (m.kernel.kind != ops::KernelKind::linear) value_line("gamma", m.kernel.gamma);
  if (m.kernel.kind == ops::KernelKind::polynomial || m.kernel.kind == ops::KernelKind::sigmoid)
    value_line("coef0", m.kernel.coef0);
  const auto list_line = [&](const char* key, const auto& values) {
    text += std::string("\n") + key;
    for (const auto v : values) {
      text += ' ';
      append(text, v);
    }
  };
  text += "\nnr_class " + std::to_string(m.has_labels() ? m.labels.size() : 2) + "\ntotal_sv " +
          std::to_string(m.n_vectors());
  list_line("rho", m.rho);
  if (m.has_labels()) {
    list_line("label", m.labels);
    list_line("nr_sv", m.vectors_per_class);
  }
  text += "\nSV\n";
  const int64_t n = m.n_vectors(), rows = m.coefficient_rows();
  for (int64_t v = 0; v < n; ++v) {
    for (int64_t k = 0; k < rows; ++k) {
      append(text, m.coefficients[static_cast<size_t>(k * n + v)]);
      text += ' ';
    }
    text += pairs_of_vector(v);
    text += '\n';
    if (text.size() > (size_t{1} << 20)) {
      file.append(text);
      text.clear();
    }
  }
  file.append(text);
  file.close();
}

namespace {

// Parses the header of a model file key by key.
class Header {
 public:
  explicit Header(LibsvmModel& model) : model_(model) {}

  // Returns false at the line "SV", which the vectors follow.
  bool take(Line& line) {
    const std::string_view key = line.word();
    if (key == "SV") return false;
    if (!take_kernel(key, line) && !take_classes(key, line) && !is_probability(key))
      line.fail("unknown key '" + std::string(key.substr(0, 40)) + "'");
    return true;
  }

  // Completes the header of a model without labels, which has no nr_sv either.
  void complete(const Line& line) {
    if (model_.has_labels()) return;
    if (!model_.labels.empty() || !model_.vectors_per_class.empty() || classes != 2 || model_.rho.size() != 1)
      line.fail(std::string("a model of the type ") + kind_name(model_.kind) +
                " has nr_class 2, one rho, and neither label nor nr_sv");
    if (total < 0 || total > (int64_t{1} << 31)) line.fail("total_sv is out of range");
    model_.vectors_per_class = {total};
  }

  void check(const Line& line) const {
    if (!model_.has_labels()) return;
    if (static_cast<int64_t>(model_.labels.size()) != classes ||
        model_.vectors_per_class.size() != model_.labels.size() ||
        static_cast<int64_t>(model_.rho.size()) != classes * (classes - 1) / 2)
      line.fail("label, nr_sv and rho do not match nr_class");
    for (const int64_t n : model_.vectors_per_class)
      if (n < 0 || n > (int64_t{1} << 31)) line.fail("nr_sv is out of range");
    if (total != model_.n_vectors() || total > (int64_t{1} << 31)) line.fail("total_sv is not the sum of nr_sv");
  }

  // Checks that a file of `bytes` bytes justifies the memory for its vectors. A vector is a line with a coefficient for
  // each class but one. Files omit features that are zero, so dense vectors may be larger than their text.
  void check_memory(const Line& line, uint64_t bytes, bool sparse) const {
    constexpr uint64_t kFree = uint64_t{256} << 20, kMostPerByte = 65536;
    const auto vectors = static_cast<uint64_t>(total), width = static_cast<uint64_t>(model_.coefficient_rows());
    if (vectors > bytes / (2 * width))
      line.fail("total_sv is " + std::to_string(total) + ", more than a file of " + std::to_string(bytes) +
                " bytes can hold");
    if (sparse) return;
    const uint64_t dense = vectors * static_cast<uint64_t>(model_.features) * sizeof(float);
    const std::string takes = std::to_string(total) + " vectors of " + std::to_string(model_.features) +
                              " features take " + std::to_string(dense) + " bytes, more than ";
    if (dense > std::max(kFree, bytes * kMostPerByte)) line.fail(takes + "a file of this size justifies");
    const uint64_t memory =
        static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGE_SIZE));
    if (dense > memory / 2) line.fail(takes + "half of this machine's memory");
  }

  int64_t classes = 0, total = 0;

 private:
  bool take_kernel(std::string_view key, Line& line) {
    if (key == "svm_type") {
      const std::string_view type = line.word();
      const auto found = std::find(std::begin(kKindNames) + 1, std::end(kKindNames), type);
      if (found == std::end(kKindNames)) line.fail("unknown svm_type '" + std::string(type.substr(0, 40)) + "'");
      model_.kind = static_cast<Kind>(found - std::begin(kKindNames));
    } else if (key == "kernel_type") {
      const std::string_view name = line.word();
      if (name == "precomputed")
        line.refuse(
            "its kernel is precomputed, so the file holds numbers of training rows in place of vectors: train "
            "it by mokume with kernel = \"precomputed\", which saves vectors");
      const auto distance = std::find(std::begin(kDistanceNames) + 1, std::end(kDistanceNames), name);
      if (distance != std::end(kDistanceNames)) {
        model_.kernel.kind = ops::KernelKind::rbf;
        model_.kernel.pairs = static_cast<Pairs>(distance - std::begin(kDistanceNames));
        return true;
      }
      const auto found = std::find(std::begin(kKernelNames), std::end(kKernelNames), name);
      if (found == std::end(kKernelNames)) line.fail("unknown kernel '" + std::string(name.substr(0, 40)) + "'");
      model_.kernel.kind = static_cast<ops::KernelKind>(found - std::begin(kKernelNames));
    } else if (key == "degree") {
      model_.kernel.degree = line.number<int>("degree");
      if (model_.kernel.degree < 0 || model_.kernel.degree > ops::kMaxDegree) line.fail("degree is out of range");
    } else if (key == "gamma") {
      model_.kernel.gamma = line.number<double>("gamma");
    } else if (key == "coef0") {
      model_.kernel.coef0 = line.number<double>("coef0");
    } else {
      return false;
    }
    return true;
  }

  bool take_classes(std::string_view key, Line& line) {
    if (key == "nr_class") {
      classes = line.number<int64_t>("nr_class");
      if (classes < 2 || classes > 10000) line.fail("nr_class is out of range");
    } else if (key == "total_sv") {
      total = line.number<int64_t>("total_sv");
    } else if (key == "rho") {
      model_.rho = line.numbers<double>("rho");
    } else if (key == "label") {
      model_.labels = line.numbers<int64_t>("label");
    } else if (key == "nr_sv") {
      model_.vectors_per_class = line.numbers<int64_t>("nr_sv");
    } else {
      return false;
    }
    return true;
  }

  // Probabilities are not read: mokume has its own calibration.
  static bool is_probability(std::string_view key) {
    return key == "probA" || key == "probB" || key == "prob_density_marks";
  }

  LibsvmModel& model_;
};

}  // namespace

namespace {

// Reads a file line by line: its header, and then its vectors.
class Reading {
 public:
  Reading(const std::string& path, int64_t features) : path_(path), file_(path, std::ios::binary), header_(model_) {
    if (!file_) throw Error(MK_BAD_DATA, "cannot open " + path + ": a file of the model is missing");
    model_.features = features;
    bool vectors = false;
    while (!vectors && std::getline(file_, text_)) {
      Line line(path_, ++number_, text_);
      vectors = !header_.take(line);
    }
    if (!vectors) here().fail("no SV section");
    header_.complete(here());
    header_.check(here());
  }

  void read_vectors(bool sparse) {
    const Line end = here();
    header_.check_memory(end, std::filesystem::file_size(path_), sparse);
    model_.coefficients.assign(static_cast<size_t>(model_.coefficient_rows() * header_.total), 0.0);
    for (int64_t v = 0; v < header_.total; ++v) {
      if (!std::getline(file_, text_))
        end.fail("the file ends after " + std::to_string(v) + " of " + std::to_string(header_.total) + " vectors");
      Line line(path_, ++number_, text_);
      read_vector(line, model_, v);
    }
  }

  LibsvmModel take() { return std::move(model_); }

 private:
  Line here() const { return {path_, number_, ""}; }

  const std::string& path_;
  std::ifstream file_;
  LibsvmModel model_;
  Header header_;
  int64_t number_ = 0;
  std::string text_;
};

}  // namespace

LibsvmModel read_libsvm_header(const std::string& path, int64_t features) { return Reading(path, features).take(); }

LibsvmModel read_libsvm(const std::string& path, int64_t features, bool sparse) {
  Reading reading(path, features);
  reading.read_vectors(sparse);
  return reading.take();
}

}  // namespace mokume::svc
