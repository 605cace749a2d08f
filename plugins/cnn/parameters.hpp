// The parameters of a network in a device's memory: one flat vector, cut into segments that its buffers can hold.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "memory.hpp"
#include "network.hpp"
#include "sdk/device.hpp"

namespace mokume::cnn {

// Some rows of one tensor: `rows` x its columns, dense, from element `at` of the segment on. A bias is one row.
struct Part {
  size_t segment;
  int64_t at;
  int64_t first_row, rows;
};

// Which part of the flat vector lies where. Only the weight of a linear layer is ever cut, and only where it is larger
// than a segment: behind multiples of ops::kGemmCut rows, so that products of its parts give the bits of the whole. So
// the parts of a tensor do not depend on the tensors before it.
class Segments {
 public:
  struct Tensor {
    int64_t offset;  // in the network's flat vector
    int64_t columns;
    std::vector<Part> parts;  // in order; none if it is left out
  };

  Segments() = default;
  // Segments of at most `most_bytes`. `wanted`: takes those parameters only.
  // Error(MK_OUT_OF_MEMORY) naming the layer if a tensor that cannot be cut, or ops::kGemmCut rows of one that can, is
  // larger than that.
  Segments(const Network& network, uint64_t most_bytes, bool (*wanted)(const Parameter&) = nullptr);

  size_t count() const { return sizes_.size(); }
  int64_t size(size_t segment) const { return sizes_[segment]; }   // in floats
  int64_t elements() const { return elements_; }                   // of the flat vector
  const std::vector<Tensor>& tensors() const { return tensors_; }  // in the order of the network's parameters
  // Of the tensor that begins at `offset` of the flat vector.
  const Tensor& tensor(int64_t offset) const;

 private:
  void place(const Parameter& parameter, int64_t most);

  int64_t elements_ = 0;
  std::vector<int64_t> sizes_;
  std::vector<Tensor> tensors_;
};

// Floats that are carried between host, device and files at a time, so that a network's size is needed in host memory
// only where a whole copy is asked for.
inline constexpr int64_t kPiece = int64_t{1} << 24;

// body(first, count) for every piece of `size` floats, in order.
template <class Body>
void in_pieces(int64_t size, Body&& body) {
  for (int64_t first = 0; first < size; first += kPiece) body(first, std::min(kPiece, size - first));
}

// One float for each parameter of a layout. Used by one thread.
class ParameterVector {
 public:
  ParameterVector() : device_(nullptr) {}
  // Zeros, in memory taken from `memory`.
  ParameterVector(const sdk::Device& device, Segments layout, SharedMemory& memory);

  const Segments& layout() const { return layout_; }
  // A run of elements of a segment, and a part of a tensor with these columns.
  mk_tensor run(size_t segment, int64_t at, int64_t size) const;
  mk_tensor part(const Part& part, int64_t columns) const;

  // To and from elements [first, first + values.size()) of the network's flat vector; those of tensors that are left
  // out are passed over.
  void write(int64_t first, std::span<const float> values) const;
  void read(int64_t first, std::span<float> values) const;
  // The whole flat vector; zeros where tensors are left out.
  std::vector<float> all() const;

 private:
  template <class Body>
  void for_each_run(int64_t first, int64_t count, Body&& body) const;

  sdk::Device device_;
  Segments layout_;
  std::vector<Slice> buffers_;
};

// A run of neighbours in two layouts of one network.
struct CommonRun {
  size_t segment_a;
  int64_t at_a;
  size_t segment_b;
  int64_t at_b;
  int64_t size;
};

// All elements that are in both, in runs as long as they get.
std::vector<CommonRun> common_runs(const Segments& a, const Segments& b);

}  // namespace mokume::cnn
