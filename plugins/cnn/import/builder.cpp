#include "import/builder.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "import/formula.hpp"
#include "layers/table.hpp"
#include "saved/fitted.hpp"

namespace mokume::cnn::onnx {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr size_t kMostLayers = 10'000;
constexpr double kEps = 1e-5;  // eps of a batch_norm that only scales

bool is_name(const std::string& text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
  };
  return !text.empty() && text.size() <= 128 && text != "input" && text != "previous" &&
         std::all_of(text.begin(), text.end(), plain);
}

// Repeats a single value `count` times; returns other values unchanged.
std::vector<double> spread(const std::vector<double>& values, size_t count) {
  return values.size() == 1 ? std::vector<double>(count, values.front()) : values;
}

const mk_param* key_of(const LayerType& type, const std::string& name) {
  for (const mk_param& key : std::span(type.form.params, type.form.n_params))
    if (name == key.name) return &key;
  return nullptr;
}

std::string toml_of(const ordered_json& value) {
  if (!value.is_array()) return value.dump();
  std::string list;
  for (const auto& one : value) list += (list.empty() ? "" : ", ") + one.dump();
  return "[" + list + "]";
}

}  // namespace

Weight* MadeLayer::weight(const std::string& name) {
  const auto found = std::find_if(weights.begin(), weights.end(), [&](const Weight& w) { return w.name == name; });
  return found == weights.end() ? nullptr : &*found;
}

int Builder::add(MadeLayer layer) {
  if (layers_.size() >= kMostLayers) throw Error(MK_UNSUPPORTED, "it has more than 10,000 layers");
  for (const Weight& w : layer.weights) {
    const int64_t size = std::accumulate(w.shape.begin(), w.shape.end(), int64_t{1}, std::multiplies<>());
    if (size != int64_t(w.values.size()))
      throw Error(MK_BAD_DATA, "a weight '" + w.name + "' of the layer " + layer.type() +
                                   " has a shape that does not fit its layer: export the model again");
    numbers_ += w.values.size();
  }
  if (numbers_ > most_numbers_) throw Error(MK_UNSUPPORTED, "its layers share weights, which mokume's layers do not");
  layers_.push_back(std::move(layer));
  return int(layers_.size()) - 1;
}

int Builder::affine(int layer, const std::vector<double>& scale, const std::vector<double>& shift, bool alone) {
  const bool one = scale.size() == 1 && shift.size() == 1;
  if (layer == kInput && alone && one && scale[0] > 0) {
    const size_t n = mean_.size();
    return scale_features(std::vector<double>(n, scale[0]), std::vector<double>(n, shift[0])), kInput;
  }
  if (layer != kInput && alone && fold(layers_[size_t(layer)], scale, shift)) return layer;
  MadeLayer made;
  made.inputs = {layer};
  made.out = shape_of(layer);
  if (one && scale[0] > 0) {
    double mean = -shift[0] / scale[0], deviation = 1 / scale[0];
    const bool again = layer != kInput && alone && layers_[size_t(layer)].type() == "normalise";
    ordered_json& keys = again ? layers_[size_t(layer)].keys : made.keys;
    if (again) {
      const double m = keys["mean"], s = keys["std"];
      mean = m + mean * s;
      deviation *= s;
    }
    keys = {{"type", "normalise"}, {"mean", decimal(float(mean))}, {"std", decimal(float(deviation))}};
    return again ? layer : add(std::move(made));
  }
  // Adds a frozen batch_norm whose running variance and eps add up to 1.
  const int64_t channels = made.out.flat ? made.out.elements() : made.out.channels;
  const auto vector = [&](const char* name, const std::vector<double>& values) {
    const std::vector<double> all = spread(values, size_t(channels));
    made.weights.push_back({name, {channels}, {all.begin(), all.end()}});
  };
  made.keys = {{"type", "batch_norm"}};
  made.frozen = true;
  vector("weight", scale);
  vector("bias", shift);
  vector("running_mean", {0});
  vector("running_var", {1 - kEps});
  return add(std::move(made));
}

// Appending scale * ((x - m) / s) + shift gives (x - (m - shift * s / scale)) / (s / scale).
void Builder::scale_features(const std::vector<double>& scale, const std::vector<double>& shift) {
  const size_t n = std::max({mean_.size(), scale.size(), shift.size()});
  for (const size_t size : {mean_.size(), scale.size(), shift.size()})
    if (size != 1 && size != n) throw Error(MK_UNSUPPORTED, "it scales its rows as rows of different lengths");
  const std::vector<double> by = spread(scale, n), plus = spread(shift, n);
  mean_ = spread(mean_, n);
  scale_ = spread(scale_, n);
  for (size_t i = 0; i < n; ++i) {
    mean_[i] -= plus[i] * scale_[i] / by[i];
    scale_[i] /= by[i];
  }
}

