#include "saved/fitted.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "engine.hpp"
#include "sdk/json.hpp"
#include "sdk/ops/window.hpp"
#include "sdk/portable.hpp"
#include "sdk/storage.hpp"
#include "storage/safetensors.hpp"

namespace mokume::cnn {
namespace {

using nlohmann::ordered_json;
namespace st = safetensors;

constexpr int64_t kPredictBatch = 256;
constexpr int kFormat = 1;
constexpr const char *kManifestMirrors = "test_time_augmentation", *kHorizontalFlip = "horizontal_flip";

// Converts logits to log-probabilities in double. Returns the index of the largest logit; the first one wins ties.
int32_t log_softmax(std::span<const float> logits, float* out) {
  const auto best = std::max_element(logits.begin(), logits.end());
  if (out != nullptr) {
    const double most = *best;
    double sum = 0;
    for (const float l : logits) sum += sdk::portable::exp(l - most);
    const double lead = most + sdk::portable::log(sum);
    for (const float l : logits) *out++ = l - lead;
  }
  return int32_t(best - logits.begin());
}

// Calls body(first output, number of outputs, values, number of bytes) for chunks of one parameter in PyTorch's order.
// A chunk has at least one output.
template <class Body>
void for_torch_chunks(const Parameter& p, Body&& body) {
  const int64_t most = std::min(p.outputs, std::max<int64_t>(1, kChunk / p.rows()));
  std::vector<float> chunk(most * p.rows());
  for (int64_t first = 0; first < p.outputs; first += most) {
    const int64_t count = std::min(most, p.outputs - first);
    body(first, count, chunk.data(), count * p.rows() * sizeof(float));
  }
}

// A network that diverged in its last steps, or whose file is damaged, must not predict as if it were valid.
void expect_numbers(std::span<const float> values) {
  if (!std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); }))
    throw Error(MK_BAD_DATA,
                "the network's outputs are not finite: its training diverged (lower lr, or scale the data), or "
                "the rows differ too much from its training rows");
}

// Reads the manifest. Returns whether the file with the weights also has the moments of the features.
bool read_manifest(const std::string& path, Fitted& f) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(MK_BAD_DATA, "cannot open " + path + ": is this the model of a finished run?");
  const auto manifest = sdk::parse_json<ordered_json>(in);
  if (sdk::whole_number(manifest.at("mokume_cnn")) != kFormat)
    throw Error(MK_BAD_DATA, path + " was written by another version of mokume: use that version");
  f.settings.layers = manifest.at("layers").dump();
  f.settings.loss = manifest.at("loss") == name_of(Loss::mse) ? Loss::mse : Loss::cross_entropy;
  f.settings.mirrors = manifest.value(kManifestMirrors, "none") == kHorizontalFlip;
  manifest.at("classes").get_to(f.class_names);
  const ordered_json &input = manifest.at("input"), &scaling = manifest.at("scaling"), &target = manifest.at("target");
  const auto side_of = [&](const char* name) { return sdk::whole_number(input.at(name)); };
  const Shape shape{side_of("height"), side_of("width"), side_of("channels"), !input.at("image").get<bool>()};
  for (const int64_t side : {shape.height, shape.width, shape.channels})
    if (side < 1 || side > ops::kMaxSide) throw Error(MK_BAD_DATA, path + ": the input's size is out of range");
  scaling.at("mean").get_to(f.mean);
  scaling.at("scale").get_to(f.scale);
  target.at("mean").get_to(f.moments.target_mean);
  target.at("deviation").get_to(f.moments.target_deviation);
  if (f.mean.size() != f.scale.size() || (f.mean.size() > 1 && int64_t(f.mean.size()) != shape.elements()))
    throw Error(MK_BAD_DATA, path + ": the scaling does not match the input");
  f.network = make_network(f.settings, shape, f.classifies() ? f.class_names.size() : 1);
  return manifest.at("per_feature");
}

