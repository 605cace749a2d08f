// Reads the files that parameters of a model name (MK_PARAM_FILE), such as trained weights. Reads each file once and
// keeps it while the run lasts, so that all fits of an experiment see the same content, whose hash is in the plan.
#pragma once

#include <map>
#include <string>

#include "abi/model.h"
#include "config/config.hpp"

namespace mokume::node {

struct ModelFile {
  std::string bytes, sha256;
};
using ModelFiles = std::map<std::string, ModelFile>;  // by path

// Reads the files of all candidates into memory. Throws Error(MK_BAD_DATA) that names parameter, path and cause.
ModelFiles read_model_files(const mk_model& model, const config::Config& config);

// Returns the value of Config::file_sums.
std::map<std::string, std::string> sums_of(const ModelFiles& files);

}  // namespace mokume::node
