// Defines the entry points of libFuzzer. Each program defines the name of its target.
#include <algorithm>
#include <cstring>

#include "fuzz/fuzz.hpp"

extern "C" const char fuzz_name[];
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

const mokume::fuzz::Target& chosen() {
  static const mokume::fuzz::Target& one = mokume::fuzz::target(fuzz_name);
  return one;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  chosen().run({reinterpret_cast<const char*>(data), size});
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  size = LLVMFuzzerMutate(data, size, max_size);
  // Some damaged checksums remain, because refusing them must be safe too.
  if (chosen().repair == nullptr || seed % 8 == 0) return size;
  const std::string repaired = chosen().repair({reinterpret_cast<const char*>(data), size});
  if (repaired.size() > max_size) return size;
  std::memcpy(data, repaired.data(), repaired.size());
  return repaired.size();
}
