#include "parameters.hpp"

#include <algorithm>

#include "sdk/ops.hpp"

namespace mokume::cnn {
namespace {

// The element of the flat vector at which a part begins.
int64_t flat_begin(const Segments::Tensor& t, const Part& p) { return t.offset + p.first_row * t.columns; }

[[noreturn]] void refuse(const Parameter& p, int64_t floats, int64_t most) {
  const std::string layer = std::to_string(std::stoll(p.name.substr(0, p.name.find('.'))) + 1);
  throw Error(MK_OUT_OF_MEMORY, "layer " + layer + " needs " + std::to_string(floats * 4) +
                                    " bytes of parameters in one piece, and the device's largest piece is " +
                                    std::to_string(most * 4) + ": make the layer smaller, or name another device");
}

}  // namespace

Segments::Segments(const Network& network, uint64_t most_bytes, bool (*wanted)(const Parameter&))
    : elements_(network.n_parameters) {
  const auto most = static_cast<int64_t>(std::min(most_bytes, uint64_t{1} << 62) / sizeof(float));
  for (const Parameter& p : network.parameters) {
    tensors_.push_back({p.offset, p.outputs, {}});
    if (wanted == nullptr || wanted(p)) place(p, most);
  }
}

void Segments::place(const Parameter& p, int64_t most) {
  const int64_t columns = p.outputs, rows = p.size() / columns;
  const auto add = [&](int64_t first_row, int64_t count) {
    if (sizes_.empty() || sizes_.back() + count * columns > most) sizes_.push_back(0);
    tensors_.back().parts.push_back({sizes_.size() - 1, sizes_.back(), first_row, count});
    sizes_.back() += count * columns;
  };
  if (p.size() <= most) return add(0, rows);
  const int64_t each = most / columns / ops::kGemmCut * ops::kGemmCut;
  if (!p.is_linear_weight()) refuse(p, p.size(), most);
  if (each == 0) refuse(p, ops::kGemmCut * columns, most);
  sizes_.push_back(0);
  for (int64_t r = 0; r < rows; r += each) add(r, std::min(each, rows - r));
}

const Segments::Tensor& Segments::tensor(int64_t offset) const {
  return *std::lower_bound(tensors_.begin(), tensors_.end(), offset,
                           [](const Tensor& t, int64_t at) { return t.offset < at; });
}

ParameterVector::ParameterVector(const sdk::Device& device, Segments layout, SharedMemory& memory)
    : device_(device), layout_(std::move(layout)) {
  for (size_t s = 0; s < layout_.count(); ++s) {
    buffers_.push_back(memory.take(layout_.size(s)));
    device.submit(ops::fill(run(s, 0, layout_.size(s)), 0.0F));
  }
}

mk_tensor ParameterVector::run(size_t segment, int64_t at, int64_t size) const {
  return buffers_[segment].vector(size, at);
}

mk_tensor ParameterVector::part(const Part& p, int64_t columns) const {
  return buffers_[p.segment].matrix(p.rows, columns, p.at);
}

// body(segment's buffer, element in it, element of the flat vector from `first` on, count).
template <class Body>
void ParameterVector::for_each_run(int64_t first, int64_t count, Body&& body) const {
  for (const Segments::Tensor& t : layout_.tensors())
    for (const Part& p : t.parts) {
      const int64_t part = flat_begin(t, p) - first;
      const int64_t begin = std::max<int64_t>(part, 0), end = std::min(part + p.rows * t.columns, count);
      if (begin < end)
        body(buffers_[p.segment], static_cast<uint64_t>(p.at + begin - part), begin,
             static_cast<uint64_t>(end - begin));
    }
}

void ParameterVector::write(int64_t first, std::span<const float> values) const {
  for_each_run(first, static_cast<int64_t>(values.size()),
               [&](const Slice& buffer, uint64_t at, int64_t from, uint64_t count) {
                 buffer.write(device_, values.data() + from, count, at);
               });
}

void ParameterVector::read(int64_t first, std::span<float> values) const {
  for_each_run(first, static_cast<int64_t>(values.size()),
               [&](const Slice& buffer, uint64_t at, int64_t to, uint64_t count) {
                 buffer.read(device_, values.data() + to, count, at);
               });
}

std::vector<float> ParameterVector::all() const {
  std::vector<float> values(static_cast<size_t>(layout_.elements()));
  read(0, values);
  return values;
}

std::vector<CommonRun> common_runs(const Segments& a, const Segments& b) {
  std::vector<CommonRun> runs;
  for (size_t t = 0; t < a.tensors().size(); ++t) {
    const Segments::Tensor &ta = a.tensors()[t], &tb = b.tensors()[t];
    // Both cut a tensor at the same rows, if they have it.
    for (size_t k = 0; k < std::min(ta.parts.size(), tb.parts.size()); ++k) {
      const Part &pa = ta.parts[k], &pb = tb.parts[k];
      const int64_t size = pa.rows * ta.columns;
      if (!runs.empty()) {
        CommonRun& last = runs.back();
        if (last.segment_a == pa.segment && last.at_a + last.size == pa.at && last.segment_b == pb.segment &&
            last.at_b + last.size == pb.at) {
          last.size += size;
          continue;
        }
      }
      runs.push_back({pa.segment, pa.at, pb.segment, pb.at, size});
    }
  }
  return runs;
}

}  // namespace mokume::cnn
