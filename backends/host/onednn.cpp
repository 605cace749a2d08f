#include "onednn.hpp"

#include <dnnl.h>

#include "sdk/isa.hpp"

// Debian's oneDNN runs on GCC's OpenMP. Including <omp.h> would tie this file to the compiler that ships the header.
extern "C" void omp_set_num_threads(int);
extern "C" int omp_get_max_threads(void);

namespace mokume::host {
namespace {

// oneDNN asks OpenMP how many threads the calling thread may start. The setting belongs to a thread, and the threads
// belong to the program, so the destructor restores it.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~OneThread() {
    if (before_ != 1) omp_set_num_threads(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

}  // namespace

std::string onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->patch);
}

void limit_onednn() {
#if !defined(__aarch64__)
  const sdk::Isa widest = sdk::widest_isa();
  if (widest == sdk::Isa::kAvx2 && sdk::offers(sdk::Isa::kAvx512)) dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2);
  if (widest == sdk::Isa::kBase && sdk::offers(sdk::Isa::kAvx2)) dnnl_set_max_cpu_isa(dnnl_cpu_isa_sse41);
#endif
}

// The values are bit sets: each instruction set contains the bits of the lower sets. Sets above avx512_core add nothing
// for fp32. No bit means no limit: 0 is dnnl_cpu_isa_all in oneDNN 2 and dnnl_cpu_isa_default in oneDNN 3.
std::string onednn_choice() {
#if defined(__aarch64__)
  return "onednn-aarch64";  // all processors share one loop, and the call below would report that there is no limit
#else
  const unsigned isa = dnnl_get_effective_cpu_isa();
  const auto contains = [isa](unsigned lower) { return isa == 0 || (isa & lower) == lower; };
  if (contains(dnnl_cpu_isa_avx512_core)) return "onednn-avx512";
  if (contains(dnnl_cpu_isa_avx2)) return "onednn-avx2";
  if (contains(dnnl_cpu_isa_avx)) return "onednn-avx";
  return "onednn-base";
#endif
}

bool sgemm(const SgemmTile& t) noexcept {
  const OneThread one;
  return dnnl_sgemm(t.transpose_a ? 'T' : 'N', t.transpose_b ? 'T' : 'N', t.m, t.n, t.k, t.alpha, t.a, t.stride_a, t.b,
                    t.stride_b, t.beta, t.out, t.stride_out) == dnnl_success;
}

}  // namespace mokume::host
