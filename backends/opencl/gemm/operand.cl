// Loads operands that lie in memory as matrices. With `along_k`, the terms of a row are contiguous; otherwise, the rows of
// a term are. With `wide`, vectors of four elements are aligned, and the operand holds whole vectors.
#include "gemm/product.cl"

typedef struct {
  offset_t at;  // bytes
  int rows;     // elements of the vector that exist, if it lies along the rows
} load_t;

// `rows` counts the operand's rows from the first row of the tile. Rows past the end repeat the last rows, because their
// sums are not stored.
INLINE load_t start(Operand o, int rows, place_t place, const int along_k, const int wide) {
  load_t load;
  const int row = min(place.row, along_k || !wide ? rows - 1 : rows - 4);
  load.at = 4 * ((offset_t)row * (offset_t)o.row_step + (offset_t)place.k * (offset_t)o.k_step);
  load.rows = rows - row;
  return load;
}

// Loads a vector whose first `terms` terms exist; the others are zero. `x` points to the first element of the tile.
INLINE float4 fetch(__global const float* x, load_t load, int terms, const int along_k, const int wide) {
  float4 v = (float4)(0.0f);
  __global const float* at = (__global const float*)((__global const char*)x + load.at);
  if (wide) {
    if (terms > 0) v = *(__global const float4*)at;
  } else if (along_k) {
    if (terms > 0) v.x = at[0];
    if (terms > 1) v.y = at[1];
    if (terms > 2) v.z = at[2];
    if (terms > 3) v.w = at[3];
  } else if (terms > 0) {
    v.x = at[0];
    v.y = at[min(1, load.rows - 1)];
    v.z = at[min(2, load.rows - 1)];
    v.w = at[min(3, load.rows - 1)];
  }
  return v;
}

// An operand from which a work-item loads its vectors of a tile.
typedef struct {
  __global const float* at;
  load_t loads[LOADS(BM) > LOADS(BN) ? LOADS(BM) : LOADS(BN)];
  int id;
} matrix_t;

INLINE void begin_matrix(__private matrix_t* m, Operand o, __global const float* x, index_t row, int rows, long first,
                         int id, const int width, const int along_k, const int wide) {
  m->at = x + o.offset + (long)row * o.row_step + first * o.k_step;
  m->id = id;
  UNROLL
  for (int l = 0; l < LOADS(width); ++l) m->loads[l] = start(o, rows, place_of(l, width, along_k, id), along_k, wide);
}

INLINE float4 fetch_matrix(__private const matrix_t* m, int load, int left, const int width, const int along_k,
                           const int wide) {
  return fetch(m->at, m->loads[load], left - place_of(load, width, along_k, m->id).k, along_k, wide);
}
