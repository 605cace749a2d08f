#include <array>
#include <cstring>

#include "problem.hpp"
#include "skips.hpp"
#include "suite.hpp"

namespace mokume::conformance {
namespace {

// Computes out[i] = factor * in[i] through local memory, so that every kind of argument is used.
constexpr char kSource[] = R"CL(
#pragma OPENCL FP_CONTRACT OFF
__kernel void scale(__global const float* in, __global float* out, float factor, int n, __local float* scratch) {
  int i = (int)get_global_id(0);
  int l = (int)get_local_id(0);
  scratch[l] = i < n ? in[i] : 0.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) out[i] = factor * scratch[l] + OFFSET;
}
__kernel void rows(__global int* out) {
  out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = (int)(get_global_id(1) * 100 + get_global_id(0));
}
__kernel void rests(__global const float* in, __global float* out, int n) {
  const float a = in[0], rounded = in[1], product = a * a;
  const float4 wide = (float4)(a);
  const float16 wider = (float16)(a);
  float sum = -rounded;
  for (int i = 1; i < n; ++i) sum += in[i + 1] * a;
  out[0] = product - rounded;
  out[1] = rounded - a * a;
  out[2] = a * a + -rounded;
  out[3] = sum;
  out[4] = (wide * wide - rounded).z;
  out[5] = (wider * wider - (float16)(rounded)).s9;
  out[6] = fma(a, a, -rounded);
}
)CL";

const mk_kernel_source* extension_of(DeviceUnderTest& dut) {
  return static_cast<const mk_kernel_source*>(dut.table().extension(dut.table().self, "kernel_source_v1"));
}

