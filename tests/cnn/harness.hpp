// Provides the cnn plugin's classes on a real device, and layers as JSON with every key.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "device/device.hpp"
#include "engine.hpp"
#include "network/initial.hpp"
#include "registry/registry.hpp"
#include "scheduler/host_services.hpp"
#include "sdk/philox.hpp"
#include "support/paths.hpp"

namespace mokume::cnn_test {

// Opens one device, or none if the machine has no device of the backend.
class World {
 public:
  explicit World(const std::string& backend, uint32_t index = 0, const device::Choices& choices = {},
                 uint64_t budget = kBudget)
      : cache_(std::filesystem::temp_directory_path() / ("mokume-cnn-test-" + std::to_string(getpid()))),
        host_((std::filesystem::create_directories(cache_), log_), 2, cache_.string()),
        registry_(host_.table(), {test::libraries()}) {
    log_.set_level(MK_LOG_ERROR);
    const mk_backend* table = registry_.load(MK_PLUGIN_BACKEND, backend).backend();
    uint32_t count = 0;
    sdk::call(table->enumerate, table->self, static_cast<mk_device_info*>(nullptr), 0U, &count);
    std::vector<mk_device_info> infos(count);
    if (count > 0) sdk::call(table->enumerate, table->self, infos.data(), count, &count);
    if (index >= count) return;
    std::unique_ptr<device::Device> fallback;
    if (backend != "host") {
      const mk_backend* host = registry_.load(MK_PLUGIN_BACKEND, "host").backend();
      mk_device_info info[2];
      uint32_t n = 0;
      sdk::call(host->enumerate, host->self, &info[0], 2U, &n);
      fallback = device::Device::open({"host", 0, host, info[0]}, {}, budget, nullptr);
    }
    device_ = device::Device::open({backend, index, table, infos[index]}, choices, budget, std::move(fallback));
  }
  ~World() {
    device_.reset();
    std::filesystem::remove_all(cache_);
  }

  bool present() const { return device_ != nullptr; }
  sdk::Host host() const { return sdk::Host(host_.table()); }
  uint64_t allocated_bytes() const { return device_->allocated_bytes(); }
  sdk::Device device() const { return sdk::Device(device_->services()); }
  const mk_model& model(const char* name) { return *registry_.load(MK_PLUGIN_MODEL, name).model(); }

