#include "network.hpp"

#include <algorithm>
#include <limits>

#include "sdk/error.hpp"

namespace mokume::cnn {
namespace {

std::string text(const Shape& s) {
  if (s.flat) return std::to_string(s.elements());
  return std::to_string(s.channels) + " x " + std::to_string(s.height) + " x " + std::to_string(s.width);
}

const char* type_of(const LayerSettings& layer) {
  constexpr const char* kNames[] = {"conv2d",  "linear",  "relu",      "max_pool2d", "adaptive_avg_pool2d",
                                    "dropout", "flatten", "normalise", "log_softmax"};
  return kNames[layer.index()];
}

class Builder {
 public:
  Builder(const Settings& settings, const Shape& input) : settings_(settings), shape_(input) { net_.input = input; }

  Network build(int64_t outputs) {
    if (settings_.layers.empty())
      throw Error(MK_INVALID_ARGUMENT, "the network has no layers: add [[model_options.layers]]");
    for (; at_ < settings_.layers.size(); ++at_)
      std::visit([this](const auto& layer) { add(layer); }, settings_.layers[at_]);
    at_ = settings_.layers.size() - 1;
    if (!shape_.flat) refuse("the network ends in images of " + text(shape_), "end it with flatten and a linear layer");
    if (shape_.elements() != outputs)
      refuse("the network has " + std::to_string(shape_.elements()) + " outputs, and the data needs " +
                 std::to_string(outputs),
             "set the last layer's out_features to " + std::to_string(outputs));
    if (net_.parameters.empty()) refuse("the network has nothing to learn", "add a linear or a conv2d layer");
    share_memory();
    return std::move(net_);
  }

 private:
  // A relu's gradient is 0 where it gave 0. Another relu or a dropout behind it leaves that to be seen, or has a
  // gradient of 0 there itself.
  void share_memory() {
    bool relu = false;
    for (Stage& s : net_.stages) {
      s.in_place =
          s.kind == Stage::Kind::relu || s.kind == Stage::Kind::dropout || (s.kind == Stage::Kind::normalise && !relu);
      s.relu_before = relu && s.in_place;
      relu = s.relu_before || s.ends_in_relu();
    }
  }

  [[noreturn]] void refuse(const std::string& what, const std::string& cure) const {
    throw Error(MK_INVALID_ARGUMENT, "layer " + std::to_string(at_ + 1) + " (" + type_of(settings_.layers[at_]) +
                                         "): " + what + "; " + cure);
  }

  Stage& stage(Stage::Kind kind, const Shape& out) {
    Stage s;
    s.kind = kind;
    s.layer = static_cast<uint32_t>(at_);
    s.in = shape_;
    s.out = out;
    net_.stages.push_back(s);
    shape_ = out;
    return net_.stages.back();
  }

  int64_t parameter(const char* name, const Shape& in, int64_t outputs, bool convolution, bool bias) {
    Parameter p;
    p.name = std::to_string(at_) + "." + name;
    p.in = in;
    p.outputs = outputs;
    p.convolution = convolution;
    p.bias = bias;
    p.offset = net_.n_parameters;
    p.fan_in = in.elements();
    const double total = static_cast<double>(net_.n_parameters) +
                         (bias ? 1.0 : static_cast<double>(in.elements())) * static_cast<double>(outputs);
    if (total > static_cast<double>(int64_t{1} << 40))
      refuse("the network has more than 2^40 parameters", "make it smaller");
    net_.n_parameters += p.size();
    net_.parameters.push_back(p);
    return p.offset;
  }

  ops::Window window(int64_t kernel, int64_t stride, int64_t padding) const {
    if (shape_.flat) refuse("it needs images, and its input is rows of features", "put it before flatten");
    if (padding >= kernel)
      refuse("padding " + std::to_string(padding) + " must be smaller than the kernel", "lower it");
    ops::Window w{shape_.height, shape_.width, shape_.channels, kernel, kernel, stride, stride, padding, padding};
    if (kernel > shape_.height + 2 * padding || kernel > shape_.width + 2 * padding)
      refuse("a kernel of " + std::to_string(kernel) + " x " + std::to_string(kernel) + " does not fit its input of " +
                 text(shape_),
             "lower kernel_size or add padding");
    return w;
  }

  void add(const Conv2d& c) {
    const ops::Window w = window(c.kernel_size, c.stride, c.padding);
    const Shape patch{c.kernel_size, c.kernel_size, shape_.channels, false};
    Stage& s = stage(Stage::Kind::convolution, {w.out_height(), w.out_width(), c.out_channels, false});
    s.window = w;
    s.weight = parameter("weight", patch, c.out_channels, true, false);
    if (c.bias) s.bias = parameter("bias", patch, c.out_channels, true, true);
    s.n_parameters = net_.n_parameters - s.weight;
  }

