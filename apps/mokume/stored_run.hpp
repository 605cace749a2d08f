// Reads files that name library directories but must not choose the code to run: stored runs, and files to check.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "device/device.hpp"
#include "device/select.hpp"
#include "node/model_inputs.hpp"
#include "sdk/error.hpp"

namespace mokume::app {

// Finds a file's model outside the file's own [plugins] directories, and records the request.
class WaryLookup {
 public:
  explicit WaryLookup(Runtime& runtime) : runtime_(runtime) {}

  config::SchemaLookup function();  // valid while this object exists
  bool missing() const { return asked_ && !found_; }
  const std::string& model() const { return model_; }
  const std::string& why() const { return why_; }                             // reason that the model is missing
  const std::vector<std::string>& unsearched() const { return unsearched_; }  // directories that only the file names

 private:
  Runtime& runtime_;
  bool asked_ = false, found_ = false;
  std::string model_, why_;
  std::vector<std::string> unsearched_;
};

// Holds the experiment of a run directory. The recorded library directories are for information only: commands search
// them only if the command line or the environment names them again.
class StoredRun {
 public:
  // `others` are further run directories of the same command, whose library directories appear in messages, too. Throws
  // Error(MK_DEVICE_ERROR) if the model is not found, and Error(MK_INVALID_ARGUMENT) if this is not a run directory or
  // its file is damaged.
  StoredRun(Runtime& runtime, const std::string& directory, const RunOptions& options = {},
            const std::vector<std::string>& others = {});

  // Represents a model without its run.
  StoredRun(Runtime& runtime, const std::string& directory, const node::ModelInputs& inputs);

  // Returns the experiment. For child processes and ranks, it names the searched directories, not the recorded ones.
  const config::Config& config() const { return config_; }
  // Warns if the run probably used another model than this command.
  void warn() const;
  // Warns in the same way about backends, for commands that compute.
  void warn_of_backends() const;

  // Returns the result of `body`. If `body` finds no matching device, the error names the recorded directories that are
  // not searched.
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
  std::string cure() const;  // returns a text that names the unsearched directories and the command that searches them

  Runtime& runtime_;
  std::string directory_;
  config::Config config_;
  std::vector<std::string> unsearched_;
};

}  // namespace mokume::app
