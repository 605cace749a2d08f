// Converts operators that work on each element, and operators that join values.
#include <algorithm>
#include <cmath>
#include <optional>

#include "import/graph.hpp"
#include "sdk/error.hpp"

namespace mokume::cnn::onnx {
namespace {

using Kind = Formula::Kind;

bool is_single(const Value& v) { return v.constant != nullptr && v.constant->size() == 1 && v.constant->is_real(); }

Kind kind_of(const std::string& op) {
  static const std::map<std::string, Kind> kinds = {{"Relu", Kind::relu},       {"LeakyRelu", Kind::leaky_relu},
                                                    {"Sigmoid", Kind::sigmoid}, {"Tanh", Kind::tanh},
                                                    {"Erf", Kind::erf},         {"Exp", Kind::exp},
                                                    {"Sqrt", Kind::sqrt},       {"Neg", Kind::negative},
                                                    {"Add", Kind::add},         {"Sub", Kind::subtract},
                                                    {"Mul", Kind::multiply},    {"Div", Kind::divide},
                                                    {"Pow", Kind::power},       {"Sum", Kind::add}};
  return kinds.at(op);
}

// Removes leading dimensions of 1, which have no effect.
std::vector<int64_t> trimmed(std::vector<int64_t> dims) {
  while (!dims.empty() && dims.front() == 1) dims.erase(dims.begin());
  return dims;
}

// Returns the factor and the summand of an operator with a constant.
Affine affine_of(Kind kind, double constant) {
  if (kind == Kind::multiply) return {constant, 0};
  if (kind == Kind::divide) return {1 / constant, 0};
  return {1, kind == Kind::add ? constant : -constant};
}

// A function of each element does not depend on their order.
bool has_elements(const Value& v) {
  return v.constant == nullptr && (v.has_one_order() || v.layout == Value::Layout::pixel);
}

bool is_on_one_layer(const Value& a, const Value& b) {
  return a.constant != nullptr || b.constant != nullptr ||
         (a.layer == b.layer && a.shape == b.shape && a.layout == b.layout);
}

FormulaPtr formula_of(const Value& v) {
  return v.constant == nullptr ? v.formula : Formula::number(v.constant->real(0));
}

// Returns the result of an operator on two single numbers, rounded to float32 unless one of them is a float64.
Tensor result_of(Kind kind, const Tensor& a, const Tensor& b) {
  const double result = Formula::at(Formula::make(kind, Formula::number(a.real(0)), Formula::number(b.real(0))), 0);
  if (a.doubles.empty() && b.doubles.empty()) return {{}, {float(result)}, {}, {}};
  return {{}, {}, {result}, {}};
}

// Returns the result of an operator on two sizes, such as a number of channels and of groups.
std::optional<Tensor> result_of_sizes(Kind kind, const Tensor& a, const Tensor& b) {
  constexpr int64_t kMost = int64_t{1} << 31;
  const auto is_size = [](const Tensor& t) {
    return t.integers.size() == 1 && t.size() == 1 && t.integers[0] >= 0 && t.integers[0] <= kMost;
  };
  if (!is_size(a) || !is_size(b)) return std::nullopt;
  const int64_t x = a.integers[0], y = b.integers[0];
  std::vector<int64_t> dims = a.dims.size() < b.dims.size() ? b.dims : a.dims;
  if (kind == Kind::add) return Tensor{std::move(dims), {}, {}, {x + y}};
  if (kind == Kind::subtract) return Tensor{std::move(dims), {}, {}, {x - y}};
  if (kind == Kind::multiply) return Tensor{std::move(dims), {}, {}, {x * y}};
  if (kind == Kind::divide && y != 0) return Tensor{std::move(dims), {}, {}, {x / y}};
  return std::nullopt;
}

bool are_positive(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return v > 0 && std::isfinite(v); });
}

// Returns whether a constant with these dimensions has one number for each channel of images, or for each feature of
// rows.
bool suits_channels(const std::vector<int64_t>& dims, const Shape& s, bool images) {
  return images ? dims == trimmed({s.channels, 1, 1}) : s.flat && dims == trimmed({s.elements()});
}

// Returns the values of an image with the channels innermost, as in the data.
std::vector<double> with_channels_last(const std::vector<double>& values, const Shape& s) {
  std::vector<double> turned;
  const int64_t pixels = s.height * s.width;
  for (int64_t p = 0; p < pixels; ++p)
    for (int64_t c = 0; c < s.channels; ++c) turned.push_back(values[size_t(c * pixels + p)]);
  return turned;
}

