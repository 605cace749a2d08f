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
  return is_emulated(device) || device.choices.strict() ? std::vector<std::string>{"implicit"} : std::vector<std::string>{"implicit", "winograd"};
}

// Holds the operands of a layer that is typical of published networks.
struct Layer {
  Layer(mk_device& device, mk_queue& queue, int64_t count)
      : images(count),
        x(create_buffer(device, static_cast<uint64_t>(count * kWindow.image()) * 4)),
        y(create_buffer(device, x.bytes)),
        weight(create_buffer(device, static_cast<uint64_t>(kWindow.patch() * kWindow.channels) * 4)) {
    run_unmeasured(queue, ops::fill(sdk::matrix(&x, count, kWindow.image()), 0.5F));
    run_unmeasured(queue, ops::fill(weights(), 0.5F));
  }

  mk_tensor weights() { return sdk::matrix(&weight, kWindow.patch(), kWindow.channels); }
  mk_op forward() {
    return ops::conv2d(sdk::matrix(&x, images, kWindow.image()), weights(), {}, kWindow, ops::Activation::none,
                       sdk::matrix(&y, images, kWindow.image()));
  }
  double flops() const {
    return 2.0 * static_cast<double>(images * kWindow.out_pixels()) *
           static_cast<double>(kWindow.patch() * kWindow.channels);
  }

  static constexpr ops::Window kWindow{28, 28, 64, 3, 3, 1, 1, 1, 1};
  int64_t images;
  mk_buffer x, y, weight;
};

// The algorithms give different bits. On a CPU, patches can win only if winograd stays below 8 GFLOP/s per core. On a
// GPU, winograd wins if it is clearly faster, which depends on the bytes that the memory moves in the time of a
// multiply-add. A GPU below 100 GFLOP/s, such as an imitated one, does not race.
void race_conv(mk_device& device, mk_queue& queue) {
  if (conv_candidates(device).size() == 1) return;
  constexpr double kSlow = 1e11, kLead = 1.2;
  if (device.info.kind != MK_DEVICE_GPU) {
    Layer layer(device, queue, 4);
    return race(device, queue, kConvVariants, layer.forward(), layer.flops(), 8e9);
  }
  Layer few(device, queue, 8);
  if (seconds_of(queue, few.forward()) > few.flops() / kSlow) return;
  Layer layer(device, queue, 128);  // exceeds the caches
  race(device, queue, kConvVariants, layer.forward(), layer.flops(), 0, kLead);
}

}  // namespace

const VariantSet kConvVariants{
    "conv",       &Choices::conv,  {"winograd", "patches", "implicit", "winograd_everywhere"},
    kConvSources, conv_candidates, race_conv};

}  // namespace mokume::opencl
