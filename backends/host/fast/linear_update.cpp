#include "sdk/ops/linear_update.hpp"

#include <atomic>
#include <memory>

#include "formulas/step_numbers.hpp"
#include "isa/network.hpp"
#include "products.hpp"
#include "sdk/ops/gemm.hpp"
#include "strict_update.hpp"

namespace mokume::host::fast {
namespace {

struct Release {
  const mk_host* host;
  void operator()(void* memory) const { host->release(host->self, memory); }
};

// Holds temporary memory from the program. data() is null if none is left.
class Scratch {
 public:
  Scratch(const mk_host* host, int64_t floats)
      : memory_(host->allocate(host->self, static_cast<size_t>(floats) * sizeof(float)), Release{host}) {}
  float* data() const { return static_cast<float*>(memory_.get()); }

 private:
  std::unique_ptr<void, Release> memory_;
};

// Updates a few rows of the weight while they are in the cache. Performs the same oneDNN calls and loops on them as
// gemm, gemm and optimizer_step would.
class Update {
 public:
  explicit Update(const Call& call) : call_(call) {
    const ops::OptimizerSettings o = ops::linear_update_settings(call.op);
    step_.kind = o.kind;
    formulas::set_step_numbers(o, call.op.linear_update.t, step_.numbers);
  }

  // Updates rows [from, from + ops::kGemmCut) of the weight. Returns false if memory runs out.
  bool rows(int64_t from) const {
    const int64_t to = std::min(from + ops::kGemmCut, weight_.rows);
    const Scratch gradient(call_.host.table(), kTileRows * weight_.columns);
    const Scratch copy(call_.host.table(), std::max<int64_t>(x_.rows, 1) * (to - from));
    if (gradient.data() == nullptr || copy.data() == nullptr) return false;
    for (int64_t b = 0; b < x_.rows; ++b)
      std::copy_n(x_.row(b) + from, to - from, copy.data() + b * (to - from));  // dx may alias x
    const View<const float> x{copy.data(), x_.rows, to - from, to - from};
    if (!input_gradient(x, from)) return false;
    for (int64_t r = from; r < to; r += kTileRows)
      if (!step(x, r - from, r, std::min(kTileRows, to - r), gradient.data())) return false;
    return true;
  }

 private:
  // `x` holds the input columns that belong to the weight rows from `from` on.
  bool input_gradient(const View<const float>& x, int64_t from) const {
    if (sdk::empty(call_.op.outputs[2])) return true;
    const View<const float> weight{weight_.data, weight_.rows, weight_.columns, weight_.stride};
    const Product dx{false, true, 1, 0, weight_.columns, dy_, weight, call_.output(2)};
    for (int64_t c = from; c < from + x.columns; c += kTileColumns)
      if (!dx.tile(0, c)) return false;
    if (call_.op.linear_update.after_relu == 0) return true;
    const View<float> out = call_.output(2);
    for (int64_t b = 0; b < x.rows; ++b)
      for (int64_t i = 0; i < x.columns; ++i)
        if (!(x.row(b)[i] > 0)) out.row(b)[from + i] = 0;
    return true;
  }

  bool step(const View<const float>& all, int64_t column, int64_t first, int64_t rows, float* gradient) const {
    const int64_t columns = weight_.columns;
    std::fill(gradient, gradient + (x_.rows == 0 ? rows * columns : 0), 0.0F);
    const View<const float> x{all.data + column, all.rows, rows, all.stride};
    const Product product{true, false, 1, 0, x_.rows, x, dy_, {gradient, rows, columns, columns}};
    for (int64_t c = 0; c < columns; c += kTileColumns)
      if (!product.tile(0, c)) return false;
    for (int64_t r = 0; r < rows; ++r) {
      OptimizerRange range = step_;
      range.grad = gradient + r * columns;
      range.weight = weight_.row(first + r);
      range.state = state_.columns > 0 ? state_.row(first + r) : nullptr;
      range.n = columns;
      call_.loops.network->optimizer(range);
    }
    return true;
  }

  const Call& call_;
  View<const float> x_ = call_.input(0), dy_ = call_.input(1);
  View<float> weight_ = call_.output(0), state_ = call_.output(1);
  OptimizerRange step_{};
};

}  // namespace

void linear_update(const Call& call) {
  if (call.strict) return update_strictly(call);
  const Update update(call);
  const int64_t pieces = (call.op.outputs[0].rows + ops::kGemmCut - 1) / ops::kGemmCut;
  std::atomic<bool> failed{false};
  const auto piece = [&](uint64_t index) {
    if (!update.rows(static_cast<int64_t>(index) * ops::kGemmCut)) failed = true;
  };
  if (pieces == 1)
    piece(0);
  else
    call.parallel_for(static_cast<uint64_t>(pieces), piece);
  if (failed) throw Error(MK_OUT_OF_MEMORY, "linear_update: no memory for the gradients of a few rows");
}

}  // namespace mokume::host::fast
