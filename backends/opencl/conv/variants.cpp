#include "conv/variants.hpp"

#include "conv/patches.embed.hpp"
#include "conv/winograd.embed.hpp"
#include "implicit/implicit.embed.hpp"
#include "runtime/buffer.hpp"
#include "sdk/ops.hpp"
#include "transformed/transforms.embed.hpp"
#include "variants/race.hpp"

namespace mokume::opencl {
namespace {

constexpr const char* kConvSources[] = {kConvWinograd, kConvPatches, kImplicitImplicit, kTransformedTransforms};

std::vector<std::string> conv_candidates(const mk_device& device) {
  if (device.info.kind == MK_DEVICE_CPU && device.choices.gemm == "vector") return {"winograd", "patches"};
  if (device.info.kind != MK_DEVICE_GPU) return {"patches"};
  return is_emulated(device) ? std::vector<std::string>{"implicit"} : std::vector<std::string>{"implicit", "winograd"};
}

// The algorithms give different bits. On a CPU, patches can win only if winograd stays below 8 GFLOP/s per core. On a
// GPU, winograd wins if it is clearly faster, which depends on the rate of the memory for a multiply-add.
void race_conv(mk_device& device, mk_queue& queue) {
  if (conv_candidates(device).size() == 1) return;
  // The layer is typical of published networks.
  constexpr int64_t kChannels = 64;
  const int64_t images = device.info.kind == MK_DEVICE_GPU ? 32 : 4;
  const ops::Window window{28, 28, kChannels, 3, 3, 1, 1, 1, 1};
  mk_buffer x = create_buffer(device, static_cast<uint64_t>(images * window.image()) * 4);
  mk_buffer y = create_buffer(device, x.bytes);
  mk_buffer weight = create_buffer(device, static_cast<uint64_t>(window.patch() * kChannels) * 4);
  const mk_tensor from = sdk::matrix(&x, images, window.image()), to = sdk::matrix(&y, images, window.image());
  const mk_tensor weights = sdk::matrix(&weight, window.patch(), kChannels);
  const double flops =
      2.0 * static_cast<double>(images * window.out_pixels()) * static_cast<double>(window.patch() * kChannels);
  for (const mk_tensor& t : {from, weights}) run_unmeasured(queue, ops::fill(t, 0.5F));
  race(device, queue, kConvVariants, ops::conv2d(from, weights, {}, window, ops::Activation::none, to), flops, 8e9,
       1.2);
}

}  // namespace

const VariantSet kConvVariants{
    "conv",       &Choices::conv,  {"winograd", "patches", "implicit", "winograd_everywhere"},
    kConvSources, conv_candidates, race_conv};

}  // namespace mokume::opencl
