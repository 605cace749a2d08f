// Writes ONNX files: a graph of operators with their weights, in the wire format of Protocol Buffers.
//
// https://protobuf.dev/programming-guides/encoding and https://github.com/onnx/onnx/blob/main/onnx/onnx.proto, whose
// field numbers stand below. A writer needs only these few messages (docs/adr/0028-onnx.md).
#pragma once

#include <bit>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sdk/error.hpp"

namespace mokume::sdk::onnx {

inline constexpr int64_t kIrVersion = 8, kOpset = 17, kMlOpset = 3;  // ONNX 1.12 and ONNX Runtime 1.12, of 2022
inline constexpr const char* kMl = "ai.onnx.ml";
inline constexpr uint64_t kMaxBytes = (uint64_t{1} << 31) - (uint64_t{1} << 20);  // Protocol Buffers end at 2 GiB

enum Type : int64_t { kFloat = 1, kInt64 = 7, kString = 8, kDouble = 11 };  // TensorProto.DataType

// The encoded fields of a message.
class Message {
 public:
  Message& integer(uint32_t field, int64_t value) {
    varint(uint64_t{field} << 3);
    varint(static_cast<uint64_t>(value));
    return *this;
  }
  Message& number(uint32_t field, float value) {
    varint((uint64_t{field} << 3) + 5);
    little_endian(std::bit_cast<uint32_t>(value));
    return *this;
  }
  Message& text(uint32_t field, std::string_view value) {
    if (bytes_.size() + value.size() > kMaxBytes)
      throw Error(MK_UNSUPPORTED, "the model takes more than 2 GiB, which an ONNX file cannot hold");
    varint((uint64_t{field} << 3) + 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(uint32_t field, const Message& value) { return text(field, value.bytes_); }

  template <class Float>
  static std::string raw(const std::vector<Float>& values) {  // little endian, as TensorProto.raw_data
    Message out;
    for (const Float value : values)
      if constexpr (sizeof(Float) == 8)
        out.little_endian(std::bit_cast<uint64_t>(value));
      else
        out.little_endian(std::bit_cast<uint32_t>(value));
    return std::move(out.bytes_);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  template <class Unsigned>
  void little_endian(Unsigned value) {
    for (size_t i = 0; i < sizeof(value); ++i) bytes_ += static_cast<char>(value >> (8 * i));
  }

  std::string bytes_;
};

// The attributes of a node, by name.
class Attributes {
 public:
  Attributes& set(const std::string& name, int64_t value) { return add(name, Message().integer(3, value), 2); }
  Attributes& set(const std::string& name, float value) { return add(name, Message().number(2, value), 1); }
  Attributes& set(const std::string& name, const char* value) { return add(name, Message().text(4, value), 3); }
  Attributes& set(const std::string& name, const std::vector<float>& values) {
    Message all;
    for (const float value : values) all.number(7, value);
    return add(name, all, 6);
  }
  Attributes& set(const std::string& name, const std::vector<int64_t>& values) {
    Message all;
    for (const int64_t value : values) all.integer(8, value);
    return add(name, all, 7);
  }
  Attributes& set(const std::string& name, const std::vector<std::string>& values) {
    Message all;
    for (const std::string& value : values) all.text(9, value);
    return add(name, all, 8);
  }
  const std::vector<Message>& all() const { return all_; }

 private:
  // AttributeProto: `type` is its AttributeType.
  Attributes& add(const std::string& name, Message value, int64_t type) {
    all_.push_back(std::move(value.text(1, name).integer(20, type)));
    return *this;
  }
  std::vector<Message> all_;
};

// A graph under construction. Values are known by their names.
class Graph {
 public:
  using Shape = std::vector<int64_t>;  // kRows: any number of rows
  static constexpr int64_t kRows = -1;

  explicit Graph(std::string name) : name_(std::move(name)) {}

  std::string input(const std::string& name, Type type, const Shape& shape) {
    graph_.message(11, value_info(name, type, shape));
    return name;
  }
  void output(const std::string& name, Type type, const Shape& shape) {
    graph_.message(12, value_info(name, type, shape));
  }

  // Adds a node with one output, and returns its name: `as`, or one that no other node has.
  std::string add(const std::string& op, const std::vector<std::string>& inputs, const Attributes& attributes = {},
                  const std::string& as = "", const char* domain = "") {
    const std::string output = as.empty() ? op + "_" + std::to_string(nodes_) : as;
    add_node(op, inputs, attributes, {output}, domain);
    return output;
  }
  void add_node(const std::string& op, const std::vector<std::string>& inputs, const Attributes& attributes,
                const std::vector<std::string>& outputs, const char* domain) {
    Message node;
    for (const std::string& value : inputs) node.text(1, value);
    for (const std::string& value : outputs) node.text(2, value);
    node.text(3, "node_" + std::to_string(nodes_++)).text(4, op);
    for (const Message& attribute : attributes.all()) node.message(5, attribute);
    if (*domain != '\0') node.text(7, domain);
    graph_.message(1, node);
  }

  template <class Float>
  std::string constant(const std::string& name, const Shape& shape, const std::vector<Float>& values) {
    Message tensor;
    for (const int64_t size : shape) tensor.integer(1, size);
    tensor.integer(2, std::is_same_v<Float, float> ? kFloat : std::is_same_v<Float, double> ? kDouble : kInt64);
    graph_.message(5, tensor.text(8, name).text(9, Message::raw(values)));
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

  // Adds the output "label": the names of the classes with the largest score, of equal ones the first.
  void label_of_largest(const std::string& scores, const std::vector<std::string>& classes) {
    std::vector<int64_t> numbers;
    for (size_t c = 0; c < classes.size(); ++c) numbers.push_back(static_cast<int64_t>(c));
    const std::string best = add("ArgMax", {scores}, Attributes().set("axis", int64_t{1}).set("keepdims", int64_t{0}));
    add("LabelEncoder", {best}, Attributes().set("keys_int64s", numbers).set("values_strings", classes), "label", kMl);
    output("label", kString, {kRows});
  }

  // Throws Error(MK_STORAGE).
  void write(const std::string& path) const {
    Message model;
    model.integer(1, kIrVersion).text(2, "mokume").text(3, MOKUME_VERSION);
    model.message(7, Message(graph_).text(2, name_));
    model.message(8, Message().text(1, "").integer(2, kOpset)).message(8, Message().text(1, kMl).integer(2, kMlOpset));
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(model.bytes().data(), static_cast<std::streamsize>(model.bytes().size()));
    out.close();
    if (!out) throw Error(MK_STORAGE, "cannot write " + path + "; check free space and permissions");
  }

 private:
  static Message value_info(const std::string& name, Type type, const Shape& shape) {
    Message dims;
    for (const int64_t size : shape)
      dims.message(1, size == kRows ? Message().text(2, "rows") : Message().integer(1, size));
    return Message().text(1, name).message(2, Message().message(1, Message().integer(1, type).message(2, dims)));
  }

  std::string name_;
  Message graph_;
  int64_t nodes_ = 0;
};

}  // namespace mokume::sdk::onnx
