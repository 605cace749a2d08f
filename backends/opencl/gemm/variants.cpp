#include "gemm/variants.hpp"

#include "gemm/clblast.hpp"
#include "gemm/skinny.embed.hpp"
#include "gemm/tile.embed.hpp"
#include "sdk/ops.hpp"
#include "variants/race.hpp"

namespace mokume::opencl {
namespace {

constexpr const char* kGemmSources[] = {kGemmSkinny, kGemmTile};

std::vector<std::string> gemm_candidates(const mk_device& device) {
  if (device.info.kind != MK_DEVICE_CPU) {
    std::vector<std::string> names{"tile"};
    if (device.info.kind == MK_DEVICE_GPU && !device.choices.strict() && device.clblast->available()) names.emplace_back("clblast");
    return names;
  }
  if (is_emulated(device)) return {"tile"};
  return {"vector", "tile"};
}

// On CPUs, the tile in local memory reaches a few GFLOP/s and takes seconds to build. If the vector GEMM reaches 8
// GFLOP/s per core, it therefore wins before the race tries the tile.
void race_gemm(mk_device& device, mk_queue& queue) {
  const int64_t n = race_size(device.info).gemm;
  mk_buffer a = create_buffer(device, static_cast<uint64_t>(n * n) * 4);
  mk_buffer b = create_buffer(device, a.bytes), out = create_buffer(device, a.bytes);
  for (mk_buffer* buffer : {&a, &b}) run_unmeasured(queue, ops::fill(sdk::matrix(buffer, n, n), 0.5F));
  race(device, queue, kGemmVariants,
       ops::gemm(sdk::matrix(&a, n, n), false, sdk::matrix(&b, n, n), true, sdk::matrix(&out, n, n)),
       2.0 * static_cast<double>(n * n * n), 8e9);
}

}  // namespace

const VariantSet kGemmVariants{"gemm",       &Choices::gemm,  {"vector", "tile", "clblast"},
                               kGemmSources, gemm_candidates, race_gemm};

}  // namespace mokume::opencl
