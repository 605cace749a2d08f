// Creates, finds and locks the directory runs/NAME/STAMP, and reads and writes its run.json.
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "data/dataset.hpp"
#include "device/device.hpp"

namespace mokume::run {

struct DeviceRecord {
  uint32_t node = 0;
  std::string id, backend, name, vendor, device_class;
  uint64_t budget_bytes = 0;
  double speed = 0;                   // measured relative speed, or 0 if unknown
  std::vector<double> sessions = {};  // starts of its sessions, in seconds since the epoch

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("node", self.node);
    field("id", self.id);
    field("backend", self.backend);
    field("name", self.name);
    field("vendor", self.vendor);
    field.optional("class", self.device_class);
    field.optional("budget_bytes", self.budget_bytes);
    field.optional("speed", self.speed);
    field.optional("sessions", self.sessions);
  }
};

struct DataRecord {
  std::string name;
  int64_t rows = 0, features = 0, classes = 0, test_rows = 0;
  std::string sha256;
  std::vector<data::Column> columns;  // conversion of CSV columns into features; empty for other sources
  // This is the error of a constant answer on the training rows: the error of the most frequent class, or the mean
  // squared error of the mean. Older runs have no value.
  std::optional<double> guess = {};
  std::optional<data::Shape> shape = {};      // shape of a row, for source "images"; other pictures are converted to it
  std::vector<std::string> class_names = {};  // indexed by label; empty in older runs
  std::vector<int64_t> class_rows = {};       // number of training rows of each class; empty in older runs

  void check() const {
    if (!class_names.empty() && static_cast<int64_t>(class_names.size()) != classes)
      base::bad_field("class_names", "one name per class");
    if (!class_rows.empty() && static_cast<int64_t>(class_rows.size()) != classes)
      base::bad_field("class_rows", "one number per class");
    if (std::any_of(class_rows.begin(), class_rows.end(), [&](int64_t n) { return n < 0 || n > rows; }))
      base::bad_field("class_rows", "numbers of training rows");
  }

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("name", self.name);
    field("rows", self.rows, int64_t{0}, INT64_MAX);
    field("features", self.features, int64_t{0}, INT64_MAX);
    field("classes", self.classes, int64_t{0}, INT64_MAX);
    field("test_rows", self.test_rows, int64_t{0}, INT64_MAX);
    field("sha256", self.sha256);
    field.optional("columns", self.columns);
    field("guess", self.guess);
    field("shape", self.shape);
    field.optional("class_names", self.class_names);
    field.optional("class_rows", self.class_rows);
  }
};

// Describes for human readers where and how the last session ran.
struct Environment {
  std::string version, compiler, command;
  std::string host = {};
  uint64_t nodes = 0;
  std::string reproducibility = {};
  std::string sums = {};  // the road of a team's sums between nodes, and the reason

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field.optional("version", self.version);
    field.optional("compiler", self.compiler);
    field.optional("command", self.command);
    field.optional("host", self.host);
    field.optional("nodes", self.nodes);
    field.optional("reproducibility", self.reproducibility);
    field.optional("sums", self.sums);
  }
};

// Holds the content of run.json: the identity of this run and everything that later sessions must repeat.
struct RunRecord {
  std::string plan_hash;
  std::string state = "running";  // running | stopped | done | failed fits
  std::string exit_reason;
  std::map<std::string, device::Choices> choices;  // by device class; fixed before the first fit
  std::vector<std::string> device_classes;         // classes that took part
  DataRecord data;
  std::vector<DeviceRecord> devices;
  Environment environment;
  std::map<std::string, std::string> files;  // Config::file_sums
  std::string reused_from;                   // run directory that provided reused fits, or ""
  std::string config_sha256;                 // SHA-256 of config.resolved.toml; "" in older versions
  bool checked = true;                       // the file had a checksum, which older versions do not write

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("plan_hash", self.plan_hash);
    field.optional("config_sha256", self.config_sha256);
    field("state", self.state);
    field.optional("exit_reason", self.exit_reason);
    field("choices", self.choices);
    field.optional("device_classes", self.device_classes);
    field("data", self.data);
    field("devices", self.devices);
    field("environment", self.environment);
    field.optional("files", self.files);
    field.optional("reused_from", self.reused_from);
  }
};

// Limits the wait for a lock that another process holds.
struct LockWait {
  double seconds = 0;
  const std::atomic<bool>* stop = nullptr;  // ends the wait
};

// Locks a directory for this process until destruction. The class is move-only.
class DirectoryLock {
 public:
  // Throws Error(MK_CANCELLED) if another process holds the directory, or still holds it after a wait.
  explicit DirectoryLock(const std::string& path, const LockWait& wait = {});
  DirectoryLock(DirectoryLock&& other) noexcept : lock_(std::exchange(other.lock_, -1)) {}
  DirectoryLock& operator=(DirectoryLock&&) = delete;
  ~DirectoryLock();

 private:
  int lock_ = -1;
};

// Locks a run directory for this process until destruction. The class is move-only.
class RunDirectory {
 public:
  // Opens the newest run of `name` below `output` with this plan hash if it is unfinished, or creates a new one.
  static RunDirectory open_or_create(const std::string& output, const std::string& name, const std::string& plan_hash,
                                     bool fresh, const LockWait& wait = {});
  // Opens an existing directory. Throws Error(MK_INVALID_ARGUMENT) if it is not a run directory, and errors of
  // DirectoryLock.
  static RunDirectory open(const std::string& path, const LockWait& wait = {});

  const std::string& path() const { return path_; }
  std::string journal_path() const { return path_ + "/journal"; }
  bool existed() const { return existed_; }

  RunRecord read_record() const;  // throws Error(MK_BAD_DATA) that names the file
  void write_record(const RunRecord& record) const;

 private:
  RunDirectory(std::string path, bool existed, const LockWait& wait);
  std::string path_;
  bool existed_ = false;
  DirectoryLock lock_;
};

// Returns whether run.json below `path` says that the run is finished.
bool is_finished(const std::string& path);

// Returns the run directories in `parent`, the newest first. Does not follow symbolic links.
std::vector<std::string> runs_newest_first(const std::string& parent);

// Throws Error(MK_INVALID_ARGUMENT) unless the run named by devices.repeat_splits has this plan.
void check_same_plan(const std::string& path, const std::string& plan_hash);

// Throws sdk::storage_error() if a run of `name` could create no directory below `output`. Leaves nothing behind.
void check_output(const std::string& output, const std::string& name);

// Returns the path of the newest run of `name` below `output` with this plan hash if it is finished.
std::optional<std::string> finished_run(const std::string& output, const std::string& name,
                                        const std::string& plan_hash);

// Returns whether a process holds the run directory now, whatever run.json says. The answer is only as reliable as the
// locks of the file system: if it has no network locks, a run of another host appears dead.
bool is_held(const std::string& path);

// Throws Error(MK_INVALID_ARGUMENT) that tells what `path` lacks or why it cannot be accessed.
void require_run_directory(const std::string& path);

// Throws Error(MK_BAD_DATA) if config.resolved.toml below `path` has changed since the run wrote it.
void check_config_file(const std::string& path, const RunRecord& record);

// Reads run.json below `path` without a lock. Throws Error(MK_BAD_DATA) that names the file.
RunRecord read_run_record(const std::string& path);

}  // namespace mokume::run
