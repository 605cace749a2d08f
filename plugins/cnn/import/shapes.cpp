// Converts operators that move no data, and operators that compute constants.
#include <algorithm>
#include <cmath>
#include <utility>

#include "import/graph.hpp"
#include "sdk/error.hpp"

namespace mokume::cnn::onnx {
namespace {

using ::onnx::TensorProto;

constexpr int64_t kMostDimensions = 16;

// Returns whether a first size stands for all rows. `batch` is the number of rows in the file.
bool is_batch(int64_t size, int64_t batch) { return size == 0 || size == kBatch || size == batch; }

// Returns whether the numbers of a constant are already kept as numbers of this type are.
bool is_of_type(const Tensor& t, int64_t type) {
  if (type == TensorProto::FLOAT) return t.floats.size() == t.size();
  if (type == TensorProto::DOUBLE) return t.doubles.size() == t.size();
  return type == TensorProto::INT64 && t.integers.size() == t.size();
}

// Appends number `i` of a constant as Cast converts it, or returns false if mokume does not read the result.
bool put_as(const Tensor& t, size_t i, int64_t type, Tensor& to) {
  const bool real = t.is_real();
  if (type == TensorProto::FLOAT) {
    to.floats.push_back(real ? float(t.real(i)) : float(t.integers[i]));
  } else if (type == TensorProto::DOUBLE) {
    to.doubles.push_back(real ? t.real(i) : double(t.integers[i]));
  } else if (type == TensorProto::BOOL) {
    to.integers.push_back((real ? t.real(i) != 0 : t.integers[i] != 0) ? 1 : 0);
  } else if (type == TensorProto::INT64 || type == TensorProto::INT32) {
    const double most = type == TensorProto::INT32 ? 0x1p31 : 0x1p63;
    const double whole = real ? std::trunc(t.real(i)) : double(t.integers[i]);
    if (!(whole >= -most && whole < most)) return false;
    to.integers.push_back(real ? int64_t(whole) : t.integers[i]);
  } else {
    return false;
  }
  return true;
}

}  // namespace

// Returns the dimensions of a value in the file; the first dimension is the batch.
std::vector<int64_t> Graph::dims_of(const Value& v) const {
  if (v.constant != nullptr) return v.constant->dims;
  const Shape& s = v.shape;
  const int64_t each = v.groups > 0 ? s.channels / v.groups : 0;
  if (v.layout == Value::Layout::groups) return {kBatch, v.groups, s.elements() / v.groups};
  if (v.layout == Value::Layout::split) return {kBatch, v.groups, each, s.height, s.width};
  if (v.layout == Value::Layout::shuffled) return {kBatch, each, v.groups, s.height, s.width};
  if (v.layout == Value::Layout::pixel) return {kBatch, s.elements(), 1, 1};
  if (v.layout == Value::Layout::channels_last && !s.flat) return {kBatch, s.height, s.width, s.channels};
  if (s.flat) return {kBatch, s.elements()};
  return {kBatch, s.channels, s.height, s.width};
}

void Graph::pass(const Node& node) { give(node, value(node, 0)); }

// The third input asks for training, and so does an old operator without is_test.
void Graph::dropout(const Node& node) {
  const bool trains =
      has_input(node, 2) && (constant(node, 2).size() != 1 || constant(node, 2).integers != std::vector<int64_t>{0});
  if (trains || (model_.operator_set < 7 && integer(node, "is_test", 0) == 0))
    unsupported(node, "is in training mode: call eval() before the export");
  pass(node);
}

// Layers compute with real numbers, so a value may only become a real number that is as exact.
void Graph::cast(const Node& node) {
  const int64_t to = integer(node, "to", 0);
  if (is_constant(node, 0)) return cast_constant(node, to);
  if (to != TensorProto::FLOAT && to != TensorProto::DOUBLE)
    unsupported(node, "rounds its values to another type, and mokume's layers compute in float32");
  pass(node);
}

// Converts as Cast does, since a later node may depend on what it rounds.
void Graph::cast_constant(const Node& node, int64_t to) {
  const Tensor& t = constant(node, 0);
  if (is_of_type(t, to)) return pass(node);
  Tensor made;
  made.dims = t.dims;
  for (size_t i = 0; i < t.size(); ++i) {
    if (!t.is_real() && t.integers[i] == kBatch) {  // a part of a shape
      if (to != TensorProto::INT32) unsupported(node, "converts the number of rows, which is not fixed");
      made.integers.push_back(kBatch);
    } else if (!put_as(t, i, to, made)) {
      unsupported(node, "gives constants of a type that mokume does not read, or numbers out of its range");
    }
  }
  give_constant(node, std::move(made));
}

void Graph::constant_node(const Node& node) {
  if (const auto value = model_.literals.find(&node); value != model_.literals.end())
    return give_constant(node, std::move(value->second));
  if (const auto* a = find(node, "value_float")) return give_constant(node, {{}, {a->f()}, {}, {}});
  if (const auto* a = find(node, "value_int")) return give_constant(node, {{}, {}, {}, {a->i()}});
  if (const auto* a = find(node, "value_floats"))
    return give_constant(node, {{a->floats_size()}, {a->floats().begin(), a->floats().end()}, {}, {}});
  if (const auto* a = find(node, "value_ints"))
    return give_constant(node, {{a->ints_size()}, {}, {}, {a->ints().begin(), a->ints().end()}});
  unsupported(node, "has no value that mokume reads");
}

void Graph::shape_of(const Node& node) {
  if (find(node, "start") != nullptr || find(node, "end") != nullptr) {
    const std::vector<int64_t> all = dims_of(value(node, 0));
    const auto rank = int64_t(all.size());
    const auto place = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
    const int64_t begin = place(integer(node, "start", 0)), end = std::max(begin, place(integer(node, "end", rank)));
    return give_constant(node, {{end - begin}, {}, {}, {all.begin() + begin, all.begin() + end}});
  }
  std::vector<int64_t> dims = dims_of(value(node, 0));
  const auto rank = int64_t(dims.size());
  give_constant(node, {{rank}, {}, {}, std::move(dims)});
}

void Graph::gather(const Node& node) {
  const std::vector<int64_t> from = whole_numbers(node, 0);
  if (constant(node, 0).dims.size() > 1) unsupported(node, "reads a constant that is no shape");
  Tensor made;
  made.dims = constant(node, 1).dims;
  for (int64_t i : whole_numbers(node, 1)) {
    if (i < 0) i += int64_t(from.size());
    if (i < 0 || i >= int64_t(from.size())) throw Error(MK_BAD_DATA, title(node) + " leads beyond its input");
    made.integers.push_back(from[size_t(i)]);
  }
  give_constant(node, std::move(made));
}

// Takes every step-th number of a shape, from the first one up to the one before the end.
void Graph::slice(const Node& node) {
  const auto one = [&](size_t i, const char* attribute, int64_t fallback) {
    const std::vector<int64_t> given =
        has_input(node, i) ? whole_numbers(node, i) : integers(node, attribute, {fallback});
    if (given.size() != 1) unsupported(node, "cuts other things than a shape");
    return given.front();
  };
  const std::vector<int64_t> from = whole_numbers(node, 0);
  const auto n = int64_t(from.size());
  const int64_t axis = one(3, "axes", 0), step = one(4, "steps", 1);
  if (constant(node, 0).dims.size() != 1 || (axis != 0 && axis != -1) || step < 1)
    unsupported(node, "cuts other things than a shape");
  const auto place = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + n : at, 0, n); };
  Tensor made;
  for (int64_t i = place(one(1, "starts", 0)), end = place(one(2, "ends", n)); i < end; i += std::min(step, n))
    made.integers.push_back(from[size_t(i)]);
  made.dims = {int64_t(made.integers.size())};
  give_constant(node, std::move(made));
}

