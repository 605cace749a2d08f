// Subnormal floats are zeros to every op: abi/op.h, docs/adr/0020. One flag of each thread says so to its processor.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace mokume::host {

// While it lives, on the thread that made it.
class SubnormalsAreZero {
 public:
  SubnormalsAreZero() { set(before_ | kFlags); }
  ~SubnormalsAreZero() { set(before_); }
  SubnormalsAreZero(const SubnormalsAreZero&) = delete;
  SubnormalsAreZero& operator=(const SubnormalsAreZero&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr uint32_t kFlags = 0x8040;  // of MXCSR: results (FTZ) and operands (DAZ)
  static uint32_t get() { return _mm_getcsr(); }
  static void set(uint32_t value) {
    asm volatile("" : : : "memory");  // what comes before stays before
    _mm_setcsr(value);
    asm volatile("" : : : "memory");
  }
  const uint32_t before_ = get();
#elif defined(__aarch64__)
  static constexpr uint64_t kFlags = uint64_t{1} << 24;  // of FPCR: both (FZ)
  static uint64_t get() {
    uint64_t value = 0;
    asm volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  static void set(uint64_t value) { asm volatile("msr fpcr, %0" : : "r"(value) : "memory"); }
  const uint64_t before_ = get();
#else
#error "tell this processor to take subnormal floats for zeros"
#endif
};

}  // namespace mokume::host
