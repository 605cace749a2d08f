#include "import/graph.hpp"

#include <algorithm>
#include <cmath>

#include "sdk/error.hpp"
#include "sdk/ops/window.hpp"

namespace mokume::cnn::onnx {
namespace {

constexpr std::array<int64_t, 4> kNoPad = {};
constexpr int64_t kMostReordered = 1024;
constexpr uint64_t kSmall = 1 << 20;  // a network may have this many numbers even if its file is smaller
uint64_t most_numbers(const Model& model) { return 16 * model.numbers + kSmall; }
constexpr int64_t kMostElements = int64_t{1} << 40;

// Returns whether an operator occurs only as a part of layers.
bool is_auxiliary(const std::string& op) {
  static const std::set<std::string> all = {"Cast", "Constant", "Erf",   "Exp",  "Gather",  "Identity", "Slice",
                                            "Neg",  "Pow",      "Shape", "Sqrt", "Squeeze", "Unsqueeze"};
  return all.count(op) > 0;
}

// Returns whether an operator leaves every number of a row where it is.
bool moves_nothing(const std::string& op) {
  static const std::set<std::string> all = {"Cast",  "Concat",   "Constant", "Dropout", "Flatten", "Gather",
                                            "Slice", "Identity", "Reshape",  "Shape",   "Squeeze", "Unsqueeze"};
  return all.count(op) > 0;
}

// Returns whether a function has limits on both sides, as a sigmoid has.
bool is_bounded(const FormulaPtr& formula) {
  if (formula == nullptr) return false;
  const auto settles = [&](double x) {
    const double limit = Formula::at(formula, x);
    return std::isfinite(limit) && limit == Formula::at(formula, 2 * x);
  };
  return settles(1e30) && settles(-1e30);
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
    : model_(std::move(model)), builder_(shape_of_input(only_input(model_)), most_numbers(model_)) {
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
  if (!first.shape.flat && transposed_.count(input_) > 0) {  // the file has channels last, as mokume does
    first.shape = {first.shape.channels, first.shape.height, first.shape.width};
    first.layout = Value::Layout::channels_last;
    builder_.set_input(first.shape);
  }
  first.alone = first.single = readers_[input_] == 1;
  for (const Node& node : model_.graph().node())
    if (needed_.count(&node) > 0) run(node);
  end();
  builder_.finish();
}

namespace {

// Returns whether a layer gives the value as it is, without padding or another order of dimensions.
bool is_given_by_a_layer(const Value& out) {
  return out.constant == nullptr && out.layout == Value::Layout::plain && out.area == 0 && out.pad == kNoPad;
}

}  // namespace

// Checks that the output is a row of numbers, and determines what they mean.
void Graph::end() {
  const auto found = values_.find(output_);
  if (found == values_.end()) throw Error(MK_BAD_DATA, "no node computes its output: export the model again");
  Value& out = found->second;
  if (!ended_) materialise(out);
  const std::string maker = out.made_by;
  if (out.layout == Value::Layout::channels_last)
    throw Error(MK_UNSUPPORTED,
                "its output '" + output_ + "' has the channels last: end it with a Gemm, or transpose it");
  if (!is_given_by_a_layer(out) || builder_.layers().empty())
    throw Error(MK_UNSUPPORTED, "its output '" + output_ + "' does not depend on layers");
  if (out.layer != last_layer())
    throw Error(MK_UNSUPPORTED, "its output '" + output_ + "' is not the last of its layers");
  if (out.shape.height * out.shape.width == 1) {  // the numbers of one pixel are a row
    Node last;
    last.add_output(output_);
    flatten_value(last, Value(out));
  }
  if (!out.shape.flat)
    throw Error(
        MK_UNSUPPORTED,
        "its output is images of " + text(out.shape) +
            ", but a network of mokume has a row of numbers as its output: one for each class, or a single one");
  outputs_ = out.shape.elements();
  if (out.bounded && outputs_ > 1)
    throw Error(MK_UNSUPPORTED, maker + " ends the network with " + std::to_string(outputs_) +
                                    " numbers between bounds, which are no scores of classes: export it without this " +
                                    "node if each row has one class");
  if (classifies_ && outputs_ == 1)
    throw Error(MK_UNSUPPORTED, "its output is the Softmax of a single number, always 1");
  put_channels_first(outputs_);
  // A softmax that is the last layer does nothing.
  if (ended_ && builder_.layers().back().type() == "softmax") add({{"type", "softmax"}}, {last_layer()});
  classifies_ = classifies_ || outputs_ > 1;
  if (!classes_.empty() && int64_t(classes_.size()) != outputs_) classes_.clear();
}

// Returns whether the last layer gives elements of images in mokume's order, channels innermost. A linear layer reads
// them in the order of the file, and gives rows without any order.
bool Graph::ends_in_image_order() const {
  const Shape& s = builder_.layers().back().out;
  return s.channels > 1 && s.height * s.width > 1;
}

int Graph::add(nlohmann::ordered_json keys, std::vector<int> inputs) {
  MadeLayer layer;
  layer.keys = std::move(keys);
  layer.out = builder_.shape_of(inputs.front());
  layer.inputs = std::move(inputs);
  return builder_.add(std::move(layer));
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
  layer.inputs = {last_layer()};
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
    const bool last = integers(*node, "perm", {}) == std::vector<int64_t>{0, 3, 1, 2};
    if (node->op_type() == "Transpose" && last && !node->input().empty()) transposed_.insert(node->input(0));
    const bool changed = !moves_nothing(node->op_type()) ||
                         std::any_of(node->output().begin(), node->output().end(),
                                     [&](const std::string& name) { return changed_.count(name) > 0; });
    for (const std::string& name : node->input()) {
      wanted.insert(name);
      if (changed) changed_.insert(name);
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

// Lists the attributes that a handler reads, and those that do not change what the layers compute.
const std::map<std::string, Graph::Operator>& Graph::operators() {
  constexpr const char *kWindow = "auto_pad dilations group kernel_shape pads strides",
                       *kPool =
                           "auto_pad ceil_mode count_include_pad dilations kernel_shape pads storage_order strides",
                       *kConstant = "value value_float value_floats value_int value_ints";
  static const std::map<std::string, Operator> all = {
      {"Conv", {&Graph::conv, kWindow}},
      {"ConvTranspose",
       {&Graph::conv_transpose, "auto_pad dilations group kernel_shape output_padding output_shape pads strides"}},
      {"Pad", {&Graph::pad, "mode pads value"}},
      {"MaxPool", {&Graph::max_pool, kPool}},
      {"AveragePool", {&Graph::average_pool, kPool}},
      {"GlobalAveragePool", {&Graph::global_average_pool}},
      {"GlobalMaxPool", {&Graph::global_max_pool}},
      {"ReduceMean", {&Graph::reduce_mean, "axes keepdims noop_with_empty_axes"}},
      {"Gemm", {&Graph::gemm, "alpha beta broadcast transA transB"}},
      {"MatMul", {&Graph::matmul}},
      {"BatchNormalization", {&Graph::batch_norm, "epsilon is_test momentum spatial training_mode"}},
      {"LayerNormalization", {&Graph::layer_norm, "axis epsilon stash_type"}},
      {"InstanceNormalization", {&Graph::instance_norm, "epsilon"}},
      {"GroupNormalization", {&Graph::group_norm, "epsilon num_groups stash_type"}},
      {"LRN", {&Graph::lrn, "alpha beta bias size"}},
      {"Relu", {&Graph::unary}},
      {"LeakyRelu", {&Graph::unary, "alpha"}},
      {"Sigmoid", {&Graph::unary}},
      {"Tanh", {&Graph::unary}},
      {"Erf", {&Graph::unary}},
      {"Exp", {&Graph::unary}},
      {"Sqrt", {&Graph::unary}},
      {"Neg", {&Graph::unary}},
      {"PRelu", {&Graph::prelu}},
      {"Gelu", {&Graph::gelu, "approximate"}},
      {"Clip", {&Graph::clip, "max min"}},
      {"HardSigmoid", {&Graph::hard_sigmoid, "alpha beta"}},
      {"HardSwish", {&Graph::hard_swish}},
      {"Add", {&Graph::binary}},
      {"Sub", {&Graph::binary}},
      {"Mul", {&Graph::binary}},
      {"Div", {&Graph::binary}},
      {"Pow", {&Graph::binary}},
      {"Sum", {&Graph::sum}},
      {"Concat", {&Graph::concat, "axis"}},
      {"Softmax", {&Graph::softmax, "axis"}},
      {"LogSoftmax", {&Graph::log_softmax, "axis"}},
      {"Identity", {&Graph::pass}},
      {"Dropout", {&Graph::dropout, "is_test ratio seed"}},
      {"Cast", {&Graph::cast, "round_mode saturate to"}},
      {"Constant", {&Graph::constant_node, kConstant}},
      {"Shape", {&Graph::shape_of, "end start"}},
      {"Gather", {&Graph::gather, "axis"}},
      {"Slice", {&Graph::slice, "axes ends starts"}},
      {"Flatten", {&Graph::flatten, "axis"}},
      {"Reshape", {&Graph::reshape, "allowzero"}},
      {"Unsqueeze", {&Graph::unsqueeze, "axes"}},
      {"Squeeze", {&Graph::squeeze, "axes"}},
      {"Transpose", {&Graph::transpose, "perm"}},
  };
  return all;
}

void Graph::check_attributes(const Node& node, std::string_view known) {
  const std::string words = " " + std::string(known) + " ";
  for (const auto& attribute : node.attribute())
    if (words.find(" " + attribute.name() + " ") == std::string::npos)
      unsupported(node, "has the attribute " + attribute.name() +
                            ", which mokume does not know: export the model with " +
                            "a newer operator set, such as 17");
}

void Graph::run(const Node& node) {
  const auto found = operators().find(node.op_type());
  const bool standard = node.domain().empty() || node.domain() == "ai.onnx";
  if (found == operators().end() || !standard) {
    std::string known;
    for (const auto& [op, ignored] : operators())
      if (!is_auxiliary(op)) known += (known.empty() ? "" : " ") + op;
    throw Error(MK_UNSUPPORTED, title(node) + " has no equivalent in mokume; supported are: " + known);
  }
  if (node.output().empty()) throw Error(MK_BAD_DATA, title(node) + " has no output: export the model again");
  check_attributes(node, found->second.attributes);
  if (ended_ && !moves_nothing(node.op_type()))
    unsupported(node, "comes after the softmax, which must be the last one");
  (this->*found->second.handle)(node);
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
                title(node) + " reads '" + node.input(int(i)) + "', which no node computes: export the model again");
  if (found->second.area != 0 && node.op_type() != "MatMul")
    unsupported(node, "reads the rows of an image without its columns");
  if (found->second.pad != kNoPad && node.op_type() != "Conv")
    unsupported(node, "reads an image that a Pad has enlarged, and mokume pads only in convolutions");
  return found->second;
}

bool Graph::is_constant(const Node& node, size_t i) { return value(node, i).constant != nullptr; }

const Tensor& Graph::constant(const Node& node, size_t i) {
  const Value& v = value(node, i);
  if (v.constant == nullptr)
    unsupported(node, "has an input '" + node.input(int(i)) + "' that is computed, but must be constant");
  if (!v.constant->known)
    unsupported(node, "has a constant that is neither float16, float32 nor int64: convert it before the export");
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
  if (t.size() != t.integers.size()) unsupported(node, "has real numbers instead of integers");
  return t.integers;
}

const Value& Graph::layer_value(const Node& node, size_t i) {
  if (!is_constant(node, i) && value(node, i).layout == Value::Layout::channels_last)
    unsupported(node, "reads values in another order than channels first");
  return in_any_order(node, i);
}

const Value& Graph::in_any_order(const Node& node, size_t i) {
  Value& v = value(node, i);
  if (v.constant != nullptr) unsupported(node, "works on a constant; export the model with constant folding");
  if (v.layout == Value::Layout::pixel) unsupported(node, "reads rows as images of one pixel");
  if (!v.has_one_order()) unsupported(node, "reads an image in groups of channels");
  materialise(v);
  return v;
}

const Value& Graph::image(const Node& node, size_t i) {
  const Value& v = layer_value(node, i);
  if (v.shape.flat) unsupported(node, "needs images of two dimensions, but reads rows of features");
  return v;
}

const Value& Graph::rows(const Node& node, size_t i) {
  const Value& v = in_any_order(node, i);
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

void Graph::materialise(Value& v) {
  if (v.constant != nullptr || v.formula == nullptr) return;
  v.layer = emit(v.made_by, v.layer, v.formula, v.alone);
  v.bounded = is_bounded(v.formula);
  v.formula = nullptr;
  v.alone = v.single;
}

namespace {

[[noreturn]] void refuse_function(const std::string& title) {
  throw Error(MK_UNSUPPORTED, title + " ends a function of a layer that is none of mokume's activations");
}

}  // namespace

// Adds layers that compute a formula of a layer's output.
int Graph::emit(const std::string& title, int layer, const FormulaPtr& formula, bool alone) {
  if (formula == nullptr) return layer;
  const auto refuse = [&] { refuse_function(title); };
  if (formula->size() > kMostOperators) refuse();
  if (const auto affine = as_affine(formula)) {
    if (affine->scale == 0) refuse();
    if (affine->scale == 1 && affine->shift == 0) return layer;
    return builder_.affine(layer, {affine->scale}, {affine->shift}, alone);
  }
  if (auto keys = as_activation(formula)) return add(std::move(*keys), {layer});
  if (formula->is_binary()) return emit_binary(title, layer, formula);
  if (formula->a() == nullptr) refuse();
  return emit(title, emit(title, layer, formula->a(), alone),
              Formula::make(formula->kind(), nullptr, nullptr, formula->value()), false);
}

// Separates the outermost operator, which has two operands.
int Graph::emit_binary(const std::string& title, int layer, const FormulaPtr& formula) {
  const FormulaPtr &a = formula->a(), &b = formula->b();
  const auto number = [](const FormulaPtr& f) { return f != nullptr && f->is_number(); };
  if (formula->kind() == Formula::Kind::power && number(b) && b->value() == 2) {
    const int root = emit(title, layer, a, false);
    return add({{"type", "multiply"}}, {root, root});
  }
  if (formula->is_binary() && (number(a) || number(b))) {
    const FormulaPtr& inner = number(a) ? b : a;
    if (inner == nullptr) refuse_function(title);
    const FormulaPtr outer =
        number(a) ? Formula::make(formula->kind(), a, nullptr) : Formula::make(formula->kind(), nullptr, b);
    const int between = emit(title, layer, inner, false);
    return emit(title, between, outer, between != layer);
  }
  if (formula->kind() == Formula::Kind::add || formula->kind() == Formula::Kind::multiply) {
    const int left = emit(title, layer, a, false), right = emit(title, layer, b, false);
    return add({{"type", formula->kind() == Formula::Kind::add ? "add" : "multiply"}}, {left, right});
  }
  refuse_function(title);
}

void Graph::give(const Node& node, Value v) {
  v.single = readers_[node.output(0)] <= 1;
  v.alone = v.alone && v.single;
  v.made_by = title(node);
  values_[node.output(0)] = std::move(v);
}

void Graph::give_constant(const Node& node, Tensor tensor) {
  numbers_ += tensor.size();
  if (numbers_ > most_numbers(model_)) unsupported(node, "computes far more constants than the file has");
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
