// Defines targets for the files of networks.
#include <zlib.h>

#include <cstdio>

#include "config/parse.hpp"
#include "fuzz.hpp"
#include "import/import.hpp"
#include "network/expand.hpp"
#include "saved/fitted.hpp"
#include "saved/start.hpp"
#include "storage/safetensors.hpp"
#include "train/checkpoint.hpp"

namespace mokume::fuzz {
namespace {

namespace st = mokume::safetensors;

// Writes the tensors again. Further rewrites must give an equal file.
std::string rewritten(const std::string& from, const std::string& to) {
  const st::Reader reader(from);
  st::Writer writer;
  std::vector<std::string> kept;
  for (const st::Tensor& tensor : reader.tensors()) {
    kept.emplace_back(tensor.bytes, '\0');
    reader.read(tensor, kept.back().data());
  }
  for (size_t i = 0; i < kept.size(); ++i)
    writer.add(reader.tensors()[i].name, reader.tensors()[i].dtype, reader.tensors()[i].shape, kept[i].data());
  for (const auto& [key, value] : reader.metadata()) writer.metadata(key, value);
  writer.checksum();
  writer.write(to);
  return contents(to);
}

FUZZ_TARGET(safetensors) {
  const std::string path = file("a.safetensors", bytes);
  accepts([&] {
    const std::string first = rewritten(path, scratch() + "/b.safetensors");
    st::Reader(scratch() + "/b.safetensors").verify();
    require(rewritten(scratch() + "/b.safetensors", scratch() + "/c.safetensors") == first,
            "tensors read back differently");
  });
  accepts([&] { st::Reader(path).verify(); });
}

FUZZ_TARGET(cnn_model) {
  const auto two = parts(bytes, 2);
  file("cnn/manifest.json", two[0]);
  file("cnn/model.safetensors", two[1]);
  accepts([] {
    const cnn::Fitted read = cnn::Fitted::load(scratch() + "/cnn");
    file("cnn-again/manifest.json", "");
    read.save(scratch() + "/cnn-again");
    const std::string first =
        contents(scratch() + "/cnn-again/manifest.json") + contents(scratch() + "/cnn-again/model.safetensors");
    cnn::Fitted::load(scratch() + "/cnn-again").save(scratch() + "/cnn-again");
    require(contents(scratch() + "/cnn-again/manifest.json") + contents(scratch() + "/cnn-again/model.safetensors") ==
                first,
            "a model reads back differently");
  });
}

// Reads a file of initial weights for a small network from memory, as the program does.
FUZZ_TARGET(cnn_start) {
  cnn::Settings settings;
  settings.layers = R"([{"type": "normalise", "mean": 0, "std": 1, "per_feature": true},
                        {"type": "linear", "out_features": 2, "bias": true}])";
  const cnn::Network network = cnn::make_network(settings, {1, 1, 3, true}, 2);
  accepts([&] {
    const cnn::Start start("w.safetensors", bytes, network);
    require(start.warning().size() < 1 << 16, "a warning of any length");
    require(!start.has_moments() || start.moments().feature_deviation.size() == 3, "moments of other features");
  });
}

int32_t expand_layers(const char* list, const char* options, void* taker, void (*take)(void*, const char*),
                      mk_error* error) {
  return sdk::guard(error, [&] { take(taker, cnn::expand(list, options).c_str()); });
}

FUZZ_TARGET(layers) {
  const auto lookup = [](const std::string&, const std::vector<std::string>&, std::string&) {
    return std::optional(config::model_schema(cnn::kParams, expand_layers));
  };
  const config::ParseResult result = config::parse(std::string(bytes), "fuzz.toml", {}, lookup);
  require(result.config.has_value() == result.diagnostics.empty(), "neither a config nor a reason, or both");
}

// Imports a network from an ONNX file. Every import that succeeds yields a complete mokume network.
FUZZ_TARGET(onnx) {
  const std::string path = file("a.onnx", bytes);
  file("imported/weights.safetensors", "");
  accepts([&] {
    bool given = false;
    cnn::import_onnx(path, scratch() + "/imported", [&](const mk_imported& imported) {
      given = true;
      require(imported.n_outputs > 0 && *imported.options != '\0', "a network without outputs or layers");
      require(imported.n_scaling == 0 || imported.scale != 0, "a scaling by nothing");
    });
    require(given, "an import without a network");
  });
}

// Reads the state of an optimizer with two parameters. The program sets a damaged file aside, and training restarts.
FUZZ_TARGET(checkpoint, summed) {
  mk_host table{};
  table.log = [](void*, int32_t, const char*, const char* text) { require(*text != '\0', "a warning says nothing"); };
  const sdk::Host host(&table);
  const std::string directory = scratch() + "/fit";
  file("fit/checkpoint.safetensors", bytes);
  cnn::checkpoint_batch(host, directory, "fit");
  file("fit/checkpoint.safetensors", bytes);
  if (const auto found = cnn::find_checkpoint(host, directory, "fit", cnn::StateSizes{{"weights", 2}})) {
    const cnn::Checkpoint& c = found->checkpoint;
    require(c.epoch >= 0 && c.batch >= 0 && c.batch_size > 0, "a position that no training can have");
    require(c.history.train_loss.size() == static_cast<size_t>(c.epoch), "a history of other epochs");
  }
}

}  // namespace
}  // namespace mokume::fuzz
