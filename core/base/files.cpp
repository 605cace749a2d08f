#include "base/files.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>

#include "base/missing.hpp"
#include "base/passed.hpp"
#include "base/text.hpp"
#include "sdk/error.hpp"
#include "sdk/storage.hpp"

namespace mokume::base {
namespace {

std::string cause(int code) { return std::generic_category().message(code); }

[[noreturn]] void fail_read(const std::string& path, const std::string& why) {
  throw Error(MK_BAD_DATA, "cannot read '" + path + "': " + why);
}

[[noreturn]] void fail_write(const std::string& path, int code) {
  throw sdk::storage_error("write '" + path + "'", code);
}

// Divides a path into directory and name. The path of the directory may contain links.
Below divided(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

// Creates a unique file in `directory`. O_EXCL guarantees uniqueness; process id and clock only make retries rare.
FileDescriptor create_beside(int directory, const std::string& leaf, std::string& name) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    name = leaf + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(now) + "-" + std::to_string(attempt);
    const int fd = ::openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return FileDescriptor(fd);
  }
  return FileDescriptor();
}

// Replaces the file `leaf` of `directory`. Error messages name `path`.
void replace_in(int directory, const std::string& leaf, const std::string& path, std::string_view content,
                Durable durable) {
  std::string name;
  FileDescriptor file = create_beside(directory, leaf, name);
  if (file.get() < 0) fail_write(path, errno);
  const bool sync = durable == Durable::yes;
  const bool written = write_all(file.get(), content) && (!sync || ::fsync(file.get()) == 0) && file.close() == 0;
  if (!written || ::renameat(directory, name.c_str(), directory, leaf.c_str()) != 0) {
    const int code = errno;
    ::unlinkat(directory, name.c_str(), 0);
    fail_write(path, code);
  }
  if (!sync) return;
  // The rename survives a power failure only once the directory is on disk. Not every file system supports this.
  const FileDescriptor synced(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (synced.get() >= 0) ::fsync(synced.get());
}

bool make_directories(const std::string& path) {
  for (size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    if (::mkdir(path.substr(0, at).c_str(), 0700) != 0 && errno != EEXIST) return false;
    if (at == std::string::npos) return true;
  }
}

EVP_MD_CTX* evp(void* context) { return static_cast<EVP_MD_CTX*>(context); }

constexpr const char* kSums = "SHA256SUMS";

std::string sha256_of_file(const Below& file) {
  const std::string path = file.path();
  const FileDescriptor fd = open_below(file, O_RDONLY | O_NONBLOCK);  // opening a pipe without a writer would block
  const auto fail = [&](int code) {
    throw Error(sdk::may_pass(code) ? MK_STORAGE : MK_BAD_DATA,
                "cannot read '" + path + "', which SHA256SUMS lists: " + cause(code));
  };
  if (fd.get() < 0) fail(errno);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) fail_read(path, "it is not a regular file");
  Sha256 hash;
  std::vector<char> piece(size_t{1} << 20);
  for (;;) {
    const ssize_t n = ::read(fd.get(), piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(errno);
    if (n == 0) return hash.hex();
    hash.update(piece.data(), static_cast<size_t>(n));
  }
}

}  // namespace

bool write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    content.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

namespace {

std::string read_all_of(const FileDescriptor& file, const std::string& path, uint64_t max_bytes) {
  if (file.get() < 0) fail_read(path, open_failure(path, errno));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail_read(path, cause(errno));
  if (!S_ISREG(status.st_mode)) fail_read(path, "it is not a regular file");
  const auto too_large = [&] { fail_read(path, "it exceeds the limit of " + std::to_string(max_bytes) + " bytes"); };
  if (static_cast<uint64_t>(status.st_size) > max_bytes) too_large();
  std::string content(static_cast<size_t>(status.st_size), '\0');
  size_t used = 0;
  // The size is only a hint: files in /proc report none, and other files may change their size during the read.
  char more[4096];
  for (;;) {
    const bool filled = used == content.size();
    char* const to = filled ? more : content.data() + used;
    const ssize_t n = ::read(file.get(), to, filled ? sizeof(more) : content.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_read(path, cause(errno));
    if (n == 0) break;
    if (filled) content.append(more, static_cast<size_t>(n));
    used += static_cast<size_t>(n);
    if (used > max_bytes) too_large();
  }
  content.resize(used);
  return content;
}

}  // namespace

// Opens without blocking, so that a pipe in place of a file cannot hang the program.
std::string read_file(const std::string& path, uint64_t max_bytes) {
  return read_all_of(FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)), path, max_bytes);
}

std::string read_file(const Below& file, uint64_t max_bytes) {
  return read_all_of(open_below(file, O_RDONLY | O_NONBLOCK), file.path(), max_bytes);
}

void write_file(const std::string& path, std::string_view content) {
  const Below file = divided(path);
  const FileDescriptor directory(::open(file.root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0) fail_write(path, errno);
  replace_in(directory.get(), file.name, path, content, Durable::yes);
}

void write_file(const Below& file, std::string_view content, Durable durable) {
  const Parent parent = open_parent(file);
  if (parent.directory.get() < 0) fail_write(file.path(), errno);
  replace_in(parent.directory.get(), parent.leaf, file.path(), content, durable);
}

std::string set_aside(const std::string& path, const std::string& why) {
  const std::string aside = path + ".damaged";
  const bool renamed = ::rename(path.c_str(), aside.c_str()) == 0;
  return path + " is damaged (" + why + ") and is made anew" +
         (renamed ? "; it was renamed to " + aside : "; it cannot be renamed (" + cause(errno) + ")");
}

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  if (context_ == nullptr || EVP_DigestInit_ex(evp(context_), EVP_sha256(), nullptr) != 1) {
    EVP_MD_CTX_free(evp(context_));
    throw Error(MK_INTERNAL, "SHA-256 is not available in this machine's OpenSSL");
  }
}