// Cuts a network into parts that need no more memory than `budget`, as far as possible.
std::vector<Part> parts_that_fit(uint64_t budget, const Network& network, int64_t batch) {
  const auto bytes = [&](const Part& part) {
    EngineOptions options;
    options.part = part;
    return Engine::bytes(network, batch, false, {}, options);
  };
  const std::vector<size_t> points = cut_points(network);
  std::vector<Part> parts;
  for (size_t from = 0, to = 1; from + 1 < points.size(); from = to++) {
    while (to + 1 < points.size() && bytes({points[from], points[to + 1]}) <= budget) ++to;
    parts.push_back({points[from], points[to]});
  }
  return parts;
}

// Returns images with the columns in reverse order.
std::vector<float> mirrored(const float* x, int64_t rows, const Shape& image) {
  std::vector<float> turned;
  turned.reserve(size_t(rows * image.elements()));
  for (int64_t line = 0; line < rows * image.height; ++line)
    for (int64_t column = image.width; column-- > 0;) {
      const float* pixel = x + (line * image.width + column) * image.channels;
      turned.insert(turned.end(), pixel, pixel + image.channels);
    }
  return turned;
}

// Computes the output of a part of a network for some rows. Works in batches of fixed size.
std::vector<float> outputs_of(const Part& part, const Fitted& fitted, const sdk::Device& device, const float* x,
                              int64_t rows, int64_t batch) {
  EngineOptions options;
  options.part = part;
  Engine engine(device, fitted.network, batch, false, {}, options);
  engine.parameters().write(0, fitted.parameters);
  if (!fitted.moments.feature_mean.empty())
    engine.set_moments(fitted.moments.feature_mean, fitted.moments.feature_deviation);
  std::vector<float> values(rows * engine.output_elements());
  for (int64_t first = 0; first < rows; first += batch) {
    const int64_t count = std::min(batch, rows - first);
    engine.write_input(x + first * engine.input_elements(), count);
    engine.read(engine.predict(count), values.data() + first * engine.output_elements());
  }
  return values;
}

}  // namespace

// Others may use memory of the device too, so this halves what the parts need until they fit.
void Fitted::predict(const sdk::Device& device, const float* x, int64_t rows, int32_t* labels, float* scores) const {
  for (const auto& layer : network.layers) layer->check_rows(x, rows);
  const int64_t batch = std::min(kPredictBatch, std::max<int64_t>(1, rows));
  uint64_t budget = device.budget_bytes();
  std::vector<Part> parts = parts_that_fit(budget, network, batch);
  while (true) {
    try {
      return predict(parts, device, x, rows, labels, scores);
    } catch (const Error& e) {
      const size_t before = parts.size();
      while (parts.size() == before && budget > 0) parts = parts_that_fit(budget /= 2, network, batch);
      if (e.status() != MK_OUT_OF_MEMORY || parts.size() == before) throw;
    }
  }
}

void Fitted::predict(const std::vector<Part>& parts, const sdk::Device& device, const float* x, int64_t rows,
                     int32_t* labels, float* scores) const {
  constexpr int64_t kMost = int64_t{1} << 26;  // floats in host memory between two parts
  const int64_t features = network.input.elements(), outputs = network.outputs();
  const int64_t batch = std::min(kPredictBatch, std::max<int64_t>(1, rows));
  int64_t widest = 1;
  for (const Part& part : parts) widest = std::max(widest, network.shape_of(part.end).elements());
  const int64_t at_once = parts.size() == 1 ? rows : std::max(batch, kMost / widest);
  for (int64_t first = 0; first < rows; first += at_once) {
    const int64_t count = std::min(at_once, rows - first);
    std::vector<float> values;
    const auto run = [&](const float* from) {
      for (const Part& part : parts)
        values = outputs_of(part, *this, device, part.first == 0 ? from : values.data(), count, batch);
    };
    run(x + first * features);
    if (settings.mirrors) {
      std::vector<float> plain;
      plain.swap(values);
      run(mirrored(x + first * features, count, network.input).data());
      for (size_t i = 0; i < values.size(); ++i) values[i] = 0.5F * (plain[i] + values[i]);
    }
    expect_numbers(values);
    for (int64_t r = 0; r < count; ++r) {
      const std::span<const float> row(values.data() + r * outputs, outputs);
      float* to = scores != nullptr ? scores + (first + r) * outputs : nullptr;
      if (classifies())
        labels[first + r] = log_softmax(row, to);
      else if (to != nullptr)
        for (const float v : row) *to++ = v * moments.target_deviation + moments.target_mean;
    }
  }
}

