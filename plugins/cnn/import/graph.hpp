// Converts the operators of an ONNX graph to layers. Values are rows of features or, as in PyTorch, images with
// channels first; the first dimension is the batch.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "import/builder.hpp"
#include "import/formula.hpp"
#include "import/model.hpp"

namespace mokume::cnn::onnx {

// Holds the value of a name in the graph: a constant, or a function of the output of a layer.
struct Value {
  enum class Layout {
    plain,
    channels_last,  // N x H x W x C between two transpositions, or its rows
    pixel,          // N x C x 1 x 1, rows as images of one pixel
    groups,         // N x G x -1, an image whose channels are in groups for normalisation
    split,          // N x G x C / G x H x W, an image whose channels are in groups
    shuffled        // N x C / G x G x H x W
  };

  std::shared_ptr<const Tensor> constant = {};
  std::string origin = {};  // name of the original weight of a constant
  int layer = Builder::kInput;
  Shape shape = {};
  FormulaPtr formula = {};  // applied to each element
  bool bounded = false;     // whether the numbers are those of a function with limits on both sides
  bool alone = true;        // whether nothing else reads the layer, or a value between the layer and this value
  bool single = true;       // whether only one node reads this value
  Layout layout = Layout::plain;
  // Layouts with groups need their number; Layout::groups also needs their normalisation, once it is known.
  int64_t groups = 0;
  std::shared_ptr<const MadeLayer> norm = {};
  int64_t area = 0;  // if positive, rows are already averaged over this number of areas, and columns are not
  // Pixels around the image that no layer has added: top, left, bottom, right. The mode is one of conv2d's
  // padding_mode.
  std::array<int64_t, 4> pad = {};
  std::string pad_mode = "zeros";
  std::string made_by = {};  // title of the node that gives the value

  bool has_one_order() const { return layout == Layout::plain || layout == Layout::channels_last; }
};

class Graph {
 public:
  // Reads the model. Throws Error(MK_UNSUPPORTED) for a node that no layer computes, or Error(MK_BAD_DATA) for damage.
  explicit Graph(Model model);

  Builder& builder() { return builder_; }
  bool classifies() const { return classifies_; }
  int64_t outputs() const { return outputs_; }
  const std::vector<std::string>& classes() const { return classes_; }  // empty if unknown

 private:
  struct Operator {
    void (Graph::*handle)(const Node&);
    std::string_view attributes = "";  // attributes that may be present
  };
  static const std::map<std::string, Operator>& operators();
  static void check_attributes(const Node& node, std::string_view known);

  // ---- graph.cpp handles the graph and its values
  void check_input();
  void end();
  bool ends_in_image_order() const;
  void put_channels_first(int64_t elements);
  int last_layer() const { return int(builder_.layers().size()) - 1; }
  // Adds a layer whose output has the shape of its first input.
  int add(nlohmann::ordered_json keys, std::vector<int> inputs);
  void find_output();
  void find_needed();
  void find_classes();
  void run(const Node& node);
  [[noreturn]] static void unsupported(const Node& node, const std::string& why);
  const std::string& input_name(const Node& node, size_t i) const;
  bool has_input(const Node& node, size_t i) const;
  Value& value(const Node& node, size_t i);
  bool is_constant(const Node& node, size_t i);
  const Tensor& constant(const Node& node, size_t i);
  std::vector<float> floats(const Node& node, size_t i);
  std::vector<int64_t> whole_numbers(const Node& node, size_t i);
  // Returns the value of an input, after adding a layer for a pending formula.
  const Value& layer_value(const Node& node, size_t i);
  const Value& image(const Node& node, size_t i);
  const Value& rows(const Node& node, size_t i);
  const Value& in_any_order(const Node& node, size_t i);
  void materialise(Value& value);
  int emit(const std::string& title, int layer, const FormulaPtr& formula, bool alone);
  int emit_binary(const std::string& title, int layer, const FormulaPtr& formula);
  void give(const Node& node, Value value);
  void give_constant(const Node& node, Tensor tensor);
  void give_layer(const Node& node, MadeLayer layer);
  std::string hint(const Node& node, size_t i) const;

