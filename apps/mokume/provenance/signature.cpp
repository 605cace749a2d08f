#include "provenance/signature.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "base/below.hpp"
#include "base/text.hpp"
#include "sdk/error.hpp"
#include "sdk/storage.hpp"

namespace mokume::app {
namespace {

struct Ended {
  int code = -1;  // an errno value if the tool was not started, else 0
  int status = 0;
  std::string text;  // output of the tool
};

std::string read_all(int fd) {
  constexpr size_t kMost = 64 * 1024;
  std::string text;
  std::array<char, 4096> piece{};
  for (ssize_t n = 1; n != 0;) {
    n = ::read(fd, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    if (text.size() < kMost) text.append(piece.data(), static_cast<size_t>(n));
  }
  return text;
}

// Runs a program of the PATH and waits for it. The program keeps the standard input and the terminal, on which it may
// ask for a passphrase.
Ended run_tool(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int pipes[2];
  if (::pipe2(&pipes[0], O_CLOEXEC) != 0) return {errno, 0, {}};
  const base::FileDescriptor from(pipes[0]);
  base::FileDescriptor to(pipes[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, to.get(), STDERR_FILENO);
  pid_t pid = -1;
  Ended ended;
  ended.code = ::posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  to.close();
  if (ended.code != 0) return ended;
  ended.text = read_all(from.get());
  while (::waitpid(pid, &ended.status, 0) < 0 && errno == EINTR) {
  }
  return ended;
}

// Returns the last line that is not empty, or the exit code if the tool said nothing.
std::string reason_of(const Ended& ended) {
  std::string reason;
  for (const std::string& line : base::split(ended.text, '\n'))
    if (const std::string words = base::trim(line); !words.empty()) reason = words;
  if (!reason.empty()) return reason;
  return WIFEXITED(ended.status) ? fmt::format("it ended with exit code {}", WEXITSTATUS(ended.status))
                                 : "it was killed";
}

}  // namespace

void sign(const std::string& file, const std::string& key) {
  // An absolute path cannot be taken for an option.
  const std::string place = std::filesystem::absolute(key).string();
  const Ended ended = run_tool({"ssh-keygen", "-Y", "sign", "-f", place, "-n", kSignatureNamespace, file});
  if (ended.code != 0)
    throw Error(MK_INVALID_ARGUMENT,
                fmt::format("cannot sign: ssh-keygen does not start ({}); install it (openssh-client in Debian), or "
                            "leave out --sign",
                            sdk::cause_of(ended.code)));
  if (ended.status != 0)
    throw Error(MK_INVALID_ARGUMENT, fmt::format("ssh-keygen cannot sign with '{}': {}", key, reason_of(ended)));
}

}  // namespace mokume::app