void Fitted::save(const std::string& directory) const {
  st::Writer writer;
  for (const Parameter& p : network.parameters)
    writer.add(p.name, p.torch_shape(), [&p, this](const st::Writer::Put& put) {
      for_torch_chunks(p, [&](int64_t first, int64_t count, float* chunk, uint64_t bytes) {
        to_torch(p, parameters, first, count, chunk);
        put(chunk, bytes);
      });
    });
  // PyTorch's modules expect a tensor with this number among their running moments, but do not use it.
  constexpr int64_t kBatchesTracked = 0;
  for (const Parameter& p : network.parameters)
    if (p.name.ends_with(".running_mean"))
      writer.add(p.name.substr(0, p.name.rfind('.')) + ".num_batches_tracked", st::Shape{}, &kBatchesTracked);
  const auto features = int64_t(moments.feature_mean.size());
  if (features > 0) {
    writer.add(kMeanTensor, {features}, moments.feature_mean.data());
    writer.add(kDeviationTensor, {features}, moments.feature_deviation.data());
  }
  writer.metadata("format", "pt");
  writer.write(directory + "/model.safetensors");

  ordered_json manifest = {
      {"mokume_cnn", kFormat},
      {"layers", ordered_json::parse(settings.layers)},
      {"loss", name_of(settings.loss)},
      {"input",
       {{"channels", network.input.channels},
        {"height", network.input.height},
        {"width", network.input.width},
        {"image", network.input.height * network.input.width > 1}}},
      {"per_feature", features > 0},
      {"classes", class_names},
      {"target", {{"mean", moments.target_mean}, {"deviation", moments.target_deviation}}},
      {"scaling", {{"mean", mean}, {"scale", scale}}},
  };
  if (settings.mirrors) manifest[kManifestMirrors] = kHorizontalFlip;
  sdk::OutputFile out(directory + "/manifest.json");
  out.append(manifest.dump(1) + "\n");
  out.close();
}

Fitted Fitted::load(const std::string& directory) {
  const std::string path = directory + "/manifest.json";
  Fitted f;
  bool per_feature = false;
  try {
    per_feature = read_manifest(path, f);
  } catch (const nlohmann::json::exception& e) {
    throw Error(MK_BAD_DATA, path + " is damaged: " + e.what());
  }
  const std::string weights = directory + "/model.safetensors";
  const st::Reader reader(weights);
  // Checks the file before allocating the memory that a manifest claims.
  for (const Parameter& p : f.network.parameters) {
    const st::Tensor* tensor = reader.find(p.name);
    if (tensor == nullptr || !tensor->is(p.torch_shape()))
      throw Error(MK_BAD_DATA, weights + ": tensor " + p.name + " is missing or differs in shape from the network in " +
                                   "manifest.json: restore the model's files");
  }
  f.parameters.resize(f.network.n_parameters);
  for (const Parameter& p : f.network.parameters)
    for_torch_chunks(p, [&](int64_t first, int64_t count, float* chunk, uint64_t bytes) {
      reader.read(*reader.find(p.name), first * p.rows() * sizeof(float), bytes, chunk);
      from_torch(p, chunk, first, count, f.parameters);
    });
  if (per_feature)
    for (auto [name, to] :
         {std::pair(kMeanTensor, &f.moments.feature_mean), {kDeviationTensor, &f.moments.feature_deviation}}) {
      to->resize(f.network.input.elements());
      reader.read(name, {f.network.input.elements()}, to->data());
    }
  return f;
}

}  // namespace mokume::cnn