bool Builder::fold(MadeLayer& layer, const std::vector<double>& scale, const std::vector<double>& shift) {
  const std::string type = layer.type();
  const bool rows = type == "linear" || type == "conv2d", transposed = type == "conv_transpose2d";
  const bool norm = type == "batch_norm" || type == "group_norm" || type == "layer_norm";
  if ((!rows && !transposed && !norm) || layer.frozen) return false;
  const auto channels = size_t(layer.out.flat ? layer.out.elements() : layer.out.channels);
  const std::vector<double> by = spread(scale, channels), plus = spread(shift, channels);
  if (layer.weight("bias") == nullptr) {
    layer.weights.push_back({"bias", {int64_t(channels)}, std::vector<float>(channels, 0)});
    layer.keys["bias"] = true;
  }
  Weight &weight = *layer.weight("weight"), &bias = *layer.weight("bias");
  // Elements are ordered outer x channels x inner. In a transposed convolution, the groups come first.
  const auto apply = [&](Weight& w, size_t each, const auto& channel, bool add) {
    for (size_t i = 0; i < w.values.size(); ++i) {
      const size_t c = channel(i / each);
      w.values[i] = float(double{w.values[i]} * by[c] + (add ? plus[c] : 0));
    }
  };
  const auto same = [](size_t c) { return c; };
  if (transposed) {
    const auto inputs = size_t(weight.shape[0]), part = size_t(weight.shape[1]), groups = channels / part;
    apply(
        weight, size_t(weight.shape[2] * weight.shape[3]),
        [&](size_t i) { return i / part / (inputs / groups) * part + i % part; }, false);
  } else {
    apply(weight, weight.values.size() / channels, same, false);
  }
  apply(bias, bias.values.size() / channels, same, true);
  return true;
}

bool Builder::reads_previous(size_t layer) const {
  const std::vector<int>& inputs = layers_[layer].inputs;
  return inputs.size() == 1 && inputs.front() == int(layer) - 1;
}

void Builder::finish() {
  const auto usable = [](double v) { return std::isfinite(float(v)); };
  if (!std::all_of(mean_.begin(), mean_.end(), usable) || !std::all_of(scale_.begin(), scale_.end(), usable))
    throw Error(MK_BAD_DATA, "the scaling of its rows is not finite: export it again");
  if (scales_features()) {
    for (MadeLayer& layer : layers_)
      for (int& i : layer.inputs) ++i;  // the input becomes layer 0
    MadeLayer first;
    first.keys = {{"type", "normalise"}, {"per_feature", true}};
    first.inputs = {kInput};
    first.out = input_;
    layers_.insert(layers_.begin(), std::move(first));
  }
  const auto by_place = [](const MadeLayer& layer, size_t i) {
    return layer.weights.empty() || !is_name(layer.hint) || layer.hint == std::to_string(i);
  };
  bool places = true;
  for (size_t i = 0; i < layers_.size(); ++i) places = places && by_place(layers_[i], i);
  if (places) return;
  std::set<std::string> taken{"input"};
  std::map<std::string, int> next;  // next number for a repeated name
  for (const MadeLayer& layer : layers_) {
    const std::string stem = is_name(layer.hint) && !layer.weights.empty() ? layer.hint : layer.type();
    std::string name = stem;
    for (int& k = next[stem]; !taken.insert(name).second;) name = stem + "_" + std::to_string(k = std::max(k + 1, 2));
    names_.push_back(name);
  }
}

std::string Builder::name_of(int layer) const {
  if (layer == kInput) return "input";
  return names_.empty() ? std::to_string(layer) : names_[size_t(layer)];
}

json Builder::description() const {
  json all = json::array();
  for (size_t i = 0; i < layers_.size(); ++i) {
    json layer = layers_[i].keys;
    const LayerType& type = layer_type_of(layer);
    for (const mk_param& key : std::span(type.form.params, type.form.n_params))
      if (!layer.contains(key.name) && key.fallback[0] != '\0') layer[key.name] = json::parse(key.fallback);
    if (!names_.empty()) layer["name"] = names_[i];
    std::string inputs;
    for (const int k : layers_[i].inputs) inputs += (inputs.empty() ? "" : ",") + name_of(k);
    if (!reads_previous(i)) layer["inputs"] = inputs;
    all.push_back(std::move(layer));
  }
  return all;
}

std::string Builder::toml() const {
  std::string text, frozen;
  for (size_t i = 0; i < layers_.size(); ++i)
    if (layers_[i].frozen) frozen += (frozen.empty() ? "" : ", ") + ordered_json(name_of(int(i))).dump();
  if (!frozen.empty()) text += "freeze = [" + frozen + "]\n";
  text += "layers = [\n";
  for (size_t i = 0; i < layers_.size(); ++i) {
    const json keys(layers_[i].keys);
    const LayerType& type = layer_type_of(keys);
    std::string line;
    const auto add = [&](const std::string& key, const ordered_json& value) {
      line += (line.empty() ? "" : ", ") + key + " = " + toml_of(value);
    };
    if (!names_.empty()) add("name", names_[i]);
    for (const auto& [key, value] : layers_[i].keys.items()) {
      const mk_param* known = key_of(type, key);
      const bool fallback =
          known != nullptr && known->fallback[0] != '\0' && json::parse(known->fallback) == json(value);
      if (!fallback) add(key, value);
    }
    ordered_json inputs = ordered_json::array();
    for (const int k : layers_[i].inputs) inputs.push_back(name_of(k));
    if (!reads_previous(i)) add("inputs", inputs);
    text += "  { " + line + " },\n";
  }
  return text + "]\n";
}

void Builder::for_each_weight(
    const std::function<void(const std::string&, const std::vector<int64_t>&, const std::vector<float>&)>& each) const {
  for (size_t i = 0; i < layers_.size(); ++i)
    for (const Weight& w : layers_[i].weights) each(name_of(int(i)) + "." + w.name, w.shape, w.values);
  if (!scales_features()) return;
  const std::vector<int64_t> features{int64_t(mean_.size())};
  each(kMeanTensor, features, {mean_.begin(), mean_.end()});
  each(kDeviationTensor, features, {scale_.begin(), scale_.end()});
}

}  // namespace mokume::cnn::onnx
