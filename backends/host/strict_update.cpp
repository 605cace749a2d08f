#include "strict_update.hpp"

#include <atomic>
#include <vector>

#include "formulas/step_numbers.hpp"
#include "isa/network.hpp"
#include "isa/products.hpp"
#include "kept_memory.hpp"
#include "sdk/ops/linear_update.hpp"

namespace mokume::host {
namespace {

constexpr int64_t kShortRow = 3 * kDotChains;  // docs/explained/numbers.md

class StrictUpdate {
 public:
  explicit StrictUpdate(const Call& call) : call_(call), loops_(*call.loops.products) {
    const ops::OptimizerSettings o = ops::linear_update_settings(call.op);
    step_.kind = o.kind;
    formulas::set_step_numbers(o, call.op.linear_update.t, step_.numbers);
    const int64_t columns = weight_.columns;
    if (columns < kFewestInPlace) {
      packed_.resize(static_cast<size_t>(batch() * kPanelColumns));
      loops_.pack({dy_.data, dy_.stride, false, batch(), columns}, packed_.data());
    }
    if (!wanted() || columns <= kShortRow) return;
    padded_step_ = (columns + kDotChains - 1) / kDotChains * kDotChains;
    padded_.resize(static_cast<size_t>(batch() * padded_step_));
    for (int64_t b = 0; b < batch(); ++b) std::copy_n(dy_.row(b), columns, padded_.data() + b * padded_step_);
  }

  // Updates rows [from, to) of the weight, some at a time, so that they stay in the cache. Returns false if there is no
  // memory.
  bool rows(int64_t from, int64_t to) const {
    constexpr int64_t kFloats = 8192, kFewest = 12, kMost = 512;
    const int64_t columns = weight_.columns, each = std::clamp<int64_t>(kFloats / columns, kFewest, kMost);
    const int64_t panels = columns <= kShortRow ? (each + kPanelColumns) * columns : 0;
    float* const x = kept_memory(Use::product_parts, each * (batch() + columns) + panels);
    if (x == nullptr) return false;
    float* const gradient = x + each * batch();
    for (int64_t first = from; first < to; first += each) {
      const int64_t count = std::min(each, to - first);
      for (int64_t b = 0; b < batch(); ++b) std::copy_n(x_.row(b) + first, count, x + b * count);  // dx may be x
      if (wanted()) input_gradient(x, first, count, gradient + each * columns);
      weight_gradient(x, count, gradient);
      step(first, count, gradient);
    }
    return true;
  }

 private:
  int64_t batch() const { return x_.rows; }
  bool wanted() const { return !sdk::empty(call_.op.outputs[2]); }

  void input_gradient(const float* x, int64_t first, int64_t count, float* panels) const {
    if (weight_.columns <= kShortRow) {
      loops_.pack({weight_.row(first), weight_.stride, true, weight_.columns, count}, panels);
      loops_.multiply({.a = dy_.data,
                       .a_row = dy_.stride,
                       .a_k = 1,
                       .b = panels,
                       .b_row = 0,
                       .packed = true,
                       .rows = batch(),
                       .columns = count,
                       .k = weight_.columns,
                       .out = dx_.data + first,
                       .out_step = dx_.stride,
                       .end = {1, 0, nullptr, false}});
    } else {
      for (int64_t i = first; i < first + count; ++i)
        loops_.dots({weight_.row(i), padded_.data(), padded_step_, batch(), weight_.columns, dx_.data + i, dx_.stride});
    }
    if (call_.op.linear_update.after_relu == 0) return;
    for (int64_t b = 0; b < batch(); ++b)
      for (int64_t i = 0; i < count; ++i)
        if (!(x[b * count + i] > 0)) dx_.row(b)[first + i] = 0;
  }

  // A batch of no rows gives zeros.
  void weight_gradient(const float* x, int64_t count, float* gradient) const {
    loops_.multiply({.a = x,
                     .a_row = 1,
                     .a_k = count,
                     .b = packed_.empty() ? dy_.data : packed_.data(),
                     .b_row = dy_.stride,
                     .packed = weight_.columns < kFewestInPlace,
                     .rows = count,
                     .columns = weight_.columns,
                     .k = batch(),
                     .out = gradient,
                     .out_step = weight_.columns,
                     .end = {1, 0, nullptr, false}});
  }

  void step(int64_t first, int64_t count, const float* gradient) const {
    const int64_t columns = weight_.columns;
    const bool stateful = state_.columns > 0;
    const bool dense = weight_.stride == columns && (!stateful || state_.stride == columns);
    const int64_t runs = dense ? 1 : count;
    for (int64_t r = 0; r < runs; ++r) {
      OptimizerRange range = step_;
      range.grad = gradient + r * columns;
      range.weight = weight_.row(first + r);
      range.state = stateful ? state_.row(first + r) : nullptr;
      range.n = dense ? count * columns : columns;
      call_.loops.network->optimizer(range);
    }
  }

  const Call& call_;
  const ProductLoops& loops_;
  const View<const float> x_ = call_.input(0), dy_ = call_.input(1);
  const View<float> weight_ = call_.output(0), state_ = call_.output(1), dx_ = call_.output(2);
  OptimizerRange step_{};
  std::vector<float> packed_;  // dy, if it has few columns
  std::vector<float> padded_;  // dy with zeros after its columns, for the chains of dx
  int64_t padded_step_ = 0;
};

}  // namespace

void update_strictly(const Call& call) {
  const StrictUpdate update(call);
  const View<float> weight = call.output(0);
  std::atomic<bool> failed{false};
  call.for_rows(weight.rows, weight.columns * (2 * call.input(0).rows + 4), [&](int64_t from, int64_t to) {
    if (!update.rows(from, to)) failed = true;
  });
  if (failed) throw Error(MK_OUT_OF_MEMORY, "linear_update: no memory for the gradients of a few rows");
}

}  // namespace mokume::host
