#include "problem.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "sdk/philox.hpp"

namespace mokume::conformance {
namespace {

constexpr int64_t kTail = 37;  // number of guards after each view; it is odd, so that nothing is aligned by chance

// Tensors of a problem hold the number of their buffer in place of its handle until bound() is called.
mk_buffer* name_of(size_t memory) { return reinterpret_cast<mk_buffer*>(static_cast<uintptr_t>(memory + 1)); }

}  // namespace

float as_float(uint32_t word) { return std::bit_cast<float>(word); }
uint32_t as_word(float value) { return std::bit_cast<uint32_t>(value); }

float with_some_nans(float random) { return random > 0.9F ? std::numeric_limits<float>::quiet_NaN() : random; }

float with_some_infinities(float random) {
  return std::fabs(random) > 0.9F ? std::copysign(std::numeric_limits<float>::infinity(), random) : random;
}

void Problem::change(const mk_tensor& t, float (*made_of)(float)) {
  for (int64_t r = 0; r < t.rows; ++r)
    for (int64_t c = 0; c < t.columns; ++c) {
      uint32_t& word = memory[memory_of(t)][place(t, r, c)];
      word = as_word(made_of(as_float(word)));
    }
}

size_t Problem::place(const mk_tensor& t, int64_t r, int64_t c) {
  return static_cast<size_t>(t.offset + r * t.row_stride + c);
}

size_t Problem::memory_of(const mk_tensor& t) { return static_cast<size_t>(reinterpret_cast<uintptr_t>(t.buffer)) - 1; }

double Problem::at(const mk_tensor& t, int64_t r, int64_t c) const {
  return static_cast<double>(as_float(memory[memory_of(t)][place(t, r, c)]));
}

mk_tensor Problem::add(int64_t rows, int64_t columns, const Layout& layout, mk_dtype dtype,
                       const std::function<uint32_t(int64_t, int64_t)>& word) {
  const mk_tensor t =
      sdk::matrix(name_of(memory.size()), rows, columns, columns + layout.padding, layout.offset, dtype);
  Words words(static_cast<size_t>(sdk::extent(t) + kTail), kGuard);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) words[place(t, r, c)] = word(r, c);
  memory.push_back(std::move(words));
  return t;
}

mk_tensor Problem::floats(int64_t rows, int64_t columns, const Layout& layout, const Value& value) {
  return add(rows, columns, layout, MK_F32, [&](int64_t r, int64_t c) { return as_word(value(r, c)); });
}

mk_tensor Problem::random(int64_t rows, int64_t columns, const Layout& layout, float low, float high) {
  const auto stream = static_cast<uint32_t>(memory.size());
  sdk::PhiloxCounter block{};
  return floats(rows, columns, layout, [&, high, low](int64_t r, int64_t c) {
    const auto i = static_cast<uint32_t>(r * columns + c);
    if (i % 4 == 0) block = sdk::philox({i / 4, stream, 0, 0}, {20240906, 1});
    return low + (high - low) * static_cast<float>(block[i % 4] >> 8) * 0x1p-24F;
  });
}

mk_tensor Problem::unwritten(int64_t rows, int64_t columns, const Layout& layout, mk_dtype dtype) {
  return add(rows, columns, layout, dtype, [](int64_t, int64_t) { return kUnwritten; });
}

mk_tensor Problem::integers(int64_t rows, int64_t columns, const Layout& layout,
                            const std::function<int32_t(int64_t, int64_t)>& value) {
  return add(rows, columns, layout, MK_I32, [&](int64_t r, int64_t c) { return static_cast<uint32_t>(value(r, c)); });
}

mk_tensor Problem::indices(const std::vector<int32_t>& values, int64_t offset) {
  return add(1, static_cast<int64_t>(values.size()), {offset, 0}, MK_I32,
             [&](int64_t, int64_t c) { return static_cast<uint32_t>(values[static_cast<size_t>(c)]); });
}

mk_op Problem::bound(const std::vector<mk_buffer*>& buffers) const {
  mk_op result = op;
  // A missing operand has no buffer.
  const auto bind = [&](mk_tensor& t) {
    if (t.buffer != nullptr) t.buffer = buffers[memory_of(t)];
  };
  for (uint32_t i = 0; i < op.n_inputs; ++i) bind(result.inputs[i]);
  for (uint32_t i = 0; i < op.n_outputs; ++i) bind(result.outputs[i]);
  return result;
}

uint64_t Problem::largest_buffer_bytes() const {
  size_t words = 0;
  for (const Words& one : memory) words = std::max(words, one.size());
  return uint64_t{words} * 4;
}

std::vector<Words> run(DeviceUnderTest& dut, const Problem& problem) {
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<mk_buffer*> handles;
  for (const Words& content : problem.memory) {
    buffers.push_back(std::make_unique<Buffer>(dut, content));
    handles.push_back(buffers.back()->handle());
  }
  must(submit(dut, problem.bound(handles)));
  finish(dut);
  std::vector<Words> result;
  for (const auto& buffer : buffers) result.push_back(buffer->read());
  return result;
}

std::vector<double> values_of(const mk_tensor& t, const std::vector<Words>& memory) {
  std::vector<double> values;
  values.reserve(static_cast<size_t>(t.rows * t.columns));
  const Words& words = memory[Problem::memory_of(t)];
  for (int64_t r = 0; r < t.rows; ++r)
    for (int64_t c = 0; c < t.columns; ++c)
      values.push_back(static_cast<double>(as_float(words[Problem::place(t, r, c)])));
  return values;
}

Problem absolute(const Problem& problem) {
  Problem result = problem;
  for (uint32_t i = 0; i < problem.op.n_inputs + problem.op.n_outputs; ++i) {
    const bool input = i < problem.op.n_inputs;
    const mk_tensor& t = input ? problem.op.inputs[i] : problem.op.outputs[i - problem.op.n_inputs];
    if (t.dtype != MK_F32) continue;
    for (uint32_t& word : result.memory[Problem::memory_of(t)]) word &= 0x7FFFFFFFU;
  }
  return result;
}

std::vector<double> sum_of_magnitudes(const Problem& problem, uint32_t output, const std::vector<Words>&,
                                      Machine& machine) {
  return values_of(problem.op.outputs[output], run(machine.oracle(), absolute(problem)));
}

std::vector<OpCases>& all_cases() {
  static std::vector<OpCases> cases;
  return cases;
}

}  // namespace mokume::conformance
