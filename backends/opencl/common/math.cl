// Defines functions of a vec.
#include "common/exact.cl"
#include "common/vector.cl"

// Makes the texts in backends/formulas OpenCL C.
// Formulas are inlined, because Oclgrind gives zeros for a struct that a function passes on by value.
#define FORMULA static __attribute__((always_inline))
// Returns the first lane of a vec.
#if VW == 1
#define FIRST(v) (v)
#else
#define FIRST(v) ((v).s0)
#endif
#include "formulas/math.cl"
