// Lets tests do a sample of their work, or all of it with `scripts/test --all`, which sets MOKUME_TEST_ALL.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace mokume::test {

inline size_t sample(size_t few, size_t all) { return std::getenv("MOKUME_TEST_ALL") == nullptr ? few : all; }

}  // namespace mokume::test
