#include "fuzz.hpp"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/files.hpp"
#include "base/sealed.hpp"

namespace mokume::fuzz {
namespace {

namespace fs = std::filesystem;

// Makes a directory and removes it at the end, but not in a forked child.
struct Directory {
  Directory() {
    path =
        fs::is_directory("/dev/shm") ? "/dev/shm/mokume-fuzz-XXXXXX" : fs::temp_directory_path() / "mokume-fuzz-XXXXXX";
    require(mkdtemp(path.data()) != nullptr, "cannot create " + path);
    owner = ::getpid();
  }
  ~Directory() {
    std::error_code ignored;
    if (owner == ::getpid()) fs::remove_all(path, ignored);
  }
  std::string path;
  pid_t owner = 0;
};

}  // namespace

std::vector<Target>& targets() {
  static std::vector<Target> all;
  return all;
}

const Target& target(std::string_view name) {
  for (const Target& one : targets())
    if (one.name == name) return one;
  require(false, "there is no target " + std::string(name));
  std::abort();
}

std::vector<std::string_view> parts(std::string_view bytes, size_t count) {
  std::vector<std::string_view> found;
  while (found.size() + 1 < count) {
    const size_t cut = bytes.find(kCut);
    found.push_back(bytes.substr(0, cut));
    bytes = cut == std::string_view::npos ? std::string_view() : bytes.substr(cut + kCut.size());
  }
  found.push_back(bytes);
  return found;
}

const std::string& scratch() {
  static const Directory directory;
  return directory.path;
}

std::string file(const std::string& name, std::string_view bytes) {
  std::string path = scratch() + "/" + name;
  std::FILE* out = std::fopen(path.c_str(), "wb");
  if (out == nullptr) {
    fs::create_directories(fs::path(path).parent_path());
    out = std::fopen(path.c_str(), "wb");
  }
  require(out != nullptr, "cannot write " + path);
  std::fwrite(bytes.data(), 1, bytes.size(), out);
  std::fclose(out);
  return path;
}

std::string contents(const std::string& path) { return base::read_file(path); }

std::string resealed(std::string_view text) {
  constexpr std::string_view kField = ",\"crc\":\"";
  constexpr size_t kTail = kField.size() + 10;
  const std::string_view line = text.substr(0, text.find_last_not_of('\n') + 1);
  if (!line.ends_with('}')) return std::string(text);
  std::string object(line);
  if (line.size() > kTail && line.substr(line.size() - kTail).starts_with(kField))
    object = std::string(line.substr(0, line.size() - kTail)) + "}";
  std::string sealed = base::seal(std::move(object));
  if (!text.ends_with('\n')) sealed.pop_back();
  return sealed;
}

// The checksum covers the file with zeros in place of its digits.
std::string summed(std::string_view bytes) {
  constexpr std::string_view kKey = "\"mokume_crc32\":\"";
  std::string whole(bytes);
  const size_t digits = whole.find(kKey) + kKey.size();
  if (digits < kKey.size() || digits + 8 > whole.size()) return whole;
  whole.replace(digits, 8, 8, '0');
  char text[9];
  std::snprintf(&text[0], sizeof(text), "%08lx",
                crc32_z(0, reinterpret_cast<const Bytef*>(whole.data()), whole.size()) & 0xffffffffUL);
  return whole.replace(digits, 8, &text[0]);
}

}  // namespace mokume::fuzz
