#include "engine.hpp"

#include <algorithm>
#include <bit>

#include "sdk/ops.hpp"

namespace mokume::cnn {
namespace {

using Kind = Stage::Kind;

// What a batch needs beside parameters, in elements.
struct Needs {
  int64_t activations = 0, places = 0, flow = 0;
  int64_t moments = 0;  // of normalise stages, whatever the batch
  int64_t patches = 0;  // of one image: what a backend may need beside for a convolution, whatever the batch
};

Needs needs(const Network& network, int64_t batch) {
  Needs n;
  n.activations = network.input.elements() * batch;
  n.flow = network.input.elements() * batch;
  for (const Stage& s : network.stages) {
    if (!s.in_place) n.activations += s.out.elements() * batch;
    n.flow = std::max(n.flow, s.out.elements() * batch);
    if (s.kind == Kind::max_pool) n.places += s.out.elements() * batch;
    if (s.kind == Kind::normalise) n.moments += 2 * s.in.elements();
    if (s.kind == Kind::convolution) n.patches = std::max(n.patches, s.window.out_pixels() * s.window.patch());
  }
  return n;
}

// Linear layers that take their steps on the way back, where there is an op for it: those of many outputs, whose
// weights are most of the memory that moves, and of one, whose inputs are. Between them the rows are too short for it.
bool takes_own_step(int64_t outputs) { return outputs >= 16 || outputs == 1; }

bool keeps_gradient(const Parameter& p) { return !p.is_linear_weight() || !takes_own_step(p.outputs); }

bool fused(int64_t batch, bool training, const ops::OptimizerSettings& optimizer, const EngineOptions& options) {
  return training && !options.gradients && ops::has_linear_update(optimizer, batch);
}

int64_t gradients_kept(const Network& network, bool fused) {
  int64_t count = 0;
  for (const Parameter& p : network.parameters)
    if (!fused || keeps_gradient(p)) count += p.size();
  return count;
}

int levels(int64_t leaves) { return std::countr_zero(static_cast<uint64_t>(leaves)); }

// The columns of a layer's input that meet a part of its weight.
mk_tensor columns_of(const mk_tensor& x, const Part& p) {
  return sdk::matrix(x.buffer, x.rows, p.rows, x.row_stride, x.offset + p.first_row);
}

}  // namespace

uint64_t Engine::bytes(const Network& network, int64_t batch, bool training, const ops::OptimizerSettings& optimizer,
                       const EngineOptions& options) {
  const Needs n = needs(network, batch);
  const double copies = training ? 1.0 + optimizer.states() : 1.0;
  double elements = copies * static_cast<double>(network.n_parameters) +
                    static_cast<double>(n.activations + n.places + n.moments + n.patches);
  if (training)
    elements += static_cast<double>(2 * n.flow + batch) +
                static_cast<double>(gradients_kept(network, fused(batch, training, optimizer, options))) +
                static_cast<double>(levels(options.leaves)) * static_cast<double>(network.n_parameters);
  return static_cast<uint64_t>(4 * elements);
}

Engine::Engine(const sdk::Device& device, const Network& network, int64_t batch, bool training,
               const ops::OptimizerSettings& optimizer, const EngineOptions& options, SharedMemory* memory)
    : device_(device), network_(network), batch_(batch), fused_(fused(batch, training, optimizer, options)) {
  const uint64_t wanted = bytes(network, batch, training, optimizer, options);
  const Needs n = needs(network, batch);
  const auto largest = static_cast<uint64_t>(4 * n.flow);
  if (wanted > device.budget_bytes() || largest > device.info().max_buffer_bytes)
    throw Error(MK_OUT_OF_MEMORY,
                "the network needs " + std::to_string(wanted >> 20) + " MiB (" +
                    std::to_string(static_cast<uint64_t>(network.n_parameters) >> 18) + " MiB of parameters, " +
                    std::to_string(largest >> 20) + " MiB in one piece for a batch) at batch_size " +
                    std::to_string(batch) + ", and " + device.info().name + " gives it " +
                    std::to_string(device.budget_bytes() >> 20) + " MiB (" +
                    std::to_string(device.info().max_buffer_bytes >> 20) +
                    " MiB in one piece): lower batch_size, make the layers smaller, or name another device");
  SharedMemory own(device);
  SharedMemory& from = memory != nullptr ? *memory : own;
  const uint64_t piece = std::min(options.segment_bytes, device.info().max_buffer_bytes);
  parameters_ = ParameterVector(device, Segments(network, piece), from);
  activations_.push_back(from.take(batch * network.input.elements()));
  slot_.push_back(0);
  for (const Stage& s : network.stages) {
    if (!s.in_place) activations_.push_back(from.take(batch * s.out.elements()));
    slot_.push_back(activations_.size() - 1);
    places_.push_back(s.kind == Kind::max_pool ? from.take(batch * s.out.elements()) : Slice());
    shift_.emplace_back();
    scale_.emplace_back();
    if (s.kind != Kind::normalise) continue;
    const auto features = static_cast<uint64_t>(s.in.elements());
    const auto constant = [&](double value) {
      const Slice slice = from.take(s.in.elements());
      slice.write(device, std::vector<float>(features, static_cast<float>(value)).data(), features);
      return slice;
    };
    shift_.back() = constant(s.normalise.mean);
    scale_.back() = constant(1 / s.normalise.std);
  }
  if (!training) return;
  gradients_ = ParameterVector(device, Segments(network, piece, fused_ ? keeps_gradient : nullptr), from);
  steps_ = common_runs(parameters_.layout(), gradients_.layout());
  for (uint32_t s = 0; s < optimizer.states(); ++s) states_.emplace_back(device, parameters_.layout(), from);
  for (int k = 0; k < levels(options.leaves); ++k) halves_.emplace_back(device, parameters_.layout(), from);
  for (Slice& flow : flow_) flow = from.take(n.flow);
  ones_ = from.take(batch);
  device.submit(ops::fill(ones_.vector(batch), 1.0F));
}

void Engine::write_input(const float* x, int64_t rows) const {
  activations_[0].write(device_, x, static_cast<uint64_t>(rows * network_.input.elements()));
}

void Engine::read(const mk_tensor& outputs, float* to) const {
  activations_.back().read(device_, to, static_cast<uint64_t>(outputs.rows * outputs.columns));
}

void Engine::set_normalisation(const std::vector<float>& mean, const std::vector<float>& deviation) const {
  std::vector<float> inverse;
  for (const float d : deviation) inverse.push_back(d > 0 ? 1.0F / d : 1.0F);
  for (size_t k = 0; k < network_.stages.size(); ++k) {
    if (network_.stages[k].kind != Kind::normalise || !network_.stages[k].normalise.per_feature) continue;
    shift_[k].write(device_, mean.data(), mean.size());
    scale_[k].write(device_, inverse.data(), inverse.size());
  }
}

mk_tensor Engine::activation(size_t stage, int64_t rows) const {
  const int64_t elements = stage == 0 ? network_.input.elements() : network_.stages[stage - 1].out.elements();
  return activations_[slot_[stage]].matrix(rows, elements);
}

mk_tensor Engine::input(int64_t rows) const { return activation(0, rows); }

mk_tensor Engine::output_gradient(int64_t rows) const { return flow_[0].matrix(rows, network_.outputs()); }

mk_tensor Engine::weight(const ParameterVector& of, const Stage& s) const {
  const Segments::Tensor& t = of.layout().tensor(s.weight);
  return of.part(t.parts.front(), t.columns);
}

mk_tensor Engine::bias(const ParameterVector& of, const Stage& s) const {
  if (s.bias < 0) return {};
  const Segments::Tensor& t = of.layout().tensor(s.bias);
  return of.part(t.parts.front(), t.columns);
}

mk_tensor Engine::forward(int64_t rows, const ops::DropoutPlace* place) const {
  for (size_t k = 0; k < network_.stages.size(); ++k) {
    const Stage& s = network_.stages[k];
    const mk_tensor x = activation(k, rows), y = activation(k + 1, rows);
    switch (s.kind) {
      case Kind::convolution:
        submit(ops::conv2d(x, weight(parameters_, s), bias(parameters_, s), s.window, s.activation, y));
        break;
      case Kind::linear:
        forward_linear(s, x, y);
        break;
      case Kind::relu:
        submit(ops::bias_act(x, {}, ops::Activation::relu, y));
        break;
      case Kind::max_pool:
        submit(ops::max_pool(x, s.window, y, places_[k].matrix(rows, y.columns, 0, MK_I32)));
        break;
      case Kind::avg_pool:
        submit(ops::avg_pool(x, s.pool, y));
        break;
      case Kind::dropout:
        if (place != nullptr) {
          ops::DropoutPlace here = *place;
          here.layer = s.layer;
          submit(ops::dropout(x, s.p, here, y));
        }
        break;
      case Kind::normalise:
        submit(ops::affine_columns(x, scale_[k].vector(x.columns), shift_[k].vector(x.columns), y));
        break;
    }
  }
  return activation(network_.stages.size(), rows);
}

// The weight's parts one after the other along k: the same bits as in one piece.
void Engine::forward_linear(const Stage& s, const mk_tensor& x, const mk_tensor& y) const {
  const Segments::Tensor& weight = parameters_.layout().tensor(s.weight);
  for (const Part& p : weight.parts) {
    const bool first = p.first_row == 0, last = p.first_row + p.rows == x.columns;
    const mk_tensor w = parameters_.part(p, weight.columns);
    const float keep = first ? 0.0F : 1.0F;
    if (last)
      submit(ops::gemm_bias_act(columns_of(x, p), w, bias(parameters_, s), s.activation, y, keep));
    else
      submit(ops::gemm(columns_of(x, p), false, w, false, y, 1.0F, keep));
  }
}

void Engine::backward(int64_t rows, const ops::DropoutPlace& place) const {
  if (fused_) throw Error(MK_INTERNAL, "this engine keeps no gradients: make it with EngineOptions::gradients");
  go_back(rows, place, nullptr,
          [&](const Stage& s, const mk_tensor& x, const mk_tensor& dy) { stage_gradients(s, x, dy, gradients_); });
}

void Engine::backward(int64_t rows, const ops::DropoutPlace& place, const ParameterVector& to,
                      std::span<const Add> adds, const std::function<void(const Stage&)>& summed) const {
  if (fused_) throw Error(MK_INTERNAL, "this engine keeps no gradients: make it with EngineOptions::gradients");
  go_back(rows, place, nullptr, [&](const Stage& s, const mk_tensor& x, const mk_tensor& dy) {
    stage_gradients(s, x, dy, to);
    for (const Add& a : adds) add(s, *a.what, *a.to);
    summed(s);
  });
}

void Engine::add(const Stage& s, const ParameterVector& what, const ParameterVector& to) const {
  for (const int64_t offset : {s.weight, s.bias}) {
    if (offset < 0) continue;
    const Segments::Tensor& tensor = to.layout().tensor(offset);
    for (const Part& p : tensor.parts) {
      const auto run = [&](const ParameterVector& of) { return of.run(p.segment, p.at, p.rows * tensor.columns); };
      submit(ops::bias_act(run(to), run(what), ops::Activation::none, run(to)));
    }
  }
}

void Engine::stage_gradients(const Stage& s, const mk_tensor& x, const mk_tensor& dy, const ParameterVector& to) const {
  if (s.kind == Kind::convolution) {
    submit(ops::conv2d_grad_weight(x, dy, s.window, weight(to, s), bias(to, s)));
    return;
  }
  bias_gradient(s, dy, to);
  const Segments::Tensor& gradient = to.layout().tensor(s.weight);
  for (const Part& p : gradient.parts) submit(ops::gemm(columns_of(x, p), true, dy, false, to.part(p, dy.columns)));
}

void Engine::train_back(int64_t rows, const ops::DropoutPlace& place, const ops::OptimizerSettings& settings,
                        int64_t t) const {
  const Step now{settings, t};
  go_back(rows, place, &now,
          [&](const Stage& s, const mk_tensor& x, const mk_tensor& dy) { stage_gradients(s, x, dy, gradients_); });
}

void Engine::go_back(int64_t rows, const ops::DropoutPlace& place, const Step* step, const Gradients& gradients) const {
  const size_t first = network_.first_with_parameters();
  int current = 0;
  bool relu_done = false;  // by the stage behind this one
  bool in_place = false;   // dy lies where y was
  for (size_t k = network_.stages.size(); k-- > first;) {
    const Stage& s = network_.stages[k];
    const mk_tensor x = activation(k, rows), y = activation(k + 1, rows);
    const mk_tensor dy = in_place ? y : flow_[current].matrix(rows, s.out.elements());
    if (s.activation != ops::Activation::none && !relu_done) submit(ops::act_grad(dy, y, s.activation, dy));
    const bool own_step = fused_ && s.kind == Kind::linear && takes_own_step(s.out.elements());
    const Stage* before = k > first ? &network_.stages[k - 1] : nullptr;
    const bool after_relu = own_step && before != nullptr && before->ends_in_relu() && !before->relu_before;
    // Nothing looks at what a relu gave after such a step: its gradient takes the place, while that is in the cache.
    const mk_tensor dx = after_relu ? x : flow_[1 - current].matrix(rows, s.in.elements());
    const mk_tensor* wanted = before != nullptr ? &dx : nullptr;
    switch (s.kind) {
      case Kind::convolution:
        gradients(s, x, dy);
        if (wanted != nullptr) submit(ops::conv2d_grad_input(dy, weight(parameters_, s), s.window, dx));
        break;
      case Kind::linear:
        if (own_step) {
          update_linear(s, x, dy, wanted, after_relu, *step);
          break;
        }
        gradients(s, x, dy);
        if (wanted != nullptr) backward_linear(s, dy, dx);
        break;
      case Kind::max_pool:
        submit(ops::max_pool_grad(dy, places_[k].matrix(rows, y.columns, 0, MK_I32), s.window, dx));
        break;
      case Kind::avg_pool:
        submit(ops::avg_pool_grad(dy, s.pool, dx));
        break;
      case Kind::relu:
        if (!relu_done) submit(ops::act_grad(dy, y, ops::Activation::relu, dy));
        break;
      case Kind::dropout: {
        ops::DropoutPlace here = place;
        here.layer = s.layer;
        submit(ops::dropout(dy, s.p, here, dy));
        break;
      }
      case Kind::normalise:
        submit(ops::affine_columns(dy, scale_[k].vector(dy.columns), {}, s.in_place ? dy : dx));
        break;
    }
    relu_done = after_relu;
    in_place = after_relu || (in_place && s.in_place);
    if (!s.in_place) current = 1 - current;
  }
}

void Engine::backward_linear(const Stage& s, const mk_tensor& dy, const mk_tensor& dx) const {
  for (const Part& p : parameters_.layout().tensor(s.weight).parts)
    submit(ops::gemm(dy, false, parameters_.part(p, dy.columns), true, columns_of(dx, p)));
}

void Engine::update_linear(const Stage& s, const mk_tensor& x, const mk_tensor& dy, const mk_tensor* dx,
                           bool after_relu, const Step& step) const {
  bias_gradient(s, dy, gradients_);
  for (const Part& p : parameters_.layout().tensor(s.weight).parts) {
    const mk_tensor state = states_.empty() ? mk_tensor{} : states_[0].part(p, dy.columns);
    submit(ops::linear_update(columns_of(x, p), dy, parameters_.part(p, dy.columns), state,
                              dx == nullptr ? mk_tensor{} : columns_of(*dx, p), step.settings, step.t, after_relu));
  }
}

void Engine::bias_gradient(const Stage& s, const mk_tensor& dy, const ParameterVector& to) const {
  if (s.bias >= 0) submit(ops::gemm(ones_.vector(dy.rows), false, dy, false, bias(to, s)));
}

std::vector<const ParameterVector*> Engine::parameters_and_states() const {
  std::vector<const ParameterVector*> all = {&parameters_};
  for (const ParameterVector& state : states_) all.push_back(&state);
  return all;
}

void Engine::end_training() {
  steps_.clear();
  states_.clear();
  halves_.clear();
  gradients_ = ParameterVector();
}

void Engine::step(const ops::OptimizerSettings& settings, int64_t t) const {
  for (const CommonRun& r : steps_) {
    const auto run = [&](const ParameterVector& of) { return of.run(r.segment_a, r.at_a, r.size); };
    submit(ops::optimizer_step(gradients_.run(r.segment_b, r.at_b, r.size), run(parameters_),
                               states_.empty() ? mk_tensor{} : run(states_[0]),
                               states_.size() < 2 ? mk_tensor{} : run(states_[1]), settings, t));
  }
}

}  // namespace mokume::cnn
