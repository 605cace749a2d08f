#include "base/disk.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/files.hpp"
#include "sdk/error.hpp"

namespace mokume::base {
namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path) {
  throw Error(MK_STORAGE, fmt::format("{} {}: {}", what, path, std::strerror(errno)));
}

// A new directory entry survives a power failure only once the directory itself is on disk.
void sync_directory(const std::filesystem::path& directory) {
  const int file = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) fail("cannot sync the directory", directory.string());
  const bool synced = ::fsync(file) == 0;
  const int cause = errno;
  ::close(file);
  errno = cause;
  if (!synced) fail("cannot sync the directory", directory.string());
}

class SystemFile : public AppendFile {
 public:
  explicit SystemFile(std::string path) : path_(std::move(path)) {
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file_ < 0) fail("cannot open", path_);
  }
  ~SystemFile() override { ::close(file_); }
  SystemFile(const SystemFile&) = delete;
  SystemFile& operator=(const SystemFile&) = delete;

  std::string read() const override { return read_file(path_); }

  void append(std::string_view text) override {
    for (size_t done = 0; done < text.size();) {
      const ssize_t n = ::write(file_, text.data() + done, text.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail("cannot write", path_);
      done += static_cast<size_t>(n);
    }
    if (::fdatasync(file_) != 0) fail("cannot write", path_);
  }

  void cut(uint64_t bytes) override {
    if (::ftruncate(file_, static_cast<off_t>(bytes)) != 0) fail("cannot remove the torn last line of", path_);
  }

 private:
  std::string path_;
  int file_ = -1;
};

class SystemDisk : public Disk {
 public:
  std::unique_ptr<AppendFile> open(const std::string& directory, const std::string& name) const override {
    namespace fs = std::filesystem;
    std::error_code cause;
    const bool made = fs::create_directories(directory, cause);
    if (cause) throw Error(MK_STORAGE, fmt::format("cannot create {}: {}", directory, cause.message()));
    const fs::path path = fs::path(directory) / name;
    const bool existed = fs::exists(path);
    auto file = std::make_unique<SystemFile>(path.string());
    if (!existed) sync_directory(directory);
    if (made) sync_directory(fs::absolute(directory).lexically_normal().parent_path());
    return file;
  }
};

}  // namespace

const Disk& system_disk() {
  static const SystemDisk kDisk;
  return kDisk;
}

}  // namespace mokume::base
