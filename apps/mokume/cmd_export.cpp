// Implements the command export, which writes a run's models in a format for other programs.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "commands.hpp"
#include "run/ensemble.hpp"
#include "sdk/error.hpp"
#include "sdk/storage.hpp"
#include "stored_run.hpp"

namespace mokume::app {
namespace {

namespace fs = std::filesystem;

// Writes to a temporary file and renames it, so that a reader sees a whole file or none.
void export_one(const mk_model& model, const run::Trained& trained, const std::string& file) {
  const std::string part = fmt::format("{}.tmp-{}", file, ::getpid());
  std::error_code error;
  try {
    sdk::call(model.export_onnx, trained.get(), part.c_str());
    fs::rename(part, file, error);
  } catch (...) {
    fs::remove(part, error);
    throw;
  }
  if (!error) return;
  const int cause = error.value();
  fs::remove(part, error);
  throw sdk::storage_error(fmt::format("write '{}'", file), cause);
}

// Turns model.onnx into model-003.onnx.
std::string member_file(const std::string& file, const std::string& directory) {
  const fs::path path(file), member = fs::path(directory).filename();
  const std::string number = member.string().substr(std::string_view("member-").size());
  return (path.parent_path() / (path.stem().string() + "-" + number + path.extension().string())).string();
}

}  // namespace

int export_models(Runtime& runtime, const ExportOptions& options) {
  const StoredRun run(runtime, options.run);
  run.warn();
  const mk_model& model = *runtime.registry().load(MK_PLUGIN_MODEL, run.config().model).model();
  if (model.export_onnx == nullptr)
    throw Error(MK_UNSUPPORTED, fmt::format("the model {} has no ONNX form", run.config().model));
  const std::string file = options.onnx.empty() ? run.config().name + ".onnx" : options.onnx;
  const std::vector<std::string> directories = run::model_directories(options.run);
  for (const std::string& directory : directories) {
    const std::string to = directories.size() == 1 ? file : member_file(file, directory);
    export_one(model, run::Trained(model, directory, options.run), to);
    say(stdout, "{}\n", to);
  }
  return kDone;
}

}  // namespace mokume::app
