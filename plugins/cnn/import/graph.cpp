#include "import/graph.hpp"

#include <algorithm>
#include <cmath>

#include "sdk/error.hpp"
#include "sdk/ops/window.hpp"

namespace mokume::cnn::onnx {
namespace {

constexpr int64_t kMostReordered = 1024;
constexpr uint64_t kSmall = 1 << 20;  // a network may have this many numbers even if its file is smaller
constexpr int64_t kMostElements = int64_t{1} << 40;

// Returns whether an operator occurs only as a part of layers.
bool is_auxiliary(const std::string& op) {
  static const std::set<std::string> all = {"Cast", "Constant", "Erf",   "Exp",  "Gather",  "Identity",
                                            "Neg",  "Pow",      "Shape", "Sqrt", "Squeeze", "Unsqueeze"};
  return all.count(op) > 0;
}

// Returns the shape of a row. Rows of features have one dimension; images have channels, height and width.
Shape shape_of_input(const ValueInfo& input) {
  const std::vector<int64_t> d = sizes_of(input);
  if ((d.size() != 2 && d.size() != 4))
    throw Error(MK_UNSUPPORTED, "the input '" + input.name() +
                                    "' must be rows x features or rows x channels x height x width: export the model "
                                    "with an example of that shape");
  for (size_t i = 1; i < d.size(); ++i)
    if (d[i] < 1 || d[i] > ops::kMaxSide)
      throw Error(MK_UNSUPPORTED, "the input '" + input.name() +
                                      "' has a size that is not fixed or out of range: only the first one, the batch, "
                                      "may be open");
  if (d.size() == 2) return {1, 1, d[1], true};
  return {d[2], d[3], d[1], false};
}

const ValueInfo& only_input(const Model& model) {
  const std::vector<const ValueInfo*> inputs = model.inputs();
  if (inputs.size() != 1)
    throw Error(MK_UNSUPPORTED, "it has " + std::to_string(inputs.size()) + " inputs, and a network has one");
  return *inputs.front();
}

}  // namespace

Graph::Graph(Model model)
    : model_(std::move(model)), builder_(shape_of_input(only_input(model_)), 16 * model_.numbers + kSmall) {
  const ValueInfo& input = only_input(model_);
  input_ = input.name();
  batch_ = sizes_of(input).front();
  find_output();
  find_needed();
  find_classes();
  for (auto& [name, tensor] : model_.constants) {
    values_[name].constant = std::make_shared<Tensor>(std::move(tensor));
    values_[name].origin = name;
  }
  Value& first = values_[input_];
  first = {};
  first.shape = builder_.input();
  first.alone = first.single = readers_[input_] == 1;
  for (const Node& node : model_.graph().node())
    if (needed_.count(&node) > 0) run(node);
  const auto end = values_.find(output_);
  if (end == values_.end()) throw Error(MK_BAD_DATA, "nothing gives its output: export the model again");
  Node last;
  last.set_op_type("output");
  if (!ended_) materialise(last, end->second);
  const Value& out = end->second;
  if (out.constant != nullptr || out.layout != Value::Layout::plain || out.area != 0 || builder_.layers().empty())
    throw Error(MK_UNSUPPORTED, "its output '" + output_ + "' does not depend on layers");
  if (out.layer != int(builder_.layers().size()) - 1)
    throw Error(MK_UNSUPPORTED, "its output '" + output_ + "' is not the last of its layers");
  if (!out.shape.flat)
    throw Error(MK_UNSUPPORTED, "its output is images of " + text(out.shape) +
                                    ", and a network of mokume gives a row of numbers: classes, or one number");
  outputs_ = out.shape.elements();
  put_channels_first(outputs_);
  classifies_ = classifies_ || outputs_ > 1;
  if (!classes_.empty() && int64_t(classes_.size()) != outputs_) classes_.clear();
  builder_.finish();
}

// Returns whether the last layer gives elements of images in mokume's order, channels innermost. A linear layer reads
// them in the order of the file, and gives rows without any order.
bool Graph::ends_in_image_order() const {
  std::vector<bool> ordered;
  for (const MadeLayer& layer : builder_.layers()) {
    const Shape& image = builder_.shape_of(layer.inputs.front());
    const auto reads_ordered = [&](int input) { return input != Builder::kInput && ordered[size_t(input)]; };
    if (layer.type() == "flatten")
      ordered.push_back(image.channels > 1 && image.height * image.width > 1);
    else
      ordered.push_back(layer.type() != "linear" &&
                        std::any_of(layer.inputs.begin(), layer.inputs.end(), reads_ordered));
  }
  return ordered.back();
}

// Puts the elements of images into the order of the file. The layer is the identity, whose columns have that order.
void Graph::put_channels_first(int64_t elements) {
  if (!ends_in_image_order()) return;
  if (elements > kMostReordered)
    throw Error(MK_UNSUPPORTED, "it ends with the " + std::to_string(elements) +
                                    " elements of flattened images, which mokume keeps in another order; up to " +
                                    std::to_string(kMostReordered) + " can be put in order");
  MadeLayer layer;
  layer.keys = {{"type", "linear"}, {"out_features", elements}, {"bias", false}};
  layer.hint = "order";
  layer.inputs = {int(builder_.layers().size()) - 1};
  layer.out = {1, 1, elements, true};
  std::vector<float> identity(size_t(elements * elements), 0.0F);
  for (int64_t i = 0; i < elements; ++i) identity[size_t(i * elements + i)] = 1;
  layer.weights.push_back({"weight", {elements, elements}, std::move(identity)});
  layer.frozen = true;
  builder_.add(std::move(layer));
}

// Finds the only output of real numbers. Files that mokume exports have the labels as a second output.
void Graph::find_output() {
  std::vector<std::string> found;
  for (const ValueInfo& output : model_.graph().output()) {
    const int32_t type = output.type().tensor_type().elem_type();
    if (type == ::onnx::TensorProto::FLOAT || type == ::onnx::TensorProto::DOUBLE) found.push_back(output.name());
  }
  if (found.size() != 1)
    throw Error(MK_UNSUPPORTED, "it has " + std::to_string(found.size()) +
                                    " outputs of real numbers, and a network has one: export it with one");
  output_ = found.front();
}

// Searches from the output backwards. In a valid file, nodes are in the order of computation.
void Graph::find_needed() {
  std::set<std::string> wanted{output_};
  readers_[output_] = 1;
  const auto& nodes = model_.graph().node();
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const auto gives = [&](const std::string& name) { return wanted.count(name) > 0; };
    if (std::none_of(node->output().begin(), node->output().end(), gives)) continue;
    needed_.insert(&*node);
    if (node->op_type() == "Transpose" && !node->input().empty()) transposed_.insert(node->input(0));
    for (const std::string& name : node->input()) {
      wanted.insert(name);
      if (node->op_type() != "Shape") ++readers_[name];
    }
  }
}

