// One op with the contents of its buffers, before it is bound to a device.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "abi/op.h"
#include "device_under_test.hpp"
#include "sdk/ops.hpp"

namespace mokume::conformance {

// The place of a view in its buffer: elements before it and between its rows. All of them are guards.
struct Layout {
  int64_t offset = 0;
  int64_t padding = 0;
};

// The contents of guards: a NaN of its own pattern. Reading one shows in the result, writing one in the comparison.
inline constexpr uint32_t kGuard = 0x7FC0DEADU;
// The old contents of outputs: another NaN, so that an unwritten element shows.
inline constexpr uint32_t kUnwritten = 0x7FC0BEEFU;

class Problem {
 public:
  mk_op op{};
  std::vector<Words> memory;  // the buffers; tensors name them through name_of

  // value(r, c) for a view's elements.
  using Value = std::function<float(int64_t, int64_t)>;

  mk_tensor floats(int64_t rows, int64_t columns, const Layout& layout, const Value& value);
  // Pseudo-random in [low, high), a pure function of the number of tensors made before.
  mk_tensor random(int64_t rows, int64_t columns, const Layout& layout = {}, float low = -1, float high = 1);
  mk_tensor unwritten(int64_t rows, int64_t columns, const Layout& layout = {}, mk_dtype dtype = MK_F32);
  mk_tensor indices(const std::vector<int32_t>& values, int64_t offset = 0);
  mk_tensor integers(int64_t rows, int64_t columns, const Layout& layout,
                     const std::function<int32_t(int64_t, int64_t)>& value);

  // Replaces every element of a view of floats with made_of(element).
  void change(const mk_tensor& t, float (*made_of)(float));

  // Reads and writes elements of a view in `contents`.
  static size_t place(const mk_tensor& t, int64_t r, int64_t c);
  static size_t memory_of(const mk_tensor& t);
  double at(const mk_tensor& t, int64_t r, int64_t c) const;

  // The op with tensors on `buffers`, one for each of `memory`.
  mk_op bound(const std::vector<mk_buffer*>& buffers) const;
  uint64_t largest_buffer_bytes() const;

 private:
  mk_tensor add(int64_t rows, int64_t columns, const Layout& layout, mk_dtype dtype,
                const std::function<uint32_t(int64_t, int64_t)>& word);
};

// The buffers of a problem after its op ran on a device.
std::vector<Words> run(DeviceUnderTest& dut, const Problem& problem);

// The elements of a view row by row, as floats, from the buffers of its problem.
std::vector<double> values_of(const mk_tensor& t, const std::vector<Words>& memory);

// The problem with the absolute value of every float: rounding errors of sums are relative to its result.
Problem absolute(const Problem& problem);

float as_float(uint32_t word);
uint32_t as_word(float value);

// For random numbers in [-1, 1): mostly the number itself, now and then a NaN or an infinity of either sign.
float with_some_nans(float random);
float with_some_infinities(float random);

// ---- cases ---------------------------------------------------------------------------------------------------------

enum class Size {
  tiny,    // on every device: at most a few thousand elements
  normal,  // not on emulated and instrumented devices
  large    // buffers of 64 MiB and more
};

struct Case {
  std::string name;
  Size size;
  std::function<Problem()> make;
};

// The base of the op's relative tolerance, for every element of an output: see the op's header. `want` is the oracle's
// result. Not called for outputs of integers, which are exact, nor for empty ones.
using Scale = std::function<std::vector<double>(const Problem& problem, uint32_t output, const std::vector<Words>& want,
                                                Machine& machine)>;

// Added to a scale that may be 0, where either zero is right.
inline constexpr double kAnyZero = 1e-30;

struct OpCases {
  mk_op_code code;
  std::vector<Case> cases;
  Scale scale;  // null: every output is exact
};

// The scale of ops that add: the same op on absolute values, by the oracle.
std::vector<double> sum_of_magnitudes(const Problem& problem, uint32_t output, const std::vector<Words>& want,
                                      Machine& machine);

// Expects all outputs of the op within its tolerance of the oracle's.
void expect_near_oracle(Machine& machine, const OpCases& op, const Problem& problem, const std::vector<Words>& got);

// The cases of every op, by code. Each file of cases/ adds its own with one AddCases at namespace scope.
std::vector<OpCases>& all_cases();

struct AddCases {
  explicit AddCases(OpCases cases) { all_cases().push_back(std::move(cases)); }
};

}  // namespace mokume::conformance