void Graph::unsqueeze(const Node& node) {
  std::vector<int64_t> axes = has_input(node, 1) ? whole_numbers(node, 1) : integers(node, "axes", {});
  const auto rank = int64_t(dims_of(value(node, 0)).size() + axes.size());
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end());
  const Value& x = value(node, 0);
  if (x.shape.flat && x.layout == Value::Layout::plain && axes == std::vector<int64_t>{2, 3} && x.constant == nullptr)
    return make_pixel(node);
  Tensor made = constant(node, 0);
  if (rank > kMostDimensions || std::adjacent_find(axes.begin(), axes.end()) != axes.end() ||
      std::any_of(axes.begin(), axes.end(), [&](int64_t axis) { return axis < 0 || axis >= rank; }))
    unsupported(node, "adds a dimension twice or out of range");
  // In ascending order, each insertion leaves the earlier dimensions where they are.
  for (const int64_t axis : axes) made.dims.insert(made.dims.begin() + axis, 1);
  give_constant(node, std::move(made));
}

// Returns the dimensions that a Squeeze names, in order.
std::vector<int64_t> Graph::squeezed(const Node& node) {
  std::vector<int64_t> axes = has_input(node, 1) ? whole_numbers(node, 1) : integers(node, "axes", {});
  const auto rank = int64_t(dims_of(value(node, 0)).size());
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end());
  return axes;
}

