// The parts of an ONNX file that an import needs, from untrusted bytes.
// https://github.com/onnx/onnx/blob/main/onnx/onnx.proto, whose field numbers model.cpp uses.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mokume::cnn::onnx {

// A size or a number that only the rows of a batch determine.
inline constexpr int64_t kBatch = INT64_MIN;

// A constant: real numbers (float32, or float64 for scalings) or whole ones. No dimension: a single number.
struct Tensor {
  std::vector<int64_t> dims;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<int64_t> integers;
  bool known = true;  // false: of a type that mokume does not read, and without its numbers

  size_t size() const { return floats.size() + doubles.size() + integers.size(); }
  bool is_real() const { return integers.empty(); }
  double real(size_t i) const { return floats.empty() ? doubles.at(i) : double{floats.at(i)}; }
};

struct Attribute {
  int64_t integer = 0;
  float real = 0;
  std::string text;
  std::vector<int64_t> integers;
  std::vector<float> reals;
  std::vector<std::string> texts;
  std::optional<Tensor> tensor;
};

struct Node {
  std::string name, op, domain;
  std::vector<std::string> inputs, outputs;  // names of values; "": an optional one that is not given
  std::map<std::string, Attribute> attributes;

  int64_t integer(const char* attribute, int64_t fallback) const;
  double real(const char* attribute, double fallback) const;
  std::string text(const char* attribute, const char* fallback) const;
  std::vector<int64_t> integers(const char* attribute, const std::vector<int64_t>& fallback) const;
  // "the node 'conv1' (Conv)".
  std::string title() const;
};

struct ValueInfo {
  std::string name;
  int64_t type = 0;           // TensorProto.DataType
  std::vector<int64_t> dims;  // kBatch: not fixed
  bool has_shape = false;
};

struct Model {
  std::vector<Node> nodes;
  std::map<std::string, Tensor> constants;
  std::vector<ValueInfo> inputs, outputs;  // inputs without constants
  uint64_t numbers = 0;                    // total over all constants

  // Reads the file at `path`, and the files next to it that hold its weights. Throws Error(MK_BAD_DATA) if they
  // are damaged, and Error(MK_UNSUPPORTED) for sparse weights.
  static Model read(const std::string& path);
};

}  // namespace mokume::cnn::onnx