// The two relus of clipped() round small numbers to the digits of the bounds. Up to this bound, they change no number
// by more than 2e-5.
constexpr double kMostBound = 128;

// Clips by two relus: max(x, low) = low + relu(x - low), and min(x, high) = high - relu(high - x).
FormulaPtr clipped(FormulaPtr x, double low, double high) {
  const auto number = [](double v) { return Formula::number(v); };
  const auto relu = [](const FormulaPtr& f) { return Formula::make(Kind::relu, f); };
  if (low == 0) {
    x = relu(x);
  } else if (std::isfinite(low)) {
    x = Formula::make(Kind::add, relu(Formula::make(Kind::subtract, x, number(low))), number(low));
  }
  if (!std::isfinite(high)) return x;
  return Formula::make(Kind::subtract, number(high), relu(Formula::make(Kind::subtract, number(high), x)));
}

}  // namespace

void Graph::unary(const Node& node) {
  Value x = value(node, 0);
  if (!has_elements(x)) x = in_any_order(node, 0);
  x.formula = Formula::make(kind_of(node.op_type()), x.formula, nullptr, decimal(float(real(node, "alpha", 0.01F))));
  if (x.formula->size() > kMostOperators) unsupported(node, "ends a function of too many operators");
  give(node, std::move(x));
}

void Graph::gelu(const Node& node) {
  Value x = layer_value(node, 0);
  x.formula = Formula::make(text(node, "approximate", "none") == "tanh" ? Kind::gelu_tanh : Kind::gelu, nullptr);
  give(node, std::move(x));
}

void Graph::prelu(const Node& node) {
  const std::vector<float> slope = floats(node, 1);
  Value x = layer_value(node, 0);
  if (slope.empty() || !std::all_of(slope.begin(), slope.end(), [&](float s) { return s == slope.front(); }))
    return prelu_of_channels(node, {slope.begin(), slope.end()});
  x.formula = Formula::make(Kind::leaky_relu, nullptr, nullptr, decimal(slope.front()));
  give(node, std::move(x));
}

// Returns the input of a function of several operators. What precedes it becomes a part of the layer before, unless
// something else reads that layer, as in a hard swish of several nodes.
Value Graph::function_value(const Node& node) {
  const Value& x = value(node, 0);
  if (!x.alone && x.formula != nullptr && x.formula->size() > kMostOperators)
    unsupported(node, "ends a function of too many operators");
  return x.alone || !has_elements(x) ? layer_value(node, 0) : x;
}

void Graph::clip(const Node& node) {
  const auto bound = [&](size_t i, const char* attribute, double none) {
    if (!has_input(node, i)) return real(node, attribute, none);
    const Tensor& t = constant(node, i);
    if (t.size() != 1 || !t.is_real()) unsupported(node, "has a bound that is not one real number");
    return t.real(0);
  };
  const auto far = [](double v) { return std::fabs(v) > 1e30 ? std::copysign(HUGE_VAL, v) : v; };
  const double low = far(bound(1, "min", -HUGE_VAL)), high = far(bound(2, "max", HUGE_VAL));
  if (!(low < high)) unsupported(node, "has no room between its bounds");
  for (const double b : {low, high})
    if (std::isfinite(b) && std::fabs(b) > kMostBound)
      unsupported(node, "has a bound beyond +-" + std::to_string(int(kMostBound)) +
                            ", with which mokume's layers would round small numbers: export it without the bound");
  Value x = function_value(node);
  x.formula = clipped(x.formula, low, high);
  give(node, std::move(x));
}

void Graph::hard_sigmoid(const Node& node) {
  Value x = function_value(node);
  const double alpha = decimal(float(real(node, "alpha", 0.2F))), beta = decimal(float(real(node, "beta", 0.5F)));
  // mokume's hard_sigmoid is x / 6 + 1 / 2 between its bounds.
  const auto scaled = Formula::make(Kind::multiply, x.formula, Formula::number(6 * alpha));
  x.formula = Formula::make(Kind::hard_sigmoid, Formula::make(Kind::add, scaled, Formula::number(6 * beta - 3)));
  give(node, std::move(x));
}

void Graph::hard_swish(const Node& node) {
  Value x = layer_value(node, 0);
  x.formula = Formula::make(Kind::multiply, nullptr, Formula::make(Kind::hard_sigmoid, nullptr));
  give(node, std::move(x));
}

