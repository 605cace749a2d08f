// Reads ONNX files, which may contain anything, with their constants (docs/adr/0044-onnx-by-protocol-buffers.md).
#pragma once

#include <google/protobuf/arena.h>
#include <onnx.pb.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mokume::cnn::onnx {

using Node = ::onnx::NodeProto;
using ValueInfo = ::onnx::ValueInfoProto;

// Marks a size or a number that only the rows of a batch determine.
inline constexpr int64_t kBatch = INT64_MIN;

// Holds a constant of real numbers (float32, or float64 for scalings) or integers (or booleans); a single number has no
// dimensions.
struct Tensor {
  std::vector<int64_t> dims;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<int64_t> integers;
  bool known = true;  // false if mokume does not read the type; the tensor then has no numbers

  size_t size() const { return floats.size() + doubles.size() + integers.size(); }
  bool is_real() const { return integers.empty(); }
  double real(size_t i) const { return floats.empty() ? doubles.at(i) : double{floats.at(i)}; }
};

const ::onnx::AttributeProto* find(const Node& node,
                                   std::string_view attribute);  // returns null if the node does not have the attribute
int64_t integer(const Node& node, const char* attribute, int64_t fallback);
double real(const Node& node, const char* attribute, double fallback);
std::string text(const Node& node, const char* attribute, const char* fallback);
std::vector<int64_t> integers(const Node& node, const char* attribute, const std::vector<int64_t>& fallback);

// Returns text such as "the node 'conv1' (Conv)".
std::string title(const Node& node);

// Returns the dimensions of an input or output, with kBatch for dimensions that are not fixed, or none without a shape.
std::vector<int64_t> sizes_of(const ValueInfo& info);

struct Model {
  std::unique_ptr<google::protobuf::Arena> arena = std::make_unique<google::protobuf::Arena>();
  ::onnx::ModelProto* file = google::protobuf::Arena::CreateMessage<::onnx::ModelProto>(arena.get());
  std::map<std::string, Tensor> constants;  // keyed by name
  std::map<const Node*, Tensor> literals;   // "value" attributes of nodes
  uint64_t numbers = 0;                     // number of elements of all constants and literals
  int64_t operator_set = 1;                 // version of the standard's operators

  const ::onnx::GraphProto& graph() const { return file->graph(); }
  std::vector<const ValueInfo*> inputs() const;  // leaves out constants

  // Reads the file at `path`, and the files next to it that hold its weights. Throws Error(MK_BAD_DATA) if they
  // are damaged, and Error(MK_UNSUPPORTED) for sparse weights and for far more parts than a network has.
  static Model read(const std::string& path);
};

}  // namespace mokume::cnn::onnx
