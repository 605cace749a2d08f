// Both operands of a product are matrices in memory: see operand.cl for A_ALONG_K, A_WIDE, B_ALONG_K and B_WIDE. The
// including file defines ARGS.
typedef matrix_t a_source;

INLINE void a_begin(__private a_source* s, const ARGS args, __global const float* a, index_t row, int rows, long first,
                    int id) {
  begin_matrix(s, args.product.a, a, row, rows, first, id, BM, A_ALONG_K, A_WIDE);
}
INLINE float4 a_fetch(__private const a_source* s, const ARGS args, int load, int left) {
  return fetch_matrix(s, load, left, BM, A_ALONG_K, A_WIDE);
}
INLINE void a_advance(__private a_source* s, const ARGS args) { s->at += BK * args.product.a.k_step; }

typedef matrix_t b_source;

INLINE void b_begin(__private b_source* s, const ARGS args, __global const float* b, index_t row, int rows, long first,
                    int id) {
  begin_matrix(s, args.product.b, b, row, rows, first, id, BN, B_ALONG_K, B_WIDE);
}
INLINE float4 b_fetch(__private const b_source* s, const ARGS args, int load, int left) {
  return fetch_matrix(s, load, left, BN, B_ALONG_K, B_WIDE);
}
INLINE void b_advance(__private b_source* s, const ARGS args) { s->at += BK * args.product.b.k_step; }
