#include "isa/isa.hpp"

#include <string>

#include "sdk/error.hpp"
#include "sdk/isa.hpp"

namespace mokume::host {

namespace base {
extern const Loops kLoops;
}
namespace base_exact {
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
  sdk::Isa isa;
  const Loops& strict;
};

constexpr Candidate kCandidates[] = {
#if defined(__x86_64__)
    {avx512::kLoops, sdk::Isa::kAvx512, avx512::kLoops},
    {avx2::kLoops, sdk::Isa::kAvx2, avx2::kLoops},
#elif defined(__aarch64__)
    {neon::kLoops, sdk::Isa::kNeon, neon::kLoops},
#endif
    {base::kLoops, sdk::Isa::kBase, base_exact::kLoops},
};

}  // namespace

const Loops& best_loops(bool strict) {
  const sdk::Isa widest = sdk::widest_isa();
  const Candidate* candidate = kCandidates;
  while (candidate->isa != widest) ++candidate;
  return strict ? candidate->strict : candidate->loops;
}

const Loops& loops_for(std::string_view isa, bool strict) {
  for (const Candidate& candidate : kCandidates)
    if (isa == candidate.loops.isa && sdk::offers(candidate.isa)) return strict ? candidate.strict : candidate.loops;
  throw Error(MK_DEVICE_ERROR, "host.isa is \"" + std::string(isa) + "\", but this machine offers \"" +
                                   best_loops(strict).isa + "\": start a new run, or use machines of one kind");
}

}  // namespace mokume::host
