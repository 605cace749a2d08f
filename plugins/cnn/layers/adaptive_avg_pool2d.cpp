// adaptive_avg_pool2d: means over the cells of a square grid, as PyTorch's AdaptiveAvgPool2d.
#include "layers/layer.hpp"
#include "sdk/ops/avg_pool.hpp"

namespace mokume::cnn {
namespace {

constexpr mk_param kKeys[] = {integer("output_size", 1, 4096, "1", "side of the square output")};

class AdaptiveAvgPool2d : public Layer {
 public:
  AdaptiveAvgPool2d(const Values& v, Plan& plan) : Layer(plan) {
    plan.need_images();
    out.height = out.width = v.integer("output_size");
    pool_ = {in.height, in.width, in.channels, out.height, out.width};
  }

  void forward(const Pass& p) const override { p.submit(ops::avg_pool(p.x, pool_, p.y)); }
  void backward(Pass& p) const override { p.submit(ops::avg_pool_grad(p.dy, pool_, p.dx)); }

 private:
  ops::AvgPool pool_;
};

}  // namespace

extern constinit const LayerType kAdaptiveAvgPool2d =
    layer_type<AdaptiveAvgPool2d>("adaptive_avg_pool2d", "mean over areas of a grid", kKeys);

}  // namespace mokume::cnn
