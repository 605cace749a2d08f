// Declares functions that the build compiles once per instruction set, each in a namespace of its own. SOLVER_BEST
// (native.hpp) selects one of them at run time.
#pragma once

#if defined(__x86_64__)
#define SVC_PER_ISA(declaration) \
  namespace base {               \
  declaration;                   \
  }                              \
  namespace avx2 {               \
  declaration;                   \
  }                              \
  namespace avx512 {             \
  declaration;                   \
  }
#else
#define SVC_PER_ISA(declaration) \
  namespace base {               \
  declaration;                   \
  }
#endif