  // ---- windows.cpp handles convolutions and pools
  struct Window {
    int64_t kernel_h, kernel_w, stride_h, stride_w, top, left, bottom, right, dilation_h, dilation_w;
    bool is_even() const { return top == bottom && left == right; }
    bool is_below_kernel() const;
    bool covers(const Shape& image) const;
    bool is_same() const;  // whether the padding is that of same = true
  };
  static Weight even_out(const Node& node, Window& w, Weight weight, int64_t below, int64_t beside);
  Window window(const Node& node, const Shape& in, int64_t kernel_h, int64_t kernel_w);
  static void put_window(const Node& node, const Window& w, nlohmann::ordered_json& keys, bool pool, const Shape& in);
  static bool put_ceil_mode(const Window& w, nlohmann::ordered_json& keys, const Shape& in);
  void pool(const Node& node, const char* type);
  void conv(const Node& node);
  void pad(const Node& node);
  void conv_transpose(const Node& node);
  void max_pool(const Node& node);
  void average_pool(const Node& node);
  void global_average_pool(const Node& node);
  void average_all(const Node& node, const Value& x);
  void global_max_pool(const Node& node);
  void reduce_mean(const Node& node);
  bool adaptive_pool(const Node& node);

  // ---- products.cpp handles linear layers and normalisations
  void gemm(const Node& node);
  void matmul(const Node& node);
  void linear(const Node& node, bool transposed, bool with_bias);
  void batch_norm(const Node& node);
  void layer_norm(const Node& node);
  void instance_norm(const Node& node);
  void lrn(const Node& node);
  void group_norm(const Node& node);
  MadeLayer group_norm_of(const Shape& shape, int64_t groups, double eps, const std::vector<float>& weight,
                          const std::vector<float>& bias) const;

  // ---- elements.cpp handles operators on elements
  void unary(const Node& node);
  void gelu(const Node& node);
  void prelu(const Node& node);
  void prelu_of_channels(const Node& node, std::vector<double> slope);
  Value function_value(const Node& node);
  void clip(const Node& node);
  void hard_sigmoid(const Node& node);
  void hard_swish(const Node& node);
  void binary(const Node& node);
  void with_vector(const Node& node, size_t variable);
  void sum(const Node& node);
  void join(const Node& node);
  void multiply(const Node& node);
  const Value& operand(const Node& node, size_t i);
  void concat(const Node& node);
  void softmax(const Node& node);
  void log_softmax(const Node& node);

  // ---- shapes.cpp handles operators that move no data, and constants
  void pass(const Node& node);
  void dropout(const Node& node);
  void cast(const Node& node);
  void cast_constant(const Node& node, int64_t to);
  void constant_node(const Node& node);
  void shape_of(const Node& node);
  void gather(const Node& node);
  void slice(const Node& node);
  void flatten(const Node& node);
  void reshape(const Node& node);
  void reshape_constant(const Node& node, std::vector<int64_t> target);
  void reshape_to(const Node& node, const std::vector<int64_t>& target);
  bool reshape_image(const Node& node, const std::vector<int64_t>& target);
  bool reshape_rows(const Node& node, const std::vector<int64_t>& target);
  void unsqueeze(const Node& node);
  void squeeze(const Node& node);
  void make_pixel(const Node& node);
  void join_groups(const Node& node, const std::vector<int64_t>& target);
  std::vector<int64_t> squeezed(const Node& node);
  void transpose(const Node& node);
  std::vector<int64_t> dims_of(const Value& value) const;
  void flatten_value(const Node& node, const Value& value);

  Model model_;
  Builder builder_;
  std::map<std::string, Value> values_;
  std::map<std::string, int> readers_;  // number of needed nodes that read each value
  std::set<const Node*> needed_;
  std::set<std::string> changed_;     // values that more than changes of shape separate from the output
  std::set<std::string> transposed_;  // values with channels last that a needed node transposes
  std::string input_, output_;
  int64_t batch_ = kBatch;
  uint64_t numbers_ = 0;  // number of elements of all constants that nodes compute
  bool ended_ = false, classifies_ = false;
  int64_t outputs_ = 0;
  std::vector<std::string> classes_;
};

}  // namespace mokume::cnn::onnx
