// Computes products on GPUs. A work-group computes a tile of BM x BN outputs, each of its work-items TM x TN of them. For
// BK terms at a time, the operands of the tile go through local memory, in two buffers, so that the loads of the next terms
// run while the last ones are multiplied. Every element is summed as gemm.hpp specifies, so the bits are those of
// vector.cl. With UNIT, matrix units sum (units/unit_sums.cl): the bits are then the same for every tile.
//
// The file that includes this one defines where the operands come from: types a_source and b_source, and for each
//   void a_begin(a_source*, const ARGS*, __global const float* a, index_t row, int rows, long first, int id)
//   float4 a_fetch(const a_source*, const ARGS*, int load, int left)
//   void a_advance(a_source*, const ARGS*)
// a_begin() starts at the tile's first row, of which `rows` exist, and at term `first`. a_fetch() returns the work-item's
// vector `load` (place_of) of the next BK terms, of which `left` exist; terms that do not exist are zero. Rows that do not
// exist may have any value, because their sums are not stored. a_advance() skips BK terms.
#include "common/common.cl"
#include "gemm/product_args.h"

#define GX (BN / TN)
#define GY (BM / TM)
#define ITEMS (GX * GY)
#define LOADS(width) ((width) * BK / 4 / ITEMS)  // vectors of a tile that each work-item loads
#define INLINE static __attribute__((always_inline))

#ifdef FAR  // offsets within a tile or numbers of rows need 64 bits, which take more registers
typedef ulong offset_t;
typedef long distance_t, index_t;
#else
typedef uint offset_t;
typedef int distance_t, index_t;
#endif

// The first of the four elements of a vector: four terms of one row, or one term of four rows.
typedef struct {
  int row, k;
} place_t;

// Along k, sixteen work-items take one vector each of as many rows, and the next sixteen take the vectors after them:
// their scalar stores then reach 32 different banks of local memory. All vectors of a work-item have the same terms,
// because ITEMS is a multiple of 4 * BK.
INLINE place_t place_of(int load, const int width, const int along_k, int id) {
  const int at = id + load * ITEMS;
  place_t place;
  place.row = along_k ? at % 16 + at / (4 * BK) * 16 : at % (width / 4) * 4;
  place.k = along_k ? at / 16 % (BK / 4) * 4 : at / (width / 4);
  return place;
}
