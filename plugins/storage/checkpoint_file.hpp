// Keeps the state of an unfinished fit in a file, from which a later attempt resumes.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "sdk/error.hpp"
#include "sdk/plugin.hpp"
#include "storage/safetensors.hpp"

namespace mokume::storage {

// Names DIRECTORY/NAME.safetensors, whose content may be anything. `model` is the name of the plugin in messages.
class CheckpointFile {
 public:
  CheckpointFile(const sdk::Host& host, const char* model, std::string directory, const std::string& name)
      : host_(host), model_(model), directory_(std::move(directory)), path_(directory_ + "/" + name + ".safetensors") {}

  // Replaces the file, and creates the directory if needed. A kill during the call leaves the old file. Writes nothing
  // if another process removes the directory meanwhile. `fit` identifies the fit, its data and what else determines the
  // state. Throws sdk::storage_error() on failure.
  void write(safetensors::Writer& writer, const std::string& fit) const;

  // Returns read(safetensors::Reader) for a file that has not changed since it was written for this `fit`, else {}.
  // Removes the file of another fit. `read` throws if the content is invalid. A file that is damaged, invalid or
  // without a checksum gets the name NAME.safetensors.damaged, with a warning.
  template <class Read>
  auto read(const std::string& fit, const Read& read) const -> decltype(read(std::declval<safetensors::Reader>())) {
    if (!exists()) return {};
    try {
      safetensors::Reader reader(path_);
      reader.verify();
      if (reader.metadata().at("fit") == fit) return read(std::move(reader));
      remove_foreign();
    } catch (const Error& e) {
      set_aside(e.what());
    } catch (const nlohmann::json::exception&) {
      set_aside(path_ + " is not a checkpoint of this version");
    } catch (const std::out_of_range&) {
      set_aside(path_ + " is not a checkpoint of this version");
    }
    return {};
  }

  bool exists() const;
  // Removes files of killed writers.
  void remove_remains() const;

 private:
  void remove_foreign() const;
  void set_aside(const std::string& why) const;

  sdk::Host host_;
  const char* model_;
  std::string directory_, path_;
};

}  // namespace mokume::storage
