#include "network/parameters.hpp"

#include <algorithm>
#include <numeric>

#include "sdk/ops/fill.hpp"
#include "sdk/ops/gemm.hpp"

namespace mokume::cnn {

Segments::Segments(std::span<const Parameter> parameters, uint64_t most_bytes, std::span<const int> left_out) {
  const int64_t most = std::min(most_bytes, uint64_t{1} << 62) / sizeof(float);
  for (const Parameter& p : parameters) {
    elements_ += p.size();
    offsets_.push_back(p.offset);
    extents_.emplace_back();
  }
  const auto place_all = [&](auto&& belongs) {
    const size_t begin = sizes_.size();
    for (int index = 0; index < int(parameters.size()); ++index)
      if (belongs(parameters[index]) && std::find(left_out.begin(), left_out.end(), index) == left_out.end())
        place(index, parameters[index], most, begin);
    return sizes_.size();
  };
  learned_ = place_all([](const Parameter& p) { return p.learned() && !p.frozen; });
  moving_ = place_all([](const Parameter& p) { return !p.learned() && !p.frozen; });
  place_all([](const Parameter& p) { return p.frozen; });
}

void Segments::place(int index, const Parameter& p, int64_t most, size_t begin) {
  const int64_t columns = p.outputs, rows = p.size() / columns;
  const auto add = [&](int64_t first_row, int64_t count) {
    if (sizes_.size() == begin || sizes_.back() + count * columns > most) sizes_.push_back(0);
    extents_[index].push_back({sizes_.size() - 1, sizes_.back(), first_row, count, columns});
    sizes_.back() += count * columns;
  };
  if (p.size() <= most) return add(0, rows);
  const int64_t each = most / columns / ops::kGemmCut * ops::kGemmCut;
  const bool cut = p.kind == Parameter::Kind::linear;
  if (!cut || each == 0)
    throw Error(MK_OUT_OF_MEMORY, "layers[" + p.name.substr(0, p.name.rfind('.')) + "] needs " +
                                      std::to_string(4 * (cut ? ops::kGemmCut * columns : p.size())) +
                                      " bytes of parameters in one piece, but the device's largest piece is " +
                                      std::to_string(most * 4) + ": make the layer smaller, or name another device");
  sizes_.push_back(0);
  for (int64_t r = 0; r < rows; r += each) add(r, std::min(each, rows - r));
}

ParameterVector::ParameterVector(const sdk::Device& device, Segments layout, StackMemory& memory)
    : device_(device), layout_(std::move(layout)) {
  for (size_t s = 0; s < layout_.count(); ++s) {
    buffers_.push_back(memory.take(layout_.size(s)));
    device.submit(ops::fill(run(s, 0, layout_.size(s)), 0.0F));
  }
}

// Calls body(buffer, offset in the buffer, offset from `first`, count) for the first `segments` segments.
template <class Body>
void ParameterVector::for_each_run(int64_t first, int64_t count, Body&& body, size_t segments) const {
  for (size_t p = 0; p < layout_.extents().size(); ++p)
    for (const Extent& e : layout_.extents()[p]) {
      if (e.segment >= segments) continue;
      const int64_t start = layout_.flat_begin(p, e) - first;
      const int64_t begin = std::max<int64_t>(start, 0), end = std::min(start + e.size(), count);
      if (begin < end) body(buffers_[e.segment], e.at + begin - start, begin, end - begin);
    }
}

void ParameterVector::write(int64_t first, std::span<const float> values) const {
  for_each_run(first, values.size(), [&](const Slice& buffer, int64_t at, int64_t from, int64_t count) {
    buffer.write(device_, values.data() + from, count, at);
  });
}

void ParameterVector::write_moving(int64_t first, std::span<const float> values) const {
  for_each_run(
      first, values.size(),
      [&](const Slice& buffer, int64_t at, int64_t from, int64_t count) {
        buffer.write(device_, values.data() + from, count, at);
      },
      layout_.moving());
}

void ParameterVector::read(int64_t first, std::span<float> values) const {
  for_each_run(first, values.size(), [&](const Slice& buffer, int64_t at, int64_t to, int64_t count) {
    buffer.read(device_, values.data() + to, count, at);
  });
}

std::vector<float> ParameterVector::all() const {
  std::vector<float> values(layout_.elements());
  read(0, values);
  return values;
}

std::vector<CommonRun> common_runs(const Segments& a, const Segments& b, std::span<const double> apart) {
  std::vector<CommonRun> runs;
  std::vector<size_t> order(a.extents().size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t p, size_t q) { return apart[p] < apart[q]; });
  for (const size_t p : order)
    // Both layouts cut a parameter at the same rows, unless one of them leaves it out.
    for (size_t k = 0; k < std::min(a.extents()[p].size(), b.extents()[p].size()); ++k) {
      const Extent &x = a.extents()[p][k], &y = b.extents()[p][k];
      CommonRun* last = runs.empty() ? nullptr : &runs.back();
      if (last != nullptr && last->apart == apart[p] && last->segment_a == x.segment &&
          last->at_a + last->size == x.at && last->segment_b == y.segment && last->at_b + last->size == y.at)
        last->size += x.size();
      else
        runs.push_back({x.segment, x.at, y.segment, y.at, x.size(), apart[p]});
    }
  return runs;
}

}  // namespace mokume::cnn
