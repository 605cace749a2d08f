// Files that name directories with libraries and may not choose what code runs: stored runs, and files to check.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "device/device.hpp"
#include "device/select.hpp"
#include "sdk/error.hpp"

namespace mokume::app {

// Finds a file's model without the [plugins] directories of the file, and remembers what it was asked.
class WaryLookup {
 public:
  explicit WaryLookup(Runtime& runtime) : runtime_(runtime) {}

  config::SchemaLookup function();  // while this object lives
  bool missing() const { return asked_ && !found_; }
  const std::string& model() const { return model_; }
  const std::string& why() const { return why_; }                             // it is missing
  const std::vector<std::string>& unsearched() const { return unsearched_; }  // directories that the file names

 private:
  Runtime& runtime_;
  bool asked_ = false, found_ = false;
  std::string model_, why_;
  std::vector<std::string> unsearched_;
};

// The experiment of a run directory. The directories with libraries that the run recorded are a record: they are
// searched only where the command line or the environment names them again.
class StoredRun {
 public:
  // `others`: further run directories of the same command, whose directories the messages name too. Throws
  // Error(MK_DEVICE_ERROR) if the model is not found, Error(MK_INVALID_ARGUMENT) if this is no run directory or its
  // file is damaged.
  StoredRun(Runtime& runtime, const std::string& directory, const RunOptions& options = {},
            const std::vector<std::string>& others = {});

  // With the directories that are searched in place of the recorded ones, for children and ranks.
  const config::Config& config() const { return config_; }
  // Tells of a model that the run probably used and this command does not.
  void warn() const;
  // The same of backends, for commands that compute.
  void warn_of_backends() const;

  // Returns what `body` returns. If that finds no device that matches, this may be for want of a recorded directory.
  template <class Body>
  auto with_devices(Body&& body) const {
    try {
      return body();
    } catch (const device::NoMatch& e) {
      if (unsearched_.empty()) throw;
      throw Error(e.status(), "no device matches '" + e.wanted() + "', and " + cure());
    }
  }

 private:
  std::string cure() const;  // which directories are not searched, and the command that searches them

  Runtime& runtime_;
  std::string directory_;
  config::Config config_;
  std::vector<std::string> unsearched_;
};

}  // namespace mokume::app
