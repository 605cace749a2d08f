// Defines the types of scalar kernel arguments. An algorithm's <name>_args.h has one struct for each kind of launch.
// The host fills the struct by name, and the kernel takes it by value, before its buffers. Both compilers read the same
// text. Members may have only the types below, larger ones first, so that no compiler adds padding.
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

// Holds the offset of a matrix and the distance between its rows, in elements.
typedef struct {
  i64 offset, step;
} View;

// Divides a matrix among work-items, each of which processes rows_each x columns_each elements (runs.cl).
typedef struct {
  i64 rows, columns, rows_each, columns_each;
} RunGrid;

// Divides images among work-items (windows.cl). `rows` counts the pixel rows of all images.
typedef struct {
  i64 rows, rows_each;
  i32 columns_each, channels_each;
} ImageGrid;

// Holds the geometry of sdk/ops/window.hpp, whose checks allow sides of at most 2^20.
typedef struct {
  i32 height, width, channels, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, out_h, out_w, out_channels;
} WindowSides;

END_ARGS
