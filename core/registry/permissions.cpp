#include "registry/permissions.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <deque>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "registry/candidate.hpp"

namespace mokume::registry {
namespace {

constexpr int kMostLinks = 40;                         // the kernel's limit
constexpr size_t kNameServiceBytes = size_t{1} << 16;  // a group may have thousands of members

[[noreturn]] void refuse_place(const std::string& text) { throw Refused("permissions", text); }

std::string system_text(int code) { return std::generic_category().message(code); }

// Holds an entry on the way from the root. The O_PATH descriptor refers to this entry whatever the name means later.
class Place {
 public:
  Place(int parent, std::string name, const std::string& path) : name_(std::move(name)) {
    fd_ = ::openat(parent, name_.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd_ >= 0 && ::fstat(fd_, &status_) == 0) return;
    const int code = errno;
    if (fd_ >= 0) ::close(fd_);
    refuse_place(
        fmt::format("'{}' cannot be resolved ({}): repair the link or its directories", path, system_text(code)));
  }
  ~Place() {
    if (fd_ >= 0) ::close(fd_);
  }
  Place(Place&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), name_(std::move(other.name_)), status_(other.status_) {}
  Place& operator=(Place&&) = delete;

  int fd() const { return fd_; }
  const std::string& name() const { return name_; }
  const struct stat& status() const { return status_; }
  bool is(mode_t type) const { return (status_.st_mode & S_IFMT) == type; }

  std::string target() const {
    std::array<char, PATH_MAX> text{};
    const ssize_t n = ::readlinkat(fd_, "", text.data(), text.size());
    return {text.data(), n > 0 ? static_cast<size_t>(n) : 0};
  }

 private:
  int fd_ = -1;
  std::string name_;
  struct stat status_ {};
};

struct Group {
  std::string name;
  std::vector<std::string> members;  // excludes users whose primary group it is
};

std::optional<Group> group_of(gid_t id) {
  std::vector<char> text(kNameServiceBytes);
  group entry{}, *known = nullptr;
  if (::getgrgid_r(id, &entry, text.data(), text.size(), &known) != 0 || known == nullptr) return std::nullopt;
  Group found{entry.gr_name, {}};
  for (char** member = entry.gr_mem; *member != nullptr; ++member) found.members.emplace_back(*member);
  return found;
}

std::string group_text(gid_t id) {
  const std::optional<Group> known = group_of(id);
  return known ? "'" + known->name + "'" : std::to_string(id);
}

// Returns whether this user is the group's only member, as in Debian's private groups. Returns false for an access
// control list, with which the mode's group permissions also apply to other users.
bool is_private_group(const Place& place) {
  const std::string itself = fmt::format("/proc/self/fd/{}", place.fd());
  if (::getxattr(itself.c_str(), "system.posix_acl_access", nullptr, 0) > 0) return false;
  std::vector<char> text(kNameServiceBytes);
  passwd user{}, *known = nullptr;
  if (::getpwuid_r(::geteuid(), &user, text.data(), text.size(), &known) != 0 || known == nullptr) return false;
  const std::optional<Group> its = group_of(place.status().st_gid);
  const auto is_user = [&](const std::string& name) { return name == user.pw_name; };
  return its && user.pw_gid == place.status().st_gid && is_user(its->name) &&
         std::all_of(its->members.begin(), its->members.end(), is_user);
}

bool in_group(gid_t group) {
  if (group == ::getegid()) return true;
  std::vector<gid_t> groups(static_cast<size_t>(std::max(0, ::getgroups(0, nullptr))));
  const int n = ::getgroups(static_cast<int>(groups.size()), groups.data());
  return n > 0 && std::find(groups.begin(), groups.begin() + n, group) != groups.begin() + n;
}

class Walk {
 public:
  Walk(const std::string& path, bool trust_groups) : path_(path), trust_groups_(trust_groups) {}

  Checked follow() {
    struct stat status {};
    const int ignored = ::stat(path_.c_str(), &status);  // stat() makes automounters mount; O_PATH does not
    static_cast<void>(ignored);
    add(path_);
    while (!rest_.empty()) {
      const std::string name = rest_.front();
      rest_.pop_front();
      if (name.empty()) continue;
      if (!way_.back().is(S_IFDIR)) refuse_place(fmt::format("'{}' is not a directory: repair '{}'", here(), path_));
      if (name == ".." && way_.size() > 1) way_.pop_back();
      if (name != "." && name != "..") step(name);
    }
    if (!way_.back().is(S_IFREG))
      refuse_place(fmt::format("'{}' is not a regular file: put a shared library there", here()));
    return {here(), warning_};
  }

