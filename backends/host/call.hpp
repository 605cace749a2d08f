// Describes an op as its implementation receives it: validated, with every view resolved to host memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device.hpp"
#include "parallel_region.hpp"
#include "sdk/subnormals.hpp"

namespace mokume::host {

// Describes a row-major view: element (r, c) is at data[r * stride + c]. `data` is null for a view without a buffer.
template <class T>
struct View {
  T* data = nullptr;
  int64_t rows = 0, columns = 0, stride = 0;

  T* row(int64_t r) const { return data == nullptr ? nullptr : data + r * stride; }
};

struct Call {
  const mk_op& op;
  sdk::Host host;
  const Loops& loops;
  ParallelRegion* region = nullptr;  // if null, the host runs the loops
  bool strict = false;               // computes the op as docs/explained/numbers.md defines it

  Call with(const mk_op& other) const { return {other, host, loops, region, strict}; }

  View<const float> input(int i) const { return view<const float>(op.inputs[i]); }
  View<const int32_t> indices(int i) const { return view<const int32_t>(op.inputs[i]); }
  View<float> output(int i = 0) const { return view<float>(op.outputs[i]); }
  View<int32_t> places(int i) const { return view<int32_t>(op.outputs[i]); }

  // Calls body(i) for every i in [0, count) in parallel. The body must not throw.
  template <class Body>
  void parallel_for(uint64_t count, Body&& body) const {
    const auto here = [&](uint64_t i) {
      const sdk::SubnormalsAreZero zeros;
      body(i);
    };
    region != nullptr ? region->parallel_for(count, here) : host.parallel_for(count, here);
  }

  // Splits [0, rows) into pieces and calls body(begin, end) for each in parallel. No result may depend on the pieces.
  // `work_per_row` is in elements.
  template <class Body>
  void for_rows(int64_t rows, int64_t work_per_row, Body&& body) const {
    // This amount of work takes about as long as ten hand-overs to another thread.
    const int64_t piece_size = region != nullptr ? 4096 : 32768;
    const int64_t step = std::max<int64_t>(1, piece_size / std::max<int64_t>(1, work_per_row));
    if (rows <= step) return body(int64_t{0}, rows);
    parallel_for(static_cast<uint64_t>((rows + step - 1) / step), [&](uint64_t piece) {
      const int64_t from = static_cast<int64_t>(piece) * step;
      body(from, std::min(rows, from + step));
    });
  }

 private:
  template <class T>
  static View<T> view(const mk_tensor& t) {
    if (t.buffer == nullptr) return {nullptr, t.rows, t.columns, t.row_stride};
    return {reinterpret_cast<T*>(t.buffer->memory) + t.offset, t.rows, t.columns, t.row_stride};
  }
};

using OpFunction = void (*)(const Call&);

struct NamedOp {
  const char* name;
  OpFunction function;
};

}  // namespace mokume::host
