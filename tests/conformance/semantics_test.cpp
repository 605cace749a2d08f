#include <cmath>

#include "problem.hpp"
#include "skips.hpp"
#include "suite.hpp"

namespace mokume::conformance {
namespace {

struct KernelMatrix {
  int64_t rows;
  double tolerance;  // of an element
  Words values;
};

// As a model does it on one device: Gram matrix, norms, RBF in place. Row r equals row r - rows/2.
KernelMatrix rbf_of_repeated_rows(DeviceUnderTest& dut, int64_t rows, int64_t features, double gamma) {
  Problem p;
  const int64_t half = rows / 2;
  const mk_tensor row = p.random(half, features, {}, -2, 2);
  const mk_tensor x =
      p.floats(rows, features, {}, [&](int64_t r, int64_t c) { return static_cast<float>(p.at(row, r % half, c)); });
  const Words& content = p.memory[Problem::memory_of(x)];
  Buffer data(dut, content), gram(dut, static_cast<uint64_t>(rows * rows) * 4),
      norms(dut, static_cast<uint64_t>(rows) * 4);
  const mk_tensor dx = sdk::matrix(data.handle(), rows, features), k = sdk::matrix(gram.handle(), rows, rows);
  const mk_tensor n = sdk::vector(norms.handle(), rows);
  const mk_op steps[] = {ops::gemm(dx, false, dx, true, k), ops::row_norm2(dx, n),
                         ops::kernel_map(k, n, n, k, {ops::KernelKind::rbf, gamma, 0, 3})};
  double tolerance = 0, norm = 4.0 * static_cast<double>(features);  // an upper bound of a squared norm
  for (const mk_op& step : steps) {
    must(submit(dut, step));
    tolerance += ops::rule(step.code).tolerance(step) * (1 + gamma * 4 * norm);
  }
  finish(dut);
  return {rows, tolerance, gram.read()};
}

void rbf_of_equal_rows_is_one(DeviceUnderTest& dut) {
  const KernelMatrix k = rbf_of_repeated_rows(dut, 22, 31, 0.05);
  const double one_and_a_bit = 1 + 16 * 0x1p-24;  // distances are cut at 0, so only exp itself may exceed 1
  for (int64_t r = 0; r < k.rows; ++r)
    for (int64_t c = 0; c < k.rows; ++c) {
      const double value = as_float(k.values[static_cast<size_t>(r * k.rows + c)]);
      ASSERT_LE(value, one_and_a_bit) << r << ", " << c;
      ASSERT_GT(value, 0) << r << ", " << c;
      if (r % (k.rows / 2) == c % (k.rows / 2)) {
        ASSERT_NEAR(value, 1, k.tolerance) << r << ", " << c;
      } else {
        ASSERT_LT(value, 0.9) << r << ", " << c;
      }
    }
}

// Commands of one queue run in the order they were submitted, without a finish between them.
void queue_is_in_order(DeviceUnderTest& dut) {
  Buffer a(dut, uint64_t{400}), b(dut, uint64_t{400});
  const mk_tensor va = sdk::vector(a.handle(), 100);
  for (int i = 1; i <= 20; ++i) {
    must(submit(dut, ops::fill(va, static_cast<float>(i))));
    mk_copy what{};
    what.kind = MK_COPY_DEVICE;
    what.from = a.handle();
    what.to = b.handle();
    what.from_offset = what.to_offset = static_cast<uint64_t>(i) * 4;
    what.bytes = 4;
    must(copy(dut, what));
  }
  must(submit(dut, ops::fill(sdk::vector(b.handle(), 1), -1.0F)));
  finish(dut);
  const Words got = b.read();
  for (int i = 0; i <= 20; ++i)
    EXPECT_EQ(as_float(got[static_cast<size_t>(i)]), i == 0 ? -1.0F : static_cast<float>(i));
}

}  // namespace

void add_semantics_tests(Machine&, DeviceUnderTest& dut) {
  if (skip_reason(dut, Size::tiny) != nullptr) return;  // said once, by the op tests
  add_test(dut.label(), "semantics.rbf_of_equal_rows_is_one", [&dut] { rbf_of_equal_rows_is_one(dut); });
  add_test(dut.label(), "semantics.queue_is_in_order", [&dut] { queue_is_in_order(dut); });
}

}  // namespace mokume::conformance
