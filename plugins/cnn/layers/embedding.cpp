// embedding replaces columns that hold codes by vectors, which it learns. Each column has a table of its own, which is
// that of PyTorch's Embedding. The other columns come first in the output, unchanged.
#include "sdk/ops/embedding.hpp"

#include <cmath>

#include "layers/export.hpp"
#include "layers/layer.hpp"
#include "sdk/ops/bias_act.hpp"

namespace mokume::cnn {
namespace {

constexpr mk_param kEmbeddingKeys[] = {
    integer("vocabulary", 1, 1 << 24, "", "number of codes of a column, which are integers from 0 to vocabulary - 1"),
    integer("size", 1, 1e6, "", "numbers in the vector of a code"),
    integer("first", 0, 1e9, "0", "first column with codes, from 0"),
    integer("columns", 0, 1e9, "0", "number of columns with codes; 0: all from `first` on"),
};

class Embedding : public Layer {
 public:
  Embedding(const Values& v, LayerPlan& plan)
      : Layer(plan), vocabulary_(v.integer("vocabulary")), size_(v.integer("size")), first_(v.integer("first")) {
    if (!in.flat) plan.refuse("its input is an image of " + text(in), "put a linear layer after flatten instead");
    if (!plan.first) plan.refuse("it needs the codes of the data, but another layer comes before", "put it first");
    columns_ = v.integer("columns") == 0 ? in.elements() - first_ : v.integer("columns");
    if (columns_ < 1 || first_ + columns_ > in.elements())
      plan.refuse("its input has " + std::to_string(in.elements()) + " columns, but the codes end with column " +
                      std::to_string(first_ + std::max<int64_t>(1, columns_) - 1),
                  "lower first or columns");
    out = {1, 1, in.elements() - columns_ + columns_ * size_, true};
    Parameter table{"weight", {1, 1, columns_ * vocabulary_ * size_, true}, 1, Parameter::Kind::features, 1};
    table.draw = Parameter::Draw::normal;
    table.columns = size_;
    table_ = plan.parameter(std::move(table));
    variant = {vocabulary_, size_, first_, columns_};
  }

  void forward(const Pass& p) const override {
    copy(p, 0, first_, 0);
    copy(p, first_ + columns_, in.elements() - first_ - columns_, first_);
    p.submit(ops::embedding(part(p.x, first_, columns_), table_of(p.weights), vectors(p.y)));
  }
  void gradients(const Pass& p, const ParameterVector& to) const override {
    p.submit(ops::embedding_grad(part(p.x, first_, columns_), vectors(p.dy), table_of(to)));
  }
  void check_rows(const float* x, int64_t rows) const override {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = first_; c < first_ + columns_; ++c) {
        const float code = x[r * in.elements() + c];
        if (code >= 0 && code < float(vocabulary_) && code == std::floor(code)) continue;
        throw Error(MK_BAD_DATA, "layer " + name + " (embedding) reads " + shown(code) + " in column " +
                                     std::to_string(c) + " of row " + std::to_string(r) +
                                     ", and its codes are whole numbers from 0 to " + std::to_string(vocabulary_ - 1) +
                                     ": raise vocabulary, or set data.standardize to none");
      }
  }
  std::string to_onnx(Export& to, const std::string& x) const override {
    std::vector<int64_t> starts;
    for (int64_t c = 0; c < columns_; ++c) starts.push_back(c * vocabulary_);
    const std::string codes = to.graph.add("Cast", {columns_of(to, x, ".codes", first_, first_ + columns_)},
                                           sdk::onnx::Attributes().set("to", int64_t{7}));
    const std::string rows = to.graph.add("Add", {codes, to.graph.constant(name + ".starts", {1, columns_}, starts)});
    const std::string found = to.graph.add("Gather", {to.parameter(table_), rows});
    std::vector<std::string> parts;
    if (first_ > 0) parts.push_back(columns_of(to, x, ".before", 0, first_));
    if (first_ + columns_ < in.elements())
      parts.push_back(columns_of(to, x, ".after", first_ + columns_, in.elements()));
    parts.push_back(to.graph.add(
        "Reshape", {found, to.graph.constant(name + ".row", {2}, std::vector<int64_t>{0, columns_ * size_})}));
    return parts.size() == 1 ? parts[0]
                             : to.graph.add("Concat", parts, sdk::onnx::Attributes().set("axis", int64_t{1}));
  }

 private:
  static mk_tensor part(const mk_tensor& t, int64_t first, int64_t count) {
    return sdk::matrix(t.buffer, t.rows, count, t.row_stride, t.offset + first);
  }
  static std::string shown(float code) {
    char text[32];
    std::snprintf(text, sizeof(text), "%g", double(code));
    return text;
  }

  mk_tensor vectors(const mk_tensor& y) const { return part(y, in.elements() - columns_, columns_ * size_); }
  mk_tensor table_of(const ParameterVector& parameters) const {
    const mk_tensor all = parameters.whole(table_);
    return sdk::matrix(all.buffer, columns_ * vocabulary_, size_, 0, all.offset);
  }
  void copy(const Pass& p, int64_t from, int64_t count, int64_t to) const {
    if (count > 0) p.submit(ops::bias_act(part(p.x, from, count), {}, ops::Activation::none, part(p.y, to, count)));
  }
  std::string columns_of(Export& to, const std::string& x, const char* called, int64_t begin, int64_t end) const {
    const auto number = [&](const char* what, int64_t value) {
      return to.graph.constant(name + called + what, {1}, std::vector<int64_t>{value});
    };
    return to.graph.add("Slice", {x, number(".begin", begin), number(".end", end), number(".axis", 1)});
  }

  const int64_t vocabulary_, size_, first_;
  int64_t columns_;
  int table_;
};

}  // namespace

extern constinit const LayerType kEmbedding = layer_type<Embedding>(
    "embedding", "replaces columns with codes by vectors, which it learns, after the other columns", kEmbeddingKeys);

}  // namespace mokume::cnn