void Graph::squeeze(const Node& node) {
  if (is_constant(node, 0)) {
    Tensor made = constant(node, 0);
    std::vector<int64_t> kept;
    const std::vector<int64_t> axes = squeezed(node);
    for (int64_t i = 0; i < int64_t(made.dims.size()); ++i) {
      const bool named = axes.empty() ? made.dims[size_t(i)] == 1 : std::count(axes.begin(), axes.end(), i) > 0;
      if (!named) kept.push_back(made.dims[size_t(i)]);
    }
    made.dims = std::move(kept);
    return give_constant(node, std::move(made));
  }
  if (ended_) return pass(node);
  const Value x = value(node, 0).layout == Value::Layout::pixel ? value(node, 0) : image(node, 0);
  if (squeezed(node) != std::vector<int64_t>{2, 3}) unsupported(node, "removes dimensions other than height and width");
  if (x.shape.height != 1 || x.shape.width != 1)
    unsupported(node, "removes dimensions other than height and width of 1");
  flatten_value(node, x);
}

void Graph::flatten(const Node& node) {
  const bool pixel = value(node, 0).layout == Value::Layout::pixel;
  const Value x = pixel ? value(node, 0) : in_any_order(node, 0);
  const int64_t axis = integer(node, "axis", 1), rank = x.shape.flat && !pixel ? 2 : 4;
  if ((axis < 0 ? axis + rank : axis) != 1) unsupported(node, "keeps more dimensions than the batch");
  flatten_value(node, x);
}

// Gives rows as images of one pixel, by which only images can be multiplied.
void Graph::make_pixel(const Node& node) {
  Value made = value(node, 0);
  made.layout = Value::Layout::pixel;
  give(node, std::move(made));
}

void Graph::flatten_value(const Node& node, const Value& x) {
  if (x.shape.flat) {
    Value made = x;
    if (x.layout == Value::Layout::pixel) made.layout = Value::Layout::plain;
    return give(node, std::move(made));
  }
  MadeLayer layer;
  layer.keys = {{"type", "flatten"}};
  layer.inputs = {x.layer};
  layer.out = x.shape;
  layer.out.flat = true;
  give_layer(node, std::move(layer));
  Value& made = values_[node.output(0)];
  made.bounded = x.bounded;
  if (x.shape.channels > 1 && x.shape.height * x.shape.width > 1) made.layout = x.layout;
}

void Graph::reshape_constant(const Node& node, std::vector<int64_t> target) {
  Tensor made = constant(node, 0);
  const auto open = std::find(target.begin(), target.end(), -1);
  uint64_t known = 1;
  for (const int64_t v : target) {
    if (v < -1 || v == 0 || v > int64_t(made.size())) unsupported(node, "reshapes a constant in an unknown way");
    known *= v == -1 ? 1 : uint64_t(v);
    if (known > made.size()) unsupported(node, "reshapes a constant to another size");
  }
  if (open != target.end()) *open = int64_t(made.size() / known);
  made.dims = std::move(target);
  uint64_t size = 1;
  for (const int64_t v : made.dims) size *= uint64_t(v);
  if (size != made.size()) unsupported(node, "reshapes a constant to another size");
  give_constant(node, std::move(made));
}

namespace {

// Replaces zeros, which stand for the size before.
void copy_sizes(const std::vector<int64_t>& dims, std::vector<int64_t>& target) {
  for (size_t i = 1; i < std::min(dims.size(), target.size()); ++i)
    if (target[i] == 0) target[i] = dims[i];
}

}  // namespace

// Resolves the target: zeros copy a size, and one -1 takes the remaining size. The first size is the batch.
void Graph::reshape(const Node& node) {
  std::vector<int64_t> target = whole_numbers(node, 1);
  if (is_constant(node, 0)) return reshape_constant(node, std::move(target));
  const std::vector<int64_t> dims = dims_of(value(node, 0));
  const int64_t elements = value(node, 0).shape.elements();
  if (target.empty()) unsupported(node, "reshapes to a single number");
  const bool zeros = std::count(target.begin(), target.end(), 0) > 0;
  if (zeros && integer(node, "allowzero", 0) != 0) unsupported(node, "reshapes to nothing (allowzero)");
  copy_sizes(dims, target);
  int64_t known = 1, open = -1;
  for (size_t i = 1; i < target.size(); ++i) {
    if (target[i] == -1 && open < 0) {
      open = int64_t(i);
    } else if (target[i] < 1 || target[i] > elements || known > elements / target[i]) {
      unsupported(node, "reshapes a row to another number of elements");
    } else {
      known *= target[i];
    }
  }
  const bool batch = is_batch(target[0], batch_);
  if (open >= 0) target[size_t(open)] = elements / known;
  const bool whole = open >= 0 ? elements % known == 0 && (batch || target[0] == 1) : known == elements;
  if (!whole || (!batch && target[0] != -1 && target[0] != 1)) unsupported(node, "does not keep the rows apart");
  target.erase(target.begin());
  reshape_to(node, target);
}

