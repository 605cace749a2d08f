// Holds one op and the contents of its buffers, before the op is bound to a device.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "abi/op.h"
#include "device_under_test.hpp"
#include "sdk/ops.hpp"

namespace mokume::conformance {

// Describes the place of a view in its buffer by the elements before it and between its rows, which are all guards.
struct Layout {
  int64_t offset = 0;
  int64_t padding = 0;
};

// Fills guards with a NaN of its own pattern. A read of a guard shows in the result, and a write in the comparison.
inline constexpr uint32_t kGuard = 0x7FC0DEADU;
// Fills outputs before the op with another NaN, so that an unwritten element shows.
inline constexpr uint32_t kUnwritten = 0x7FC0BEEFU;

class Problem {
 public:
  mk_op op{};
  std::vector<Words> memory;  // buffers, which tensors name through name_of()

  // Returns the value of element (r, c) of a view.
  using Value = std::function<float(int64_t, int64_t)>;

  mk_tensor floats(int64_t rows, int64_t columns, const Layout& layout, const Value& value);
  // Makes pseudo-random numbers in [low, high), which are a pure function of the number of tensors made before.
  mk_tensor random(int64_t rows, int64_t columns, const Layout& layout = {}, float low = -1, float high = 1);
  mk_tensor unwritten(int64_t rows, int64_t columns, const Layout& layout = {}, mk_dtype dtype = MK_F32);
  mk_tensor indices(const std::vector<int32_t>& values, int64_t offset = 0);
  mk_tensor integers(int64_t rows, int64_t columns, const Layout& layout,
                     const std::function<int32_t(int64_t, int64_t)>& value);

  // Replaces every element of a view of floats with made_of(element).
  void change(const mk_tensor& t, float (*made_of)(float));

  // Return the place of an element in its buffer, the number of that buffer, and the element's value.
  static size_t place(const mk_tensor& t, int64_t r, int64_t c);
  static size_t memory_of(const mk_tensor& t);
  double at(const mk_tensor& t, int64_t r, int64_t c) const;

  // Returns the op with tensors on `buffers`, one for each entry of `memory`.
  mk_op bound(const std::vector<mk_buffer*>& buffers) const;
  uint64_t largest_buffer_bytes() const;

 private:
  mk_tensor add(int64_t rows, int64_t columns, const Layout& layout, mk_dtype dtype,
                const std::function<uint32_t(int64_t, int64_t)>& word);
};

// Returns the buffers of a problem after its op has run on a device.
std::vector<Words> run(DeviceUnderTest& dut, const Problem& problem);

// Returns the elements of a view row by row, as floats, from the buffers of its problem.
std::vector<double> values_of(const mk_tensor& t, const std::vector<Words>& memory);

// Returns the problem with the absolute value of every float. Rounding errors of sums are relative to its result.
Problem absolute(const Problem& problem);

float as_float(uint32_t word);
uint32_t as_word(float value);

// Return, for random numbers in [-1, 1), mostly the number, and sometimes a NaN or an infinity of either sign.
float with_some_nans(float random);
float with_some_infinities(float random);

// ---- cases ---------------------------------------------------------------------------------------------------------

enum class Size {
  tiny,    // runs on every device: at most a few thousand elements
  normal,  // does not run on emulated and instrumented devices
  large    // uses buffers of 64 MiB and more
};

struct Case {
  std::string name;
  Size size;
  std::function<Problem()> make;
};

// Returns the base of the op's relative tolerance for every element of an output: see the op's header. `want` is the
// oracle's result. The suite does not call it for integer outputs, which are exact, or for empty outputs.
using Scale = std::function<std::vector<double>(const Problem& problem, uint32_t output, const std::vector<Words>& want,
                                                Machine& machine)>;

// Cases add this value to a scale that may be 0, because a scale of 0 would tell +0 from -0.
inline constexpr double kAnyZero = 1e-30;

struct OpCases {
  mk_op_code code;
  std::vector<Case> cases;
  Scale scale;  // null if every output is exact
};

// Returns the scale of ops that add: the oracle runs the same op on absolute values.
std::vector<double> sum_of_magnitudes(const Problem& problem, uint32_t output, const std::vector<Words>& want,
                                      Machine& machine);

// Expects that all outputs of the op differ from the oracle's by at most the op's tolerance.
void expect_near_oracle(Machine& machine, const OpCases& op, const Problem& problem, const std::vector<Words>& got);

// Expects the same values in every output. All NaNs are one value, and so are both zeros (docs/explained/numbers.md).
void expect_same_values(const Problem& problem, const std::vector<Words>& got, const std::vector<Words>& want);

// Returns the cases of every op, by code. Each file of cases/ adds its cases with one AddCases at namespace scope.
std::vector<OpCases>& all_cases();

struct AddCases {
  explicit AddCases(OpCases cases) { all_cases().push_back(std::move(cases)); }
};

}  // namespace mokume::conformance
