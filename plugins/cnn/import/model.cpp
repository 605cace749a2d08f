#include "import/model.hpp"

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <utility>

#include "sdk/error.hpp"

namespace mokume::cnn::onnx {
namespace {

namespace fs = std::filesystem;
using ::onnx::TensorProto;

[[noreturn]] void damaged() {
  throw Error(MK_BAD_DATA, "it is not an ONNX file, or is truncated or damaged; export it again");
}

uint64_t size_of(const fs::path& path) {
  std::error_code failed;
  const uint64_t size = fs::is_regular_file(fs::status(path, failed)) ? fs::file_size(path, failed) : 0;
  if (failed || !fs::is_regular_file(fs::status(path, failed)))
    throw Error(MK_BAD_DATA, path.string() + " cannot be opened: check the path");
  return size;
}

std::string read_part(const fs::path& path, uint64_t first, std::optional<uint64_t> count) {
  const uint64_t size = size_of(path), rest = first <= size ? size - first : 0;
  const uint64_t bytes = count.value_or(rest);
  if (first > size || bytes > rest)
    throw Error(MK_BAD_DATA, path.string() + " is too short for the weights that it should hold: copy it again");
  std::string content(bytes, '\0');
  std::ifstream in(path, std::ios::binary);
  in.seekg(std::streamoff(first));
  in.read(content.data(), std::streamsize(bytes));
  if (!in) throw Error(MK_BAD_DATA, path.string() + " cannot be read: check the disk");
  return content;
}

// Ends the file early if its messages take too much memory. An empty node takes two bytes in the file, but 150 here.
class Source : public google::protobuf::io::CopyingInputStream {
 public:
  Source(const fs::path& path, uint64_t bytes, const google::protobuf::Arena& arena)
      : in_(path, std::ios::binary), limit_(kLeast + kMostPerByte * bytes), arena_(arena) {
    if (!in_) throw Error(MK_BAD_DATA, path.string() + " cannot be read: check its permissions");
  }
  int Read(void* buffer, int size) override {
    full_ = full_ || arena_.SpaceAllocated() > limit_;
    if (full_) return -1;
    in_.read(static_cast<char*>(buffer), size);
    return int(in_.gcount());
  }
  bool full() const { return full_; }

 private:
  // A list of numbers grows by factors of two, and keeps the memory of its earlier sizes.
  static constexpr uint64_t kLeast = uint64_t{64} << 20, kMostPerByte = 4;

