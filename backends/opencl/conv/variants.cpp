#include "conv/variants.hpp"

#include "conv/patches.embed.hpp"
#include "conv/winograd.embed.hpp"
#include "implicit/implicit.embed.hpp"
#include "transformed/transforms.embed.hpp"
#include "runtime/buffer.hpp"
#include "sdk/ops.hpp"
#include "variants/race.hpp"

namespace mokume::opencl {
namespace {

constexpr const char* kConvSources[] = {kConvWinograd, kConvPatches, kImplicitImplicit, kTransformedTransforms};

std::vector<std::string> conv_candidates(const mk_device& device) {
  if (device.info.kind == MK_DEVICE_CPU && device.choices.gemm == "vector") return {"winograd", "patches"};
  return {device.info.kind == MK_DEVICE_GPU ? "implicit" : "patches"};
}

// The two algorithms give different bits, so patches can win only if winograd stays below 8 GFLOP/s per core.
void race_conv(mk_device& device, mk_queue& queue) {
  if (conv_candidates(device).size() == 1) return;
  // The layer is typical of published networks.
  constexpr int64_t kImages = 4, kChannels = 64;
  const ops::Window window{28, 28, kChannels, 3, 3, 1, 1, 1, 1};
  mk_buffer x = create_buffer(device, static_cast<uint64_t>(kImages * window.image()) * 4);
  mk_buffer y = create_buffer(device, x.bytes);
  mk_buffer weight = create_buffer(device, static_cast<uint64_t>(window.patch() * kChannels) * 4);
  const mk_tensor from = sdk::matrix(&x, kImages, window.image()), to = sdk::matrix(&y, kImages, window.image());
  const mk_tensor weights = sdk::matrix(&weight, window.patch(), kChannels);
  const double flops =
      2.0 * static_cast<double>(kImages * window.out_pixels()) * static_cast<double>(window.patch() * kChannels);
  for (const mk_tensor& t : {from, weights}) run_unmeasured(queue, ops::fill(t, 0.5F));
  race(device, queue, kConvVariants, ops::conv2d(from, weights, {}, window, ops::Activation::none, to), flops, 8e9);
}

}  // namespace

const VariantSet kConvVariants{"conv",       &Choices::conv,  {"winograd", "patches", "implicit"},
                               kConvSources, conv_candidates, race_conv};

}  // namespace mokume::opencl
