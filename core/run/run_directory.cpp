#include "run/run_directory.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <thread>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/missing.hpp"
#include "base/sealed.hpp"
#include "sdk/storage.hpp"

namespace mokume::run {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRecord = "run.json";
constexpr const char* kConfig = "config.resolved.toml";

[[noreturn]] void cannot_create(const std::string& path, int code) {
  throw sdk::storage_error("create " + path, code, "choose another directory for runs with --out");
}

// Throws Error(MK_INVALID_ARGUMENT) unless `path` is a directory that contains these files.
void require(const std::string& path, std::initializer_list<const char*> files) {
  const auto check = [&](const std::string& at, const std::string& lack) {
    std::error_code error;
    if (fs::exists(at, error)) return;
    const std::string why = error ? "it cannot be accessed (" + error.message() + ")" : lack;
    throw Error(MK_INVALID_ARGUMENT, path + " is not a run directory: " + why + "; name one, such as runs/NAME/STAMP");
  };
  check(path + "/", "there is no such directory" + base::relative_to(path));
  for (const char* name : files) check(path + "/" + name, std::string("it holds no ") + name);
}

// Names sort by time. A suffix distinguishes runs that start within the same second.
std::string new_directory(const std::string& parent) {
  std::error_code error;
  fs::create_directories(parent, error);
  if (error) cannot_create(parent, error.value());
  const std::string stamp = fmt::format("{:%Y-%m-%d_%H%M%S}", fmt::localtime(std::time(nullptr)));
  for (int k = 0; k < 1000; ++k) {
    const std::string path = parent + "/" + stamp + (k == 0 ? "" : "-" + std::to_string(k));
    if (fs::create_directory(path, error)) return path;
    if (error) cannot_create(path, error.value());
  }
  throw Error(MK_INTERNAL, "cannot find a free name below " + parent);
}

bool finished(const RunRecord& record) { return record.state != "running" && record.state != "stopped"; }

struct Found {
  std::string path;
  bool finished = false;
};

std::optional<Found> newest_of_plan(const std::string& parent, const std::string& plan_hash) {
  for (const std::string& path : runs_newest_first(parent)) {
    RunRecord record;
    try {
      record = read_run_record(path);
    } catch (const Error&) {
      continue;  // not a run directory, or its creation was interrupted
    }
    if (record.plan_hash == plan_hash) return Found{path, finished(record)};
  }
  return std::nullopt;
}

}  // namespace

void check_output(const std::string& output, const std::string& name) {
  const std::string wanted = output + "/" + name;
  fs::path at = fs::absolute(wanted);
  std::error_code ignored;
  while (!fs::exists(fs::symlink_status(at, ignored)) && at.has_relative_path()) at = at.parent_path();
  std::string trial = (at / ".mokume-check-XXXXXX").string();
  if (mkdtemp(trial.data()) == nullptr) cannot_create(wanted + "/STAMP", errno);
  ::rmdir(trial.c_str());
}

std::optional<std::string> finished_run(const std::string& output, const std::string& name,
                                        const std::string& plan_hash) {
  const auto newest = newest_of_plan(output + "/" + name, plan_hash);
  return newest && newest->finished ? std::optional(newest->path) : std::nullopt;
}

bool is_finished(const std::string& path) { return finished(read_run_record(path)); }

void require_run_directory(const std::string& path) { require(path, {"config.resolved.toml", kRecord}); }

RunRecord read_run_record(const std::string& path) {
  const std::string file = path + "/" + kRecord;
  try {
    const auto text = base::unseal_file(base::read_file(base::Below{path, kRecord}, 64U << 20));
    if (!text) throw Error(MK_BAD_DATA, "its checksum differs");
    auto record = base::from_json<RunRecord>(text->object);
    record.checked = text->checked;
    if (record.data.shape && record.data.shape->values() != record.data.features)
      throw Error(MK_BAD_DATA, "the shape of a row does not match its features");
    return record;
  } catch (const Error& e) {
    throw Error(MK_BAD_DATA,
                file + " is damaged (" + e.what() + "): restore it, or start a new run with `mokume run --fresh`");
  }
}

void check_same_plan(const std::string& path, const std::string& plan_hash) {
  if (read_run_record(path).plan_hash != plan_hash)
    throw Error(MK_INVALID_ARGUMENT,
                "devices.repeat_splits is '" + path + "', a run of another plan: config and data must be the same");
}

void check_config_file(const std::string& path, const RunRecord& record) {
  const base::Below place{path, kConfig};
  const std::string file = place.path();
  if (record.config_sha256.empty() || base::sha256(base::read_file(place, 64U << 20)) == record.config_sha256) return;
  throw Error(MK_BAD_DATA,
              file + " has changed since the run wrote it (its SHA-256 differs from that in run.json): restore " +
                  "it, or start a new run");
}

std::vector<std::string> runs_newest_first(const std::string& parent) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent, error))
    if (entry.is_directory(error) && !entry.is_symlink(error) && fs::exists(entry.path() / kRecord, error))
      paths.push_back(entry.path().string());
  std::sort(paths.rbegin(), paths.rend());
  return paths;
}

bool is_held(const std::string& path) {
  try {
    const base::FileDescriptor file = base::open_below({path, "lock"}, O_RDONLY);
    return file.get() >= 0 && flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  } catch (const Error&) {
    return false;  // the file is a link; taking the lock reports it
  }
}

RunDirectory RunDirectory::open_or_create(const std::string& output, const std::string& name,
                                          const std::string& plan_hash, bool fresh, const LockWait& wait) {
  const std::string parent = output + "/" + name;
  if (!fresh)
    if (const auto newest = newest_of_plan(parent, plan_hash); newest && !newest->finished)
      return RunDirectory(newest->path, true, wait);
  return RunDirectory(new_directory(parent), false, wait);
}

RunDirectory RunDirectory::open(const std::string& path, const LockWait& wait) {
  require(path, {kRecord});
  return RunDirectory(path, true, wait);
}

RunDirectory::RunDirectory(std::string path, bool existed, const LockWait& wait)
    : path_(std::move(path)), existed_(existed), lock_(path_, wait) {}

DirectoryLock::DirectoryLock(const std::string& path, const LockWait& wait) {
  lock_ = base::open_below({path, "lock"}, O_RDWR | O_CREAT, 0644).release();
  if (const int why = errno; lock_ < 0)
    throw sdk::storage_error("open " + path + "/lock", why, "a run must be able to write to its directory");
  // Retries, because is_held() takes the lock for a moment.
  constexpr std::chrono::milliseconds kPause(10);
  const double deadline = base::steady_s() + std::max(wait.seconds, 0.1);
  while (flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    const bool stopped = wait.stop != nullptr && *wait.stop;
    if (!stopped && base::steady_s() < deadline) {
      std::this_thread::sleep_for(kPause);
      continue;
    }
    ::close(lock_);
    if (wait.seconds > 0)
      throw Error(MK_CANCELLED,
                  "another mokume process still works on " + path + ", so no other node may lead the run");
    throw Error(
        MK_CANCELLED,
        "another mokume process is working on " + path +
            ": run the same command again when it has ended, or start a separate run with `mokume run --fresh`");
  }
}

DirectoryLock::~DirectoryLock() {
  if (lock_ >= 0) ::close(lock_);
}

RunRecord RunDirectory::read_record() const { return read_run_record(path_); }

void RunDirectory::write_record(const RunRecord& record) const {
  base::write_file(base::Below{path_, kRecord}, base::seal(base::indented(base::to_json(record))));
}

}  // namespace mokume::run
