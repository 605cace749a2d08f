// Writes ONNX files: a graph of operators with their weights, in the messages of ONNX's own schema. A library that uses
// this header calls mokume_onnx() in its CMakeLists.txt (docs/adr/0044-onnx-by-protocol-buffers.md).
#pragma once

#include <onnx.pb.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sdk/error.hpp"
#include "sdk/storage.hpp"

namespace mokume::sdk::onnx {

inline constexpr int64_t kIrVersion = 8, kOpset = 17, kMlOpset = 3;  // as in ONNX 1.12 and ONNX Runtime 1.12, 2022
inline constexpr const char* kMl = "ai.onnx.ml";
inline constexpr uint64_t kMaxBytes = (uint64_t{1} << 31) - (uint64_t{1} << 20);  // Protocol Buffers end at 2 GiB

using Type = ::onnx::TensorProto::DataType;
inline constexpr Type kFloat = ::onnx::TensorProto::FLOAT, kInt64 = ::onnx::TensorProto::INT64,
                      kString = ::onnx::TensorProto::STRING, kDouble = ::onnx::TensorProto::DOUBLE;

inline void check_size(uint64_t bytes) {
  if (bytes > kMaxBytes) throw Error(MK_UNSUPPORTED, "the model takes more than 2 GiB, which an ONNX file cannot hold");
}

// Collects the attributes of a node by name.
class Attributes {
 public:
  Attributes& set(const std::string& name, int64_t value) {
    add(name, ::onnx::AttributeProto::INT).set_i(value);
    return *this;
  }
  Attributes& set(const std::string& name, float value) {
    add(name, ::onnx::AttributeProto::FLOAT).set_f(value);
    return *this;
  }
  Attributes& set(const std::string& name, const char* value) {
    add(name, ::onnx::AttributeProto::STRING).set_s(value);
    return *this;
  }
  Attributes& set(const std::string& name, const std::vector<float>& values) {
    check_size(values.size() * sizeof(float));
    add(name, ::onnx::AttributeProto::FLOATS).mutable_floats()->Assign(values.begin(), values.end());
    return *this;
  }
  Attributes& set(const std::string& name, const std::vector<int64_t>& values) {
    add(name, ::onnx::AttributeProto::INTS).mutable_ints()->Assign(values.begin(), values.end());
    return *this;
  }
  Attributes& set(const std::string& name, const std::vector<std::string>& values) {
    add(name, ::onnx::AttributeProto::STRINGS).mutable_strings()->Assign(values.begin(), values.end());
    return *this;
  }
  const std::vector<::onnx::AttributeProto>& all() const { return all_; }

 private:
  ::onnx::AttributeProto& add(const std::string& name, ::onnx::AttributeProto::AttributeType type) {
    ::onnx::AttributeProto& made = all_.emplace_back();
    made.set_name(name);
    made.set_type(type);
    return made;
  }
  std::vector<::onnx::AttributeProto> all_;
};

// Builds a graph. Names identify the values.
class Graph {
 public:
  using Shape = std::vector<int64_t>;  // kRows stands for any number of rows
  static constexpr int64_t kRows = -1;

  explicit Graph(const std::string& name) {
    model_.set_ir_version(kIrVersion);
    model_.set_producer_name("mokume");
    model_.set_producer_version(MOKUME_VERSION);
    model_.mutable_graph()->set_name(name);
    add_operators("", kOpset);
    add_operators(kMl, kMlOpset);
  }

  std::string input(const std::string& name, Type type, const Shape& shape) {
    describe(*model_.mutable_graph()->add_input(), name, type, shape);
    return name;
  }
  void output(const std::string& name, Type type, const Shape& shape) {
    describe(*model_.mutable_graph()->add_output(), name, type, shape);
  }

