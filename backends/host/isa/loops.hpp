// The inner loops that are compiled once per instruction set.
//
// The translation units behind this header are built with instructions the machine may lack. They include this file
// and C headers only and define nothing inline: an inline function they shared with the rest of the program could be
// the copy the linker keeps, and run where it must not.
//
// Every loop does the same operations in the same order on every instruction set (no contraction, fixed lanes), so
// its results are the same bits on all of them.
#pragma once

#include <cstdint>

namespace mokume::host {

struct MapRow {
  const float* dot;
  const float* norm_y;  // rbf only
  float* out;           // dot itself, or apart from it
  int64_t n;
  float norm_x;
  float gamma;
  float coef0;
  int degree;
  int64_t kind;  // ops::KernelKind
};

struct NetworkLoops;  // isa/network.hpp

struct Loops {
  const char* isa;
  float (*norm2)(const float* x, int64_t n);
  void (*kernel_map)(const MapRow& row);
  const NetworkLoops* network;
};

}  // namespace mokume::host
