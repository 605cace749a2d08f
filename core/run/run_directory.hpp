// The directory runs/NAME/STAMP: creation, lookup, locking, and run.json.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.hpp"
#include "device/device.hpp"

namespace mokume::run {

// run.json: identifies a run and records the choices that it must repeat.
struct RunRecord {
  std::string plan_hash;
  std::string state = "running";  // running | stopped | done | failed fits
  std::string exit_reason;
  std::map<std::string, device::Choices> choices;  // by device class: fixed before the first fit
  nlohmann::ordered_json data;                     // name, rows, features, classes, test_rows, sha256, columns
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();  // all that took part: node, id, backend, name, ...
  nlohmann::ordered_json environment;                                // version, compiler, hosts
  std::vector<std::string> device_classes;                           // that took part
  std::string config_sha256;                                         // of config.resolved.toml; "" in older versions
  bool checked = true;  // read from a file with a checksum, which files of older versions lack
};

// A run directory that this process holds through a lock on the file `lock` until destruction. Move-only.
class RunDirectory {
 public:
  // Opens the newest unfinished run of `name` below `output` with this plan hash, or creates a new one.
  static RunDirectory open_or_create(const std::string& output, const std::string& name, const std::string& plan_hash,
                                     bool fresh);
  // Opens an existing directory. Throws Error(MK_INVALID_ARGUMENT) if it is not a run directory or another process
  // holds it.
  static RunDirectory open(const std::string& path);

  RunDirectory(RunDirectory&& other) noexcept;
  RunDirectory& operator=(RunDirectory&&) = delete;
  ~RunDirectory();

  const std::string& path() const { return path_; }
  std::string journal_path() const { return path_ + "/journal"; }
  bool existed() const { return existed_; }

  RunRecord read_record() const;  // Error(MK_BAD_DATA) names the file
  void write_record(const RunRecord& record) const;

 private:
  RunDirectory(std::string path, bool existed);
  std::string path_;
  bool existed_ = false;
  int lock_ = -1;
};

// Returns whether a process holds the run directory now, independently of run.json. On a network file system this is
// only as reliable as its locks: without them, a run of another host appears dead.
bool is_held(const std::string& path);

// Throws Error(MK_INVALID_ARGUMENT) that names what `path` lacks, or why it cannot be accessed.
void require_run_directory(const std::string& path);

// Throws Error(MK_BAD_DATA) if config.resolved.toml below `path` has changed since the run wrote it.
void check_config_file(const std::string& path, const RunRecord& record);

// Reads run.json below `path` without a lock. Throws Error(MK_BAD_DATA) with the name of the file.
RunRecord read_run_record(const std::string& path);

// The mapping from the columns of a CSV file to features, stored in run.json under data.columns; empty for other
// sources.
nlohmann::ordered_json columns_to_json(const std::vector<data::Column>& columns);
std::vector<data::Column> columns_of(const RunRecord& record);  // Error(MK_BAD_DATA)

}  // namespace mokume::run
