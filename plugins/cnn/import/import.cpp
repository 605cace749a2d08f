#include "import/import.hpp"

#include <filesystem>
#include <fstream>

#include "import/graph.hpp"
#include "saved/start.hpp"
#include "storage/safetensors.hpp"

namespace mokume::cnn {
namespace {

// Builds the network and reads the weights back, so that every imported network is valid.
void check(const onnx::Graph& graph, const onnx::Builder& builder, const std::string& weights) {
  Settings settings;
  settings.layers = builder.description().dump();
  settings.loss = graph.classifies() ? Loss::cross_entropy : Loss::mse;
  std::ifstream in(weights, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  try {
    const Network network = make_network(settings, builder.input(), graph.outputs());
    if (const std::string warning = Start(weights, bytes, network).warning(); !warning.empty())
      throw Error(MK_BAD_DATA, warning);
  } catch (const Error& e) {
    throw Error(e.status() == MK_INVALID_ARGUMENT ? MK_UNSUPPORTED : e.status(),
                std::string("its layers do not make a network: ") + e.what());
  }
}

void write_weights(const onnx::Builder& builder, const std::string& file) {
  safetensors::Writer writer;
  std::vector<std::vector<float>> kept;  // keeps the values alive until they are written
  builder.for_each_weight(
      [&](const std::string& name, const std::vector<int64_t>& shape, const std::vector<float>& values) {
        kept.push_back(values);
        writer.add(name, shape, kept.back().data());
      });
  writer.metadata("format", "pt");
  writer.write(file);
}

void import_into(const std::string& path, const std::string& directory,
                 const std::function<void(const mk_imported&)>& take) {
  onnx::Graph graph(onnx::Model::read(path));
  const onnx::Builder& builder = graph.builder();
  const std::string weights = (std::filesystem::path(directory) / "weights.safetensors").string();
  write_weights(builder, weights);
  check(graph, builder, weights);
  const std::string options = "start = " + nlohmann::json(weights).dump() + "\nepochs = 0\n" + builder.toml();
  std::vector<const char*> names;
  for (const std::string& name : graph.classes()) names.push_back(name.c_str());
  const Shape& input = builder.input();
  mk_data trained{};
  trained.features = input.elements();
  trained.height = int32_t(input.height);
  trained.width = int32_t(input.width);
  trained.channels = int32_t(input.channels);
  trained.n_classes = int32_t(names.size());
  trained.class_names = names.data();
  mk_imported imported{};
  imported.options = options.c_str();
  imported.trained = &trained;
  imported.n_outputs = uint32_t(graph.outputs());
  imported.n_scaling = !builder.scales_features() && builder.is_scaled() ? 1 : 0;
  imported.mean = builder.mean();
  imported.scale = builder.scale();
  take(imported);
}

}  // namespace

void import_onnx(const std::string& path, const std::string& directory,
                 const std::function<void(const mk_imported&)>& take) {
  try {
    import_into(path, directory, take);
  } catch (const Error& e) {
    const std::string text = e.what();
    throw Error(e.status(), text.starts_with(path) ? text : path + ": " + text);
  }
}

}  // namespace mokume::cnn