void Graph::reshape_to(const Node& node, const std::vector<int64_t>& target) {
  Value& x = value(node, 0);
  const Shape s = x.shape;
  using Layout = Value::Layout;
  if (x.layout == Layout::groups) {
    if (target != std::vector<int64_t>{s.channels, s.height, s.width} || x.norm == nullptr)
      unsupported(node, "reshapes groups of channels to something other than the image that they were");
    return give_layer(node, *x.norm);
  }
  if (x.layout == Layout::split || x.layout == Layout::shuffled) return join_groups(node, target);
  if (x.layout == Layout::pixel && target.size() == 1) return flatten_value(node, Value(x));
  if (x.layout == Layout::channels_last && target.size() == 1) return flatten_value(node, in_any_order(node, 0));
  const bool done = x.layout == Layout::plain && (s.flat ? reshape_rows(node, target) : reshape_image(node, target));
  if (!done) unsupported(node, "reshapes in a way that mokume's layers do not");
}

// Returns false if no layer does this.
bool Graph::reshape_image(const Node& node, const std::vector<int64_t>& target) {
  const Shape s = value(node, 0).shape;
  if (target == std::vector<int64_t>{s.channels, s.height, s.width}) return give(node, value(node, 0)), true;
  if (target.size() == 1) return flatten_value(node, layer_value(node, 0)), true;
  const bool grouped = target.size() == 2 && s.channels % target[0] == 0;
  const bool split =
      target.size() == 4 && target == std::vector<int64_t>{target[0], s.channels / target[0], s.height, s.width};
  if (!grouped && !split) return false;
  Value made = image(node, 0);
  made.layout = grouped ? Value::Layout::groups : Value::Layout::split;
  made.groups = target[0];
  return give(node, std::move(made)), true;
}

// Returns false if no layer does this.
bool Graph::reshape_rows(const Node& node, const std::vector<int64_t>& target) {
  const Value& x = value(node, 0);
  if (target.size() == 1) return give(node, x), true;
  // The rows of the data are images. mokume stores channels innermost, and a transposition shows the file's order.
  if (target.size() == 3 && x.layer == Builder::kInput) {
    Value images = x;
    const bool first = transposed_.count(node.output(0)) == 0;
    images.shape = first ? Shape{target[1], target[2], target[0]} : Shape{target[0], target[1], target[2]};
    images.layout = first ? Value::Layout::plain : Value::Layout::channels_last;
    builder_.set_input(images.shape);
    return give(node, std::move(images)), true;
  }
  if (target != std::vector<int64_t>{x.shape.elements(), 1, 1}) return false;
  return make_pixel(node), true;
}

// Joins the groups of an image's channels, which a Transpose may have shuffled.
void Graph::join_groups(const Node& node, const std::vector<int64_t>& target) {
  Value x = value(node, 0);
  const Shape& s = x.shape;
  if (target != std::vector<int64_t>{s.channels, s.height, s.width})
    unsupported(node, "reshapes groups of channels to something other than the image that they were");
  if (x.layout == Value::Layout::shuffled) {
    materialise(x);
    x.layer = add({{"type", "channel_shuffle"}, {"groups", x.groups}}, {x.layer});
    x.alone = true;
  }
  x.layout = Value::Layout::plain;
  give(node, std::move(x));
}

void Graph::transpose(const Node& node) {
  const std::vector<int64_t> order = integers(node, "perm", {});
  if (is_constant(node, 0)) {
    const Tensor& t = constant(node, 0);
    if (t.dims.size() != 2 || (!order.empty() && order != std::vector<int64_t>{1, 0}) || !t.is_real())
      unsupported(node, "transposes a constant that is no matrix");
    Tensor made;
    made.dims = {t.dims[1], t.dims[0]};
    for (int64_t c = 0; c < t.dims[1]; ++c)
      for (int64_t r = 0; r < t.dims[0]; ++r) made.floats.push_back(float(t.real(size_t(r * t.dims[1] + c))));
    return give_constant(node, std::move(made));
  }
  Value x = value(node, 0);
  if (x.layout == Value::Layout::split && order == std::vector<int64_t>{0, 2, 1, 3, 4}) {
    x.layout = Value::Layout::shuffled;
    return give(node, std::move(x));
  }
  const bool last = x.layout == Value::Layout::channels_last, plain = x.layout == Value::Layout::plain;
  const std::vector<int64_t> expected = last ? std::vector<int64_t>{0, 3, 1, 2} : std::vector<int64_t>{0, 2, 3, 1};
  if (x.shape.flat || (!last && !plain) || order != expected)
    unsupported(node, "transposes what mokume keeps in one order");
  x.layout = last ? Value::Layout::plain : Value::Layout::channels_last;
  give(node, std::move(x));
}

}  // namespace mokume::cnn::onnx