class Program {
 public:
  Program(DeviceUnderTest& dut, const mk_kernel_source& extension, const char* options) : extension_(extension) {
    sdk::call(extension.build, dut.device(), "conformance", static_cast<const char*>(kSource), options, &handle_);
  }
  ~Program() { extension_.release(handle_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  mk_program* handle() const { return handle_; }

 private:
  const mk_kernel_source& extension_;
  mk_program* handle_ = nullptr;
};

mk_argument buffer_argument(const Buffer& buffer) { return {MK_ARG_BUFFER, 0, buffer.handle(), nullptr, 0}; }

template <class T>
mk_argument value_argument(const T& value) {
  return {MK_ARG_VALUE, 0, nullptr, &value, sizeof value};
}

void builds_and_launches(DeviceUnderTest& dut, const mk_kernel_source& extension) {
  constexpr int kItems = 8, kCount = 21;
  Words input;
  for (int i = 0; i < kCount; ++i) input.push_back(as_word(static_cast<float>(i)));
  Buffer in(dut, input), out(dut, Words(kCount + 5, kGuard));
  const Program program(dut, extension, "-DOFFSET=0.5f");
  const float factor = 3;
  const int n = kCount;
  const mk_argument arguments[] = {buffer_argument(in),
                                   buffer_argument(out),
                                   value_argument(factor),
                                   value_argument(n),
                                   {MK_ARG_LOCAL, 0, nullptr, nullptr, kItems * sizeof(float)}};
  const uint64_t global[3] = {24, 1, 1}, local[3] = {kItems, 1, 1};
  mk_event* event = nullptr;
  sdk::call(extension.launch, dut.queue(), program.handle(), "scale", static_cast<const mk_argument*>(arguments), 5U,
            static_cast<const uint64_t*>(global), static_cast<const uint64_t*>(local), &event);
  ASSERT_NE(event, nullptr);
  sdk::call(dut.table().event_wait, event);
  dut.table().event_destroy(event);
  const Words got = out.read();
  for (int i = 0; i < kCount; ++i)
    EXPECT_EQ(as_float(got[static_cast<size_t>(i)]), 3.0F * static_cast<float>(i) + 0.5F);
  for (int i = kCount; i < kCount + 5; ++i) EXPECT_EQ(got[static_cast<size_t>(i)], kGuard);
}

// (1 + 2^-12)^2 needs 25 bits. The last bit stays if a device fuses the product with the sum instead of rounding it.
void rounds_a_product_before_a_sum(DeviceUnderTest& dut, const mk_kernel_source& extension) {
  Buffer in(dut, Words{as_word(1 + 0x1p-12F), as_word(1 + 0x1p-11F), as_word(1 + 0x1p-12F)});
  Buffer out(dut, Words(7, kGuard));
  const Program program(dut, extension, "-DOFFSET=0");
  const int terms = 2;
  const mk_argument arguments[] = {buffer_argument(in), buffer_argument(out), value_argument(terms)};
  const uint64_t one[3] = {1, 1, 1};
  sdk::call(extension.launch, dut.queue(), program.handle(), "rests", static_cast<const mk_argument*>(arguments), 3U,
            static_cast<const uint64_t*>(one), static_cast<const uint64_t*>(one), static_cast<mk_event**>(nullptr));
  finish(dut);
  const Words got = out.read();
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(as_float(got[i]), 0) << "form " << i << ": the compiler fuses products and sums although FP_CONTRACT is "
                                   << "OFF, so other devices have other last bits";
  EXPECT_EQ(as_float(got[6]), 0x1p-24F) << "fma() rounds once, in hardware or not";
}

void two_dimensions_without_local(DeviceUnderTest& dut, const mk_kernel_source& extension) {
  Buffer out(dut, Words(15, 0));
  const Program program(dut, extension, "-DOFFSET=0");
  const mk_argument argument = buffer_argument(out);
  const uint64_t global[3] = {5, 3, 1};
  sdk::call(extension.launch, dut.queue(), program.handle(), "rows", &argument, 1U,
            static_cast<const uint64_t*>(global), static_cast<const uint64_t*>(nullptr),
            static_cast<mk_event**>(nullptr));
  finish(dut);
  const Words got = out.read();
  for (uint32_t i = 0; i < 15; ++i) EXPECT_EQ(got[i], i / 5 * 100 + i % 5);
}

void refuses_broken_source(DeviceUnderTest& dut, const mk_kernel_source& extension) {
  mk_program* program = nullptr;
  mk_error error{};
  const int32_t status = extension.build(dut.device(), "broken", "__kernel void f(__global int* x) { x[0] = nosuch; }",
                                         "", &program, &error);
  EXPECT_NE(status, MK_OK);
  EXPECT_EQ(program, nullptr);
  EXPECT_NE(std::strstr(error.text, "broken"), nullptr) << "the message does not name the program: " << error.text;
  EXPECT_NE(std::strstr(error.text, "nosuch"), nullptr) << "the message does not show the log: " << error.text;
}

void refuses_bad_launches(DeviceUnderTest& dut, const mk_kernel_source& extension) {
  Buffer out(dut, Words(15, 0));
  const Program program(dut, extension, "-DOFFSET=0");
  const mk_argument argument = buffer_argument(out);
  const uint64_t global[3] = {5, 3, 1};
  const auto launch = [&](const char* kernel, uint32_t n_arguments, mk_error* error) {
    return extension.launch(dut.queue(), program.handle(), kernel, &argument, n_arguments, global, nullptr, nullptr,
                            error);
  };
  mk_error error{};
  EXPECT_EQ(launch("no_such_kernel", 1, &error), MK_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(error.text, "no_such_kernel"), nullptr) << error.text;
  EXPECT_EQ(launch("rows", 0, &error), MK_INVALID_ARGUMENT) << "an argument is missing";
  EXPECT_EQ(launch("rows", 1, &error), MK_OK) << error.text;
  EXPECT_EQ(launch("rows", 0, &error), MK_INVALID_ARGUMENT) << "the argument of an earlier launch was used again";
  finish(dut);
}

void has_no_doubles_where_it_says_so(DeviceUnderTest& dut, const mk_kernel_source& extension) {
  if (dut.has(MK_DEVICE_FP64)) GTEST_SKIP() << "the device has fp64";
  mk_program* program = nullptr;
  EXPECT_NE(extension.build(dut.device(), "doubles",
                            "__kernel void f(__global float* x) { double y = x[0]; x[1] = y; }", "", &program, nullptr),
            MK_OK);
  EXPECT_EQ(program, nullptr);
}

// Every GPU refuses grids that some card would refuse. Otherwise, the mistake would show only on that card.
void refuses_grids_that_some_card_would_refuse(DeviceUnderTest& dut, const mk_kernel_source& extension) {
  if (dut.info().kind != MK_DEVICE_GPU) GTEST_SKIP() << "only GPUs have such a limit";
  constexpr uint64_t kMost = 65535;
  Buffer out(dut, Words(kMost, 0));
  const Program program(dut, extension, "-DOFFSET=0");
  const mk_argument argument = buffer_argument(out);
  const uint64_t local[3] = {1, 1, 1};
  const auto launch = [&](const std::array<uint64_t, 3>& global, mk_error* error) {
    return extension.launch(dut.queue(), program.handle(), "rows", &argument, 1U, global.data(), local, nullptr, error);
  };
  mk_error error{};
  EXPECT_EQ(launch({1, kMost, 1}, &error), MK_OK) << error.text;
  finish(dut);
  EXPECT_EQ(launch({1, kMost + 1, 1}, &error), MK_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(error.text, "kernel rows: 65536 work-groups in dimension 1"), nullptr) << error.text;
  EXPECT_EQ(launch({1, 1, kMost + 1}, &error), MK_INVALID_ARGUMENT);
}

}  // namespace

void add_kernel_source_tests(Machine&, DeviceUnderTest& dut) {
  const mk_kernel_source* extension = extension_of(dut);
  if (extension == nullptr) {
    add_test(dut.label(), "kernel_source", [] { GTEST_SKIP() << kNoKernelSource; });
    return;
  }
  const auto add = [&](const char* name, void (*body)(DeviceUnderTest&, const mk_kernel_source&)) {
    add_test(dut.label(), std::string("kernel_source.") + name, [&dut, extension, body] { body(dut, *extension); });
  };
  add("builds_and_launches", builds_and_launches);
  add("rounds_a_product_before_a_sum", rounds_a_product_before_a_sum);
  add("two_dimensions_without_local", two_dimensions_without_local);
  add("refuses_broken_source", refuses_broken_source);
  add("refuses_bad_launches", refuses_bad_launches);
  add("has_no_doubles_where_it_says_so", has_no_doubles_where_it_says_so);
  add("refuses_grids_that_some_card_would_refuse", refuses_grids_that_some_card_would_refuse);
}

}  // namespace mokume::conformance
