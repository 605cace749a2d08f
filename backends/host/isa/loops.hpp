// Declares the inner loops that are compiled once per instruction set.
//
// The translation units that implement this header are built with instructions that the machine may lack. They include
// only headers of this folder and C headers and define nothing inline, because the linker might keep their copy of a
// shared inline function and use it on machines that cannot run it.
//
// Every loop does the same operations in the same order on every instruction set (no contraction, fixed lanes), so its
// results are bit-identical on all of them, and equal to those of the opencl backend's kernels
// (docs/explained/numbers.md). In fast numerics, `base` has no fused multiply-adds (isa/fused.hpp).
#pragma once

#include <cstdint>

#include "abi/op.h"

namespace mokume::host {

struct MapRow {
  const float* dot;
  const float* norm_y;  // for rbf and rbf_minus_one only
  float* out;           // may be dot; must not partly overlap it
  int64_t n;
  float norm_x;
  float gamma;
  float coef0;
  int64_t degree;
  mk_kernel_kind kind;
};

// Describes squared norms of rows.
struct NormedRows {
  const float* x;
  float* norm2;
  int64_t rows, columns, stride;
};

struct NormLoops;        // isa/norm.hpp
struct NetworkLoops;     // isa/network.hpp
struct RowLoops;         // isa/rows.hpp
struct ActivationLoops;  // isa/activations.hpp
struct WindowRow;        // isa/convolution.hpp
struct RowProduct;       // isa/products.hpp
struct ProductLoops;     // isa/products.hpp
struct ChannelLoops;     // isa/channels.hpp
struct FilteringLoops;   // isa/filtering.hpp

struct Loops {
  const char* isa;
  void (*row_norm2)(const NormedRows& rows);
  void (*kernel_map)(const MapRow& row);
  const NetworkLoops* network;
  const NormLoops* norm;
  const RowLoops* rows;
  const ActivationLoops* activations;
  const ChannelLoops* channels;
  // These loops consist of multiply-adds, which round product and addition once (isa/fused.hpp). They give the same
  // bits on all instruction sets: every result is one chain of additions in the order of the terms. Without the
  // instruction, they are null in fast numerics, where oneDNN multiplies, and emulate it in strict numerics.
  // `filtering` is null there as well, because convolve() multiplies in the transformed space.
  void (*convolve)(const WindowRow& row);
  void (*row_product)(const RowProduct& product);
  const ProductLoops* products;
  const FilteringLoops* filtering;
};

}  // namespace mokume::host
