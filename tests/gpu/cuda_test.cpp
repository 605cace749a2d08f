// Tests the driver of tests/gpu/cuda through OpenCL's loader, on a CUDA driver that only checks its requests.
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <numeric>
#include <utility>

#include "cli/shell.hpp"
#include "pose/hash.hpp"

namespace mokume::cli_test {
namespace {

using test::shell_word;

std::string library_directory() { return test::build_directory() + "/lib"; }
std::string card() { return test::source_directory() + "/tests/gpu/pose/cards/nvidia-h200.toml"; }

// Returns the environment of a program that uses the driver.
std::string over_cuda(const fs::path& cubins) {
  return "env OCL_ICD_VENDORS=" + shell_word(library_directory() + "/cuda_icd.so") +
         " LD_LIBRARY_PATH=" + shell_word(library_directory() + "/fake_cuda") +
         " OPENCL_CUBINS=" + shell_word(cubins.string()) + " FAKE_CUDA_LOG=$PWD/launches XDG_CACHE_HOME=$PWD/cache ";
}

// The kernel `scale` takes 24 bytes, a buffer and two arrays in local memory, and declares an array of 256 bytes.
constexpr const char* kLayout =
    "scale 64 1 1 256 4\nv 24 ScaleArgs\ng 8 float*\nl 8 float*\nl 8 float*\n"
    "free 0 0 0 0 1\ng 8 float*\n";
constexpr const char* kPtx =
    ".visible .entry scale(\n\t.param .align 8 .b8 scale_param_0[24],\n\t.param .u64 scale_param_1,\n"
    "\t.param .u64 scale_param_2,\n\t.param .u64 scale_param_3\n)\n"
    ".visible .entry free(\n\t.param .u64 free_param_0\n)\n";

// All tests share one platform, because a process has only one.
class Cuda : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    static const Place all;
    if (std::exchange(place, &all) != nullptr) return;
    fs::copy_file(card(), place->path() / "card.toml");
    setenv("OCL_ICD_VENDORS", (library_directory() + "/cuda_icd.so").c_str(), 1);
    setenv("OPENCL_CUBINS", place->path().c_str(), 1);
    setenv("FAKE_CUDA_LOG", (place->path() / "launches").c_str(), 1);
    ASSERT_NE(dlopen((library_directory() + "/fake_cuda/libcuda.so.1").c_str(), RTLD_NOW), nullptr) << dlerror();
    cl_uint count = 0;
    ASSERT_EQ(clGetPlatformIDs(1, &platform, &count), CL_SUCCESS);
    ASSERT_EQ(count, 1U);
    ASSERT_EQ(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, &count), CL_SUCCESS);
    ASSERT_EQ(count, 1U);
    cl_int code = CL_SUCCESS;
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
    ASSERT_EQ(code, CL_SUCCESS);
    queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);
    ASSERT_EQ(code, CL_SUCCESS);
  }
  static std::string text(cl_device_info what) {
    std::array<char, 1024> text{};
    EXPECT_EQ(clGetDeviceInfo(device, what, text.size(), text.data(), nullptr), CL_SUCCESS);
    return text.data();
  }
  template <class T>
  static T number(cl_device_info what) {
    T number{};
    EXPECT_EQ(clGetDeviceInfo(device, what, sizeof(number), &number, nullptr), CL_SUCCESS);
    return number;
  }

  static cl_mem buffer(size_t bytes, cl_mem_flags flags = CL_MEM_READ_WRITE) {
    cl_int code = CL_SUCCESS;
    const cl_mem made = clCreateBuffer(context, flags, bytes, nullptr, &code);
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }

  // Builds a program and returns the code of the build.
  static cl_int build(cl_program& program, const std::string& source, const char* options) {
    const char* string = source.c_str();
    program = clCreateProgramWithSource(context, 1, &string, nullptr, nullptr);
    return clBuildProgram(program, 1, &device, options, nullptr, nullptr);
  }
  static std::string log_of(cl_program program) {
    std::array<char, 1024> log{};
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), nullptr);
    return log.data();
  }

  static std::string last_launch() { return lines_of(slurp(place->path() / "launches")).back(); }

  static inline const Place* place = nullptr;
  static inline cl_platform_id platform = nullptr;
  static inline cl_device_id device = nullptr;
  static inline cl_context context = nullptr;
  static inline cl_command_queue queue = nullptr;
};

