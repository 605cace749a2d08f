// Tests ops that core/device refuses before a backend sees them. The checks are in core/sdk, so any device will do.
#include <cstring>

#include "problem.hpp"
#include "skips.hpp"
#include "suite.hpp"

namespace mokume::conformance {
namespace {

// Puts a problem on a device, with an op that a test can break and submit.
class Workbench {
 public:
  Workbench(DeviceUnderTest& dut, Problem problem) : dut_(dut), problem_(std::move(problem)) {
    for (const Words& content : problem_.memory) {
      buffers_.push_back(std::make_unique<Buffer>(dut, content));
      handles_.push_back(buffers_.back()->handle());
    }
  }

  mk_op op() const { return problem_.bound(handles_); }

  void expect_refused(const mk_op& broken, int32_t status, const std::string& how) {
    const Outcome outcome = submit(dut_, broken);
    EXPECT_EQ(outcome.status, status) << how;
    EXPECT_EQ(outcome.error.code, status) << how;
    EXPECT_GT(strnlen(outcome.error.text, sizeof outcome.error.text), 10U) << how << ": the message says nothing";
    EXPECT_LT(strnlen(outcome.error.text, sizeof outcome.error.text), sizeof outcome.error.text) << how;
  }

  void expect_memory_kept() {
    finish(dut_);
    for (size_t i = 0; i < buffers_.size(); ++i) EXPECT_TRUE(buffers_[i]->read() == problem_.memory[i]) << i;
  }

