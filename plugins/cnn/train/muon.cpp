#include "train/muon.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sdk/error.hpp"
#include "sdk/ops/bias_act.hpp"
#include "sdk/ops/fill.hpp"
#include "sdk/ops/gemm.hpp"
#include "sdk/ops/optimizer_step.hpp"
#include "sdk/ops/row_norm2.hpp"

namespace mokume::cnn {
namespace {

// X = a X + (b X X^T + c (X X^T)^2) X moves every singular value in (0, 1] towards 1.
constexpr float kA = 3.4445F, kB = -4.7750F, kC = 2.0315F;

// Clipping to kSmall at the rate 1 / kSmall divides a vector by its norm + 1e-6, because this sum always exceeds
// kSmall. Compared with the norm of the magnified momentum, 1e-6 vanishes.
constexpr double kSmall = 0x1p-20, kMagnified = 1024;

bool is_weight(const Parameter& p) {
  return p.kind == Parameter::Kind::convolution || p.kind == Parameter::Kind::linear;
}

// Returns the op that subtracts lr * from, clipped, from `to`.
mk_op scaled(const mk_tensor& from, const mk_tensor& to, double lr, double clip, const mk_tensor& norm2) {
  ops::OptimizerSettings plain;
  plain.lr = lr;
  plain.clip = clip;
  return ops::optimizer_step(from, to, {}, {}, plain, 1, norm2);
}

}  // namespace

std::vector<int> muon_weights(const std::vector<Parameter>& parameters) {
  std::vector<int> all;
  for (size_t p = 0; p < parameters.size(); ++p)
    if (is_weight(parameters[p])) all.push_back(int(p));
  if (!all.empty()) all.pop_back();
  std::erase_if(all, [&](int p) { return parameters[p].frozen; });
  return all;
}

double muon_factor(const std::string& adjust_lr_fn, int64_t outputs, int64_t inputs) {
  const double ratio = double(outputs) / double(inputs);
  if (adjust_lr_fn == "match_rms_adamw") return 0.2 * std::sqrt(double(std::max(outputs, inputs)));
  return std::sqrt(adjust_lr_fn == "original" ? std::max(1.0, ratio) : ratio);
}

MuonStep::MuonStep(const sdk::Device& device, const std::vector<Parameter>& parameters, const Segments& layout,
                   StackMemory& memory)
    : all_(muon_weights(parameters)) {
  std::erase_if(all_, [&](int p) { return layout.extents()[p].empty(); });
  for (const int p : all_)
    if (layout.extents()[p].size() > 1)
      throw Error(MK_OUT_OF_MEMORY, "muon needs the weight " + parameters[p].name +
                                        " in one piece, which is larger than the device's largest: make the layer "
                                        "smaller, or use adamw");
  const Room room = room_for(parameters);
  for (Slice& x : x_) x = memory.take(room.elements);
  product_ = memory.take(room.product);
  polynomial_ = memory.take(room.product);
  norms_ = memory.take(room.rows + 1);
  ones_ = memory.take(room.rows);
  device.submit(ops::fill(ones_.vector(room.rows), 1.0F));
}

MuonStep::Room MuonStep::room_for(const std::vector<Parameter>& parameters) {
  Room room;
  for (const int p : muon_weights(parameters)) {
    const int64_t rows = parameters[p].rows(), columns = parameters[p].outputs, side = std::min(rows, columns);
    room.elements = std::max(room.elements, rows * columns);
    room.product = std::max(room.product, side * side);
    room.rows = std::max(room.rows, rows);
  }
  return room;
}

int64_t MuonStep::elements(const std::vector<Parameter>& parameters) {
  const Room room = room_for(parameters);
  return 2 * (room.elements + room.product + room.rows) + 1;
}

void MuonStep::take(const Muon& settings, const Step& step, const std::function<void(const mk_op&)>& submit) const {
  ops::OptimizerSettings momentum;
  momentum.lr = kMagnified;
  momentum.a = settings.momentum;
  momentum.nesterov = settings.nesterov;
  momentum.clip = step.clip;
  for (const int p : all_) {
    const mk_tensor weight = step.weights.whole(p);
    const int64_t rows = weight.rows, columns = weight.columns, n = rows * columns;
    const auto flat = [n](const mk_tensor& t) { return sdk::vector(t.buffer, n, t.offset); };
    const bool tall = rows > columns;
    const int64_t side = std::min(rows, columns);
    mk_tensor x = x_[0].matrix(rows, columns), next = x_[1].matrix(rows, columns);
    const mk_tensor product = product_.matrix(side, side), polynomial = polynomial_.matrix(side, side);
    const auto copy = [&](const mk_tensor& from, const mk_tensor& to) {
      submit(ops::bias_act(from, {}, ops::Activation::none, to));
    };

    submit(ops::fill(flat(next), 0.0F));
    submit(ops::optimizer_step(flat(step.gradients.whole(p)), flat(next), flat(step.momentum.whole(p)), {}, momentum,
                               step.t, step.norm2));
    const mk_tensor norm2 = norms_.matrix(1, 1, rows);
    submit(ops::row_norm2(next, norms_.vector(rows)));
    submit(ops::gemm(norms_.vector(rows), false, ones_.vector(rows), true, norm2));
    submit(ops::fill(flat(x), 0.0F));
    submit(scaled(flat(next), flat(x), 1 / kSmall, kSmall, norm2));

    for (int64_t k = 0; k < settings.ns_steps; ++k, std::swap(x, next)) {
      submit(ops::gemm(x, tall, x, !tall, product));
      copy(product, polynomial);
      submit(ops::gemm(product, false, product, false, polynomial, kC, kB));
      copy(x, next);
      submit(ops::gemm(tall ? x : polynomial, false, tall ? polynomial : x, false, next, 1, kA));
    }

    const double factor = muon_factor(settings.adjust_lr_fn, columns, rows);
    ops::OptimizerSettings last;
    last.lr = step.lr * factor;
    last.weight_decay = settings.weight_decay / factor;  // refers to the rate without the factor
    submit(ops::optimizer_step(flat(x), flat(weight), {}, {}, last, 1));
  }
}

}  // namespace mokume::cnn
