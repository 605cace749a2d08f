#include "saved/vectors_file.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <memory>

#include "sdk/error.hpp"
#include "storage/safetensors.hpp"

namespace mokume::svc {
namespace {

namespace fs = std::filesystem;
namespace st = safetensors;

constexpr const char* kVectors = "/vectors.safetensors";
constexpr const char* kSumsOfTexts = "texts";  // lines as in SHA256SUMS
constexpr uintmax_t kLeastTextBytes = uintmax_t{1} << 20;
constexpr size_t kDigits = 64;  // in a SHA-256

std::string sum_of(const std::string& path) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> hash(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  bool good = hash != nullptr && EVP_DigestInit_ex(hash.get(), EVP_sha256(), nullptr) == 1;
  std::ifstream file(path, std::ios::binary);
  std::vector<char> piece(size_t{1} << 20);
  while (good && (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0))
    good = EVP_DigestUpdate(hash.get(), piece.data(), static_cast<size_t>(file.gcount())) == 1;
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (!good || !file.eof() || EVP_DigestFinal_ex(hash.get(), digest.data(), &size) != 1)
    throw Error(MK_STORAGE, "cannot compute the SHA-256 of '" + path + "'");
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) {
    hex += "0123456789abcdef"[digest[i] >> 4];
    hex += "0123456789abcdef"[digest[i] & 15];
  }
  return hex;
}

// Returns the lines of SHA256SUMS for these texts, or "" if it does not list all of them.
std::string listed_sums(const std::string& directory, const std::vector<std::string>& texts) {
  std::ifstream file(directory + "/SHA256SUMS");
  std::map<std::string, std::string> sums;
  for (std::string line; std::getline(file, line);)
    if (line.size() > kDigits + 2) sums[line.substr(kDigits + 2)] = line.substr(0, kDigits);
  std::string lines;
  for (const std::string& text : texts) {
    if (sums.count(text) == 0) return "";
    lines += sums[text] + "  " + text + "\n";
  }
  return lines;
}

// Reads the tensors of a model, whose sizes follow from that of one of them.
class Numbers {
 public:
  explicit Numbers(const std::string& path) : path_(path), reader_(path) {}

  const st::Reader& reader() const { return reader_; }
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(MK_BAD_DATA, path_ + ": " + why + ": the file is damaged");
  }
  int64_t length(const char* name) const {
    const st::Tensor* const tensor = reader_.find(name);
    if (tensor == nullptr || tensor->shape.size() != 1 || tensor->shape.front() >= INT32_MAX)
      refuse(std::string("it has no list ") + name);
    return tensor->shape.front();
  }
  template <class T>
  std::vector<T> get(const char* name, const st::Shape& shape) const {
    const st::Tensor* const tensor = reader_.find(name);
    if (tensor == nullptr || tensor->dtype != st::kDtype<T> || tensor->shape != shape)
      refuse(std::string("the type or size of ") + name + " does not fit");
    std::vector<T> values(tensor->bytes / sizeof(T));
    reader_.read(*tensor, values.data());
    return values;
  }

 private:
  std::string path_;
  st::Reader reader_;
};

void check_sparse(const Numbers& numbers, const SparseRows& rows, int64_t features) {
  bool good = rows.starts.front() == 0 && rows.starts.back() == rows.values() &&
              std::is_sorted(rows.starts.begin(), rows.starts.end());
  for (size_t r = 0; good && r + 1 < rows.starts.size(); ++r) {
    const auto begin = rows.column.begin() + rows.starts[r], end = rows.column.begin() + rows.starts[r + 1];
    const bool ascend = std::adjacent_find(begin, end, [](int32_t a, int32_t b) { return a >= b; }) == end;
    good = ascend && (begin == end || (*begin >= 0 && *(end - 1) < features));
  }
  if (!good) numbers.refuse("its columns are out of order or out of range");
}

}  // namespace

bool worth_vectors(const std::string& directory, const std::vector<std::string>& texts) {
  uintmax_t bytes = 0;
  for (const std::string& text : texts) bytes += fs::file_size(directory + "/" + text);
  return bytes >= kLeastTextBytes;
}

void write_vectors(const std::string& directory, const std::vector<std::string>& texts, const Fitted& loaded) {
  const int64_t n = loaded.n_vectors();
  st::Writer writer;
  if (loaded.keeps_sparse) {
    writer.add("starts", {n + 1}, loaded.sparse.starts.data());
    writer.add("column", {loaded.sparse.values()}, loaded.sparse.column.data());
    writer.add("x", {loaded.sparse.values()}, loaded.sparse.x.data());
  } else {
    writer.add("vectors", {n, loaded.features}, loaded.vectors.data());
  }
  writer.add("vector_class", {n}, loaded.vector_class.data());
  writer.add("coefficients", {loaded.problems(), n}, loaded.coefficients.data());
  writer.add("rho", {loaded.problems()}, loaded.rho.data());
  const auto sums = [&](size_t first, size_t last) {
    std::string lines;
    for (size_t k = first; k < last; ++k) lines += sum_of(directory + "/" + texts[k]) + "  " + texts[k] + "\n";
    return lines;
  };
  std::future<std::string> second = std::async(std::launch::async, sums, texts.size() / 2, texts.size());
  const std::string first = sums(0, texts.size() / 2);
  writer.metadata(kSumsOfTexts, first + second.get());
  writer.write(directory + kVectors);
}

bool read_vectors(const std::string& directory, const std::vector<std::string>& texts, int64_t problems, Fitted& to) {
  const std::string path = directory + kVectors;
  std::error_code none;
  if (!fs::exists(path, none)) return false;
  const Numbers numbers(path);
  const auto sums = numbers.reader().metadata().find(kSumsOfTexts);
  if (sums == numbers.reader().metadata().end() || sums->second.empty() ||
      sums->second != listed_sums(directory, texts))
    return false;
  const int64_t n = numbers.length("vector_class");
  to.vector_class = numbers.get<int32_t>("vector_class", {n});
  to.coefficients = numbers.get<float>("coefficients", {problems, n});
  to.rho = numbers.get<float>("rho", {problems});
  if (to.keeps_sparse) {
    const int64_t values = numbers.length("x");
    to.sparse.starts = numbers.get<int64_t>("starts", {n + 1});
    to.sparse.column = numbers.get<int32_t>("column", {values});
    to.sparse.x = numbers.get<float>("x", {values});
    check_sparse(numbers, to.sparse, to.features);
  } else {
    to.vectors = numbers.get<float>("vectors", {n, to.features});
  }
  const auto outside = [&](int32_t c) { return c < 0 || c >= std::max(1, to.classes()); };
  if (std::any_of(to.vector_class.begin(), to.vector_class.end(), outside)) numbers.refuse("a class is out of range");
  return true;
}

}  // namespace mokume::svc
