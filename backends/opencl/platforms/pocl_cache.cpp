#include "platforms/pocl_cache.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace mokume::opencl {
namespace {

namespace fs = std::filesystem;

// PoCL's folder without a home directory. Any user can create it first, and PoCL runs the code that it finds there.
constexpr const char* kShared = "/tmp/pocl/kcache";

std::string value_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool drives_pocl(const Icd& icd) { return fs::path(icd.library).filename().string().find("pocl") != std::string::npos; }

std::string usual_folder() {
  if (const std::string cache = value_of("XDG_CACHE_HOME"); !cache.empty()) return cache + "/pocl/kcache";
  const std::string home = value_of("HOME");
  return home.empty() ? kShared : home + "/.cache/pocl/kcache";
}

// Tries to create the folder, because root may write to folders in which nothing can be created, such as /proc.
bool can_write(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  return !error && access(folder.c_str(), W_OK | X_OK) == 0;
}

// Returns whether no other user can remove or rename what this user creates in the folder.
bool keeps_files(const fs::path& folder) {
  struct stat status {};
  if (stat(folder.c_str(), &status) != 0 || (status.st_uid != 0 && status.st_uid != geteuid())) return false;
  return (status.st_mode & 022) == 0 || (status.st_mode & S_ISVTX) != 0;
}

// Returns a folder below the one for temporary files, or "" if another user may change it or programs cannot be loaded
// from it. The name is always the same, so that PoCL finds the kernels of earlier processes.
std::string private_folder() {
  std::error_code error;
  const fs::path temporary = fs::temp_directory_path(error);
  if (error || !keeps_files(temporary)) return "";
  const std::string folder = (temporary / ("mokume-pocl-" + std::to_string(geteuid()))).string();
  struct stat status {};
  struct statvfs system {};
  if ((mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) || lstat(folder.c_str(), &status) != 0) return "";
  if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0) return "";
  if (access(folder.c_str(), W_OK | X_OK) != 0) return "";
  return statvfs(folder.c_str(), &system) == 0 && (system.f_flag & ST_NOEXEC) == 0 ? folder : "";
}

}  // namespace

PoclCache::PoclCache(const std::vector<Icd>& icds) {
  if (std::none_of(icds.begin(), icds.end(), drives_pocl)) return;
  const std::string named = value_of("POCL_CACHE_DIR");
  own_ = named.empty() ? usual_folder() : named;
  works_ = (!named.empty() || own_ != kShared) && can_write(own_);
  if (!works_ && named.empty()) other_ = private_folder();
}

std::unique_ptr<ScopedVariable> PoclCache::apply() const {
  return other_.empty() ? nullptr : std::make_unique<ScopedVariable>("POCL_CACHE_DIR", other_.c_str());
}

std::string PoclCache::note() const {
  if (other_.empty()) return "";
  return "PoCL " + why() + ", so it keeps its kernels in " + other_ + ": set POCL_CACHE_DIR to choose another folder";
}

std::string PoclCache::why() const {
  return (own_ == kShared ? "would share its cache with other users in " : "cannot write to its cache ") + own_;
}

std::string PoclCache::problem() const {
  if (works_ || !other_.empty()) return "";
  return why() + ": set POCL_CACHE_DIR to a folder that you may write to";
}

}  // namespace mokume::opencl
