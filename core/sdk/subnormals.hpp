// Sets a per-thread flag that makes the processor treat subnormal floats as zero (abi/op.h, docs/adr/0020).
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace mokume::sdk {

// Sets the flag of the current thread for the lifetime of the object.
class SubnormalsAreZero {
 public:
  SubnormalsAreZero() { set(before_ | kFlags); }
  ~SubnormalsAreZero() { set(before_); }
  SubnormalsAreZero(const SubnormalsAreZero&) = delete;
  SubnormalsAreZero& operator=(const SubnormalsAreZero&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr uint32_t kFlags = 0x8040;  // MXCSR: results (FTZ) and operands (DAZ)
  static uint32_t get() { return _mm_getcsr(); }
  static void set(uint32_t value) {
    asm volatile("" : : : "memory");  // keeps earlier code before the change
    _mm_setcsr(value);
    asm volatile("" : : : "memory");
  }
  const uint32_t before_ = get();
#elif defined(__aarch64__)
  static constexpr uint64_t kFlags = uint64_t{1} << 24;  // FPCR: both results and operands (FZ)
  static uint64_t get() {
    uint64_t value = 0;
    asm volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  static void set(uint64_t value) { asm volatile("msr fpcr, %0" : : "r"(value) : "memory"); }
  const uint64_t before_ = get();
#else
#error "make this processor treat subnormal floats as zeros"
#endif
};

}  // namespace mokume::sdk
