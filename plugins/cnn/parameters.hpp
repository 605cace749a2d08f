// The parameters of a network in a device's memory: one flat vector, cut into segments that its buffers can hold.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "layers/parameter.hpp"
#include "memory.hpp"
#include "sdk/device.hpp"

namespace mokume::cnn {

// Neighbouring rows of one tensor, dense, from element `at` of a segment on. A bias is one row.
struct Extent {
  size_t segment;
  int64_t at;
  int64_t first_row, rows, columns;

  int64_t size() const { return rows * columns; }
};

// Which elements of the flat vector lie where. Only the weight of a linear layer is ever cut, and only if it is larger
// than a segment: after multiples of ops::kGemmCut rows, so that products of its extents give the bits of the whole.
// Thus the extents of a tensor do not depend on the tensors before it.
class Segments {
 public:
  Segments() = default;
  // Segments of at most `most_bytes`. `left_out`: indices of parameters that get no memory.
  // Error(MK_OUT_OF_MEMORY) that names the layer if a tensor that cannot be cut, or ops::kGemmCut rows of one that can,
  // is larger than that.
  Segments(std::span<const Parameter> parameters, uint64_t most_bytes, std::span<const int> left_out = {});

  size_t count() const { return sizes_.size(); }
  int64_t size(size_t segment) const { return sizes_[segment]; }  // in floats
  int64_t elements() const { return elements_; }                  // of the flat vector
  // Those of each parameter in order; none if it is left out.
  const std::vector<std::vector<Extent>>& extents() const { return extents_; }
  // The element of the flat vector at which an extent of this parameter begins.
  int64_t flat_begin(size_t parameter, const Extent& e) const { return offsets_[parameter] + e.first_row * e.columns; }

 private:
  void place(const Parameter& parameter, int64_t most);

  int64_t elements_ = 0;
  std::vector<int64_t> sizes_, offsets_;
  std::vector<std::vector<Extent>> extents_;
};

// Floats that are carried between host, device and files at a time, so that a network's size is needed in host memory
// only where a whole copy is asked for.
inline constexpr int64_t kChunk = int64_t{1} << 24;

// body(first, count) for every chunk of `size` floats, in order.
template <class Body>
void for_each_chunk(int64_t size, Body&& body) {
  for (int64_t first = 0; first < size; first += kChunk) body(first, std::min(kChunk, size - first));
}

// One float for each parameter of a layout. Used by one thread.
class ParameterVector {
 public:
  ParameterVector() : device_(nullptr) {}
  // Zeros, in memory taken from `memory`.
  ParameterVector(const sdk::Device& device, Segments layout, StackMemory& memory);

  const Segments& layout() const { return layout_; }
  const std::vector<Extent>& extents(int parameter) const { return layout_.extents()[parameter]; }
  mk_tensor at(const Extent& e) const { return buffers_[e.segment].matrix(e.rows, e.columns, e.at); }
  // A parameter that is never cut; {} for -1.
  mk_tensor whole(int parameter) const { return parameter < 0 ? mk_tensor{} : at(extents(parameter).front()); }
  // A run of elements of a segment.
  mk_tensor run(size_t segment, int64_t at, int64_t size) const { return buffers_[segment].vector(size, at); }

  // To and from elements [first, first + values.size()) of the network's flat vector; those of parameters that are left
  // out are passed over.
  void write(int64_t first, std::span<const float> values) const;
  void read(int64_t first, std::span<float> values) const;
  // The whole flat vector; zeros where parameters are left out.
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