  // Adds a node with one output. Returns the name of the output: `as`, or one that no other node has.
  std::string add(const std::string& op, const std::vector<std::string>& inputs, const Attributes& attributes = {},
                  const std::string& as = "", const char* domain = "") {
    const std::string number = std::to_string(model_.graph().node_size());
    const std::string output = as.empty() ? op + "_" + number : as;
    add_node(op, inputs, attributes, {output}, domain);
    return output;
  }
  void add_node(const std::string& op, const std::vector<std::string>& inputs, const Attributes& attributes,
                const std::vector<std::string>& outputs, const char* domain) {
    const std::string number = std::to_string(model_.graph().node_size());
    ::onnx::NodeProto& node = *model_.mutable_graph()->add_node();
    node.mutable_input()->Assign(inputs.begin(), inputs.end());
    node.mutable_output()->Assign(outputs.begin(), outputs.end());
    node.set_name("node_" + number);
    node.set_op_type(op);
    node.mutable_attribute()->Assign(attributes.all().begin(), attributes.all().end());
    if (*domain != '\0') node.set_domain(domain);
  }

  template <class Number>
  std::string constant(const std::string& name, const Shape& shape, const std::vector<Number>& values) {
    check_size(values.size() * sizeof(Number));
    ::onnx::TensorProto& tensor = *model_.mutable_graph()->add_initializer();
    tensor.mutable_dims()->Assign(shape.begin(), shape.end());
    tensor.set_data_type(std::is_same_v<Number, float> ? kFloat : std::is_same_v<Number, double> ? kDouble : kInt64);
    tensor.set_name(name);
    // The format is little endian, as are the machines on which mokume runs.
    tensor.set_raw_data(values.data(), values.size() * sizeof(Number));
    return name;
  }

  // Subtracts the mean and divides by the scale in double precision, as the program does with the rows that it reads.
  std::string scaled(const std::string& x, const std::vector<double>& mean, const std::vector<double>& scale) {
    if (mean.empty()) return x;
    const Shape shape{static_cast<int64_t>(mean.size())};
    const std::string wide = add("Cast", {x}, Attributes().set("to", int64_t{kDouble}));
    const std::string shifted = add("Sub", {wide, constant("scaling_mean", shape, mean)});
    const std::string divided = add("Div", {shifted, constant("scaling_scale", shape, scale)});
    return add("Cast", {divided}, Attributes().set("to", int64_t{kFloat}));
  }

  // Adds the output "label": for each row, the name of the class with the largest score, or of the first such class.
  void label_of_largest(const std::string& scores, const std::vector<std::string>& classes) {
    std::vector<int64_t> numbers;
    for (size_t c = 0; c < classes.size(); ++c) numbers.push_back(static_cast<int64_t>(c));
    const std::string best = add("ArgMax", {scores}, Attributes().set("axis", int64_t{1}).set("keepdims", int64_t{0}));
    add("LabelEncoder", {best}, Attributes().set("keys_int64s", numbers).set("values_strings", classes), "label", kMl);
    output("label", kString, {kRows});
  }

  // Throws storage_error(), or Error(MK_UNSUPPORTED) if the model is too large.
  void write(const std::string& path) const {
    check_size(model_.ByteSizeLong());
    OutputFile out(path);
    out.append(model_.SerializeAsString());
    out.close();
  }

 private:
  void add_operators(const char* domain, int64_t version) {
    ::onnx::OperatorSetIdProto& set = *model_.add_opset_import();
    set.set_domain(domain);
    set.set_version(version);
  }
  static void describe(::onnx::ValueInfoProto& info, const std::string& name, Type type, const Shape& shape) {
    info.set_name(name);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    auto& dims = *tensor.mutable_shape();
    for (const int64_t size : shape) {
      auto& dim = *dims.add_dim();
      if (size == kRows)
        dim.set_dim_param("rows");
      else
        dim.set_dim_value(size);
    }
  }

  ::onnx::ModelProto model_;
};

}  // namespace mokume::sdk::onnx
