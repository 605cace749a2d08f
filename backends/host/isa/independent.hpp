// MOKUME_INDEPENDENT asserts that no element of the next loop depends on an earlier one, although an output may be the
// same view as an input. Without the macro, compilers do not vectorise in-place calls.
#pragma once

#ifdef __clang__
#define MOKUME_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define MOKUME_INDEPENDENT _Pragma("GCC ivdep")
#endif