Sha256::~Sha256() { EVP_MD_CTX_free(evp(context_)); }

void Sha256::update(const void* bytes, size_t size) {
  if (EVP_DigestUpdate(evp(context_), bytes, size) != 1) throw Error(MK_INTERNAL, "SHA-256 failed in OpenSSL");
}

std::string Sha256::hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_DigestFinal_ex(evp(context_), digest, &size) != 1) throw Error(MK_INTERNAL, "SHA-256 failed in OpenSSL");
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    text += "0123456789abcdef"[digest[i] >> 4];
    text += "0123456789abcdef"[digest[i] & 15];
  }
  return text;
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes.data(), bytes.size());
  return hash.hex();
}

void write_sums(const std::string& directory) {
  std::set<std::string> names;
  try {
    for (const auto& entry : std::filesystem::directory_iterator(directory))
      if (entry.is_regular_file()) names.insert(entry.path().filename().string());
  } catch (const std::filesystem::filesystem_error& e) {
    throw sdk::storage_error("list " + directory, e.code().value());
  }
  std::string text;
  for (const std::string& name : names) text += sha256_of_file({directory, name}) + "  " + name + "\n";
  write_file(Below{directory, kSums}, text);
}

namespace {

struct Listed {
  std::string sum, name;
};

// Returns the lines of SHA256SUMS.
std::vector<Listed> listed_in(const Below& file) {
  const std::string sums = file.path();
  std::vector<std::string> lines = split(read_file(file, uint64_t{1} << 20), '\n');
  if (lines.back().empty()) lines.pop_back();
  if (lines.empty()) throw Error(MK_BAD_DATA, sums + " is empty: restore it");
  std::vector<Listed> listed;
  for (const std::string& line : lines) {
    const size_t name = line.find("  ");
    const bool plain = name == 64 && line.find('/') == std::string::npos;
    if (!plain) throw Error(MK_BAD_DATA, sums + " is damaged: restore it");
    listed.push_back({line.substr(0, name), line.substr(name + 2)});
  }
  return listed;
}

// Returns the paths of all files, or none if they are read faster than they are looked up.
std::vector<std::string> worth_remembering(const std::string& directory, const std::vector<Listed>& listed) {
  constexpr uint64_t kLeastBytes = uint64_t{4} << 20;
  uint64_t bytes = 0;
  std::vector<std::string> paths{directory + "/" + kSums};
  for (const Listed& one : listed) {
    paths.push_back(directory + "/" + one.name);
    struct stat status {};
    if (::lstat(paths.back().c_str(), &status) == 0 && S_ISREG(status.st_mode))
      bytes += static_cast<uint64_t>(status.st_size);
  }
  return bytes < kLeastBytes ? std::vector<std::string>() : paths;
}

}  // namespace

bool check_sums(const std::string& directory, std::string_view only, const std::string& cache) {
  const Below file{directory, kSums};
  if (!exists(file)) return false;
  const std::vector<Listed> listed = listed_in(file);
  std::error_code none;
  const std::string whole = std::filesystem::absolute(directory, none).lexically_normal().string();
  const std::vector<std::string> paths =
      only.empty() && !cache.empty() ? worth_remembering(whole, listed) : std::vector<std::string>();
  const Passed passed(paths.empty() ? "" : cache, "models", whole);
  if (passed.known()) return true;
  const std::vector<std::string> states = states_of(paths);
  bool found = only.empty();
  for (const Listed& one : listed) {
    if (!only.empty() && one.name != only) continue;
    found = true;
    const Below at{directory, one.name};
    if (sha256_of_file(at) != one.sum)
      throw Error(MK_BAD_DATA,
                  at.path() + " was changed after it was written (its SHA-256 is not that in SHA256SUMS): restore it");
  }
  if (!found) throw Error(MK_BAD_DATA, file.path() + " has no line for " + std::string(only) + ": restore it");
  if (!paths.empty()) passed.remember(paths, states);
  return true;
}

namespace {

// A scheduler may run a job with an empty HOME or without one.
std::string home_directory() {
  const char* named = ::secure_getenv("HOME");
  if (named != nullptr && named[0] == '/') return named;
  struct passwd entry {
  }, *found = nullptr;
  std::array<char, 16384> text{};
  const int code = ::getpwuid_r(::geteuid(), &entry, text.data(), text.size(), &found);
  return code == 0 && found != nullptr && entry.pw_dir != nullptr ? entry.pw_dir : "";
}

}  // namespace

std::string cache_directory() {
  const char* xdg = ::secure_getenv("XDG_CACHE_HOME");
  const std::string home = home_directory();
  std::string path;
  // The XDG Base Directory Specification 0.8 says that programs ignore a relative XDG_CACHE_HOME.
  if (xdg != nullptr && xdg[0] == '/') {
    path = std::string(xdg) + "/mokume";
  } else if (home.starts_with('/')) {
    path = home + "/.cache/mokume";
  }
  if (path.empty() || !make_directories(path)) return "";
  // The program loads kernels from this directory, so it rejects a directory to which others can write.
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return "";
  if (status.st_uid != ::geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "";
  return ::access(path.c_str(), W_OK | X_OK) == 0 ? path : "";
}

}  // namespace mokume::base