 private:
  // Puts the parts of a path before the names that remain to be followed.
  void add(const std::string& path) {
    if (path.starts_with('/')) {
      way_.clear();
      way_.emplace_back(AT_FDCWD, "/", path_);
      check(way_.back(), "directory", "/");
    }
    const std::vector<std::string> parts = base::split(path, '/');
    rest_.insert(rest_.begin(), parts.begin(), parts.end());
  }

  void step(const std::string& name) {
    Place next(way_.back().fd(), name, path_);
    const std::string shown = here() + (way_.size() > 1 ? "/" : "") + name;
    const bool last = std::all_of(rest_.begin(), rest_.end(), [](const auto& part) { return part.empty(); });
    if (last && !next.is(S_IFDIR)) check_holder();
    if (next.is(S_IFLNK)) {
      check_owner(next, "link", shown);  // the mode of a link has no effect
      if (++links_ > kMostLinks) refuse_place(fmt::format("'{}' has too many symbolic links: repair them", path_));
      return add(next.target());
    }
    check(next, next.is(S_IFDIR) ? "directory" : "file", shown);
    way_.push_back(std::move(next));
  }

  // Rejects a directory of the library to which everyone may write, even with the sticky bit. The bit protects existing
  // names, but others may add names, such as further links to this user's files.
  void check_holder() const {
    if ((way_.back().status().st_mode & S_IWOTH) != 0) refuse_writable(way_.back(), "directory", here());
  }

  void check(const Place& place, const char* what, const std::string& shown) {
    const mode_t mode = place.status().st_mode;
    const bool sticky = S_ISDIR(mode) && (mode & S_ISVTX) != 0;
    if ((mode & S_IWOTH) != 0 && !sticky) refuse_writable(place, what, shown);
    const bool shared = (mode & S_IWGRP) != 0 && !sticky && !is_private_group(place);
    // The owner of an entry that a group shares counts as a member of the group.
    if (shared && trust_groups_ && in_group(place.status().st_gid)) {
      if (warning_.empty())
        warning_ = fmt::format("the group {} may write to the {} '{}', which {} accepts",
                               group_text(place.status().st_gid), what, shown, kTrustGroupVariable);
      return;
    }
    check_owner(place, what, shown);
    if (shared) refuse_writable(place, what, shown);
  }

  // Rejects other owners, who can change the mode of an entry, or replace it in a directory with the sticky bit.
  static void check_owner(const Place& place, const char* what, const std::string& shown) {
    const uid_t owner = place.status().st_uid;
    if (owner != 0 && owner != ::geteuid())
      refuse_place(
          fmt::format("the {} '{}' belongs to user {}, not to root or user {}: change its owner (chown -h {} {}), or "
                      "use a copy elsewhere",
                      what, shown, owner, ::geteuid(), ::geteuid(), shown));
  }

  [[noreturn]] static void refuse_writable(const Place& place, const char* what, const std::string& shown) {
    const mode_t mode = place.status().st_mode;
    if ((mode & S_IWOTH) != 0)
      refuse_place(fmt::format("others may write to the {} '{}' (mode {:04o}): chmod go-w {}", what, shown,
                               mode & 07777U, shown));
    const gid_t group = place.status().st_gid;
    const std::string accept =
        in_group(group) ? fmt::format(", or set {}=1 if you trust everyone in your groups", kTrustGroupVariable) : "";
    refuse_place(fmt::format("the group {} may write to the {} '{}' (mode {:04o}): chmod go-w {}{}", group_text(group),
                             what, shown, mode & 07777U, shown, accept));
  }

  // Returns the real path so far.
  std::string here() const {
    std::string text;
    for (size_t k = 1; k < way_.size(); ++k) text += "/" + way_[k].name();
    return text.empty() ? "/" : text;
  }

  const std::string& path_;
  bool trust_groups_;
  std::vector<Place> way_;        // starts at the root
  std::deque<std::string> rest_;  // names that remain to be followed
  int links_ = 0;
  std::string warning_;
};

}  // namespace

Checked check_permissions(const std::string& path, bool trust_groups) { return Walk(path, trust_groups).follow(); }

}  // namespace mokume::registry