 private:
  DeviceUnderTest& dut_;
  Problem problem_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<mk_buffer*> handles_;
};

using Breakage = void (*)(mk_tensor&);

constexpr std::pair<const char*, Breakage> kBreakages[] = {
    {"without a buffer", [](mk_tensor& t) { t.buffer = nullptr; }},
    {"beyond its buffer by its offset", [](mk_tensor& t) { t.offset += 1000000; }},
    {"beyond its buffer by an offset that overflows", [](mk_tensor& t) { t.offset = INT64_MAX - 3; }},
    {"with a negative offset", [](mk_tensor& t) { t.offset = -1; }},
    {"with more rows", [](mk_tensor& t) { t.rows += 1000000; }},
    {"with more columns", [](mk_tensor& t) { t.row_stride = t.columns += 1000000; }},
    {"with negative rows", [](mk_tensor& t) { t.rows = -t.rows; }},
    {"with negative columns", [](mk_tensor& t) { t.columns = -t.columns; }},
    {"with sizes whose product overflows", [](mk_tensor& t) { t.rows = t.columns = t.row_stride = INT64_MAX / 2; }},
    {"with the other element type", [](mk_tensor& t) { t.dtype = t.dtype == MK_F32 ? MK_I32 : MK_F32; }},
    {"with an element type that does not exist", [](mk_tensor& t) { t.dtype = 77; }},
};

// Returns a small case in which no operand is empty.
const Case& plain_case(const OpCases& op) {
  for (const Case& one : op.cases) {
    if (one.size != Size::tiny) continue;
    const Problem problem = one.make();
    bool plain = problem.op.outputs[0].rows * problem.op.outputs[0].columns > 1;
    for (uint32_t o = 0; o < problem.op.n_outputs; ++o) plain = plain && !sdk::empty(problem.op.outputs[o]);
    for (uint32_t i = 0; i < problem.op.n_inputs; ++i) plain = plain && !sdk::empty(problem.op.inputs[i]);
    if (plain) return one;
  }
  throw Error(MK_INTERNAL, std::string(ops::rule(op.code).name) + " has no tiny case that is not empty");
}

void broken_operands(DeviceUnderTest& dut, const OpCases& cases) {
  Workbench bench(dut, plain_case(cases).make());
  const mk_op good = bench.op();
  for (const auto& [how, breakage] : kBreakages) {
    for (uint32_t i = 0; i < good.n_inputs + good.n_outputs; ++i) {
      mk_op op = good;
      const bool input = i < good.n_inputs;
      breakage(input ? op.inputs[i] : op.outputs[i - good.n_inputs]);
      bench.expect_refused(
          op, MK_INVALID_ARGUMENT,
          (input ? "input " + std::to_string(i) : "output " + std::to_string(i - good.n_inputs)) + " " + how);
    }
  }
  bench.expect_memory_kept();
}

void one_element_beyond(DeviceUnderTest& dut, const OpCases& cases) {
  const Problem problem = plain_case(cases).make();
  Workbench bench(dut, problem);
  const mk_op good = bench.op();
  for (uint32_t i = 0; i < good.n_inputs + good.n_outputs; ++i) {
    mk_op op = good;
    const bool input = i < good.n_inputs;
    const mk_tensor& named = input ? problem.op.inputs[i] : problem.op.outputs[i - good.n_inputs];
    mk_tensor& moved = input ? op.inputs[i] : op.outputs[i - good.n_inputs];
    const auto words = static_cast<int64_t>(problem.memory[Problem::memory_of(named)].size());
    moved.offset += words - sdk::extent(named) + 1;
    bench.expect_refused(op, MK_INVALID_ARGUMENT, "operand " + std::to_string(i) + " ends one element too far");
  }
  bench.expect_memory_kept();
}

void broken_descriptors(DeviceUnderTest& dut, const OpCases& cases) {
  Workbench bench(dut, plain_case(cases).make());
  const auto with = [&](auto&& change) {
    mk_op op = bench.op();
    change(op);
    return op;
  };
  bench.expect_refused(with([](mk_op& op) { op.struct_size -= 8; }), MK_INVALID_ARGUMENT, "a descriptor cut short");
  bench.expect_refused(with([](mk_op& op) { op.n_inputs = MK_OP_MAX_INPUTS; }), MK_INVALID_ARGUMENT, "many inputs");
  bench.expect_refused(with([](mk_op& op) { op.n_inputs = UINT32_MAX; }), MK_INVALID_ARGUMENT, "endless inputs");
  bench.expect_refused(with([](mk_op& op) { op.n_outputs = 0; }), MK_INVALID_ARGUMENT, "no output");
  bench.expect_refused(with([](mk_op& op) { op.n_outputs = UINT32_MAX; }), MK_INVALID_ARGUMENT, "endless outputs");
  for (const int32_t code : {0, -1, static_cast<int32_t>(MK_OP_COUNT_), 999, INT32_MIN}) {
    const mk_op unknown = with([code](mk_op& op) { op.code = code; });
    bench.expect_refused(unknown, MK_UNSUPPORTED, "code " + std::to_string(code));
  }
  bench.expect_memory_kept();
}

void wrong_kernel_attributes(DeviceUnderTest& dut) {
  Problem p;
  const mk_tensor dot = p.random(3, 5);
  p.op = ops::kernel_map(dot, {}, {}, p.unwritten(3, 5), {ops::KernelKind::polynomial, 1, 0, 3});
  Workbench bench(dut, p);
  for (const int64_t degree : {-1, 65}) {
    mk_op op = bench.op();
    op.kernel_map.degree = degree;
    bench.expect_refused(op, MK_INVALID_ARGUMENT, "degree " + std::to_string(degree));
  }
  for (const int64_t kind : {int64_t{-1}, int64_t{4}, INT64_MAX}) {
    mk_op op = bench.op();
    op.kernel_map.kind = static_cast<ops::KernelKind>(kind);
    bench.expect_refused(op, MK_INVALID_ARGUMENT, "kernel " + std::to_string(kind));
  }
  mk_op op = bench.op();
  op.kernel_map.kind = ops::KernelKind::rbf;
  bench.expect_refused(op, MK_INVALID_ARGUMENT, "rbf without norms");
  bench.expect_memory_kept();
}

void mismatched_gemm(DeviceUnderTest& dut) {
  Problem p;
  const mk_tensor a = p.random(4, 6), b = p.random(5, 6);
  p.op = ops::gemm(a, false, b, true, p.unwritten(4, 5));
  Workbench bench(dut, p);
  for (int64_t mk_gemm::*flag : {&mk_gemm::transpose_a, &mk_gemm::transpose_b}) {
    mk_op op = bench.op();
    op.gemm.*flag = 1 - op.gemm.*flag;
    bench.expect_refused(op, MK_INVALID_ARGUMENT, ops::text(op));
  }
  mk_op op = bench.op();
  std::swap(op.outputs[0].rows, op.outputs[0].columns);
  bench.expect_refused(op, MK_INVALID_ARGUMENT, "the output transposed");
  bench.expect_memory_kept();
}

void overlaps_are_refused(DeviceUnderTest& dut) {
  Buffer buffer(dut, Words(400, 0x3F800000U));
  mk_buffer* const b = buffer.handle();
  const auto view = [&](int64_t rows, int64_t columns, int64_t stride, int64_t offset) {
    return sdk::matrix(b, rows, columns, stride, offset);
  };
  const mk_tensor x = view(4, 4, 20, 0);
  const ops::KernelFunction linear{ops::KernelKind::linear, 1, 0, 1};
  EXPECT_EQ(submit(dut, ops::gemm(x, false, x, true, view(4, 4, 20, 3))).status, MK_INVALID_ARGUMENT);
  EXPECT_EQ(submit(dut, ops::gemm(x, false, x, true, view(4, 4, 20, 18))).status, MK_INVALID_ARGUMENT) << "wraps round";
  EXPECT_EQ(submit(dut, ops::gemm(x, false, x, true, view(4, 4, 20, 4))).status, MK_OK) << "column blocks are apart";
  EXPECT_EQ(submit(dut, ops::gemm(x, false, x, true, view(4, 4, 4, 64))).status, MK_OK) << "one behind the other";
  EXPECT_EQ(submit(dut, ops::kernel_map(x, {}, {}, x, linear)).status, MK_OK) << "in place";
  EXPECT_EQ(submit(dut, ops::kernel_map(x, {}, {}, view(4, 4, 20, 1), linear)).status, MK_INVALID_ARGUMENT);
  EXPECT_EQ(submit(dut, ops::row_norm2(x, sdk::vector(b, 4, 2))).status, MK_INVALID_ARGUMENT);
  const mk_tensor image = sdk::vector(b, 9, 300), out = sdk::vector(b, 4, 200), place = sdk::vector(b, 4, 0, MK_I32);
  const ops::Window w{3, 3, 1, 2, 2, 1, 1, 0, 0};
  const auto at = [](mk_tensor t, int64_t offset) {
    t.offset = offset;
    return t;
  };
  EXPECT_EQ(submit(dut, ops::max_pool(image, w, out, place)).status, MK_OK);
  EXPECT_EQ(submit(dut, ops::max_pool(image, w, out, at(place, 203))).status, MK_INVALID_ARGUMENT) << "two outputs";
  EXPECT_EQ(submit(dut, ops::max_pool(image, w, out, at(place, 308))).status, MK_INVALID_ARGUMENT);
  const ops::OptimizerSettings momentum{ops::Optimizer::sgd, 0.1, 0, 0.9, 0, 0};
  EXPECT_EQ(submit(dut, ops::optimizer_step(at(out, 300), out, at(out, 204), {}, momentum, 1)).status, MK_OK);
  EXPECT_EQ(submit(dut, ops::optimizer_step(at(out, 300), out, out, {}, momentum, 1)).status, MK_INVALID_ARGUMENT);
}

void buffers_of_another_device_are_refused(Machine& machine, DeviceUnderTest& dut) {
  Buffer foreign(machine.oracle(), Words(16, 0));
  EXPECT_EQ(submit(dut, ops::fill(sdk::vector(foreign.handle(), 16), 1)).status, MK_INVALID_ARGUMENT);
}

}  // namespace

void add_refusal_tests(Machine& machine) {
  DeviceUnderTest& dut = *machine.find("host", 0);
  for (const OpCases& cases : all_cases()) {
    const std::string op = ops::rule(cases.code).name;
    add_test(dut.label(), "refusal." + op + "_operands", [&dut, &cases] { broken_operands(dut, cases); });
    add_test(dut.label(), "refusal." + op + "_one_beyond", [&dut, &cases] { one_element_beyond(dut, cases); });
    add_test(dut.label(), "refusal." + op + "_descriptors", [&dut, &cases] { broken_descriptors(dut, cases); });
  }
  add_test(dut.label(), "refusal.kernel_attributes", [&dut] { wrong_kernel_attributes(dut); });
  add_test(dut.label(), "refusal.mismatched_gemm", [&dut] { mismatched_gemm(dut); });
  add_test(dut.label(), "refusal.overlaps", [&dut] { overlaps_are_refused(dut); });
  add_test(dut.label(), "refusal.foreign_buffers",
           [&machine, &dut] { buffers_of_another_device_are_refused(machine, dut); });
}

}  // namespace mokume::conformance