// Computes relu(x) - slope * relu(-x).
void Graph::prelu_of_channels(const Node& node, std::vector<double> slope) {
  Value x = layer_value(node, 0);
  if (!suits_channels(trimmed(constant(node, 1).dims), x.shape, !x.shape.flat))
    unsupported(node, "has slopes that are not one number for each channel");
  if (x.shape.flat) x.layer = rows(node, 0).layer;
  for (double& s : slope) s = -s;
  const int above = add({{"type", "relu"}}, {x.layer});
  const int below = add({{"type", "relu"}}, {builder_.affine(x.layer, {-1}, {0}, false)});
  x.layer = add({{"type", "add"}}, {above, builder_.affine(below, slope, {0}, false)});
  x.formula = nullptr;
  give(node, std::move(x));
}

void Graph::binary(const Node& node) {
  const Value a = value(node, 0), b = value(node, 1);
  for (const auto& [constant, other] : {std::pair(&a, &b), {&b, &a}})
    if (constant->constant != nullptr && other->constant == nullptr &&
        constant->constant->dims.size() > dims_of(*other).size())
      unsupported(node, "has a constant of more dimensions than its layer");
  const Kind kind = kind_of(node.op_type());
  if (a.constant != nullptr && b.constant != nullptr) {
    if (auto sizes = result_of_sizes(kind, *a.constant, *b.constant)) return give_constant(node, std::move(*sizes));
    if (!is_single(a) || !is_single(b)) unsupported(node, "works on constants; export the model with constant folding");
    return give_constant(node, result_of(kind, *a.constant, *b.constant));
  }
  const auto suits = [](const Value& v) { return v.constant != nullptr ? is_single(v) : has_elements(v); };
  if (suits(a) && suits(b) && is_on_one_layer(a, b)) {
    Value made = a.constant != nullptr ? b : a;
    made.formula = Formula::make(kind, formula_of(a), formula_of(b));
    made.alone = a.alone && b.alone;
    if (made.formula->size() <= kMostOperators) return give(node, std::move(made));
  }
  if (a.constant != nullptr || b.constant != nullptr) return with_vector(node, a.constant == nullptr ? 0 : 1);
  join(node);
}

namespace {

// Returns whether a layer can apply the constants to the input `variable` of an operator.
bool applies_to_a_layer(Kind kind, const Tensor& constants, size_t variable) {
  const bool either_side = kind == Kind::add || kind == Kind::multiply;
  return constants.is_real() && kind != Kind::power && (variable == 0 || either_side);
}

}  // namespace

// Applies one number for each channel or, directly after the input, for each feature.
void Graph::with_vector(const Node& node, size_t variable) {
  const Kind kind = kind_of(node.op_type());
  const Tensor t = constant(node, 1 - variable);
  if (!applies_to_a_layer(kind, t, variable))
    unsupported(node, "works on a layer and several constants in a way that no layer does");
  Value& before = value(node, variable);
  materialise(before);
  Value x = before;
  std::vector<double> scale, shift;
  for (size_t i = 0; i < t.size(); ++i) {
    const Affine affine = affine_of(kind, t.real(i));
    scale.push_back(affine.scale);
    shift.push_back(affine.shift);
  }
  const std::vector<int64_t> dims = trimmed(t.dims);
  const Shape& s = x.shape;
  const bool images = !s.flat && x.layout == Value::Layout::plain;
  const bool last = x.layout == Value::Layout::channels_last;
  const bool channels = last ? !s.flat && dims == trimmed({s.channels}) : suits_channels(dims, s, images);
  const bool elements = images && dims == trimmed({s.channels, s.height, s.width});
  if (x.layer == Builder::kInput && x.alone && are_positive(scale) && ((channels && s.flat) || elements)) {
    if (elements)
      for (std::vector<double>* values : {&scale, &shift}) *values = with_channels_last(*values, s);
    builder_.scale_features(scale, shift);
    return give(node, std::move(x));
  }
  if (!channels) unsupported(node, "has constants that are not one number for each channel");
  if (x.layer == Builder::kInput && s.flat) x.layer = rows(node, variable).layer;
  x.layer = builder_.affine(x.layer, scale, shift, x.alone);
  give(node, std::move(x));
}

void Graph::sum(const Node& node) {
  if (node.input_size() == 1) return pass(node);
  if (node.input_size() == 2) return binary(node);
  join(node);
}

void Graph::join(const Node& node) {
  if (node.op_type() == "Mul") return multiply(node);
  if (node.op_type() != "Add" && node.op_type() != "Sum")
    unsupported(node, "joins two layers, and mokume joins layers by Add, Mul and Concat only");
  MadeLayer layer;
  layer.keys = {{"type", "add"}};
  layer.out = layer_value(node, 0).shape;
  for (size_t i = 0; i < size_t(node.input_size()); ++i) {
    const Value x = layer_value(node, i);
    if (x.shape != layer.out)
      unsupported(node, "adds layers of the shapes " + text(layer.out) + " and " + text(x.shape));
    layer.inputs.push_back(x.layer);
  }
  give_layer(node, std::move(layer));
}

