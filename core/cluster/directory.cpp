#include "cluster/directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <thread>
#include <vector>

#include "base/files.hpp"
#include "base/text.hpp"
#include "sdk/storage.hpp"

namespace mokume::cluster {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Returns a name that no other process uses and that this process uses only once.
std::string unique_name(const char* start) {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return start + base::sha256(fmt::format("{} {} {}", host_identity(), getpid(), now)).substr(0, 24);
}

[[noreturn]] void fail_write(const std::string& path) {
  throw sdk::storage_error(fmt::format("write '{}'", path), errno);
}

}  // namespace

std::string host_name() {
  char name[256] = {};
  return gethostname(&name[0], sizeof(name) - 1) == 0 ? &name[0] : "unknown";
}

std::string host_identity() {
  std::string boot;
  try {
    boot = base::trim(base::read_file("/proc/sys/kernel/random/boot_id", 100));
  } catch (const Error&) {
    // Without a boot ID, the host name must suffice.
  }
  return host_name() + " " + boot;
}

Mark::Mark(const std::string& directory) : directory_(directory), name_(unique_name(".mokume-mark-")) {
  const std::string path = directory_ + "/" + name_;
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  const bool written = fd >= 0 && base::write_all(fd, name_);
  const int failed = errno;
  const bool closed = fd >= 0 && ::close(fd) == 0;
  if (written && closed) return;
  const int code = written ? errno : failed;
  if (fd >= 0) ::unlink(path.c_str());
  throw sdk::storage_error(fmt::format("write '{}'", path), code, "choose another directory with --out");
}

Mark::~Mark() {
  std::error_code ignored;
  fs::remove(directory_ + "/" + name_, ignored);
}

bool sees_mark(const std::string& directory, const std::string& name, std::chrono::milliseconds patience,
               const std::atomic<bool>& stop) {
  const auto deadline = Clock::now() + patience;
  while (true) {
    try {
      if (base::read_file(directory + "/" + name, 100) == name) return true;
    } catch (const Error&) {
      // The file is missing or not visible yet.
    }
    if (stop.load()) throw Error(MK_CANCELLED, "stopped before the first fit");
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::string file_system_of(const std::string& path) {
  struct Known {
    unsigned long magic;
    const char* name;
  };
  // The constants come from statfs(2) and the headers of the file systems; the names are those of the kernel.
  constexpr std::array kKnown = {
      Known{0xEF53, "ext4"},         Known{0x58465342, "xfs"},   Known{0x9123683E, "btrfs"},
      Known{0x2FC12FC1, "zfs"},      Known{0x01021994, "tmpfs"}, Known{0x794C7630, "overlay"},
      Known{0x6969, "nfs"},          Known{0xFF534D42, "cifs"},  Known{0xFE534D42, "smb2"},
      Known{0x0BD00BD0, "lustre"},   Known{0x47504653, "gpfs"},  Known{0x19830326, "beegfs"},
      Known{0x00C36400, "ceph"},     Known{0x65735546, "fuse"},  Known{0x01021997, "9p"},
      Known{0x20030528, "orangefs"}, Known{0x5346414F, "afs"},   Known{0x858458F6, "ramfs"},
  };
  fs::path at = fs::absolute(path);
  std::error_code ignored;
  while (!fs::exists(at, ignored) && at.has_relative_path()) at = at.parent_path();
  struct statfs found {};
  if (statfs(at.c_str(), &found) != 0) return "unknown";
  const auto magic = static_cast<unsigned long>(found.f_type) & 0xFFFFFFFFUL;
  for (const Known& one : kKnown)
    if (one.magic == magic) return one.name;
  return fmt::format("{:#x}", magic);
}

double sync_seconds(const std::string& directory) {
  const std::string path = directory + "/" + unique_name(".mokume-sync-");
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) fail_write(path);
  std::array<double, 5> times{};
  const std::string line(300, '.');
  bool written = true;
  for (double& seconds : times) {
    const auto begin = Clock::now();
    written =
        written && ::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size()) && ::fdatasync(fd) == 0;
    seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  }
  const int code = errno;
  ::close(fd);
  ::unlink(path.c_str());
  errno = code;
  if (!written) fail_write(path);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace mokume::cluster
