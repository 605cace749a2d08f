// The parameters of a network in a device's memory: one flat vector, cut into segments that its buffers can hold.
#pragma once

#include <cstdint>
#include <vector>

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
  // Segments of at most `most_bytes`. `without`: leaves out the weights of
  // linear layers of that many outputs and more. Error(MK_OUT_OF_MEMORY)
  // naming the layer if a tensor that cannot be cut, or ops::kGemmCut rows of one that can, is larger than that.
  Segments(const Network& network, uint64_t most_bytes, int64_t without = INT64_MAX);

  size_t count() const { return sizes_.size(); }
  int64_t size(size_t segment) const { return sizes_[segment]; }   // in floats
  const std::vector<Tensor>& tensors() const { return tensors_; }  // in the order of the network's parameters
  // Of the tensor that begins at `offset` of the flat vector.
  const Tensor& tensor(int64_t offset) const;

 private:
  void place(const Parameter& parameter, int64_t most);

  std::vector<int64_t> sizes_;
  std::vector<Tensor> tensors_;
};

// One float for each parameter of a layout.
class ParameterVector {
 public:
  ParameterVector() = default;
  // Zeros.
  ParameterVector(const sdk::Device& device, Segments layout);

  const Segments& layout() const { return layout_; }
  // A run of elements of a segment, and a part of a tensor with these columns.
  mk_tensor run(size_t segment, int64_t at, int64_t size) const;
  mk_tensor part(const Part& part, int64_t columns) const;

  // From and to values in the network's flat order, of which those of tensors that are left out stay untouched.
  void write(const sdk::Device& device, const std::vector<float>& values) const;
  void read(const sdk::Device& device, std::vector<float>& values) const;

 private:
  Segments layout_;
  std::vector<sdk::Buffer> buffers_;
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
