// Reads and writes the safetensors format, which keeps named tensors and strings in one file.
//
// A file consists of an unsigned 64-bit little-endian length, a JSON object of that many bytes
// ({"NAME":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},...}, with strings under "__metadata__"), and the data,
// row-major and little endian. The offsets, counted from the end of the header, cover the data without gap or overlap.
// https://github.com/huggingface/safetensors
//
// A file may carry its own checksum: the metadata "mokume_crc32" is the CRC-32 (zlib) of the whole file, in 8
// hexadecimal digits, computed with zeros in place of these digits. Other readers of the format see an ordinary string.
#pragma once

#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sdk/error.hpp"

namespace mokume::safetensors {

// Lists the types of mokume's tensors in file order, so that no element is ever misaligned.
enum class Dtype { i64, f32, i32 };

template <class T>
constexpr Dtype kDtype = std::is_same_v<T, float> ? Dtype::f32
                         : sizeof(T) == 8         ? Dtype::i64
                                                  : Dtype::i32;

using Shape = std::vector<int64_t>;  // empty for a scalar; an entry of 0 means no elements
using Metadata = std::map<std::string, std::string>;

// Limits headers to far more than any network needs. The reader rejects a longer header before reading it.
inline constexpr uint64_t kMaxHeaderBytes = uint64_t{1} << 24;

// Collects tensors and writes them. Files with equal content are byte-identical, whatever the order of the calls: like
// the format's own library, the writer sorts tensors by type, then by name.
class Writer {
 public:
  // Receives the next bytes of a tensor; does not keep the pointer.
  using Put = std::function<void(const void* data, uint64_t bytes)>;
  // Passes all bytes of a tensor, row-major, in any number of calls, so that memory never has to hold all of it.
  using Source = std::function<void(const Put& put)>;

  // write() calls `source` and propagates its exceptions. Throws Error(MK_INVALID_ARGUMENT) if a name is taken,
  // reserved or not UTF-8, or if a size is negative or overflows.
  void add(const std::string& name, Dtype dtype, const Shape& shape, Source source);
  void add(const std::string& name, const Shape& shape, Source source) {
    add(name, Dtype::f32, shape, std::move(source));
  }
  // `data` holds as many elements as `shape` requires. It is not copied and must live until write().
  void add(const std::string& name, Dtype dtype, const Shape& shape, const void* data);
  template <class T>
  void add(const std::string& name, const Shape& shape, const T* data) {
    add(name, kDtype<T>, shape, data);
  }

  void checksum();

  // Replaces an earlier string with the same key. Throws Error(MK_INVALID_ARGUMENT) if either string is not UTF-8.
  void metadata(const std::string& key, const std::string& value);

  // Writes a temporary file in the same directory, calls fsync and renames it. A reader sees either the old or the new
  // file, even with concurrent writers to the same path; a kill leaves at most PATH.tmp-.... Throws
  // sdk::storage_error() with the path and the cause.
  void write(const std::string& path) const;

 private:
  struct Entry {
    Shape shape;
    Source source;
    uint64_t bytes;
  };

  std::string header() const;

  std::map<std::pair<Dtype, std::string>, Entry> tensors_;  // in file order
  Metadata metadata_;
};

struct Tensor {
  std::string name;
  Dtype dtype = Dtype::f32;
  Shape shape;
  uint64_t begin = 0;  // offset from the start of the data
  uint64_t bytes = 0;

  bool is(const Shape& of_floats) const { return dtype == Dtype::f32 && shape == of_floats; }
};

// Reads a file that may contain anything. The constructor checks everything except the tensors' data, which are read
// one tensor at a time straight into the caller's memory. Only one thread at a time may use a reader. Every failure is
// an Error(MK_BAD_DATA) that names the file, the tensor and the cure.
class Reader {
 public:
  explicit Reader(const std::string& path);
  // Reads a file that is in memory, which must outlive the reader. `path` is its name in messages.
  Reader(const std::string& path, std::string_view bytes);

  const Metadata& metadata() const { return metadata_; }  // excludes the checksum

  // Reads the whole file once. Throws if it has no checksum, or if the checksum does not match.
  void verify() const;

  const std::vector<Tensor>& tensors() const { return tensors_; }  // in the order of their data

  // Returns null if no tensor has this name.
  const Tensor* find(std::string_view name) const;

  // Fills `into`, which has room for tensor.bytes bytes. `tensor` must be one of tensors().
  void read(const Tensor& tensor, void* into) const { read(tensor, 0, tensor.bytes, into); }
  // Reads bytes [first, first + bytes) of the tensor, which must exist.
  void read(const Tensor& tensor, uint64_t first, uint64_t bytes, void* into) const;
  // Reads a tensor that must have this type and shape.
  template <class T>
  void read(std::string_view name, const Shape& shape, T* into) const {
    read(expect(name, kDtype<T>, shape), into);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const;
  [[noreturn]] void damaged(const std::string& why) const;
  const Tensor& expect(std::string_view name, Dtype dtype, const Shape& shape) const;
  void get(uint64_t offset, void* into, uint64_t bytes, const std::string& what) const;
  void read_header(uint64_t size);
  void parse();
  void parse_tensor(const std::string& name, const nlohmann::json& object);
  void check_offsets();

  std::string path_;
  mutable std::ifstream file_;
  std::string_view memory_;  // the whole file, if it is in memory
  std::string header_;
  std::string checksum_;  // digits, or "" without a checksum
  uint64_t data_begin_ = 0, data_bytes_ = 0;
  std::vector<Tensor> tensors_;
  Metadata metadata_;
};

}  // namespace mokume::safetensors
