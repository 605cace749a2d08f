// adaptive_avg_pool2d returns means over the cells of a square grid, like PyTorch's AdaptiveAvgPool2d.
#include "layers/export.hpp"
#include "layers/layer.hpp"
#include "sdk/ops/avg_pool.hpp"

namespace mokume::cnn {
namespace {

constexpr mk_param kAdaptiveAvgPool2dKeys[] = {integer("output_size", 1, 4096, "1", "side of the square output")};

class AdaptiveAvgPool2d : public Layer {
 public:
  AdaptiveAvgPool2d(const Values& v, LayerPlan& plan) : Layer(plan) {
    plan.need_images();
    out.height = out.width = v.integer("output_size");
    pool_ = {in.height, in.width, in.channels, out.height, out.width};
  }

  void forward(const Pass& p) const override { p.submit(ops::avg_pool(p.x, pool_, p.y)); }
  void backward(Pass& p) const override { p.submit(ops::avg_pool_grad(p.dy, pool_, p.dx)); }
  // Areas of equal size become an AveragePool. Areas that may overlap become products over rows and columns.
  std::string to_onnx(Export& to, const std::string& x) const override {
    if (in.height % out.height == 0 && in.width % out.width == 0) {
      const std::vector<int64_t> area{in.height / out.height, in.width / out.width};
      return to.graph.add("AveragePool", {x}, sdk::onnx::Attributes().set("kernel_shape", area).set("strides", area));
    }
    const std::string prefix = std::to_string(index);
    const std::string rows = to.graph.constant(prefix + ".rows", {out.height, in.height}, means(in.height, out.height));
    const std::vector<float> w = means(in.width, out.width);
    std::vector<float> columns(w.size());
    for (int64_t o = 0; o < out.width; ++o)
      for (int64_t i = 0; i < in.width; ++i) columns[i * out.width + o] = w[o * in.width + i];
    return to.graph.add("MatMul", {to.graph.add("MatMul", {rows, x}),
                                   to.graph.constant(prefix + ".columns", {in.width, out.width}, columns)});
  }

 private:
  // Returns a row for each cell of a side, with the weights of the pixels in its area.
  static std::vector<float> means(int64_t size, int64_t cells) {
    std::vector<float> weights(size * cells);
    for (int64_t cell = 0; cell < cells; ++cell) {
      const int64_t begin = ops::avg_pool_begin(cell, size, cells), end = ops::avg_pool_end(cell, size, cells);
      for (int64_t i = begin; i < end; ++i) weights[cell * size + i] = 1.0F / float(end - begin);
    }
    return weights;
  }

  ops::AvgPool pool_;
};

}  // namespace

extern constinit const LayerType kAdaptiveAvgPool2d =
    layer_type<AdaptiveAvgPool2d>("adaptive_avg_pool2d", "mean over areas of a grid", kAdaptiveAvgPool2dKeys);

}  // namespace mokume::cnn
