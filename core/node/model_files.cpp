#include "node/model_files.hpp"

#include <set>
#include <span>

#include "base/files.hpp"
#include "sdk/error.hpp"

namespace mokume::node {
namespace {

// Returns the values of the parameter in all candidates, without "".
std::set<std::string> paths_of(const std::string& name, const config::Config& config) {
  const auto reference = config.references.find(name);
  const std::string searched = reference == config.references.end() ? name : reference->second;
  std::set<std::string> paths;
  const auto add = [&](const search::Value& value) {
    const auto* path = std::get_if<std::string>(&value);
    if (path != nullptr && !path->empty()) paths.insert(*path);
  };
  if (const auto option = config.options.find(name); option != config.options.end()) add(option->second);
  for (const search::Space& space : config.spaces)
    if (space.name == searched)
      for (const search::Value& value : space.values) add(value);
  return paths;
}

}  // namespace

ModelFiles read_model_files(const mk_model& model, const config::Config& config) {
  ModelFiles files;
  for (const mk_param& param : std::span(model.params, model.n_params)) {
    if ((param.flags & MK_PARAM_FILE) == 0) continue;
    for (const std::string& path : paths_of(param.name, config)) {
      if (files.count(path) > 0) continue;
      try {
        std::string bytes = base::read_file(path);
        std::string sum = base::sha256(bytes);
        files[path] = {std::move(bytes), std::move(sum)};
      } catch (const Error& error) {
        throw Error(MK_BAD_DATA, "model_options." + std::string(param.name) + ": " + error.what());
      }
    }
  }
  return files;
}

std::map<std::string, std::string> sums_of(const ModelFiles& files) {
  std::map<std::string, std::string> sums;
  for (const auto& [path, file] : files) sums[path] = file.sha256;
  return sums;
}

}  // namespace mokume::node
