// Defines functions of a vec.
#include "common/vector.cl"

// Makes the texts in backends/formulas OpenCL C.
#define FORMULA static
#define QUOTIENT(a, b) ((a) / (b))
#define ROOT(x) sqrt(x)
// Returns the first lane of a vec.
#if VW == 1
#define FIRST(v) (v)
#else
#define FIRST(v) ((v).s0)
#endif
#include "formulas/math.cl"
