#include "inspect/prune.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "base/tree.hpp"
#include "sdk/storage.hpp"

namespace mokume::inspect {
namespace {

namespace fs = std::filesystem;
using RunState = ListedRun::RunState;

// Names the folders of the cache directory and describes their files.
constexpr std::array<std::pair<const char*, const char*>, 2> kCaches = {
    {{"/opencl", "built kernels"}, {"/pictures", "decoded pictures"}}};

bool is_real_directory(const std::string& path) {
  std::error_code error;
  return fs::is_directory(fs::symlink_status(path, error));
}

std::string age(double now_s, double then_s) { return base::human_seconds(std::max(0.0, now_s - then_s)); }

std::vector<std::string> files_below(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code error;
  // By default, this iterator does not enter directories through symbolic links.
  for (fs::recursive_directory_iterator it(directory, error), end; !error && it != end; it.increment(error))
    if (fs::is_regular_file(it->symlink_status(error))) files.push_back(it->path().string());
  std::sort(files.begin(), files.end());
  return files;
}

void add_cached(std::vector<Removal>& all, const PruneRule& rule, const std::string& cache, double now_s) {
  for (const auto& [folder, what] : kCaches) {
    const std::string directory = cache + folder;
    if (cache.empty() || !is_real_directory(directory)) continue;
    if (const uint64_t bytes = base::tree_bytes(directory); rule.larger_than && bytes > *rule.larger_than)
      all.push_back({directory, what, bytes, false});
    if (!rule.older_than_s) continue;
    for (const std::string& file : files_below(directory))
      if (const double written = base::written_s(file); now_s - written > *rule.older_than_s)
        all.push_back({file, fmt::format("{}, {} old", what, age(now_s, written)), base::tree_bytes(file), false});
  }
}

// Tries to lock a run directory, so that no run starts during the removal.
class Hold {
 public:
  explicit Hold(const std::string& directory)
      : file_(::open((directory + "/lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)),
        free_(file_ < 0 || flock(file_, LOCK_EX | LOCK_NB) == 0) {}
  ~Hold() {
    if (file_ >= 0) ::close(file_);
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  bool is_free() const { return free_; }

 private:
  int file_;
  bool free_;
};

}  // namespace

std::vector<Removal> removals(const std::vector<ListedRun>& runs, const PruneRule& rule, const std::string& cache,
                              double now_s) {
  std::vector<Removal> all;
  std::map<std::string, uint64_t> seen;  // number of runs so far, by experiment; the newest runs come first
  for (const ListedRun& run : runs) {
    if (run.state == RunState::running || run.state == RunState::damaged) continue;
    if (run.state == RunState::unfinished && !rule.unfinished) continue;
    const uint64_t newer = seen[fs::path(run.directory).parent_path().string()]++;
    if ((rule.older_than_s && now_s - run.worked_s > *rule.older_than_s) ||
        (rule.larger_than && run.bytes > *rule.larger_than) || (rule.keep && newer >= *rule.keep)) {
      all.push_back(
          {run.directory, fmt::format("{}, {} old", name_of(run.state), age(now_s, run.worked_s)), run.bytes, true});
      continue;
    }
    const std::string scratch = run.directory + "/scratch";
    if (run.state == RunState::finished && is_real_directory(scratch))
      all.push_back({scratch, "checkpoints of a finished run", base::tree_bytes(scratch), false});
  }
  add_cached(all, rule, cache, now_s);
  return all;
}

Kept remove(const Removal& removal) {
  std::optional<Hold> hold;
  if (removal.is_run) hold.emplace(removal.path);
  if (hold && !hold->is_free()) return {"a process is working on it", true};
  std::error_code error;
  fs::remove_all(removal.path, error);
  if (error) return {error.message(), sdk::may_pass(error.value())};
  // This call fails, without effect, if the experiment has other runs.
  if (removal.is_run) fs::remove(fs::path(removal.path).parent_path(), error);
  return {};
}

}  // namespace mokume::inspect