// Returns an input of a product, which may be rows as images of one pixel.
const Value& Graph::operand(const Node& node, size_t i) {
  Value& v = value(node, i);
  if (v.layout != Value::Layout::pixel) return v.shape.flat ? rows(node, i) : layer_value(node, i);
  materialise(v);
  return v;
}

void Graph::multiply(const Node& node) {
  const Value a = operand(node, 0), b = operand(node, 1);
  const auto suits = [](const Value& images, const Value& factor) {
    const Shape &s = images.shape, &f = factor.shape;
    const bool pixel = factor.layout == Value::Layout::pixel || !f.flat;
    return !s.flat && pixel && f.height * f.width == 1 && f.channels == s.channels;
  };
  const bool same = a.shape == b.shape && a.layout == b.layout;
  if (!same && !suits(a, b) && !suits(b, a))
    unsupported(node, "multiplies layers of the shapes " + text(a.shape) + " and " + text(b.shape));
  MadeLayer layer;
  layer.keys = {{"type", "multiply"}};
  layer.inputs = {a.layer, b.layer};
  layer.out = same || suits(a, b) ? a.shape : b.shape;
  give_layer(node, std::move(layer));
  if (same) values_.at(node.output(0)).layout = a.layout;
}

void Graph::concat(const Node& node) {
  if (is_constant(node, 0)) {  // the constant is a shape
    constexpr size_t kMostSizes = 64;
    Tensor all;
    for (size_t i = 0; i < size_t(node.input_size()); ++i)
      for (const int64_t v : whole_numbers(node, i))
        if (all.integers.size() <= kMostSizes) all.integers.push_back(v);
    if (all.integers.size() > kMostSizes) unsupported(node, "joins constants that are no shape");
    all.dims = {int64_t(all.integers.size())};
    return give_constant(node, std::move(all));
  }
  MadeLayer layer;
  layer.keys = {{"type", "concat"}};
  for (size_t i = 0; i < size_t(node.input_size()); ++i) {
    const Value x = layer_value(node, i);
    const int64_t axis = integer(node, "axis", 0);
    if (axis != 1 && axis != (x.shape.flat ? -1 : -3))
      unsupported(node, "joins along a dimension other than the channels");
    layer.inputs.push_back(x.layer);
    if (i == 0) {
      layer.out = x.shape;
      continue;
    }
    if (x.shape.flat != layer.out.flat || x.shape.height != layer.out.height || x.shape.width != layer.out.width)
      unsupported(node, "joins layers of different heights and widths");
    layer.out.channels += x.shape.channels;
  }
  if (layer.inputs.size() < 2) return give(node, layer_value(node, 0));
  give_layer(node, std::move(layer));
}

// At the end, the network keeps the softmax's input, and predictions apply it. In between, it is a layer.
void Graph::softmax(const Node& node) {
  const Value x = layer_value(node, 0);
  const Shape& s = x.shape;
  const bool old = model_.operator_set < 13, single = s.height * s.width == 1;  // old ones join all later dimensions
  const int64_t axis = integer(node, "axis", old ? 1 : -1);
  const bool channels = axis == 1 || axis == (s.flat ? -1 : -3);
  const bool last = changed_.count(node.output(0)) == 0;
  if (!channels || (!s.flat && !single && old && (axis != 1 || !last)))
    unsupported(node, "is along a dimension other than the channels, or is not the last one of a classifier");
  if (last && (s.flat || single || old)) {
    flatten_value(node, x);
    classifies_ = ended_ = true;
    return;
  }
  if (node.op_type() != "Softmax") unsupported(node, "is not the last one of a classifier");
  Value made = x;
  made.layer = add({{"type", "softmax"}}, {s.flat ? rows(node, 0).layer : x.layer});
  made.alone = made.bounded = true;
  give(node, std::move(made));
}

void Graph::log_softmax(const Node& node) {
  softmax(node);
  Value& x = values_.at(node.output(0));
  const bool last = x.layer == last_layer();
  if (last && !builder_.layers().empty()) put_channels_first(x.shape.elements());
  x.layer = add({{"type", "log_softmax"}}, {last ? last_layer() : x.layer});
}

}  // namespace mokume::cnn::onnx
