// Implements the command import, which converts a network of another program into an experiment file and weights.
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/files.hpp"
#include "base/missing.hpp"
#include "base/plural.hpp"
#include "base/text.hpp"
#include "commands.hpp"
#include "sdk/error.hpp"
#include "sdk/storage.hpp"

namespace mokume::app {
namespace {

namespace fs = std::filesystem;

std::string plain_name(const fs::path& file) {
  std::string name = file.stem().string();
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_' && c != '-') c = '_';
  while (!name.empty() && name.front() == '.') name.erase(0, 1);
  return name.empty() ? "network" : name.substr(0, 64);
}

// Makes a text from the file safe for a comment, which ends with the line.
std::string commented(const std::string& text) { return base::without_controls(text, ""); }

// Suggests a source of rows with this shape. The user fills in the paths.
std::string data_section(const mk_imported& imported) {
  const mk_data& d = *imported.trained;
  const bool image = int64_t{d.height} * d.width > 1;
  std::string text = "[data]\n# Replace this by your data: ";
  if (image && d.height == d.width && (d.channels == 1 || d.channels == 3)) {
    text += fmt::format(
        "pictures, with a folder for each class.\nsource = \"images\"\npath = \"./pictures\"\nsize = {}\n"
        "channels = {}\n",
        d.height, d.channels);
  } else if (image) {
    text += fmt::format(
        "NumPy arrays of {} x {} pixels with {}.\nsource = \"npy\"\npath = \"./images.npy\"\nlabels = "
        "\"./labels.npy\"\nlayout = \"nhwc\"\n",
        d.height, d.width, base::counted(static_cast<uint64_t>(d.channels), "channel"));
  } else {
    text += fmt::format("a table of {}.\nsource = \"csv\"\npath = \"./rows.csv\"\n",
                        base::counted(static_cast<uint64_t>(d.features), "column"));
  }
  if (imported.n_scaling == 1)
    text += fmt::format("standardize = {{ mean = {}, scale = {} }}  # as the network scales its rows\n",
                        base::shortest(imported.mean), base::shortest(imported.scale));
  else if (image)
    text += "# standardize = { mean = 0, scale = 255 }  # if the network was trained on pixels from 0 to 1\n";
  return text;
}

std::string outputs_text(const mk_imported& imported) {
  const mk_data& d = *imported.trained;
  if (imported.n_outputs == 1) return "# It predicts a number.\n";
  std::string text = fmt::format("# It has {} classes.", imported.n_outputs);
  if (d.n_classes > 0) {
    text += " They must be in this order in the data:";
    for (int32_t c = 0; c < d.n_classes; ++c) text += (c == 0 ? " " : ", ") + commented(d.class_names[c]);
    text += '.';
  }
  return text + " mokume sorts the classes of the data by name, or by number.\n";
}

std::string experiment(const std::string& name, const std::string& file, const std::string& model,
                       const mk_imported& imported) {
  return fmt::format(
      "# The network of {}.\n{}name = \"{}\"\nmodel = \"{}\"\n\n{}\n[validation]\nfolds = 0\n\n[model_options]\n"
      "# With epochs = 0, the model is the imported network. With more, it trains further: see start and freeze.\n{}",
      commented(file), outputs_text(imported), name, model, data_section(imported), imported.options);
}

}  // namespace

int import_model(Runtime& runtime, const ImportOptions& options) {
  const std::string name = plain_name(options.file), out = options.out.empty() ? name : options.out;
  const mk_model& model = *runtime.registry().load(MK_PLUGIN_MODEL, options.model).model();
  if (model.import_onnx == nullptr)
    throw Error(MK_UNSUPPORTED, fmt::format("the model {} imports no networks", options.model));
  std::error_code failed;
  if (!fs::exists(options.file, failed))
    throw Error(MK_BAD_DATA, fmt::format("{} cannot be opened: {}; check the path", options.file,
                                         base::open_failure(options.file, ENOENT)));
  if (fs::exists(fs::symlink_status(out, failed)))
    throw Error(MK_INVALID_ARGUMENT, fmt::format("{} exists: remove it, or name another folder with --out", out));
  fs::create_directories(out, failed);
  if (failed) throw sdk::storage_error(fmt::format("create {}", out), failed.value(), "name another folder with --out");
  struct Taker {
    const ImportOptions& options;
    std::string name, text;
  } taker{options, name, ""};
  try {
    sdk::call(model.import_onnx, model.self, options.file.c_str(), out.c_str(), static_cast<void*>(&taker),
              [](void* self, const mk_imported* imported) {
                auto& t = *static_cast<Taker*>(self);
                t.text = experiment(t.name, t.options.file, t.options.model, *imported);
              });
    base::write_file((fs::path(out) / "model.toml").string(), taker.text);
  } catch (...) {
    fs::remove_all(out, failed);
    throw;
  }
  const std::string file = (fs::path(out) / "model.toml").string();
  say(stdout, "{}\n{}\n", file, (fs::path(out) / "weights.safetensors").string());
  say(stderr, "Set [data] in {} to your data; `mokume run {}` then makes a model for `mokume predict`.\n", file, file);
  return kDone;
}

}  // namespace mokume::app
