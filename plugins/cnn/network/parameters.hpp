// Stores the parameters of a network in device memory: one flat vector, cut into segments that fit into buffers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "layers/parameter.hpp"
#include "memory.hpp"
#include "sdk/device.hpp"

namespace mokume::cnn {

// Describes adjacent rows of one tensor, dense, from element `at` of a segment. A bias has one row.
struct Extent {
  size_t segment;
  int64_t at;
  int64_t first_row, rows, columns;

  int64_t size() const { return rows * columns; }
};

// Maps the flat vector to segments. Cuts only weights of linear layers that are larger than a segment, at multiples of
// ops::kGemmCut rows, so that products of the extents give the same bits as one product. The cuts of a tensor do not
// depend on the tensors before it. Learned parameters come first, then running moments in their own segments, then
// frozen parameters.
class Segments {
 public:
  Segments() = default;
  // Makes segments of at most `most_bytes`. Parameters whose indices are in `left_out` get no memory, nor do rows that
  // do not begin in [begin, end) of the flat vector. Throws Error(MK_OUT_OF_MEMORY) with the layer's name if a tensor
  // that cannot be cut, or ops::kGemmCut rows of one that can, exceeds the size.
  Segments(std::span<const Parameter> parameters, uint64_t most_bytes, std::span<const int> left_out = {},
           int64_t begin = 0, int64_t end = INT64_MAX);

  size_t count() const { return sizes_.size(); }
  size_t learned() const { return learned_; }  // number of segments with learned parameters, which come first
  size_t moving() const { return moving_; }    // the same plus the segments with running moments
  int64_t size(size_t segment) const { return sizes_[segment]; }  // in floats
  int64_t elements() const { return elements_; }                  // size of the flat vector
  // Returns the extents of each parameter in order. A parameter that is left out has none.
  const std::vector<std::vector<Extent>>& extents() const { return extents_; }
  // Returns the index of an extent's first element in the flat vector.
  int64_t flat_begin(size_t parameter, const Extent& e) const { return offsets_[parameter] + e.first_row * e.columns; }

 private:
  // Places rows [first_row, end_row). Segments before `begin` are full.
  void place(int index, const Parameter& parameter, int64_t first_row, int64_t end_row, int64_t most, size_t begin);

  int64_t elements_ = 0;
  size_t learned_ = 0, moving_ = 0;
  std::vector<int64_t> sizes_, offsets_;
  std::vector<std::vector<Extent>> extents_;
};

// Limits the floats that are copied between host, device and files at a time. Only all() needs more host memory.
inline constexpr int64_t kChunk = int64_t{1} << 24;

// Calls body(first, count) for consecutive chunks of `size` floats.
template <class Body>
void for_each_chunk(int64_t size, Body&& body) {
  for (int64_t first = 0; first < size; first += kChunk) body(first, std::min(kChunk, size - first));
}

// Describes elements that are adjacent in three layouts of one network: those of weights, gradients and states.
struct CommonRun {
  struct Place {
    size_t segment;
    int64_t at;
  };
  Place weight, gradient, state;
  int64_t size;
  double apart;
};

// Holds one float for each element of a layout's parameters. Only one thread at a time may use a vector.
class ParameterVector {
 public:
  ParameterVector() : device_(nullptr) {}
  // Takes memory from `memory`, and sets all values to 0.
  ParameterVector(const sdk::Device& device, Segments layout, StackMemory& memory);

  const Segments& layout() const { return layout_; }
  const std::vector<Extent>& extents(int parameter) const { return layout_.extents()[parameter]; }
  mk_tensor at(const Extent& e) const { return buffers_[e.segment].matrix(e.rows, e.columns, e.at); }
  // Returns a parameter that is never cut, or {} for -1.
  mk_tensor whole(int parameter) const { return parameter < 0 ? mk_tensor{} : at(extents(parameter).front()); }
  mk_tensor run(size_t segment, int64_t at, int64_t size) const { return buffers_[segment].vector(size, at); }
  mk_tensor run(const CommonRun::Place& at, int64_t size) const { return run(at.segment, at.at, size); }

  // Copy elements [first, first + values.size()) of the network's flat vector. Skip parameters that are left out.
  void write(int64_t first, std::span<const float> values) const;
  // Does the same as write(), but does not change frozen parameters.
  void write_moving(int64_t first, std::span<const float> values) const;
  void read(int64_t first, std::span<float> values) const;
  // Copies elements [at, at + values.size()) of a segment.
  void read_run(size_t segment, int64_t at, std::span<float> values) const {
    buffers_[segment].read(device_, values.data(), values.size(), at);
  }
  // Returns the whole flat vector, with zeros where parameters are left out.
  std::vector<float> all() const;

 private:
  template <class Body>
  void for_each_run(int64_t first, int64_t count, Body&& body, size_t segments = SIZE_MAX) const;

  sdk::Device device_;
  Segments layout_;
  std::vector<Slice> buffers_;
};

// Returns all elements that the three layouts have, in the longest possible runs. `apart` has a number for each
// parameter; a run contains only parameters with equal numbers.
std::vector<CommonRun> common_runs(const Segments& weights, const Segments& gradients, const Segments& states,
                                   std::span<const double> apart);

}  // namespace mokume::cnn
