#include "base/disk.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/below.hpp"
#include "base/files.hpp"
#include "sdk/storage.hpp"

namespace mokume::base {
namespace {

[[noreturn]] void fail(const std::string& action, const std::string& path) {
  throw sdk::storage_error(fmt::format("{} {}", action, path), errno);
}

// A new directory entry survives a power failure only once the directory itself is on disk.
void sync_directory(const Below& directory) {
  const FileDescriptor file = open_below(directory, O_RDONLY | O_DIRECTORY);
  if (file.get() < 0 || ::fsync(file.get()) != 0) fail("sync the directory", directory.path());
}

class SystemFile : public AppendFile {
 public:
  explicit SystemFile(const Below& file)
      : path_(file.path()), descriptor_(open_below(file, O_RDWR | O_CREAT | O_APPEND, 0644)), file_(descriptor_.get()) {
    if (file_ < 0) fail("open", path_);
  }

  std::string read() const override {
    std::string text;
    char part[1 << 16];
    for (;;) {
      const ssize_t n = ::pread(file_, &part[0], sizeof(part), static_cast<off_t>(text.size()));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail("read", path_);
      if (n == 0) return text;
      text.append(&part[0], static_cast<size_t>(n));
    }
  }

  void append(std::string_view text) override {
    if (!write_all(file_, text) || ::fdatasync(file_) != 0) fail("write", path_);
  }

  void cut(uint64_t bytes) override {
    if (::ftruncate(file_, static_cast<off_t>(bytes)) != 0) fail("remove the torn last line of", path_);
  }

 private:
  std::string path_;
  FileDescriptor descriptor_;
  int file_;
};

class SystemDisk : public Disk {
 public:
  std::unique_ptr<AppendFile> open(const std::string& directory, const std::string& name) const override {
    const std::filesystem::path path(directory);
    const Below folder{path.has_parent_path() ? path.parent_path().string() : ".", path.filename().string()};
    const Below file{folder.root, folder.name + "/" + name};
    const bool made = !exists(folder), existed = !made && exists(file);
    // A tool may open a journal outside a run directory, so the root may not exist yet.
    std::error_code ignored;
    if (made) std::filesystem::create_directories(folder.root, ignored);
    make_directories(folder);
    auto opened = std::make_unique<SystemFile>(file);
    if (!existed) sync_directory(folder);
    if (made) sync_directory({folder.root, ""});
    return opened;
  }
};

}  // namespace

const Disk& system_disk() {
  static const SystemDisk kDisk;
  return kDisk;
}

}  // namespace mokume::base
