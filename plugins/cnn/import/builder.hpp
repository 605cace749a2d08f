// A network under construction from another program's file: layers with their weights, and what is done to the rows
// before them.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "layers/parameter.hpp"

namespace mokume::cnn::onnx {

// A tensor of a layer, in PyTorch's shape and order.
struct Weight {
  std::string name;  // "weight"
  std::vector<int64_t> shape;
  std::vector<float> values;
};

struct MadeLayer {
  nlohmann::ordered_json keys;  // with "type"
  std::string hint;             // what the file calls it; "" if nothing
  std::vector<int> inputs;      // layers; kInput
  Shape out;
  std::vector<Weight> weights;
  bool frozen = false;

  std::string type() const { return keys.at("type"); }
  Weight* weight(const std::string& name);
};

class Builder {
 public:
  static constexpr int kInput = -1;

  // `most_numbers`: as many weights as the file can reasonably mean. Throws Error(MK_UNSUPPORTED) beyond them: layers
  // that share weights would multiply them.
  Builder(Shape input, uint64_t most_numbers) : input_(input), most_numbers_(most_numbers) {}

  const Shape& input() const { return input_; }
  // The rows are images after all. Only before any layer.
  void set_input(const Shape& shape) { input_ = shape; }
  const Shape& shape_of(int layer) const { return layer == kInput ? input_ : layers_[size_t(layer)].out; }
  // Returns the layer's number. Throws Error(MK_BAD_DATA) if a weight has more or fewer values than its shape.
  int add(MadeLayer layer);

  // scale * x + shift, with one number for each channel of the layer's output, or one for all. `alone`: nobody else
  // reads x. Changes the weights of a layer that computes x, or the scaling of the rows, or adds a layer. Returns the
  // layer that gives the result.
  int affine(int layer, const std::vector<double>& scale, const std::vector<double>& shift, bool alone);
  // The same for each feature of the rows, in the order of the data. Only before any layer, of which none reads the
  // rows without it.
  void scale_features(const std::vector<double>& scale, const std::vector<double>& shift);

  // (x - mean) / scale of the rows; 0 and 1 if there is none. Each feature has its own if scales_features().
  double mean() const { return mean_.front(); }
  double scale() const { return scale_.front(); }
  bool is_scaled() const { return mean() != 0 || scale() != 1; }
  bool scales_features() const { return mean_.size() > 1; }

  // Gives layers names if the file has some that differ from their places, and puts the moments of features into a
  // first layer. Called once, at the end.
  void finish();
  const std::vector<MadeLayer>& layers() const { return layers_; }
  std::string name_of(int layer) const;  // in files: its name or its place
  // The layers as the program passes them to the model, with every key.
  nlohmann::json description() const;
  // [model_options] layers and freeze.
  std::string toml() const;
  // Calls each(name, shape, values).
  void for_each_weight(const std::function<void(const std::string&, const std::vector<int64_t>&,
                                                const std::vector<float>&)>& each) const;

 private:
  bool fold(MadeLayer& layer, const std::vector<double>& scale, const std::vector<double>& shift);
  bool reads_previous(size_t layer) const;

  Shape input_;
  const uint64_t most_numbers_;
  uint64_t numbers_ = 0;
  std::vector<MadeLayer> layers_;
  std::vector<std::string> names_;  // by layer; none: all are called by their places
  std::vector<double> mean_{0}, scale_{1};
};

}  // namespace mokume::cnn::onnx
