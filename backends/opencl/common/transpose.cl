// Transposes a square of VW vectors in registers.
#include "common/vector.cl"

#if VW == 16
// Transposes within the quarters of registers, then whole quarters, with shuffles that take one instruction each and
// need no table of indices. (Compilers turn vectors combined from .lo, .hi or .s01 into many inserts.)
static __attribute__((always_inline)) vec low_pairs(vec a, vec b) {
  return (vec)(a.s0, b.s0, a.s1, b.s1, a.s4, b.s4, a.s5, b.s5, a.s8, b.s8, a.s9, b.s9, a.sc, b.sc, a.sd, b.sd);
}
static __attribute__((always_inline)) vec high_pairs(vec a, vec b) {
  return (vec)(a.s2, b.s2, a.s3, b.s3, a.s6, b.s6, a.s7, b.s7, a.sa, b.sa, a.sb, b.sb, a.se, b.se, a.sf, b.sf);
}
static __attribute__((always_inline)) vec low_halves(vec a, vec b) {
  return (vec)(a.s0, a.s1, b.s0, b.s1, a.s4, a.s5, b.s4, b.s5, a.s8, a.s9, b.s8, b.s9, a.sc, a.sd, b.sc, b.sd);
}
static __attribute__((always_inline)) vec high_halves(vec a, vec b) {
  return (vec)(a.s2, a.s3, b.s2, b.s3, a.s6, a.s7, b.s6, b.s7, a.sa, a.sb, b.sa, b.sb, a.se, a.sf, b.se, b.sf);
}
static __attribute__((always_inline)) vec even_quarters(vec a, vec b) {
  return (vec)(a.s0, a.s1, a.s2, a.s3, a.s8, a.s9, a.sa, a.sb, b.s0, b.s1, b.s2, b.s3, b.s8, b.s9, b.sa, b.sb);
}
static __attribute__((always_inline)) vec odd_quarters(vec a, vec b) {
  return (vec)(a.s4, a.s5, a.s6, a.s7, a.sc, a.sd, a.se, a.sf, b.s4, b.s5, b.s6, b.s7, b.sc, b.sd, b.se, b.sf);
}
static __attribute__((always_inline)) void transpose(__private vec* r) {
  UNROLL
  for (int g = 0; g < VW; g += 4) {
    const vec a = low_pairs(r[g], r[g + 1]), b = high_pairs(r[g], r[g + 1]);
    const vec c = low_pairs(r[g + 2], r[g + 3]), d = high_pairs(r[g + 2], r[g + 3]);
    r[g] = low_halves(a, c);
    r[g + 1] = high_halves(a, c);
    r[g + 2] = low_halves(b, d);
    r[g + 3] = high_halves(b, d);
  }
  UNROLL
  for (int j = 0; j < 4; ++j) {
    const vec a = even_quarters(r[j], r[j + 4]), b = even_quarters(r[j + 8], r[j + 12]);
    const vec c = odd_quarters(r[j], r[j + 4]), d = odd_quarters(r[j + 8], r[j + 12]);
    r[j] = even_quarters(a, b);
    r[j + 4] = even_quarters(c, d);
    r[j + 8] = odd_quarters(a, b);
    r[j + 12] = odd_quarters(c, d);
  }
}
#else
#if VW == 8
static vec low_pairs(vec a, vec b) { return (vec)(a.s0, b.s0, a.s1, b.s1, a.s4, b.s4, a.s5, b.s5); }
static vec high_pairs(vec a, vec b) { return (vec)(a.s2, b.s2, a.s3, b.s3, a.s6, b.s6, a.s7, b.s7); }
static vec low_halves(vec a, vec b) { return (vec)(a.s0, a.s1, b.s0, b.s1, a.s4, a.s5, b.s4, b.s5); }
static vec high_halves(vec a, vec b) { return (vec)(a.s2, a.s3, b.s2, b.s3, a.s6, a.s7, b.s6, b.s7); }
#elif VW == 4
static vec low_pairs(vec a, vec b) { return (vec)(a.s0, b.s0, a.s1, b.s1); }
static vec high_pairs(vec a, vec b) { return (vec)(a.s2, b.s2, a.s3, b.s3); }
static vec low_halves(vec a, vec b) { return (vec)(a.s0, a.s1, b.s0, b.s1); }
static vec high_halves(vec a, vec b) { return (vec)(a.s2, a.s3, b.s2, b.s3); }
#endif
// Each of the log2(VW) perfect shuffles rotates the bits of the index (row, column) by one.
static __attribute__((always_inline)) void transpose(__private vec* r) {
  vec t[VW];
  UNROLL
  for (int step = 1; step < VW; step *= 2) {
    UNROLL
    for (int i = 0; i < VW / 2; ++i) {
      t[2 * i].even = r[i].lo;
      t[2 * i].odd = r[i + VW / 2].lo;
      t[2 * i + 1].even = r[i].hi;
      t[2 * i + 1].odd = r[i + VW / 2].hi;
    }
    UNROLL
    for (int i = 0; i < VW; ++i) r[i] = t[i];
  }
}
#endif