  void add(const Linear& l) {
    if (!shape_.flat) refuse("its input is images of " + text(shape_), "put a flatten layer before it");
    const Shape in = before_flatten_;
    Stage& s = stage(Stage::Kind::linear, {1, 1, l.out_features, true});
    s.weight = parameter("weight", in, l.out_features, false, false);
    if (l.bias) s.bias = parameter("bias", in, l.out_features, false, true);
    s.n_parameters = net_.n_parameters - s.weight;
    before_flatten_ = shape_;
  }

  // A relu behind a convolution or linear layer is done together with its bias.
  void add(const Relu&) {
    if (!net_.stages.empty() && net_.stages.back().layer + 1 == at_ && net_.stages.back().has_parameters())
      net_.stages.back().activation = ops::Activation::relu;
    else
      stage(Stage::Kind::relu, shape_);
  }

  void add(const MaxPool2d& m) {
    const ops::Window w = window(m.kernel_size, m.stride, m.padding);
    stage(Stage::Kind::max_pool, {w.out_height(), w.out_width(), shape_.channels, false}).window = w;
  }

  void add(const AdaptiveAvgPool2d& a) {
    if (shape_.flat) refuse("it needs images, and its input is rows of features", "put it before flatten");
    const ops::AvgPool pool{shape_.height, shape_.width, shape_.channels, a.output_size, a.output_size};
    stage(Stage::Kind::avg_pool, {a.output_size, a.output_size, shape_.channels, false}).pool = pool;
  }

  void add(const Dropout& d) {
    if (d.p > 0) stage(Stage::Kind::dropout, shape_).p = d.p;
  }

  void add(const Flatten&) {
    before_flatten_ = shape_;
    shape_ = {1, 1, shape_.elements(), true};
  }

  void add(const Normalise& n) {
    if (n.per_feature && !net_.stages.empty())
      refuse("per_feature needs the data themselves", "make it the first layer");
    stage(Stage::Kind::normalise, shape_).normalise = n;
  }

  void add(const LogSoftmax&) {
    if (at_ + 1 != settings_.layers.size()) refuse("it is not the last layer", "move it to the end");
    if (settings_.loss != Loss::cross_entropy) refuse("it belongs to a classifier", "leave it out");
  }

  const Settings& settings_;
  Network net_;
  Shape shape_, before_flatten_ = shape_;
  size_t at_ = 0;
};

}  // namespace

std::vector<int64_t> Parameter::torch_shape() const {
  if (bias) return {outputs};
  if (convolution) return {outputs, in.channels, in.height, in.width};
  return {outputs, in.elements()};
}

void to_torch(const Parameter& p, const std::vector<float>& all, int64_t first, int64_t count, float* values) {
  for (int64_t row = 0; row < p.rows(); ++row) {
    const float* from = all.data() + p.offset + row * p.outputs + first;
    float* to = values + p.torch_column(row);
    for (int64_t k = 0; k < count; ++k) to[k * p.rows()] = from[k];
  }
}

void from_torch(const Parameter& p, const float* values, int64_t first, int64_t count, std::vector<float>& all) {
  for (int64_t row = 0; row < p.rows(); ++row) {
    float* to = all.data() + p.offset + row * p.outputs + first;
    const float* from = values + p.torch_column(row);
    for (int64_t k = 0; k < count; ++k) to[k] = from[k * p.rows()];
  }
}

size_t Network::first_with_parameters() const {
  const auto found = std::find_if(stages.begin(), stages.end(), [](const Stage& s) { return s.has_parameters(); });
  return static_cast<size_t>(found - stages.begin());
}

Network make_network(const Settings& settings, const Shape& input, int64_t outputs) {
  return Builder(settings, input).build(outputs);
}

std::string describe(const Settings& settings, const Network& network) {
  const auto row = [](const std::string& a, const std::string& b, const std::string& c) {
    const auto pad = [](const std::string& t, size_t width) {
      return t + std::string(width > t.size() ? width - t.size() : 1, ' ');
    };
    return "  " + pad(a, 26) + pad(b, 18) + c + "\n";
  };
  std::string out = row("layer", "output", "parameters") + row("input", text(network.input), "");
  Shape shape = network.input;
  for (size_t k = 0; k < settings.layers.size(); ++k) {
    for (const Stage& s : network.stages)
      if (s.layer == k) shape = s.out;
    if (std::holds_alternative<Flatten>(settings.layers[k])) shape = {1, 1, shape.elements(), true};
    int64_t count = 0;
    for (const Parameter& p : network.parameters)
      if (p.name.substr(0, p.name.find('.')) == std::to_string(k)) count += p.size();
    out += row(std::to_string(k + 1) + " " + type_of(settings.layers[k]), text(shape),
               count == 0 ? "" : std::to_string(count));
  }
  return out + "  " + std::to_string(network.n_parameters) + " parameters\n";
}

}  // namespace mokume::cnn