void Graph::find_classes() {
  for (const Node& node : model_.graph().node())
    if (const auto* names = find(node, "values_strings")) {
      classes_.assign(names->strings().begin(), names->strings().end());
      classifies_ = true;
    }
}

const std::map<std::string, Graph::Handler>& Graph::handlers() {
  static const std::map<std::string, Handler> all = {
      {"Conv", &Graph::conv},
      {"ConvTranspose", &Graph::conv_transpose},
      {"MaxPool", &Graph::max_pool},
      {"AveragePool", &Graph::average_pool},
      {"GlobalAveragePool", &Graph::global_average_pool},
      {"GlobalMaxPool", &Graph::global_max_pool},
      {"ReduceMean", &Graph::reduce_mean},
      {"Gemm", &Graph::gemm},
      {"MatMul", &Graph::matmul},
      {"BatchNormalization", &Graph::batch_norm},
      {"LayerNormalization", &Graph::layer_norm},
      {"InstanceNormalization", &Graph::instance_norm},
      {"GroupNormalization", &Graph::group_norm},
      {"Relu", &Graph::unary},
      {"LeakyRelu", &Graph::unary},
      {"Sigmoid", &Graph::unary},
      {"Tanh", &Graph::unary},
      {"Erf", &Graph::unary},
      {"Exp", &Graph::unary},
      {"Sqrt", &Graph::unary},
      {"Neg", &Graph::unary},
      {"PRelu", &Graph::prelu},
      {"Gelu", &Graph::gelu},
      {"Add", &Graph::binary},
      {"Sub", &Graph::binary},
      {"Mul", &Graph::binary},
      {"Div", &Graph::binary},
      {"Pow", &Graph::binary},
      {"Concat", &Graph::concat},
      {"Softmax", &Graph::softmax},
      {"LogSoftmax", &Graph::log_softmax},
      {"Identity", &Graph::pass},
      {"Dropout", &Graph::pass},
      {"Cast", &Graph::cast},
      {"Constant", &Graph::constant_node},
      {"Shape", &Graph::shape_of},
      {"Gather", &Graph::gather},
      {"Flatten", &Graph::flatten},
      {"Reshape", &Graph::reshape},
      {"Unsqueeze", &Graph::unsqueeze},
      {"Squeeze", &Graph::squeeze},
      {"Transpose", &Graph::transpose},
  };
  return all;
}

