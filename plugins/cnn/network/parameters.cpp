#include "network/parameters.hpp"

#include <algorithm>
#include <numeric>

#include "sdk/ops/fill.hpp"
#include "sdk/ops/gemm.hpp"

namespace mokume::cnn {

Segments::Segments(std::span<const Parameter> parameters, uint64_t most_bytes, std::span<const int> left_out,
                   int64_t begin, int64_t end) {
  const int64_t most = std::min(most_bytes, uint64_t{1} << 62) / sizeof(float);
  for (const Parameter& p : parameters) {
    elements_ += p.size();
    offsets_.push_back(p.offset);
    extents_.emplace_back();
  }
  // Returns the number of rows of `p` that begin before `limit`.
  const auto rows_before = [](const Parameter& p, int64_t limit) {
    const int64_t rows = p.size() / p.outputs, ahead = std::max<int64_t>(limit - p.offset, 0);
    return std::min(rows, ahead / p.outputs + (ahead % p.outputs != 0 ? 1 : 0));
  };
  const auto place_all = [&](auto&& belongs) {
    const size_t full = sizes_.size();
    for (int index = 0; index < int(parameters.size()); ++index) {
      const Parameter& p = parameters[index];
      if (!belongs(p) || std::find(left_out.begin(), left_out.end(), index) != left_out.end()) continue;
      const int64_t first_row = rows_before(p, begin), end_row = rows_before(p, end);
      if (first_row < end_row) place(index, p, first_row, end_row, most, full);
    }
    return sizes_.size();
  };
  learned_ = place_all([](const Parameter& p) { return p.learned() && !p.frozen; });
  moving_ = place_all([](const Parameter& p) { return !p.learned() && !p.frozen; });
  place_all([](const Parameter& p) { return p.frozen; });
}

void Segments::place(int index, const Parameter& p, int64_t first_row, int64_t end_row, int64_t most, size_t begin) {
  const int64_t columns = p.outputs;
  const auto add = [&](int64_t first, int64_t count) {
    if (sizes_.size() == begin || sizes_.back() + count * columns > most) sizes_.push_back(0);
    extents_[index].push_back({sizes_.size() - 1, sizes_.back(), first, count, columns});
    sizes_.back() += count * columns;
  };
  if ((end_row - first_row) * columns <= most) return add(first_row, end_row - first_row);
  const int64_t each = most / columns / ops::kGemmCut * ops::kGemmCut;
  const bool cut = p.kind == Parameter::Kind::linear;
  if (!cut || each == 0)
    throw Error(MK_OUT_OF_MEMORY, "layers[" + p.name.substr(0, p.name.rfind('.')) + "] needs " +
                                      std::to_string(4 * (cut ? ops::kGemmCut * columns : p.size())) +
                                      " bytes of parameters in one piece, but the device's largest piece is " +
                                      std::to_string(most * 4) + ": make the layer smaller, or name another device");
  sizes_.push_back(0);
  for (int64_t r = first_row; r < end_row; r += each) add(r, std::min(each, end_row - r));
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

namespace {

bool continues(const CommonRun::Place& last, int64_t size, const CommonRun::Place& next) {
  return last.segment == next.segment && last.at + size == next.at;
}

}  // namespace

std::vector<CommonRun> common_runs(const Segments& weights, const Segments& gradients, const Segments& states,
                                   std::span<const double> apart) {
  std::vector<CommonRun> runs;
  std::vector<size_t> order(weights.extents().size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t p, size_t q) { return apart[p] < apart[q]; });
  const auto end_of = [](const Extent& e) { return e.first_row + e.rows; };
  const auto add = [&](size_t p, const Extent& w, const Extent& g, const Extent& s) {
    const int64_t first = std::max({w.first_row, g.first_row, s.first_row});
    const int64_t rows = std::min({end_of(w), end_of(g), end_of(s)}) - first;
    if (rows <= 0) return;
    const auto place = [&](const Extent& e) {
      return CommonRun::Place{e.segment, e.at + (first - e.first_row) * e.columns};
    };
    const CommonRun next{place(w), place(g), place(s), rows * w.columns, apart[p]};
    CommonRun* last = runs.empty() ? nullptr : &runs.back();
    if (last != nullptr && last->apart == next.apart && continues(last->weight, last->size, next.weight) &&
        continues(last->gradient, last->size, next.gradient) && continues(last->state, last->size, next.state))
      last->size += next.size;
    else
      runs.push_back(next);
  };
  for (const size_t p : order)
    for (const Extent& w : weights.extents()[p])
      for (const Extent& g : gradients.extents()[p])
        for (const Extent& s : states.extents()[p]) add(p, w, g, s);
  return runs;
}

}  // namespace mokume::cnn
