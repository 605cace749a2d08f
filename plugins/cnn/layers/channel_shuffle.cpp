// channel_shuffle takes one channel from each group in turn, like PyTorch's ChannelShuffle, so that the next
// convolution with groups sees channels of all groups.
#include "layers/export.hpp"
#include "layers/layer.hpp"
#include "layers/pixels.hpp"

namespace mokume::cnn {
namespace {

constexpr mk_param kChannelShuffleKeys[] = {
    integer("groups", 1, 1 << 20, "", "groups of channels; their number divides the number of channels")};

enum { kForward, kBack };  // indices of the layer's buffers

// The ops see each pixel as an image of one line, whose pixels are the channels.
class ChannelShuffle : public Layer {
 public:
  ChannelShuffle(const Values& v, LayerPlan& plan) : Layer(plan), groups_(v.integer("groups")) {
    plan.need_images();
    if (in.channels % groups_ != 0)
      plan.refuse("its " + std::to_string(in.channels) + " channels are no multiple of groups",
                  "choose a number of groups that divides them");
    forward_ = shuffle(groups_);
    back_ = shuffle(in.channels / groups_);
    buffers = {forward_.indices(), back_.indices()};
    variant = {groups_};
  }

  void fill_buffers(const sdk::Device& device, std::span<const Slice> to) const override {
    forward_.fill(device, to[kForward]);
    back_.fill(device, to[kBack]);
  }
  void forward(const Pass& p) const override {
    p.submit(forward_.gather(p.lines(p.x, in.channels), p.buffers[kForward], p.lines(p.y, in.channels)));
  }
  void backward(Pass& p) const override {
    p.submit(back_.gather(p.lines(p.dy, in.channels), p.buffers[kBack], p.lines(p.dx, in.channels)));
  }
  std::string to_onnx(Export& to, const std::string& x) const override {
    const auto reshaped = [&](const std::string& from, const char* called, const std::vector<int64_t>& shape) {
      return to.graph.add("Reshape", {from, to.graph.constant(name + called, {int64_t(shape.size())}, shape)});
    };
    const std::string split = reshaped(x, ".split", {0, groups_, in.channels / groups_, in.height, in.width});
    const std::string turned =
        to.graph.add("Transpose", {split}, sdk::onnx::Attributes().set("perm", std::vector<int64_t>{0, 2, 1, 3, 4}));
    return reshaped(turned, ".joined", {0, in.channels, in.height, in.width});
  }

 private:
  Pixels shuffle(int64_t groups) const {
    const int64_t each = in.channels / groups;
    std::vector<int32_t> from;
    for (int64_t i = 0; i < each; ++i)
      for (int64_t group = 0; group < groups; ++group) from.push_back(int32_t(group * each + i));
    return {{1, in.channels, 1, false}, {0}, from};
  }

  int64_t groups_;
  Pixels forward_, back_;
};

}  // namespace

extern constinit const LayerType kChannelShuffle =
    layer_type<ChannelShuffle>("channel_shuffle", "takes one channel of each group in turn", kChannelShuffleKeys);

}  // namespace mokume::cnn
