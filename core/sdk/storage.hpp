// Describes failures to create or write files: their cause, their cure, and whether the same command can succeed later.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "sdk/error.hpp"

namespace mokume::sdk {

// Returns whether the same call can succeed later, so that the same command resumes. A place that does not exist or is
// not writable stays so until somebody names another place or changes it.
inline bool may_pass(int code) {
  for (const int one : {ENOSPC, EDQUOT, EFBIG, EIO, EINTR, EAGAIN, EBUSY, EMFILE, ENFILE, ENOMEM, ESTALE, ETIMEDOUT})
    if (code == one) return true;
  return false;
}

inline std::string cause_of(int code) {
  if (code == ENOSPC) return "the disk is full";
  if (code == EDQUOT) return "the quota of the disk is used up";
  return std::generic_category().message(code);
}

inline std::string cure_of(int code) {
  if (code == ENOSPC || code == EDQUOT) return "free space there and run the same command again";
  if (code == EFBIG) return "raise the limit on the size of a file (ulimit -f) and run the same command again";
  if (may_pass(code)) return "run the same command again when this is repaired";
  if (code == EACCES || code == EPERM) return "change the permissions, or choose another place";
  if (code == ENOENT) return "create the directory first, or choose another place";
  return "choose another place";
}

// Returns an error such as "cannot write 'x': the disk is full; free space there and run the same command again", with
// the status MK_STORAGE, or MK_INVALID_ARGUMENT if the failure does not pass by itself. `code` is an errno. `elsewhere`
// replaces the cure of a failure that does not pass.
inline Error storage_error(const std::string& action, int code, const std::string& elsewhere = "",
                           std::string thrown_at = Error::here()) {
  const bool passes = may_pass(code);
  const std::string cure = passes || elsewhere.empty() ? cure_of(code) : elsewhere;
  return {passes ? MK_STORAGE : MK_INVALID_ARGUMENT, "cannot " + action + ": " + cause_of(code) + "; " + cure,
          std::move(thrown_at)};
}

// Writes a file piece by piece, and replaces the content of an existing one. Every failure throws storage_error().
class OutputFile {
 public:
  explicit OutputFile(const std::string& path)
      : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    check(file_ >= 0);
  }
  ~OutputFile() {
    if (file_ >= 0) ::close(file_);
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void append(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t n = ::write(file_, text.data(), text.size());
      if (n < 0 && errno == EINTR) continue;
      check(n >= 0);
      text.remove_prefix(static_cast<size_t>(n));
    }
  }
  void close() { check(::close(std::exchange(file_, -1)) == 0); }

 private:
  void check(bool good) const {
    if (!good) throw storage_error("write '" + path_ + "'", errno);
  }
  std::string path_;
  int file_;
};

}  // namespace mokume::sdk
