// Describes a run as an RO-Crate 1.1 with the profile Process Run Crate 0.5: what ran, on what, and what it left.
//
// The description names neither people nor the host, the command or paths of the machine.
#pragma once

#include <string>
#include <vector>

#include "provenance/crate_directory.hpp"
#include "results/view.hpp"
#include "run/run_directory.hpp"

namespace mokume::app {

inline constexpr const char* kMetadataFile = "ro-crate-metadata.json";
inline constexpr const char* kExperimentFile = "experiment.toml";
inline constexpr const char* kSumsFile = "SHA256SUMS";

// Returns the content of ro-crate-metadata.json. `files` are those that the crate holds besides this file, its sums and
// their signature.
std::string crate_metadata(const results::RunView& view, const run::RunRecord& record,
                           const std::vector<CrateFile>& files, bool is_signed);

// Returns the text of an experiment file in which every string that begins with '/' is reduced to its last part.
std::string without_places(const std::string& toml);

}  // namespace mokume::app
