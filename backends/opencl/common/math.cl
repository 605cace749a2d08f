// Defines functions of a vec.
#include "common/exact.cl"
#include "common/vector.cl"

// Makes the texts in backends/formulas OpenCL C.
#define FORMULA static
// Returns the first lane of a vec.
#if VW == 1
#define FIRST(v) (v)
#else
#define FIRST(v) ((v).s0)
#endif
#include "formulas/math.cl"
