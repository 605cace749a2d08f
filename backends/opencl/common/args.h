// The types of scalar kernel arguments. An algorithm's <name>_args.h has one struct for each kind of launch. The host
// fills it by name, and the kernel takes it by value, before its buffers. Both compilers read the same text. Only the
// types below may be members, larger ones first, so that no compiler adds padding.
#ifndef __cplusplus
typedef int i32;
typedef uint u32;
typedef long i64;
typedef float f32;
#define BEGIN_ARGS
#define END_ARGS
#define ARGS(type)
#else
#pragma once
#include "common/args.hpp"
#endif

BEGIN_ARGS

// The offset of a matrix and the distance between its rows, in elements.
typedef struct {
  i64 offset, step;
} View;

// For matrices, see runs.cl: a work-item does rows_each x columns_each elements.
typedef struct {
  i64 rows, columns, rows_each, columns_each;
} RunGrid;

// For images, see windows.cl: `rows` counts the pixel rows of all images.
typedef struct {
  i64 rows, rows_each;
  i32 columns_each, channels_each;
} ImageGrid;

// The geometry of sdk/ops/window.hpp, whose checks keep every side below 2^20.
typedef struct {
  i32 height, width, channels, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, out_h, out_w, out_channels;
} WindowSides;

END_ARGS