TEST_F(Cuda, the_card_of_the_record_has_the_numbers_of_the_real_one) {
  EXPECT_EQ(text(CL_DEVICE_NAME), "Fake H200");
  EXPECT_EQ(text(CL_DEVICE_VENDOR), "NVIDIA Corporation");
  EXPECT_EQ(text(CL_DRIVER_VERSION), "CUDA 12.8, cuda_icd");
  EXPECT_EQ(number<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS), 132U);
  EXPECT_EQ(number<cl_ulong>(CL_DEVICE_GLOBAL_MEM_SIZE), cl_ulong{4} << 30);
  EXPECT_EQ(number<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE), cl_ulong{1} << 30);
  EXPECT_EQ(number<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE), 49152U);
  EXPECT_TRUE(has(text(CL_DEVICE_EXTENSIONS), "cl_nv_device_attribute_query"));
}

TEST_F(Cuda, buffers_go_round_trip) {
  const cl_mem first = buffer(400), second = buffer(400), host = buffer(64, CL_MEM_ALLOC_HOST_PTR);
  std::array<float, 50> numbers{}, back{};
  std::iota(numbers.begin(), numbers.end(), 1.0F);
  EXPECT_EQ(clEnqueueWriteBuffer(queue, first, CL_FALSE, 200, 200, numbers.data(), 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(clEnqueueCopyBuffer(queue, first, second, 200, 4, 200, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(clEnqueueReadBuffer(queue, second, CL_TRUE, 4, 200, back.data(), 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(back, numbers);
  EXPECT_EQ(clEnqueueReadBuffer(queue, second, CL_TRUE, 204, 200, back.data(), 0, nullptr, nullptr), CL_INVALID_VALUE);

  cl_int code = CL_SUCCESS;
  void* mapped = clEnqueueMapBuffer(queue, host, CL_TRUE, CL_MAP_WRITE, 0, 64, 0, nullptr, nullptr, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  std::memcpy(mapped, numbers.data(), 64);
  EXPECT_EQ(clEnqueueUnmapMemObject(queue, host, mapped, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(clEnqueueCopyBuffer(queue, host, second, 0, 100, 64, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(clEnqueueReadBuffer(queue, second, CL_TRUE, 100, 64, back.data(), 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_TRUE(std::equal(numbers.begin(), numbers.begin() + 16, back.begin()));
  for (const cl_mem each : {first, second, host}) EXPECT_EQ(clReleaseMemObject(each), CL_SUCCESS);
}

TEST_F(Cuda, buffers_larger_than_the_device_allows_are_refused) {
  cl_int code = CL_SUCCESS;
  EXPECT_EQ(clCreateBuffer(context, CL_MEM_READ_WRITE, (size_t{1} << 30) + 1, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_BUFFER_SIZE);
}

class Launch : public Cuda {
 protected:
  void SetUp() override {
    const std::string hash = pose::hash_of("a source", "-DN=4");
    place->write(hash + ".cubin", kPtx);
    place->write(hash + ".kernels", kLayout);
    ASSERT_EQ(build(program, "a source", "-DN=4"), CL_SUCCESS) << log_of(program);
    scale = clCreateKernel(program, "scale", nullptr);
    free = clCreateKernel(program, "free", nullptr);
    memory = buffer(64);
  }
  void TearDown() override {
    for (const cl_kernel each : {scale, free}) EXPECT_EQ(clReleaseKernel(each), CL_SUCCESS);
    EXPECT_EQ(clReleaseProgram(program), CL_SUCCESS);
    EXPECT_EQ(clReleaseMemObject(memory), CL_SUCCESS);
  }

  void set_arguments(size_t local_bytes) const {
    const std::array<uint64_t, 3> values{1, 2, 0x0123456789abcdef};
    EXPECT_EQ(clSetKernelArg(scale, 0, sizeof(values), values.data()), CL_SUCCESS);
    EXPECT_EQ(clSetKernelArg(scale, 1, sizeof(memory), static_cast<const void*>(&memory)), CL_SUCCESS);
    EXPECT_EQ(clSetKernelArg(scale, 2, 100, nullptr), CL_SUCCESS);
    EXPECT_EQ(clSetKernelArg(scale, 3, local_bytes, nullptr), CL_SUCCESS);
  }
  static cl_int launch(cl_kernel kernel, std::array<size_t, 3> global, const size_t* local,
                       const size_t* offset = nullptr, cl_event* event = nullptr) {
    return clEnqueueNDRangeKernel(queue, kernel, 3, offset, global.data(), local, 0, nullptr, event);
  }

  cl_program program = nullptr;
  cl_kernel scale = nullptr, free = nullptr;
  cl_mem memory = nullptr;
};

TEST_F(Launch, has_the_right_grid_and_bytes) {
  set_arguments(64);
  const std::array<size_t, 3> local{64, 1, 1};
  EXPECT_EQ(launch(scale, {128, 3, 1}, local.data()), CL_SUCCESS);
  // The kernel itself declares 256 bytes of local memory. The second array of the launch starts at 128 and ends at 192.
  const std::string line = last_launch(), start = "scale 2 3 1 64 1 1 192 0100000000000000020000000000000";
  EXPECT_EQ(line.substr(0, start.size()), start);
  EXPECT_TRUE(has(line, "0efcdab8967452301 ")) << line;
  EXPECT_TRUE(line.ends_with(" 0000000000000000 8000000000000000")) << line;
  EXPECT_FALSE(has(line, " 0000000000000000 0000000000000000 ")) << "there is no buffer: " << line;

  EXPECT_EQ(clSetKernelArg(free, 0, sizeof(cl_mem), nullptr), CL_SUCCESS);
  EXPECT_EQ(launch(free, {96, 2, 1}, nullptr), CL_SUCCESS);
  EXPECT_EQ(last_launch(), "free 3 2 1 32 1 1 0 0000000000000000");
}

TEST_F(Launch, is_refused_for_the_reasons_of_the_card) {
  const std::array<size_t, 3> local{64, 1, 1}, other{32, 1, 1}, offset{64, 0, 0};
  EXPECT_EQ(launch(scale, {128, 1, 1}, local.data()), CL_INVALID_KERNEL_ARGS);
  EXPECT_EQ(clSetKernelArg(scale, 0, 16, local.data()), CL_INVALID_ARG_SIZE);
  EXPECT_EQ(clSetKernelArg(scale, 2, 16, local.data()), CL_INVALID_ARG_SIZE) << "local memory has no value";
  EXPECT_EQ(clSetKernelArg(scale, 4, 16, local.data()), CL_INVALID_ARG_INDEX);
  set_arguments(64);
  EXPECT_EQ(launch(scale, {128, 1, 1}, other.data()), CL_INVALID_WORK_GROUP_SIZE);
  EXPECT_EQ(launch(scale, {100, 1, 1}, local.data()), CL_INVALID_WORK_GROUP_SIZE);
  EXPECT_EQ(launch(scale, {64, 65536, 1}, local.data()), CL_INVALID_VALUE);
  EXPECT_EQ(launch(scale, {128, 1, 1}, local.data(), offset.data()), CL_INVALID_GLOBAL_OFFSET);
  set_arguments(49152 - 256 - 128);
  EXPECT_EQ(launch(scale, {128, 1, 1}, local.data()), CL_SUCCESS);
  set_arguments(49152 - 256 - 127);
  EXPECT_EQ(launch(scale, {128, 1, 1}, local.data()), CL_OUT_OF_RESOURCES);
}

TEST_F(Launch, describes_its_arguments) {
  cl_uint count = 0;
  cl_kernel_arg_address_qualifier space = 0;
  std::array<char, 32> type{};
  EXPECT_EQ(clGetKernelInfo(scale, CL_KERNEL_NUM_ARGS, sizeof(count), &count, nullptr), CL_SUCCESS);
  EXPECT_EQ(count, 4U);
  EXPECT_EQ(clGetKernelArgInfo(scale, 0, CL_KERNEL_ARG_TYPE_NAME, type.size(), type.data(), nullptr), CL_SUCCESS);
  EXPECT_STREQ(type.data(), "ScaleArgs");
  for (const auto& [index, wanted] : {std::pair{0U, CL_KERNEL_ARG_ADDRESS_PRIVATE},
                                      {1U, CL_KERNEL_ARG_ADDRESS_GLOBAL},
                                      {2U, CL_KERNEL_ARG_ADDRESS_LOCAL}}) {
    clGetKernelArgInfo(scale, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(space), &space, nullptr);
    EXPECT_EQ(space, static_cast<cl_kernel_arg_address_qualifier>(wanted));
  }
}

TEST_F(Launch, events_end_and_have_times) {
  EXPECT_EQ(clSetKernelArg(free, 0, sizeof(cl_mem), nullptr), CL_SUCCESS);
  cl_event event = nullptr;
  EXPECT_EQ(launch(free, {64, 1, 1}, nullptr, nullptr, &event), CL_SUCCESS);
  EXPECT_EQ(clFinish(queue), CL_SUCCESS);
  cl_int status = CL_QUEUED;
  clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, nullptr);
  EXPECT_EQ(status, CL_COMPLETE);
  std::array<cl_ulong, 2> ns{};
  clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(cl_ulong), ns.data(), nullptr);
  clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(cl_ulong), ns.data() + 1, nullptr);
  EXPECT_GT(ns[0], 0U);
  EXPECT_LE(ns[0], ns[1]);
  EXPECT_LT(ns[1] - ns[0], 1'000'000'000U);
  EXPECT_EQ(clReleaseEvent(event), CL_SUCCESS);
}

TEST_F(Cuda, a_missing_program_is_named_with_the_cure) {
  cl_program program = nullptr;
  EXPECT_EQ(build(program, "another source", "-DN=5"), CL_BUILD_PROGRAM_FAILURE);
  for (const std::string& part :
       {pose::hash_of("another source", "-DN=5"), std::string("bench/gpu/cubins"), std::string("-DN=5")})
    EXPECT_TRUE(has(log_of(program), part)) << log_of(program);
  EXPECT_EQ(clReleaseProgram(program), CL_SUCCESS);
}

TEST_F(Cuda, ptx_is_compiled_if_the_driver_refuses_the_cubin) {
  const std::string hash = pose::hash_of("a newer one", "");
  place->write(hash + ".cubin", "of a later release");
  place->write(hash + ".kernels", kLayout);
  cl_program program = nullptr;
  EXPECT_EQ(build(program, "a newer one", ""), CL_BUILD_PROGRAM_FAILURE);
  EXPECT_EQ(clReleaseProgram(program), CL_SUCCESS);
  place->write(hash + ".ptx", kPtx);
  EXPECT_EQ(build(program, "a newer one", ""), CL_SUCCESS);
  EXPECT_TRUE(has(log_of(program), "refuses")) << log_of(program);
  EXPECT_EQ(clReleaseProgram(program), CL_SUCCESS);
}

// Covers the way from the record of a command on PoCL to the same command on the driver.
TEST(Recorded, the_program_lists_the_card) {
  const Place place;
  fs::create_directories(place.path() / "record");
  const std::string devices = Place::program() + " devices";
  const Ended posed = place.shell("env OPENCL_LAYERS=" + shell_word(library_directory() + "/opencl_pose.so") +
                                  " OPENCL_POSE=" + shell_word(card()) +
                                  " OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd OPENCL_POSE_RECORD=$PWD/record "
                                  "XDG_CACHE_HOME=$PWD/cache " +
                                  devices);
  if (!has(posed.out, "NVIDIA H200")) GTEST_SKIP() << "PoCL is missing: install pocl-opencl-icd";

  const fs::path cubins = place.path() / "cubins";
  fs::create_directories(cubins);
  fs::copy_file(card(), cubins / "card.toml");
  const Ended without = place.shell(over_cuda(cubins) + devices);
  EXPECT_TRUE(has(without.err, "CL_BUILD_PROGRAM_FAILURE")) << without.err;

  for (const auto& entry : fs::directory_iterator(place.path() / "record/programs")) {
    const std::string hash = entry.path().stem().string();
    place.write("cubins/" + hash + ".cubin", ".visible .entry probe(\n\t.param .u64 a,\n\t.param .u64 b\n)\n");
    place.write("cubins/" + hash + ".kernels", "probe 0 0 0 0 2\ng 8 float*\ng 8 float*\n");
  }
  fs::remove_all(place.path() / "cache");
  const Ended with = place.shell(over_cuda(cubins) + devices);
  EXPECT_TRUE(has(with.out, "Fake H200 (NVIDIA CUDA)")) << with.out << with.err;
}

// Kernels do not run, so results are wrong, but no program, kernel or argument may be missing.
TEST(Recorded, every_program_of_the_conformance_suite_is_found) {
  const char* cubins = std::getenv("MOKUME_CUBINS");
  if (cubins == nullptr || !fs::exists(fs::path(cubins) / "card.toml")) GTEST_SKIP() << "there are no cubins";
  const Place place;
  const Ended ended = place.shell(over_cuda(cubins) + "MOKUME_SOURCE_DIR=" + shell_word(test::source_directory()) +
                                  " MOKUME_TEST_CHOICES=map=scalar,gemm=tile,conv=implicit GTEST_TOTAL_SHARDS=5 "
                                  "GTEST_SHARD_INDEX=0 " +
                                  shell_word(test::build_directory() + "/bin/test_conformance") +
                                  " --gtest_brief=1 --gtest_filter='*NVIDIA*-*refuses_broken_source*'");
  const std::vector<std::string> launches = lines_of(slurp(place.path() / "launches"));
  ASSERT_GT(launches.size(), 1000U) << ended.err;
  EXPECT_EQ(launches.back(), "left 0") << "objects of the driver leak";
  for (const std::string& line : lines_of(ended.out + ended.err))
    for (const char* problem : {"has no program", "cuda_icd:", "CL_INVALID", "CL_OUT_OF"})
      EXPECT_FALSE(has(line, problem)) << line;
}

}  // namespace
}  // namespace mokume::cli_test
