#include "fitted.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "engine.hpp"
#include "sdk/json.hpp"
#include "safetensors.hpp"

namespace mokume::cnn {
namespace {

using nlohmann::ordered_json;
namespace st = sdk::safetensors;

constexpr int64_t kPredictBatch = 256;
constexpr int kFormat = 1;
constexpr const char* kMean = "normalise.mean";
constexpr const char* kDeviation = "normalise.std";

// Logits to log-probabilities, in double; returns the largest, the first of equal ones.
int32_t log_softmax(const float* logits, int64_t n, float* out) {
  int64_t best = 0;
  for (int64_t c = 1; c < n; ++c)
    if (logits[c] > logits[best]) best = c;
  if (out == nullptr) return static_cast<int32_t>(best);
  double sum = 0;
  for (int64_t c = 0; c < n; ++c) sum += std::exp(static_cast<double>(logits[c]) - static_cast<double>(logits[best]));
  const double lead = static_cast<double>(logits[best]) + std::log(sum);
  for (int64_t c = 0; c < n; ++c) out[c] = static_cast<float>(static_cast<double>(logits[c]) - lead);
  return static_cast<int32_t>(best);
}

std::vector<float> read_floats(const st::Reader& reader, const std::string& name, const st::Shape& shape) {
  int64_t size = 1;
  for (const int64_t s : shape) size *= s;
  std::vector<float> values(static_cast<size_t>(size));
  reader.read(name, shape, values.data());
  return values;
}

// body(first output, outputs, room for them) for pieces of one parameter in PyTorch's order, of one output at least.
template <class Body>
void for_torch_pieces(const Parameter& p, Body&& body) {
  const int64_t most = std::min(p.outputs, std::max<int64_t>(1, kPiece / p.rows()));
  std::vector<float> piece(static_cast<size_t>(most * p.rows()));
  for (int64_t first = 0; first < p.outputs; first += most) body(first, std::min(most, p.outputs - first), piece);
}

// Before memory is taken for what a manifest claims.
void check_tensors(const st::Reader& reader, const std::string& path, const Network& network) {
  for (const Parameter& p : network.parameters) {
    const auto* tensor = reader.find(p.name);
    if (tensor == nullptr || tensor->dtype != st::Dtype::f32 || tensor->shape != p.torch_shape())
      throw Error(MK_BAD_DATA, path + ": tensor " + p.name + " is missing or has another shape than the network in " +
                                   "manifest.json: restore the model's files");
  }
}

// A network that diverged in its last steps, or whose file is damaged, must not pass for one that is sure.
void expect_numbers(const float* values, int64_t count) {
  if (!std::all_of(values, values + count, [](float v) { return std::isfinite(v); }))
    throw Error(MK_BAD_DATA,
                "the network's outputs are no finite numbers: its training diverged (lower lr, or scale the data), or "
                "its rows are far from those it learned from");
}

}  // namespace

void Fitted::predict(const sdk::Device& device, const float* x, int64_t rows, int32_t* labels, float* scores) const {
  const int64_t features = network.input.elements(), outputs = network.outputs();
  const int64_t batch = std::min(kPredictBatch, std::max<int64_t>(1, rows));
  const Engine engine(device, network, batch, false);
  engine.parameters().write(0, parameters);
  if (!feature_mean.empty()) engine.set_normalisation(feature_mean, feature_sd);
  std::vector<float> values(static_cast<size_t>(batch * outputs));
  for (int64_t first = 0; first < rows; first += batch) {
    const int64_t count = std::min(batch, rows - first);
    engine.write_input(x + first * features, count);
    engine.read(engine.forward(count, nullptr), values.data());
    expect_numbers(values.data(), count * outputs);
    for (int64_t r = 0; r < count; ++r) {
      const float* row = values.data() + r * outputs;
      float* to = scores != nullptr ? scores + (first + r) * outputs : nullptr;
      if (classifies())
        labels[first + r] = log_softmax(row, outputs, to);
      else if (to != nullptr)
        for (int64_t c = 0; c < outputs; ++c)
          to[c] = static_cast<float>(static_cast<double>(row[c]) * target_deviation + target_mean);
    }
  }
}

void Fitted::save(const std::string& directory) const {
  st::Writer writer;
  for (const Parameter& p : network.parameters)
    writer.add(p.name, st::Dtype::f32, p.torch_shape(), [&p, this](const st::Writer::Put& put) {
      for_torch_pieces(p, [&](int64_t first, int64_t count, std::vector<float>& piece) {
        to_torch(p, parameters, first, count, piece.data());
        put(piece.data(), static_cast<uint64_t>(count * p.rows()) * sizeof(float));
      });
    });
  const auto features = static_cast<int64_t>(feature_mean.size());
  if (features > 0) {
    writer.add(kMean, {features}, feature_mean.data());
    writer.add(kDeviation, {features}, feature_sd.data());
  }
  writer.metadata("format", "pt");
  writer.write(directory + "/model.safetensors");

  ordered_json manifest;
  manifest["mokume_cnn"] = kFormat;
  manifest["layers"] = ordered_json::parse(settings.layers_json);
  manifest["loss"] = settings.loss == Loss::mse ? "mse" : "cross_entropy";
  manifest["input"] = {{"channels", network.input.channels},
                       {"height", network.input.height},
                       {"width", network.input.width},
                       {"image", network.input.height * network.input.width > 1}};
  manifest["per_feature"] = features > 0;
  manifest["classes"] = class_names;
  manifest["target"] = {{"mean", target_mean}, {"deviation", target_deviation}};
  manifest["scaling"] = {{"mean", mean}, {"scale", scale}};
  std::ofstream out(directory + "/manifest.json", std::ios::binary);
  out << manifest.dump(1) << "\n";
  out.flush();
  if (!out) throw Error(MK_STORAGE, "cannot write " + directory + "/manifest.json; check free space and permissions");
}

Fitted Fitted::load(const std::string& directory) {
  const std::string path = directory + "/manifest.json";
  Fitted f;
  bool per_feature = false;
  try {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw Error(MK_BAD_DATA, "cannot open " + path + ": is this the model of a finished run?");
    const auto manifest = sdk::parse_json<ordered_json>(in);
    if (manifest.at("mokume_cnn").get<int>() != kFormat)
      throw Error(MK_BAD_DATA, path + " is of another version of mokume: use that one");
    f.settings.layers_json = manifest.at("layers").dump();
    f.settings.layers = layers_of(f.settings.layers_json);
    f.settings.loss = manifest.at("loss").get<std::string>() == "mse" ? Loss::mse : Loss::cross_entropy;
    f.class_names = manifest.at("classes").get<std::vector<std::string>>();
    per_feature = manifest.at("per_feature").get<bool>();
    const ordered_json& input = manifest.at("input");
    const Shape shape{input.at("height"), input.at("width"), input.at("channels"), !input.at("image").get<bool>()};
    for (const int64_t side : {shape.height, shape.width, shape.channels})
      if (side < 1 || side > ops::kMaxSide) throw Error(MK_BAD_DATA, path + ": the input's size is out of range");
    f.mean = manifest.at("scaling").at("mean").get<std::vector<double>>();
    f.scale = manifest.at("scaling").at("scale").get<std::vector<double>>();
    f.target_mean = manifest.at("target").at("mean").get<double>();
    f.target_deviation = manifest.at("target").at("deviation").get<double>();
    const auto features = static_cast<size_t>(shape.elements());
    if (f.mean.size() != f.scale.size() || (f.mean.size() > 1 && f.mean.size() != features))
      throw Error(MK_BAD_DATA, path + ": the scaling does not fit the input");
    f.network = make_network(f.settings, shape, f.classifies() ? static_cast<int64_t>(f.class_names.size()) : 1);
  } catch (const nlohmann::json::exception& e) {
    throw Error(MK_BAD_DATA, path + " is damaged: " + e.what());
  }
  const std::string weights = directory + "/model.safetensors";
  const st::Reader reader(weights);
  check_tensors(reader, weights, f.network);
  f.parameters.resize(static_cast<size_t>(f.network.n_parameters));
  for (const Parameter& p : f.network.parameters)
    for_torch_pieces(p, [&](int64_t first, int64_t count, std::vector<float>& piece) {
      const auto bytes = [&](int64_t outputs) { return static_cast<uint64_t>(outputs * p.rows()) * sizeof(float); };
      reader.read(*reader.find(p.name), bytes(first), bytes(count), piece.data());
      from_torch(p, piece.data(), first, count, f.parameters);
    });
  if (per_feature) {
    const st::Shape shape{f.network.input.elements()};
    f.feature_mean = read_floats(reader, kMean, shape);
    f.feature_sd = read_floats(reader, kDeviation, shape);
  }
  return f;
}

}  // namespace mokume::cnn
