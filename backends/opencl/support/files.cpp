#include "support/files.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "sdk/error.hpp"

namespace mokume::opencl {

std::string sha256(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
    throw Error(MK_INTERNAL, "SHA-256 is not available from libcrypto");
  std::string hex;
  constexpr char kDigits[] = "0123456789abcdef";
  for (unsigned int i = 0; i < size; ++i) {
    hex += kDigits[digest[i] >> 4];
    hex += kDigits[digest[i] & 15];
  }
  return hex;
}

std::optional<std::string> read_file(const std::string& path, size_t most_bytes) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::string content;
  std::array<char, 65536> part{};
  while (file.read(part.data(), part.size()) || file.gcount() > 0) {
    content.append(part.data(), static_cast<size_t>(file.gcount()));
    if (content.size() > most_bytes) return std::nullopt;
  }
  if (file.bad() || !file.eof()) return std::nullopt;
  return content;
}

bool replace_file(const std::string& path, std::string_view content) {
  std::string temporary = path + ".XXXXXX";
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return false;
  bool good = true;
  while (good && !content.empty()) {
    const ssize_t n = write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    good = n > 0;
    if (good) content.remove_prefix(static_cast<size_t>(n));
  }
  good = close(fd) == 0 && good;
  good = good && std::rename(temporary.c_str(), path.c_str()) == 0;
  if (!good) unlink(temporary.c_str());
  return good;
}

TemporaryDirectory::TemporaryDirectory(const std::string& parent) : path_(parent + "/mokume-opencl.XXXXXX") {
  if (mkdtemp(path_.data()) == nullptr)
    throw Error(MK_DEVICE_ERROR, "cannot make a directory in " + parent + ": set TMPDIR to a writable directory");
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace mokume::opencl
