// Builds a network from another program's file: layers with their weights, and the scaling of the rows.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "layers/parameter.hpp"

namespace mokume::cnn::onnx {

// Holds a tensor of a layer, in PyTorch's shape and order.
struct Weight {
  std::string name;  // such as "weight"
  std::vector<int64_t> shape;
  std::vector<float> values;
};

struct MadeLayer {
  nlohmann::ordered_json keys;  // include "type"
  std::string hint;             // name in the file, or ""
  std::vector<int> inputs;      // indices of layers, or kInput
  Shape out;
  std::vector<Weight> weights;
  bool frozen = false;

  std::string type() const { return keys.at("type"); }
  Weight* weight(const std::string& name);
};

class Builder {
 public:
  static constexpr int kInput = -1;

  // `most_numbers` is the number of weights that the file can reasonably describe. The builder throws
  // Error(MK_UNSUPPORTED) for more weights, because layers that share weights would multiply them.
  Builder(Shape input, uint64_t most_numbers) : input_(input), most_numbers_(most_numbers) {}

  const Shape& input() const { return input_; }
  // Treats the rows as images. Works only before the first add().
  void set_input(const Shape& shape) { input_ = shape; }
  const Shape& shape_of(int layer) const { return layer == kInput ? input_ : layers_[size_t(layer)].out; }
  // Returns the layer's index. Throws Error(MK_BAD_DATA) if the number of values of a weight does not match its shape.
  int add(MadeLayer layer);

  // Computes scale * x + shift, with one number for each channel of the layer's output, or one for all. `alone` means
  // that nothing else reads x. Changes the weights of the layer that computes x, or the scaling of the rows, or adds a
  // layer. Returns the layer of the result.
  int affine(int layer, const std::vector<double>& scale, const std::vector<double>& shift, bool alone);
  // Does the same for each feature of the rows, in the order of the data. Works only before the first add(), because
  // all layers read scaled rows.
  void scale_features(const std::vector<double>& scale, const std::vector<double>& shift);

  // Return the scaling (x - mean) / scale of the rows, or 0 and 1 without scaling. If scales_features(), each feature
  // has its own values.
  double mean() const { return mean_.front(); }
  double scale() const { return scale_.front(); }
  bool is_scaled() const { return mean() != 0 || scale() != 1; }
  bool scales_features() const { return mean_.size() > 1; }

  // Completes the network: names the layers if the file has names that differ from the layers' places, and puts the
  // moments of features into a first layer.
  void finish();
  const std::vector<MadeLayer>& layers() const { return layers_; }
  std::string name_of(int layer) const;  // returns the layer's name in files, or its place
  // Returns the layers in the form in which the program passes them to the model, with every key.
  nlohmann::json description() const;
  // Returns `layers` and `freeze` of [model_options] as TOML.
  std::string toml() const;
  // Calls each(name, shape, values) for all weights and for the moments of features.
  void for_each_weight(const std::function<void(const std::string&, const std::vector<int64_t>&,
                                                const std::vector<float>&)>& each) const;

 private:
  bool fold(MadeLayer& layer, const std::vector<double>& scale, const std::vector<double>& shift);
  bool reads_previous(size_t layer) const;

  Shape input_;
  const uint64_t most_numbers_;
  uint64_t numbers_ = 0;
  std::vector<MadeLayer> layers_;
  std::vector<std::string> names_;  // indexed by layer; empty if places serve as names
  std::vector<double> mean_{0}, scale_{1};
};

}  // namespace mokume::cnn::onnx