 private:
  static constexpr uint64_t kBudget = uint64_t{2} << 30;
  std::filesystem::path cache_;
  base::Log log_;
  scheduler::HostServices host_;
  registry::Registry registry_;
  std::unique_ptr<device::Device> device_;
};

using LayerJson = nlohmann::json;

inline LayerJson conv2d(int64_t out, int64_t kernel, int64_t stride, int64_t padding, bool bias) {
  return {{"type", "conv2d"}, {"out_channels", out}, {"kernel_size", kernel},
          {"stride", stride}, {"padding", padding},  {"bias", bias}};
}
// Returns the layer with the keys changed to `keys`.
inline LayerJson with(LayerJson layer, const LayerJson& keys) {
  layer.update(keys);
  return layer;
}
inline LayerJson conv_transpose2d(int64_t out, int64_t kernel, int64_t stride, int64_t padding, int64_t output_padding,
                                  int64_t groups, bool bias) {
  return {{"type", "conv_transpose2d"},
          {"out_channels", out},
          {"kernel_size", kernel},
          {"kernel_width", 0},
          {"stride", stride},
          {"stride_width", 0},
          {"padding", padding},
          {"padding_width", -1},
          {"output_padding", output_padding},
          {"dilation", 1},
          {"groups", groups},
          {"bias", bias}};
}
inline LayerJson avg_pool2d(int64_t kernel, int64_t stride, int64_t padding, bool ceil_mode, bool count_include_pad) {
  return {{"type", "avg_pool2d"}, {"kernel_size", kernel},  {"kernel_width", 0},
          {"stride", stride},     {"stride_width", 0},      {"padding", padding},
          {"padding_width", -1},  {"ceil_mode", ceil_mode}, {"count_include_pad", count_include_pad}};
}
inline LayerJson linear(int64_t out, bool bias) { return {{"type", "linear"}, {"out_features", out}, {"bias", bias}}; }
inline LayerJson relu() { return {{"type", "relu"}}; }
inline LayerJson leaky_relu(double slope) { return {{"type", "leaky_relu"}, {"negative_slope", slope}}; }
inline LayerJson gelu(const char* approximate) { return {{"type", "gelu"}, {"approximate", approximate}}; }
inline LayerJson plain(const char* type) { return {{"type", type}}; }  // a layer without keys
inline LayerJson max_pool2d(int64_t kernel, int64_t stride, int64_t padding) {
  return {{"type", "max_pool2d"}, {"kernel_size", kernel}, {"stride", stride}, {"padding", padding}};
}
inline LayerJson adaptive_avg_pool2d(int64_t size) { return {{"type", "adaptive_avg_pool2d"}, {"output_size", size}}; }
inline LayerJson dropout(double p) { return {{"type", "dropout"}, {"p", p}}; }
inline LayerJson flatten() { return {{"type", "flatten"}}; }
inline LayerJson normalise(double mean, double deviation, bool per_feature) {
  return {{"type", "normalise"}, {"mean", mean}, {"std", deviation}, {"per_feature", per_feature}};
}
inline LayerJson batch_norm(double momentum = 0.1) {
  return {{"type", "batch_norm"}, {"eps", 1e-5}, {"momentum", momentum}};
}
inline LayerJson layer_norm() { return {{"type", "layer_norm"}, {"eps", 1e-5}}; }
inline LayerJson group_norm(int64_t groups) { return {{"type", "group_norm"}, {"num_groups", groups}, {"eps", 1e-5}}; }
inline LayerJson lrn(int64_t size, double alpha, double beta, double k) {
  return {{"type", "lrn"}, {"size", size}, {"alpha", alpha}, {"beta", beta}, {"k", k}};
}
inline LayerJson embedding(int64_t vocabulary, int64_t size) {
  return {{"type", "embedding"}, {"vocabulary", vocabulary}, {"size", size}, {"first", 0}, {"columns", 0}};
}
inline LayerJson add() { return {{"type", "add"}}; }
inline LayerJson concat() { return {{"type", "concat"}}; }
inline LayerJson called(const std::string& name, LayerJson layer) {
  layer["name"] = name;
  return layer;
}
inline LayerJson reading(const std::vector<std::string>& inputs, LayerJson layer) {
  std::string joined;
  for (const std::string& input : inputs) joined += (joined.empty() ? "" : ",") + input;
  layer["inputs"] = joined;
  return layer;
}
inline LayerJson log_softmax() { return {{"type", "log_softmax"}}; }

inline std::string layers(const std::vector<LayerJson>& all) { return LayerJson(all).dump(); }

inline void set_layer(cnn::Settings& settings, size_t index, const LayerJson& layer) {
  LayerJson all = LayerJson::parse(settings.layers);
  all.at(index) = layer;
  settings.layers = all.dump();
}

// Returns numbers that are uniform in [low, high).
inline std::vector<float> random_floats(size_t n, uint32_t stream, float low = -1, float high = 1) {
  const sdk::Random random(5, sdk::Purpose::digits, stream);
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i)
    values[i] = low + (high - low) * static_cast<float>(random.uniform(static_cast<uint32_t>(i)));
  return values;
}

inline std::vector<float> all_initial_values(const cnn::Network& network, uint64_t seed, uint32_t stream) {
  std::vector<float> values(static_cast<size_t>(network.n_parameters));
  cnn::initial_values(network.parameters, seed, stream, 0, values);
  return values;
}

}  // namespace mokume::cnn_test