  std::ifstream in_;
  const uint64_t limit_;
  const google::protobuf::Arena& arena_;
  bool full_ = false;
};

void parse(const fs::path& path, Model& model) {
  const uint64_t bytes = size_of(path);
  if (bytes > uint64_t(std::numeric_limits<int>::max())) damaged();  // the format has this limit
  Source source(path, bytes, *model.arena);
  constexpr int kPiece = 1 << 16;
  google::protobuf::io::CopyingInputStreamAdaptor stream(&source, kPiece);
  const bool whole = model.file->ParseFromZeroCopyStream(&stream);
  if (source.full()) throw Error(MK_UNSUPPORTED, "it has more nodes, names and attributes than any network");
  if (!whole || !model.file->has_graph()) damaged();
}

// Reads weights from a file next to the model, which may be a link, as in caches of downloads. The name comes from the
// model, so it must not lead anywhere else.
std::string outside(const TensorProto& tensor, const fs::path& model) {
  const auto text = [&](const char* key) {
    std::string value;
    for (const auto& entry : tensor.external_data())
      if (entry.key() == key) value = entry.value();
    return value;
  };
  const auto number = [&](const char* key) -> std::optional<uint64_t> {
    const std::string digits = text(key);
    if (digits.empty()) return std::nullopt;
    if (digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string::npos) damaged();
    return std::stoull(digits);
  };
  const std::string file = text("location");
  const fs::path path = model.parent_path() / file;
  if (file.empty() || file.front() == '.' || file.find('/') != std::string::npos ||
      file.find('\0') != std::string::npos)
    throw Error(MK_BAD_DATA,
                "its weights are in a file that is not next to it: export it with all weights in one file");
  return read_part(path, number("offset").value_or(0), number("length"));
}

// Takes the numbers of a tensor from the list and from `raw`; a valid file has only one of the two.
template <class From, class Raw = From, class To>
void take(const google::protobuf::RepeatedField<From>& list, const std::string& raw, std::vector<To>& to) {
  if (raw.size() % sizeof(Raw) != 0) damaged();
  to.assign(list.begin(), list.end());
  for (size_t at = 0; at < raw.size(); at += sizeof(Raw)) {
    Raw number;  // the format and the machines that mokume runs on are little endian
    std::memcpy(&number, raw.data() + at, sizeof(number));
    to.push_back(static_cast<To>(number));
  }
}

// Converts float16: one bit for the sign, five for the exponent and ten for the fraction.
float from_half(uint32_t half) {
  const auto exponent = static_cast<int>((half >> 10U) & 31U);
  const auto fraction = static_cast<float>(half & 1023U);
  float size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) size = fraction == 0 ? HUGE_VALF : NAN;
  return (half & 0x8000U) != 0 ? -size : size;
}

void take_halves(const google::protobuf::RepeatedField<int32_t>& list, const std::string& raw, std::vector<float>& to) {
  std::vector<int32_t> halves;
  take<int32_t, uint16_t>(list, raw, halves);
  for (const int32_t half : halves) to.push_back(from_half(static_cast<uint32_t>(half)));
}

// Converts a tensor, and moves the bytes of the weights out of `from`.
Tensor tensor(TensorProto& from, const fs::path& path, const std::string& called) {
  Tensor t;
  t.dims.assign(from.dims().begin(), from.dims().end());
  const bool external = from.data_location() == TensorProto::EXTERNAL;
  const std::string raw = external ? outside(from, path) : std::move(*from.mutable_raw_data());
  if (from.data_type() == TensorProto::FLOAT)
    take(from.float_data(), raw, t.floats);
  else if (from.data_type() == TensorProto::FLOAT16)
    take_halves(from.int32_data(), raw, t.floats);
  else if (from.data_type() == TensorProto::DOUBLE)
    take(from.double_data(), raw, t.doubles);
  else if (from.data_type() == TensorProto::INT64)
    take(from.int64_data(), raw, t.integers);
  else if (from.data_type() == TensorProto::INT32)
    take(from.int32_data(), raw, t.integers);
  else if (from.data_type() == TensorProto::BOOL)
    take<int32_t, uint8_t>(from.int32_data(), raw, t.integers);
  else
    t.known = false;
  if (!t.known) return t;
  uint64_t size = 1;
  for (const int64_t dim : t.dims) {
    if (dim < 0 || (dim > 0 && size > (uint64_t{1} << 40) / uint64_t(dim))) damaged();
    size *= uint64_t(dim);
  }
  if (size != t.size())
    throw Error(MK_BAD_DATA, called + " has more or fewer numbers than its shape needs: export it again");
  return t;
}

void read_constants(const fs::path& path, Model& model) {
  ::onnx::GraphProto& graph = *model.file->mutable_graph();
  if (graph.sparse_initializer_size() > 0)
    throw Error(MK_UNSUPPORTED, "it has sparse weights: export it with dense ones");
  for (TensorProto& weight : *graph.mutable_initializer()) {
    Tensor made = tensor(weight, path, "the weight '" + weight.name() + "'");
    model.numbers += made.size();
    model.constants.insert_or_assign(weight.name(), std::move(made));
  }
  for (Node& node : *graph.mutable_node())
    for (::onnx::AttributeProto& attribute : *node.mutable_attribute())
      if (attribute.has_t() && attribute.name() == "value") {
        Tensor made = tensor(*attribute.mutable_t(), path, "a constant");
        model.numbers += made.size();
        model.literals.insert_or_assign(&node, std::move(made));
      }
}

}  // namespace

const ::onnx::AttributeProto* find(const Node& node, std::string_view attribute) {
  const auto& all = node.attribute();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& a) { return a.name() == attribute; });
  return found == all.end() ? nullptr : &*found;
}

int64_t integer(const Node& node, const char* attribute, int64_t fallback) {
  const auto* a = find(node, attribute);
  return a == nullptr ? fallback : a->i();
}

double real(const Node& node, const char* attribute, double fallback) {
  const auto* a = find(node, attribute);
  return a == nullptr ? fallback : double{a->f()};
}

std::string text(const Node& node, const char* attribute, const char* fallback) {
  const auto* a = find(node, attribute);
  return a == nullptr ? fallback : a->s();
}

std::vector<int64_t> integers(const Node& node, const char* attribute, const std::vector<int64_t>& fallback) {
  const auto* a = find(node, attribute);
  if (a == nullptr || a->ints().empty()) return fallback;
  return {a->ints().begin(), a->ints().end()};
}

std::string title(const Node& node) {
  return (node.name().empty() ? "a node" : "the node '" + node.name() + "'") + " (" + node.op_type() + ")";
}

std::vector<int64_t> sizes_of(const ValueInfo& info) {
  std::vector<int64_t> dims;
  for (const auto& dim : info.type().tensor_type().shape().dim())
    dims.push_back(dim.has_dim_value() ? dim.dim_value() : kBatch);
  return dims;
}

std::vector<const ValueInfo*> Model::inputs() const {
  std::vector<const ValueInfo*> result;
  for (const ValueInfo& input : graph().input())
    if (constants.count(input.name()) == 0) result.push_back(&input);
  return result;
}

Model Model::read(const std::string& path) {
  Model model;
  parse(path, model);
  read_constants(path, model);
  for (const auto& set : model.file->opset_import())
    if (set.domain().empty() || set.domain() == "ai.onnx") model.operator_set = set.version();
  return model;
}

}  // namespace mokume::cnn::onnx
