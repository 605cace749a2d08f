#include "engine.hpp"

#include <algorithm>

#include "sdk/ops.hpp"

namespace mokume::cnn {
namespace {

using Kind = Stage::Kind;

// Patches of a few images at a time stay in a CPU's cache; a GPU wants one large product. The sum of a weight's
// gradient runs over these pieces in order, so the size is a constant of the kind of device.
constexpr int64_t kCpuPatchBytes = int64_t{6} << 20;
constexpr int64_t kGpuPatchBytes = int64_t{256} << 20;

// What a batch needs beside parameters, in elements.
struct Needs {
  int64_t activations = 0, places = 0, flow = 0, patches = 0, ones = 1;
};

// Images of a convolution whose patches are worked on at once.
int64_t images_at_once(const sdk::Device& device, const Stage& stage, int64_t batch) {
  const int64_t wanted = device.info().kind == MK_DEVICE_CPU ? kCpuPatchBytes : kGpuPatchBytes;
  return std::clamp<int64_t>(wanted / 4 / (stage.window.out_pixels() * stage.window.patch()), 1, batch);
}

Needs needs(const sdk::Device& device, const Network& network, int64_t batch) {
  Needs n;
  n.activations = network.input.elements() * batch;
  n.flow = network.input.elements() * batch;
  n.ones = batch;
  for (const Stage& s : network.stages) {
    if (!s.in_place()) n.activations += s.out.elements() * batch;
    n.flow = std::max(n.flow, s.out.elements() * batch);
    if (s.kind == Kind::max_pool) n.places += s.out.elements() * batch;
    if (s.kind != Kind::convolution) continue;
    const int64_t images = images_at_once(device, s, batch);
    n.patches = std::max(n.patches, images * s.window.out_pixels() * s.window.patch());
    n.ones = std::max(n.ones, images * s.window.out_pixels());
  }
  return n;
}

mk_tensor rows_of(const mk_tensor& t, int64_t first, int64_t count) {
  return sdk::matrix(t.buffer, count, t.columns, t.row_stride, t.offset + first * t.row_stride);
}

// Images as one row per pixel.
mk_tensor pixels(const mk_tensor& images, int64_t channels) {
  return sdk::matrix(images.buffer, images.rows * (images.columns / channels), channels, 0, images.offset);
}

}  // namespace

uint64_t Engine::bytes(const sdk::Device& device, const Network& network, int64_t batch, bool training,
                       const ops::OptimizerSettings& optimizer) {
  const Needs n = needs(device, network, batch);
  const double copies = training ? 2.0 + optimizer.states() : 1.0;
  const double elements = copies * static_cast<double>(network.n_parameters) + static_cast<double>(n.activations) +
                          static_cast<double>(n.patches) * (training ? 2 : 1) + static_cast<double>(n.ones) +
                          (training ? static_cast<double>(n.places + 2 * n.flow) : static_cast<double>(n.places));
  return static_cast<uint64_t>(4 * elements);
}

Engine::Engine(const sdk::Device& device, const Network& network, int64_t batch, bool training,
               const ops::OptimizerSettings& optimizer)
    : device_(device), network_(network), batch_(batch) {
  const uint64_t wanted = bytes(device, network, batch, training, optimizer);
  const uint64_t largest = static_cast<uint64_t>(network.n_parameters) * 4;
  if (wanted > device.budget_bytes() || largest > device.info().max_buffer_bytes)
    throw Error(MK_OUT_OF_MEMORY,
                "the network needs " + std::to_string(wanted >> 20) + " MiB (" + std::to_string(largest >> 20) +
                    " MiB of parameters) at batch_size " + std::to_string(batch) + ", and " + device.info().name +
                    " gives it " + std::to_string(device.budget_bytes() >> 20) + " MiB (" +
                    std::to_string(device.info().max_buffer_bytes >> 20) +
                    " MiB in one piece): lower batch_size, make the layers smaller, or name another device");
  const Needs n = needs(device, network, batch);
  const auto parameters = static_cast<uint64_t>(network.n_parameters);
  const auto floats = [&](int64_t count) { return device.buffer<float>(static_cast<uint64_t>(count)); };
  const auto zeros = [&](uint64_t count) {
    sdk::Buffer b = device.buffer<float>(count);
    device.submit(ops::fill(sdk::vector(b.get(), static_cast<int64_t>(count)), 0.0F));
    return b;
  };
  parameters_ = zeros(parameters);
  activations_.push_back(floats(batch * network.input.elements()));
  slot_.push_back(0);
  for (const Stage& s : network.stages) {
    if (!s.in_place()) activations_.push_back(floats(batch * s.out.elements()));
    slot_.push_back(activations_.size() - 1);
    places_.push_back(s.kind == Kind::max_pool ? device.buffer<int32_t>(static_cast<uint64_t>(batch * s.out.elements()))
                                               : sdk::Buffer());
    shift_.emplace_back();
    scale_.emplace_back();
    if (s.kind != Kind::normalise) continue;
    const auto features = static_cast<size_t>(s.in.elements());
    shift_.back() = device.upload(std::vector<float>(features, static_cast<float>(s.normalise.mean)));
    scale_.back() = device.upload(std::vector<float>(features, static_cast<float>(1 / s.normalise.std)));
  }
  patches_ = floats(n.patches);
  if (!training) return;
  gradients_ = zeros(parameters);
  for (uint32_t s = 0; s < optimizer.states(); ++s) states_.push_back(zeros(parameters));
  patch_gradients_ = floats(n.patches);
  for (sdk::Buffer& flow : flow_) flow = floats(n.flow);
  ones_ = floats(n.ones);
  device.submit(ops::fill(sdk::vector(ones_.get(), n.ones), 1.0F));
}

void Engine::set_parameters(const std::vector<float>& values) const {
  device_.write(parameters_, values.data(), values.size());
}

void Engine::write_input(const float* x, int64_t rows) const {
  device_.write(activations_[0], x, static_cast<uint64_t>(rows * network_.input.elements()));
}

void Engine::read(const mk_tensor& outputs, float* to) const {
  device_.read(activations_.back(), to, static_cast<uint64_t>(outputs.rows * outputs.columns));
}

std::vector<float> Engine::read_parameters() const {
  std::vector<float> values(static_cast<size_t>(network_.n_parameters));
  device_.read(parameters_, values.data(), values.size());
  return values;
}

void Engine::set_normalisation(const std::vector<float>& mean, const std::vector<float>& deviation) const {
  std::vector<float> inverse;
  for (const float d : deviation) inverse.push_back(d > 0 ? 1.0F / d : 1.0F);
  for (size_t k = 0; k < network_.stages.size(); ++k) {
    if (network_.stages[k].kind != Kind::normalise || !network_.stages[k].normalise.per_feature) continue;
    device_.write(shift_[k], mean.data(), mean.size());
    device_.write(scale_[k], inverse.data(), inverse.size());
  }
}

mk_tensor Engine::activation(size_t stage, int64_t rows) const {
  const int64_t elements = stage == 0 ? network_.input.elements() : network_.stages[stage - 1].out.elements();
  return sdk::matrix(activations_[slot_[stage]].get(), rows, elements);
}

mk_tensor Engine::input(int64_t rows) const { return activation(0, rows); }

mk_tensor Engine::output_gradient(int64_t rows) const { return sdk::matrix(flow_[0].get(), rows, network_.outputs()); }

mk_tensor Engine::weight(const sdk::Buffer& of, const Stage& s) const {
  const bool convolution = s.kind == Kind::convolution;
  return sdk::matrix(of.get(), convolution ? s.window.patch() : s.in.elements(),
                     s.out.elements() / (convolution ? s.window.out_pixels() : 1), 0, s.weight);
}

mk_tensor Engine::bias(const sdk::Buffer& of, const Stage& s) const {
  if (s.bias < 0) return {};
  return sdk::vector(of.get(), weight(of, s).columns, s.bias);
}

mk_tensor Engine::forward(int64_t rows, const ops::DropoutPlace* place) const {
  for (size_t k = 0; k < network_.stages.size(); ++k) {
    const Stage& s = network_.stages[k];
    const mk_tensor x = activation(k, rows), y = activation(k + 1, rows);
    switch (s.kind) {
      case Kind::convolution:
        forward_convolution(s, x, y);
        break;
      case Kind::linear:
        device_.submit(ops::gemm(x, false, weight(parameters_, s), false, y));
        if (s.bias >= 0 || s.activation != ops::Activation::none)
          device_.submit(ops::bias_act(y, bias(parameters_, s), s.activation, y));
        break;
      case Kind::relu:
        device_.submit(ops::bias_act(x, {}, ops::Activation::relu, y));
        break;
      case Kind::max_pool:
        device_.submit(ops::max_pool(x, s.window, y, sdk::matrix(places_[k].get(), rows, y.columns, 0, 0, MK_I32)));
        break;
      case Kind::avg_pool:
        device_.submit(ops::avg_pool(x, s.pool, y));
        break;
      case Kind::dropout:
        if (place != nullptr) {
          ops::DropoutPlace here = *place;
          here.layer = s.layer;
          device_.submit(ops::dropout(x, s.p, here, y));
        }
        break;
      case Kind::normalise:
        forward_normalise(k, x);
        break;
    }
  }
  return activation(network_.stages.size(), rows);
}

void Engine::forward_normalise(size_t k, const mk_tensor& x) const {
  device_.submit(
      ops::affine_columns(x, sdk::vector(scale_[k].get(), x.columns), sdk::vector(shift_[k].get(), x.columns), x));
}

void Engine::forward_convolution(const Stage& s, const mk_tensor& x, const mk_tensor& y) const {
  const mk_tensor w = weight(parameters_, s);
  const int64_t images = images_at_once(device_, s, batch_);
  for (int64_t first = 0; first < x.rows; first += images) {
    const int64_t count = std::min(images, x.rows - first);
    const mk_tensor patches = sdk::matrix(patches_.get(), count * s.window.out_pixels(), s.window.patch());
    const mk_tensor out = pixels(rows_of(y, first, count), w.columns);
    device_.submit(ops::unfold(rows_of(x, first, count), s.window, patches));
    device_.submit(ops::gemm(patches, false, w, false, out));
    if (s.bias >= 0 || s.activation != ops::Activation::none)
      device_.submit(ops::bias_act(out, bias(parameters_, s), s.activation, out));
  }
}

void Engine::backward(int64_t rows, const ops::DropoutPlace& place) const {
  const size_t first = network_.first_with_parameters();
  int current = 0;
  for (size_t k = network_.stages.size(); k-- > first;) {
    const Stage& s = network_.stages[k];
    const mk_tensor x = activation(k, rows), y = activation(k + 1, rows);
    const mk_tensor dy = sdk::matrix(flow_[current].get(), rows, s.out.elements());
    const mk_tensor dx = sdk::matrix(flow_[1 - current].get(), rows, s.in.elements());
    const mk_tensor* wanted = k > first ? &dx : nullptr;
    if (s.activation != ops::Activation::none) device_.submit(ops::act_grad(dy, y, s.activation, dy));
    switch (s.kind) {
      case Kind::convolution:
        backward_convolution(s, x, dy, wanted);
        break;
      case Kind::linear:
        backward_linear(s, x, dy, wanted);
        break;
      case Kind::max_pool:
        device_.submit(
            ops::max_pool_grad(dy, sdk::matrix(places_[k].get(), rows, y.columns, 0, 0, MK_I32), s.window, dx));
        break;
      case Kind::avg_pool:
        device_.submit(ops::avg_pool_grad(dy, s.pool, dx));
        break;
      case Kind::relu:
        device_.submit(ops::act_grad(dy, y, ops::Activation::relu, dy));
        break;
      case Kind::dropout: {
        ops::DropoutPlace here = place;
        here.layer = s.layer;
        device_.submit(ops::dropout(dy, s.p, here, dy));
        break;
      }
      case Kind::normalise:
        device_.submit(ops::affine_columns(dy, sdk::vector(scale_[k].get(), dy.columns), {}, dy));
        break;
    }
    if (!s.in_place()) current = 1 - current;
  }
}

void Engine::backward_linear(const Stage& s, const mk_tensor& x, const mk_tensor& dy, const mk_tensor* dx) const {
  device_.submit(ops::gemm(x, true, dy, false, weight(gradients_, s)));
  if (s.bias >= 0) device_.submit(ops::gemm(sdk::vector(ones_.get(), dy.rows), false, dy, false, bias(gradients_, s)));
  if (dx != nullptr) device_.submit(ops::gemm(dy, false, weight(parameters_, s), true, *dx));
}

void Engine::backward_convolution(const Stage& s, const mk_tensor& x, const mk_tensor& dy, const mk_tensor* dx) const {
  const mk_tensor w = weight(parameters_, s), dw = weight(gradients_, s);
  const int64_t images = images_at_once(device_, s, batch_);
  for (int64_t first = 0; first < x.rows; first += images) {
    const int64_t count = std::min(images, x.rows - first);
    const int64_t patch_rows = count * s.window.out_pixels();
    const float keep = first == 0 ? 0.0F : 1.0F;
    const mk_tensor patches = sdk::matrix(patches_.get(), patch_rows, s.window.patch());
    const mk_tensor grad = pixels(rows_of(dy, first, count), w.columns);
    device_.submit(ops::unfold(rows_of(x, first, count), s.window, patches));
    device_.submit(ops::gemm(patches, true, grad, false, dw, 1.0F, keep));
    if (s.bias >= 0)
      device_.submit(
          ops::gemm(sdk::vector(ones_.get(), patch_rows), false, grad, false, bias(gradients_, s), 1.0F, keep));
    if (dx == nullptr) continue;
    const mk_tensor patch_grad = sdk::matrix(patch_gradients_.get(), patch_rows, s.window.patch());
    device_.submit(ops::gemm(grad, false, w, true, patch_grad));
    device_.submit(ops::fold(patch_grad, s.window, rows_of(*dx, first, count)));
  }
}

void Engine::step(const ops::OptimizerSettings& settings, int64_t t) const {
  const auto all = [&](const sdk::Buffer& b) { return sdk::vector(b.get(), network_.n_parameters); };
  device_.submit(ops::optimizer_step(all(gradients_), all(parameters_), states_.empty() ? mk_tensor{} : all(states_[0]),
                                     states_.size() < 2 ? mk_tensor{} : all(states_[1]), settings, t));
}

}  // namespace mokume::cnn
