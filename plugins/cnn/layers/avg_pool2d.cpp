// avg_pool2d returns the mean over each window, like PyTorch's AvgPool2d.
#include "layers/export.hpp"
#include "layers/sliding_window.hpp"
#include "sdk/ops/avg_pool.hpp"

namespace mokume::cnn {
namespace {

constexpr mk_param kAvgPool2dKeys[] = {
    integer("kernel_size", 1, 1024, "", "height of the window, and its width without kernel_width"),
    integer("kernel_width", 0, 1024, "0", "width of the window; 0: the same as kernel_size"),
    integer("stride", 0, 1024, "0", "step of the window; 0: the size of the window"),
    integer("stride_width", 0, 1024, "0", "step of the window to the right; 0: as stride"),
    integer("padding", 0, 1023, "0", "zeros around the image"),
    integer("padding_width", -1, 1023, "-1", "padding on the left and on the right; -1: as padding"),
    flag("ceil_mode", "false", "also windows that begin in the image and end beyond its padding"),
    flag("count_include_pad", "true", "whether the padding counts as pixels of value 0"),
};

class AvgPool2d : public Layer {
 public:
  AvgPool2d(const Values& v, LayerPlan& plan) : Layer(plan), window_(pool_window(plan, v)) {
    const ops::Window& w = window_;
    out = {w.out_height(), w.out_width(), in.channels};
    pool_ = {w.height,   w.width,    w.channels, out.height, out.width, w.kernel_h,
             w.kernel_w, w.stride_h, w.stride_w, w.pad_h,    w.pad_w,   v.flag("count_include_pad") ? 1 : 0};
    variant = variant_of(w);
    variant.push_back(pool_.counts_padding);
  }

  void forward(const Pass& p) const override { p.submit(ops::avg_pool(p.x, pool_, p.y)); }
  void backward(Pass& p) const override { p.submit(ops::avg_pool_grad(p.dy, pool_, p.dx)); }
  // Leaves out the padding that only ceil_mode adds, because means never include it.
  std::string to_onnx(Export& to, const std::string& x) const override {
    ops::Window even = window_;
    even.more_h = even.more_w = 0;
    return to.graph.add("AveragePool", {x},
                        onnx_window(even)
                            .set("ceil_mode", int64_t{window_.lopsided() ? 1 : 0})
                            .set("count_include_pad", pool_.counts_padding));
  }

 private:
  ops::Window window_;
  ops::AvgPool pool_;
};

}  // namespace

extern constinit const LayerType kAvgPool2d =
    layer_type<AvgPool2d>("avg_pool2d", "mean under a window", kAvgPool2dKeys);

}  // namespace mokume::cnn
