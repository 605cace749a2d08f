#include "isa/isa.hpp"

#include <string>

#include "sdk/error.hpp"

namespace mokume::host {

namespace base {
extern const Loops kLoops;
}
#if defined(__x86_64__)
namespace avx2 {
extern const Loops kLoops;
}
namespace avx512 {
extern const Loops kLoops;
}
#elif defined(__aarch64__)
namespace neon {
extern const Loops kLoops;
}
#endif

namespace {

struct Candidate {
  const Loops& loops;
  bool (*runs)();
};

// The widest set comes first. The tested features cover the features with which the loops are compiled.
constexpr Candidate kCandidates[] = {
#if defined(__x86_64__)
    {avx512::kLoops,
     [] {
       return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
              __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
     }},
    {avx2::kLoops, [] { return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0; }},
#elif defined(__aarch64__)
    {neon::kLoops, [] { return true; }},
#endif
    {base::kLoops, [] { return true; }},
};

}  // namespace

const Loops& best_loops() {
  const Candidate* candidate = kCandidates;
  while (!candidate->runs()) ++candidate;
  return candidate->loops;
}

const Loops& loops_for(std::string_view isa) {
  for (const Candidate& candidate : kCandidates)
    if (isa == candidate.loops.isa && candidate.runs()) return candidate.loops;
  throw Error(MK_DEVICE_ERROR, "host.isa is \"" + std::string(isa) + "\", but this machine offers \"" +
                                   best_loops().isa + "\": start a new run, or use machines of one kind");
}

}  // namespace mokume::host
