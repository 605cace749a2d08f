#include "train/gradient_norm.hpp"

#include <algorithm>

#include "sdk/ops/fill.hpp"
#include "sdk/ops/gemm.hpp"
#include "sdk/ops/row_norm2.hpp"

namespace mokume::cnn {
namespace {

// Returns the number of gradients of the parameters before `index` in the flat vector.
int64_t learned_before(const Network& network, int64_t index) {
  int64_t count = 0;
  for (const Parameter& p : network.parameters)
    if (p.offset < index && p.learned() && !p.frozen) count += p.size();
  return count;
}

}  // namespace

GradientNorm::GradientNorm(const sdk::Device& device, const Network& network, const Part& part, const Segments& layout,
                           StackMemory& memory) {
  if (part.first == 0 && part.end >= network.stages.size()) {
    for (size_t s = 0; s < layout.learned(); ++s) parts_ += (layout.size(s) + kPart - 1) / kPart;
  } else {
    if (layout.learned() > 1)
      throw Error(MK_OUT_OF_MEMORY,
                  "clip_grad_norm needs the gradients of a device's layers in one piece, which is "
                  "larger than the device's largest: add devices, or train without it");
    before_ = learned_before(network, first_parameter(network, part.first));
    own_ = learned_before(network, first_parameter(network, part.end)) - before_;
    all_ = learned_before(network, network.n_parameters);
    parts_ = (all_ + kPart - 1) / kPart;
    for (const size_t point : cut_points(network)) {
      const int64_t at = learned_before(network, first_parameter(network, point));
      if (at % kPart != 0 && (shared_.empty() || shared_.back() != at / kPart)) shared_.push_back(at / kPart);
    }
    row_ = memory.take(kPart + 1);
  }
  memory_ = memory.take(2 * parts_ + 1);
  device.submit(ops::fill(memory_.vector(parts_, parts_), 1.0F));
}

mk_op GradientNorm::total() const {
  return ops::gemm(memory_.vector(parts_), false, memory_.vector(parts_, parts_), true,
                   memory_.matrix(1, 1, 2 * parts_));
}

mk_tensor GradientNorm::measure(const ParameterVector& gradients,
                                const std::function<void(const mk_op&)>& submit) const {
  int64_t part = 0;
  for (size_t s = 0; s < gradients.layout().learned(); ++s) {
    const int64_t size = gradients.layout().size(s), whole = size / kPart, rest = size % kPart;
    const mk_tensor all = gradients.run(s, 0, size);
    if (whole > 0)
      submit(ops::row_norm2(sdk::matrix(all.buffer, whole, kPart, 0, all.offset), memory_.vector(whole, part)));
    part += whole;
    if (rest > 0) submit(ops::row_norm2(gradients.run(s, whole * kPart, rest), memory_.vector(1, part++)));
  }
  submit(total());
  return memory_.matrix(1, 1, 2 * parts_);
}

mk_tensor GradientNorm::measure(const sdk::Device& device, const ParameterVector& gradients,
                                const SumUp& sum_up) const {
  std::vector<float> norms(parts_);
  const mk_tensor own = own_ > 0 ? gradients.run(0, 0, own_) : mk_tensor{};
  measure_own(device, own, norms);
  measure_shared(device, gradients, sum_up, norms);
  sum_up(norms);
  memory_.write(device, norms.data(), parts_);
  device.submit(total());
  return memory_.matrix(1, 1, 2 * parts_);
}

bool GradientNorm::is_shared(int64_t part) const { return std::binary_search(shared_.begin(), shared_.end(), part); }

// Measures the parts that are only on this device.
void GradientNorm::measure_own(const sdk::Device& device, const mk_tensor& own, std::span<float> norms) const {
  const int64_t begin = (before_ + kPart - 1) / kPart, end = (before_ + own_ + kPart - 1) / kPart;
  const auto measured = [&](int64_t part) { return !is_shared(part) && (part + 1) * kPart <= before_ + own_; };
  for (int64_t first = begin; first < end;) {
    int64_t last = first;
    while (last < end && measured(last)) ++last;
    const int64_t offset = own.offset + first * kPart - before_;
    if (last > first)
      device.submit(
          ops::row_norm2(sdk::matrix(own.buffer, last - first, kPart, 0, offset), memory_.vector(last - first, first)));
    else if (!is_shared(first))  // the last part of the network
      device.submit(ops::row_norm2(sdk::vector(own.buffer, size_of(first), offset), memory_.vector(1, first)));
    first = std::max(last, first + 1);
  }
  if (begin < end) memory_.read(device, norms.data() + begin, end - begin, begin);
  for (int64_t part = begin; part < end; ++part)
    if (is_shared(part)) norms[part] = 0;
}

// Brings together the gradients of each part that may be on several devices; the first of these measures it.
void GradientNorm::measure_shared(const sdk::Device& device, const ParameterVector& gradients, const SumUp& sum_up,
                                  std::span<float> norms) const {
  std::vector<float> rows(shared_.size() * kPart);
  const auto range = [&](int64_t part) {
    const int64_t first = std::max(part * kPart, before_);
    return std::pair(first, std::min(part * kPart + size_of(part), before_ + own_) - first);
  };
  for (size_t k = 0; k < shared_.size(); ++k)
    if (const auto [first, count] = range(shared_[k]); count > 0)
      gradients.read_run(0, first - before_, std::span(rows).subspan(k * kPart + first - shared_[k] * kPart, count));
  sum_up(rows);
  for (size_t k = 0; k < shared_.size(); ++k) {
    const int64_t part = shared_[k], size = size_of(part);
    if (range(part).second <= 0 || before_ > part * kPart) continue;
    row_.write(device, rows.data() + k * kPart, size);
    device.submit(ops::row_norm2(row_.vector(size), row_.vector(1, kPart)));
    row_.read(device, &norms[part], 1, kPart);
  }
}

}  // namespace mokume::cnn