void Graph::run(const Node& node) {
  const auto handler = handlers().find(node.op_type());
  const bool standard = node.domain().empty() || node.domain() == "ai.onnx";
  if (handler == handlers().end() || !standard) {
    std::string known;
    for (const auto& [op, ignored] : handlers())
      if (!is_auxiliary(op)) known += (known.empty() ? "" : " ") + op;
    throw Error(MK_UNSUPPORTED, title(node) + " has no equivalent in mokume; supported are: " + known);
  }
  if (node.output().empty()) throw Error(MK_BAD_DATA, title(node) + " has no output: export the model again");
  if (ended_) unsupported(node, "comes after the softmax, which must be the last one");
  (this->*handler->second)(node);
}

void Graph::unsupported(const Node& node, const std::string& why) {
  throw Error(MK_UNSUPPORTED, title(node) + " " + why);
}

bool Graph::has_input(const Node& node, size_t i) const {
  return i < size_t(node.input_size()) && !node.input(int(i)).empty();
}

const std::string& Graph::input_name(const Node& node, size_t i) const {
  if (!has_input(node, i)) throw Error(MK_BAD_DATA, title(node) + " lacks an input: export the model again");
  return node.input(int(i));
}

Value& Graph::value(const Node& node, size_t i) {
  const auto found = values_.find(input_name(node, i));
  if (found == values_.end())
    throw Error(MK_BAD_DATA,
                title(node) + " reads '" + node.input(int(i)) + "', which nothing gives: export the model again");
  if (found->second.area != 0 && node.op_type() != "MatMul")
    unsupported(node, "reads the rows of an image without its columns");
  return found->second;
}

bool Graph::is_constant(const Node& node, size_t i) { return value(node, i).constant != nullptr; }

const Tensor& Graph::constant(const Node& node, size_t i) {
  const Value& v = value(node, i);
  if (v.constant == nullptr)
    unsupported(node, "has an input '" + node.input(int(i)) + "' that is computed, but must be constant");
  if (!v.constant->known)
    unsupported(node, "has a constant that is neither float32 nor int64: convert it before the export");
  return *v.constant;
}

std::vector<float> Graph::floats(const Node& node, size_t i) {
  const Tensor& t = constant(node, i);
  if (!t.is_real()) unsupported(node, "has whole numbers as weights");
  if (!t.floats.empty()) return t.floats;
  return {t.doubles.begin(), t.doubles.end()};
}

std::vector<int64_t> Graph::whole_numbers(const Node& node, size_t i) {
  const Tensor& t = constant(node, i);
  if (t.size() != t.integers.size()) unsupported(node, "has real numbers where whole ones belong");
  return t.integers;
}

const Value& Graph::layer_value(const Node& node, size_t i) {
  Value& v = value(node, i);
  if (v.constant != nullptr) unsupported(node, "works on a constant; export the model with constant folding");
  if (v.layout != Value::Layout::plain) unsupported(node, "reads values in another order than channels first");
  materialise(node, v);
  return v;
}

const Value& Graph::image(const Node& node, size_t i) {
  const Value& v = layer_value(node, i);
  if (v.shape.flat) unsupported(node, "needs images of two dimensions, but reads rows of features");
  return v;
}

