#include "provenance/crate_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/files.hpp"
#include "sdk/error.hpp"
#include "sdk/storage.hpp"

namespace mokume::app {
namespace {

namespace fs = std::filesystem;

// Opens without blocking, because a pipe could stand in place of a file.
base::FileDescriptor open_regular(const base::Below& file) {
  base::FileDescriptor opened = base::open_below(file, O_RDONLY | O_NONBLOCK);
  struct stat status {};
  if (opened.get() < 0 || ::fstat(opened.get(), &status) != 0)
    throw Error(MK_BAD_DATA, fmt::format("cannot read '{}': {}", file.path(), sdk::cause_of(errno)));
  if (!S_ISREG(status.st_mode))
    throw Error(MK_BAD_DATA, fmt::format("cannot read '{}': it is not a regular file", file.path()));
  return opened;
}

template <class Take>
void read_pieces(const base::Below& file, Take&& take) {
  const base::FileDescriptor opened = open_regular(file);
  std::vector<char> piece(size_t{1} << 20);
  for (;;) {
    const ssize_t n = ::read(opened.get(), piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(MK_BAD_DATA, fmt::format("cannot read '{}': {}", file.path(), sdk::cause_of(errno)));
    if (n == 0) return;
    take(std::string_view(piece.data(), static_cast<size_t>(n)));
  }
}

void make_parents(const std::string& root, const std::string& name) {
  if (const size_t slash = name.rfind('/'); slash != std::string::npos)
    base::make_directories({root, name.substr(0, slash)});
}

}  // namespace

CrateDirectory::CrateDirectory(const std::string& path)
    : path_(fs::path(path).lexically_normal().string()), unfinished_() {
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  std::error_code error;
  if (fs::exists(fs::symlink_status(path_, error)))
    throw Error(MK_INVALID_ARGUMENT, fmt::format("{} exists already: remove it, or name another directory", path_));
  unfinished_ = fmt::format("{}.tmp-{}", path_, ::getpid());
  if (::mkdir(unfinished_.c_str(), 0777) != 0)
    throw sdk::storage_error("create " + path_, errno, "name another directory with --provenance");
}

CrateDirectory::~CrateDirectory() {
  std::error_code ignored;
  if (!unfinished_.empty()) fs::remove_all(unfinished_, ignored);
}

void CrateDirectory::write(const std::string& name, std::string_view text) const {
  base::write_file(base::Below{unfinished_, name}, text);
}

void CrateDirectory::copy(const base::Below& from, const std::string& name) const {
  make_parents(unfinished_, name);
  const base::Below to{unfinished_, name};
  base::FileDescriptor copied = base::open_below(to, O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (copied.get() < 0) throw sdk::storage_error("write " + to.path(), errno);
  read_pieces(from, [&](std::string_view piece) {
    if (!base::write_all(copied.get(), piece)) throw sdk::storage_error("write " + to.path(), errno);
  });
  if (copied.close() != 0) throw sdk::storage_error("write " + to.path(), errno);
}

std::vector<CrateFile> CrateDirectory::files() const {
  std::vector<CrateFile> files;
  for (const auto& entry : fs::recursive_directory_iterator(unfinished_)) {
    if (!entry.is_regular_file()) continue;
    CrateFile file{entry.path().lexically_relative(unfinished_).string(), "", 0};
    base::Sha256 sum;
    read_pieces({unfinished_, file.name}, [&](std::string_view piece) {
      sum.update(piece.data(), piece.size());
      file.bytes += piece.size();
    });
    file.sha256 = sum.hex();
    files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(), [](const CrateFile& a, const CrateFile& b) { return a.name < b.name; });
  return files;
}

void CrateDirectory::finish() {
  if (::rename(unfinished_.c_str(), path_.c_str()) != 0) throw sdk::storage_error("create " + path_, errno);
  unfinished_.clear();
}

}  // namespace mokume::app
