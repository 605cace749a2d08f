// Keeps temporary memory for a thread's next op. In a small network, fresh memory would take longer than the products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace mokume::host {

// Frees memory of scratch_of().
struct FreeScratch {
  void operator()(float* memory) const { ::operator delete[](memory, std::align_val_t{64}); }
};
using Scratch = std::unique_ptr<float[], FreeScratch>;

// Returns uninitialised memory for `n` floats that begins with a cache line, or null.
inline Scratch scratch_of(int64_t n) {
  return Scratch(static_cast<float*>(
      ::operator new[](static_cast<size_t>(n) * sizeof(float), std::align_val_t{64}, std::nothrow)));
}

// Returns memory for `n` floats, or null. It belongs to the calling thread, and the thread's next call for the same use
// returns the same memory.
enum class Use { filter_weights, filter_tiles, product_parts, count };
inline float* kept_memory(Use use, int64_t n) {
  struct Kept {
    Scratch memory;
    int64_t size = 0;
  };
  thread_local Kept all[static_cast<int>(Use::count)];
  Kept& kept = all[static_cast<int>(use)];
  if (kept.size < n) {
    kept.memory.reset();
    kept.memory = scratch_of(n);
    kept.size = kept.memory == nullptr ? 0 : n;
  }
  return kept.memory.get();
}

}  // namespace mokume::host