const Value& Graph::rows(const Node& node, size_t i) {
  const Value& v = layer_value(node, i);
  if (!v.shape.flat) unsupported(node, "reads images, and mokume has it only after Flatten");
  if (v.layer != Builder::kInput) return v;
  // Adds a flatten layer, because the data may be images with this number of features.
  Value& input = value(node, i);
  MadeLayer flat;
  flat.keys = {{"type", "flatten"}};
  flat.inputs = {Builder::kInput};
  flat.out = input.shape;
  input.layer = builder_.add(std::move(flat));
  return input;
}

void Graph::materialise(const Node& node, Value& v) {
  if (v.constant != nullptr || v.formula == nullptr) return;
  v.layer = emit(node, v.layer, v.formula, v.alone);
  v.formula = nullptr;
  v.alone = v.single;
}

// Adds layers that compute a formula of a layer's output.
int Graph::emit(const Node& node, int layer, const FormulaPtr& formula, bool alone) {
  if (formula == nullptr) return layer;
  const auto refuse = [&]() { unsupported(node, "ends a function of a layer that is none of mokume's activations"); };
  if (formula->size() > kMostOperators) refuse();
  const auto add = [&](nlohmann::ordered_json keys, std::vector<int> inputs) {
    MadeLayer made;
    made.out = builder_.shape_of(inputs.front());
    made.keys = std::move(keys);
    made.inputs = std::move(inputs);
    return builder_.add(std::move(made));
  };
  if (const auto affine = as_affine(formula)) {
    if (affine->scale == 0) refuse();
    if (affine->scale == 1 && affine->shift == 0) return layer;
    return builder_.affine(layer, {affine->scale}, {affine->shift}, alone);
  }
  if (auto keys = as_activation(formula)) return add(std::move(*keys), {layer});
  // If no single layer matches, separates the outermost operator.
  const FormulaPtr &a = formula->a(), &b = formula->b();
  const auto number = [](const FormulaPtr& f) { return f != nullptr && f->is_number(); };
  if (formula->is_binary() && (number(a) || number(b))) {
    const FormulaPtr& inner = number(a) ? b : a;
    if (inner == nullptr) refuse();
    const FormulaPtr outer =
        number(a) ? Formula::make(formula->kind(), a, nullptr) : Formula::make(formula->kind(), nullptr, b);
    const int between = emit(node, layer, inner, false);
    return emit(node, between, outer, between != layer);
  }
  if (formula->kind() == Formula::Kind::add) {
    const int left = emit(node, layer, a, false), right = emit(node, layer, b, false);
    return add({{"type", "add"}}, {left, right});
  }
  if (formula->is_binary() || a == nullptr) refuse();
  return emit(node, emit(node, layer, a, false), Formula::make(formula->kind(), nullptr, nullptr, formula->value()),
              false);
}

void Graph::give(const Node& node, Value v) {
  v.single = readers_[node.output(0)] <= 1;
  v.alone = v.alone && v.single;
  values_[node.output(0)] = std::move(v);
}

void Graph::give_constant(const Node& node, Tensor tensor) {
  Value v;
  v.constant = std::make_shared<Tensor>(std::move(tensor));
  if (has_input(node, 0)) v.origin = value(node, 0).origin;
  values_[node.output(0)] = std::move(v);
}

void Graph::give_layer(const Node& node, MadeLayer layer) {
  const Shape& s = layer.out;
  if (s.height < 1 || s.width < 1 || s.channels < 1 || double(s.height) * s.width * s.channels > kMostElements)
    unsupported(node, "has an output of " + text(s) + ", which is out of range");
  Value v;
  v.shape = layer.out;
  v.layer = builder_.add(std::move(layer));
  give(node, std::move(v));
}

// Returns "layer1.conv" for the weight "layer1.conv.weight".
std::string Graph::hint(const Node& node, size_t i) const {
  const auto found = has_input(node, i) ? values_.find(node.input(int(i))) : values_.end();
  if (found == values_.end()) return "";
  const std::string& name = found->second.origin;
  const size_t dot = name.rfind('.');
  return dot == std::string::npos ? "" : name.substr(0, dot);
}

}  // namespace mokume::cnn::onnx
