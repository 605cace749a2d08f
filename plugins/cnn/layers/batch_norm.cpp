// batch_norm normalises each channel over the batch, like PyTorch's BatchNorm2d and BatchNorm1d. Predictions use
// running moments, which belong to the parameters and are saved, resumed, averaged and shared with them. The layer
// absorbs a relu that follows it, forward and backward.
//
// A frozen batch_norm also uses its running moments in training and does not change them, like PyTorch's layer after
// requires_grad_(False) and eval(). The layer is then an affine function of each channel.
//
// If the batch of a step is cut into shards, each shard has its own moments, so that the result does not depend on the
// devices that computed the shards. Running moments follow the mean of the shards, weighted by rows.
#include "sdk/ops/batch_norm.hpp"

#include "layers/export.hpp"
#include "layers/initialisation.hpp"
#include "layers/layer.hpp"
#include "sdk/ops/fill.hpp"

namespace mokume::cnn {
namespace {

constexpr mk_param kBatchNormKeys[] = {
    positive("eps", 1, "1e-5", "added to the variance"),
    {"momentum", MK_PARAM_REAL, MK_PARAM_EXCLUSIVE_MIN, 0, 1, "0.1", "",
     "share of a batch's moments in the running moments", nullptr, 0, 0},
    kNormInitialisation,
};

constexpr size_t kMoments = 0, kZeros = 0;  // the only buffer of a layer, which holds zeros if it is frozen

class BatchNorm : public Layer {
 public:
  BatchNorm(const Values& v, LayerPlan& plan)
      : Layer(plan), eps_(v.real("eps")), channels_(in.flat ? in.elements() : in.channels) {
    const Shape features = in.flat ? in : Shape{1, 1, in.channels};
    const auto vector = [&](const char* called, double start, double momentum) {
      Parameter p{called, features, 1, Parameter::Kind::features};
      p.start = start;
      p.momentum = momentum;
      return plan.parameter(p);
    };
    weight_ = vector("weight", norm_start(v), 0);
    bias_ = vector("bias", 0, 0);
    mean_ = vector("running_mean", 0, v.real("momentum"));
    variance_ = vector("running_var", 1, v.real("momentum"));
    if (frozen)
      buffers = {{0, channels_}};
    else
      buffers = {{0, ops::kNormMoments * channels_}};
    grads_activation = !frozen;
    backward_alone = frozen;
    overwrites_to_predict = true;
  }

  void fill_buffers(const sdk::Device& device, std::span<const Slice> to) const override {
    if (frozen) device.submit(ops::fill(to[kZeros].vector(channels_), 0.0F));
  }

  bool absorbs(const Layer& next) const override { return next.ends_in_relu(); }

  void forward(const Pass& p) const override {
    const mk_tensor x = p.lines(p.x, channels_), y = p.lines(p.y, channels_);
    const ParameterVector& all = p.weights;
    if (p.dropout != nullptr && !frozen)
      p.submit(ops::batch_norm(x, vector(all, weight_), vector(all, bias_), eps_, activation, y, moments(p)));
    else
      p.submit(ops::batch_norm_given(x, vector(all, weight_), vector(all, bias_), vector(all, mean_),
                                     vector(all, variance_), eps_, activation, y));
  }
  // Computes dx = dy * weight / sqrt(variance + eps), i.e. the op for a mean and a bias of zero.
  void backward(Pass& p) const override {
    if (!frozen) return;
    const mk_tensor zeros = p.buffers[kZeros].vector(channels_);
    p.submit(ops::batch_norm_given(p.lines(p.dy, channels_), vector(p.weights, weight_), zeros, zeros,
                                   vector(p.weights, variance_), eps_, ops::Activation::none,
                                   p.lines(p.dx, channels_)));
  }
  void gradients(const Pass& p, const ParameterVector& to) const override {
    const mk_tensor dx = p.dx.buffer == nullptr ? mk_tensor{} : p.lines(p.dx, channels_);
    p.submit(ops::batch_norm_grad(p.lines(p.dy, channels_), p.lines(p.x, channels_), moments(p), activation,
                                  vector(to, weight_), vector(to, bias_), dx,
                                  {running(p.weights), p.share, running(to)}));
  }
  std::string to_onnx(Export& to, const std::string& x) const override {
    std::vector<std::string> operands{x};
    for (const int p : {weight_, bias_, mean_, variance_}) operands.push_back(to.parameter(p));
    return to.graph.add("BatchNormalization", operands, sdk::onnx::Attributes().set("epsilon", float(eps_)));
  }

 private:
  mk_tensor vector(const ParameterVector& all, int parameter) const {
    const mk_tensor t = all.whole(parameter);
    return sdk::vector(t.buffer, channels_, t.offset);
  }
  // Returns the running mean and the running variance, which follows it.
  mk_tensor running(const ParameterVector& all) const {
    const mk_tensor mean = vector(all, mean_), variance = vector(all, variance_);
    if (variance.buffer != mean.buffer)
      throw Error(MK_UNSUPPORTED,
                  name + ": the running moments of so many channels do not fit one buffer of this device");
    return sdk::matrix(mean.buffer, 2, channels_, variance.offset - mean.offset, mean.offset);
  }
  mk_tensor moments(const Pass& p) const { return p.buffers[kMoments].matrix(ops::kNormMoments, channels_); }

  double eps_;
  int64_t channels_;
  int weight_, bias_, mean_, variance_;
};

}  // namespace

extern constinit const LayerType kBatchNorm =
    layer_type<BatchNorm>("batch_norm", "gives each channel mean 0 and variance 1 over the batch", kBatchNormKeys);

}  // namespace mokume::cnn
