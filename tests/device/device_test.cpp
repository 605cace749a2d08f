#include "device/device.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <thread>

#include "device/fake_backend.hpp"
#include "sdk/device.hpp"
#include "sdk/ops.hpp"
#include "sdk/plugin.hpp"

namespace mokume::device {
namespace {

using sdk::matrix;
using sdk::vector;

constexpr uint64_t kBudget = 1 << 20;

std::string error_of(mk_status status, const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), status) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

mk_choice choice(const std::string& key, const std::string& value) {
  mk_choice c{};
  sdk::set_text(c.key, key);
  sdk::set_text(c.value, value);
  return c;
}

TEST(DeviceOpen, ClosesTheDeviceWithAllItsBuffers) {
  FakeBackend backend;
  {
    const auto device = Device::open(backend.listed(), {}, kBudget, nullptr);
    device->buffer_create(8);
    EXPECT_EQ(backend.devices, 1);
    EXPECT_EQ(backend.queues, 1);
  }
  EXPECT_EQ(backend.devices, 0);
  EXPECT_EQ(backend.queues, 0);
  EXPECT_EQ(backend.buffers, 0);
}

TEST(DeviceOpen, AFailureNamesTheDeviceAndLeavesNothingOpen) {
  FakeBackend backend;
  backend.fail_queue = true;
  const std::string text = error_of(MK_DEVICE_ERROR, [&] { Device::open(backend.listed(3), {}, kBudget, nullptr); });
  EXPECT_TRUE(contains(text, "fake:3 (Fake One)") && contains(text, "no queue today")) << text;
  EXPECT_EQ(backend.devices, 0);
  backend.fail_open = "it is on fire";
  EXPECT_TRUE(contains(error_of(MK_DEVICE_ERROR, [&] { Device::open(backend.listed(), {}, kBudget, nullptr); }),
                       "it is on fire"));
}

TEST(DeviceChoices, GivenChoicesReachTheBackendAndItsAnswersCount) {
  FakeBackend backend;
  backend.own_choices = {choice("gemm", "tile16")};
  const auto device =
      Device::open(backend.listed(), {{"gemm", "tile8"}, {"svc.solver", "two_float"}}, kBudget, nullptr);
  EXPECT_EQ(backend.choices_given, (Choices{{"gemm", "tile8"}, {"svc.solver", "two_float"}}));
  EXPECT_EQ(device->choices(), (Choices{{"gemm", "tile16"}, {"svc.solver", "two_float"}}));
}

TEST(DeviceChoices, ManyAreReadAndAnAbsurdNumberIsRefused) {
  FakeBackend backend;
  for (int i = 0; i < 100; ++i) backend.own_choices.push_back(choice("key" + std::to_string(i), "v"));
  EXPECT_EQ(Device::open(backend.listed(), {}, kBudget, nullptr)->choices().size(), 100U);
  backend.own_choices.resize(5000);
  error_of(MK_DEVICE_ERROR, [&] { Device::open(backend.listed(), {}, kBudget, nullptr); });
}

TEST(DeviceChoices, AModelRecordsItsOwn) {
  FakeBackend backend;
  const auto device = Device::open(backend.listed(), {}, kBudget, nullptr);
  const sdk::Device view(device->services());
  EXPECT_FALSE(view.choice("svc.panel"));
  view.set_choice("svc.panel", "64");
  EXPECT_EQ(view.choice("svc.panel"), "64");
  EXPECT_EQ(device->choices().at("svc.panel"), "64");
  view.set_choice(std::string(100, 'k').c_str(), "1");  // too long for the boundary's struct
  EXPECT_EQ(device->choices().size(), 1U);
}

TEST(DeviceBuffers, CountAgainstTheBudget) {
  FakeBackend backend;
  const auto device = Device::open(backend.listed(), {}, 100, nullptr);
  mk_buffer* first = device->buffer_create(60);
  const std::string text = error_of(MK_OUT_OF_MEMORY, [&] { device->buffer_create(41); });
  EXPECT_TRUE(contains(text, "41 bytes") && contains(text, "60 of the budget of 100")) << text;
  error_of(MK_OUT_OF_MEMORY, [&] { device->buffer_create(std::numeric_limits<uint64_t>::max()); });
  mk_buffer* second = device->buffer_create(40);
  EXPECT_EQ(device->allocated_bytes(), 100U);
  device->buffer_destroy(first);
  device->buffer_destroy(nullptr);
  EXPECT_EQ(device->allocated_bytes(), 40U);
  EXPECT_EQ(device->peak_bytes(), 100U);
  device->buffer_destroy(second);
  EXPECT_EQ(backend.buffers, 0);
  error_of(MK_INVALID_ARGUMENT, [&] { device->buffer_create(0); });
}

TEST(DeviceCopies, ReachTheirDestination) {
  FakeBackend backend;
  const auto device = Device::open(backend.listed(), {}, kBudget, nullptr);
  mk_buffer* a = device->buffer_create(16);
  mk_buffer* b = device->buffer_create(16);
  const float in[4] = {1, 2, 3, 4};
  device->write(a, 0, in, sizeof(in));
  device->copy(a, 4, b, 0, 8);
  float out[2] = {};
  device->read(b, 0, out, sizeof(out));
  EXPECT_EQ(out[0], 2);
  EXPECT_EQ(out[1], 3);
}

TEST(DeviceCopies, OutsideABufferAreRefused) {
  FakeBackend backend;
  const auto device = Device::open(backend.listed(), {}, kBudget, nullptr);
  const auto other = Device::open(backend.listed(1), {}, kBudget, nullptr);
  mk_buffer* a = device->buffer_create(16);
  mk_buffer* b = device->buffer_create(8);
  mk_buffer* foreign = other->buffer_create(16);
  char memory[32] = {};
  constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();
  error_of(MK_INVALID_ARGUMENT, [&] { device->write(a, 8, memory, 9); });
  error_of(MK_INVALID_ARGUMENT, [&] { device->write(a, kHuge, memory, 2); });
  error_of(MK_INVALID_ARGUMENT, [&] { device->read(a, 2, memory, kHuge); });
  error_of(MK_INVALID_ARGUMENT, [&] { device->copy(a, 0, b, 0, 9); });
  error_of(MK_INVALID_ARGUMENT, [&] { device->copy(b, 0, a, 8, 9); });
  error_of(MK_INVALID_ARGUMENT, [&] { device->copy(a, 0, a, 4, 8); });  // the ranges overlap
  error_of(MK_INVALID_ARGUMENT, [&] { device->read(foreign, 0, memory, 1); });
  error_of(MK_INVALID_ARGUMENT, [&] { device->read(nullptr, 0, memory, 1); });
  EXPECT_EQ(backend.copied_bytes, 0U);
}

TEST(DeviceSubmit, RunsSupportedOpsOnTheDevice) {
  FakeBackend backend;
  const auto device = Device::open(backend.listed(), {}, kBudget, nullptr);
  mk_buffer* a = device->buffer_create(16);
  device->submit(ops::fill(vector(a, 4), 7));
  EXPECT_EQ(contents(a), (std::vector<float>{7, 7, 7, 7}));
  EXPECT_TRUE(device->fallbacks().empty());
}

TEST(DeviceSubmit, RefusesBadDescriptorsBeforeTheBackendSeesThem) {
  FakeBackend backend;
  const auto device = Device::open(backend.listed(), {}, kBudget, nullptr);
  mk_buffer* a = device->buffer_create(16);
  const auto submit = [&](const mk_op& op) { return [&device, op] { device->submit(op); }; };
  error_of(MK_INVALID_ARGUMENT, submit(ops::gemm(matrix(a, 2, 2), false, matrix(a, 1, 2), false, matrix(a, 2, 2))));
  EXPECT_TRUE(contains(error_of(MK_INVALID_ARGUMENT, submit(ops::fill(vector(a, 5), 1))), "byte 20"));
  error_of(MK_INVALID_ARGUMENT, submit(ops::fill(vector(a, 1, 4), 1)));
  error_of(MK_INVALID_ARGUMENT, submit(ops::fill(matrix(a, 2, 1, 4, 3), 1)));
  error_of(MK_INVALID_ARGUMENT, submit(ops::fill(vector(nullptr, 1), 1)));
  error_of(MK_UNSUPPORTED, submit(sdk::make_op(MK_OP_COUNT_, {}, {})));
  EXPECT_TRUE(backend.submitted.empty());
  device->submit(ops::fill(matrix(a, 2, 1, 3), 1));  // the view ends where the buffer ends
  device->submit(ops::fill(vector(nullptr, 0), 1));  // no memory to access
  EXPECT_EQ(backend.submitted.size(), 2U);
}

// Puts a device that lacks ops on top of a host device that has all ops.
class Fallback : public testing::TestWithParam<bool> {
 protected:
  Fallback() : host_backend_("host") {
    host_backend_.has_host_pointer = GetParam();
    backend_.unsupported = {MK_OP_FILL, MK_OP_GEMM, MK_OP_KERNEL_MAP};
    host_ = Device::open(host_backend_.listed(), {}, kBudget, nullptr);
    device_ = Device::open(backend_.listed(), {}, kBudget, host_);
  }
  mk_buffer* buffer(const std::vector<float>& values) {
    mk_buffer* b = device_->buffer_create(values.size() * sizeof(float));
    contents(b) = values;
    return b;
  }

  FakeBackend backend_, host_backend_;
  std::shared_ptr<Device> host_;
  std::unique_ptr<Device> device_;
};

TEST_P(Fallback, RunsOnTheHostAndIsCounted) {
  mk_buffer* a = buffer({1, 2, 3, 4});
  mk_buffer* out = buffer({NAN, NAN, NAN, NAN});
  device_->submit(ops::gemm(matrix(a, 2, 2), false, matrix(a, 2, 2), true, matrix(out, 2, 2)));
  EXPECT_EQ(contents(out), (std::vector<float>{5, 11, 11, 25}));
  device_->submit(ops::fill(vector(out, 1), 0));
  device_->submit(ops::fill(vector(out, 1, 1), 0));
  EXPECT_EQ(device_->fallbacks(), (std::map<std::string, uint64_t>{{"gemm", 1}, {"fill", 2}}));
  EXPECT_TRUE(backend_.submitted.empty());
  EXPECT_EQ(host_backend_.submitted.size(), 3U);
}

TEST_P(Fallback, CopiesAnOutputThatIsAlsoRead) {
  mk_buffer* a = buffer({1, 0, 0, 1});
  mk_buffer* out = buffer({10, 20, 30, 40});
  device_->submit(ops::gemm(matrix(a, 2, 2), false, matrix(a, 2, 2), false, matrix(out, 2, 2), 1.0F, 2.0F));
  EXPECT_EQ(contents(out), (std::vector<float>{21, 40, 60, 81}));
}

TEST_P(Fallback, WorksInPlaceAndKeepsGaps) {
  mk_buffer* a = buffer({9, 1, 2, -5, 3, 4, 9});
  const mk_tensor view = matrix(a, 2, 2, 3, 1);
  device_->submit(ops::kernel_map(view, {}, {}, view, {ops::KernelKind::linear, 2, 0, 1}));
  EXPECT_EQ(contents(a), (std::vector<float>{9, 2, 4, -5, 6, 8, 9}));
}

TEST_P(Fallback, InterleavedPanelsOfOneBufferStayOneBuffer) {
  mk_buffer* a = buffer({1, 2, 0, 0, 3, 4, 0, 0});  // the input is columns 0 and 1, and the output columns 2 and 3
  device_->submit(
      ops::kernel_map(matrix(a, 2, 2, 4), {}, {}, matrix(a, 2, 2, 4, 2), {ops::KernelKind::linear, 3, 0, 1}));
  EXPECT_EQ(contents(a), (std::vector<float>{1, 2, 3, 6, 3, 4, 9, 12}));
}

TEST_P(Fallback, CopiesOnlyTheMemoryThatIsUsed) {
  std::vector<float> many(10000, 1);
  mk_buffer* a = buffer(many);
  device_->submit(ops::kernel_map(vector(a, 4), {}, {}, vector(a, 4, 9000), {ops::KernelKind::linear, 5, 0, 1}));
  EXPECT_EQ(contents(a)[9000], 5);
  EXPECT_EQ(contents(a)[9004], 1);
  EXPECT_EQ(backend_.copied_bytes, 3 * 4 * sizeof(float));  // two inputs and one output
}

TEST_P(Fallback, EmptyOperandsNeedNoCopies) {
  device_->submit(ops::fill(vector(nullptr, 0), 1));
  EXPECT_EQ(host_backend_.submitted.size(), 1U);
  EXPECT_EQ(backend_.copied_bytes, 0U);
}

TEST_P(Fallback, LeavesNothingOnTheHost) {
  mk_buffer* a = buffer({1, 2});
  device_->submit(ops::fill(vector(a, 2), 1));
  EXPECT_EQ(host_backend_.buffers, 0);
  EXPECT_EQ(host_->allocated_bytes(), 0U);
}

TEST_P(Fallback, IsAnErrorIfTheHostCannotRunTheOpEither) {
  host_backend_.unsupported = {MK_OP_FILL};
  mk_buffer* a = buffer({1, 2});
  const std::string text = error_of(MK_UNSUPPORTED, [&] { device_->submit(ops::fill(vector(a, 2), 1)); });
  EXPECT_TRUE(contains(text, "fake:0") && contains(text, "host:0") && contains(text, "fill")) << text;
  EXPECT_TRUE(device_->fallbacks().empty());
}

TEST_P(Fallback, RespectsTheHostsBudget) {
  host_ = Device::open(host_backend_.listed(), {}, 7, nullptr);
  device_ = Device::open(backend_.listed(), {}, kBudget, host_);
  mk_buffer* a = buffer({1, 2});
  error_of(MK_OUT_OF_MEMORY, [&] { device_->submit(ops::fill(vector(a, 2), 1)); });
}

TEST_P(Fallback, DevicesOfDifferentThreadsTakeTurns) {
  FakeBackend other_backend;
  other_backend.unsupported = backend_.unsupported;
  const auto other = Device::open(other_backend.listed(), {}, kBudget, host_);
  const auto work = [](Device* device) {
    mk_buffer* a = device->buffer_create(400);
    for (int i = 0; i < 200; ++i) device->submit(ops::fill(vector(a, 100), static_cast<float>(i)));
    EXPECT_EQ(contents(a), std::vector<float>(100, 199));
  };
  std::thread thread(work, other.get());
  work(device_.get());
  thread.join();
  EXPECT_EQ(host_backend_.submitted.size(), 400U);
}

INSTANTIATE_TEST_SUITE_P(Host, Fallback, testing::Values(false, true),
                         [](const auto& p) { return p.param ? "WithPointers" : "WithCopies"; });

TEST(DeviceSubmit, AnUnsupportedOpWithoutAHostIsAnError) {
  FakeBackend backend;
  backend.unsupported = {MK_OP_FILL};
  const auto device = Device::open(backend.listed(), {}, kBudget, nullptr);
  mk_buffer* a = device->buffer_create(4);
  EXPECT_TRUE(contains(error_of(MK_UNSUPPORTED, [&] { device->submit(ops::fill(vector(a, 1), 1)); }), "fill"));
}

TEST(DeviceServices, ShowTheDeviceToAModel) {
  FakeBackend backend;
  backend.has_host_pointer = true;
  const auto device = Device::open(backend.listed(), {}, 64, nullptr);
  const sdk::Device view(device->services());
  EXPECT_STREQ(view.info().name, "Fake One");
  EXPECT_EQ(view.budget_bytes(), 64U);
  {
    const sdk::Buffer buffer = view.upload(std::vector<float>{1, 2, 3});
    view.submit(ops::fill(vector(buffer.get(), 1, 1), 9));
    view.finish();
    EXPECT_EQ(view.host_pointer<float>(buffer)[1], 9);
    EXPECT_EQ(device->allocated_bytes(), 12U);
  }
  EXPECT_EQ(device->allocated_bytes(), 0U);
  EXPECT_EQ(device->services()->host_pointer(device->services()->self, nullptr), nullptr);
}

TEST(DeviceServices, GiveLockedMemoryWherePossible) {
  FakeBackend backend;
  for (const uint64_t may_lock : {0, 40, 1 << 20}) {
    backend.may_lock = may_lock;
    const auto device = Device::open(backend.listed(), {}, 64, nullptr);
    const int expected = may_lock == 0 ? 0 : may_lock == 40 ? 1 : 2;
    {
      sdk::HostFloats small, large;
      small.room(device->services(), 10)[9] = 1;
      large.room(device->services(), 100)[99] = 2;
      EXPECT_EQ(backend.locked, expected);
      float* const before = small.data();
      EXPECT_EQ(small.room(device->services(), 4).data(), before) << "there is room";
      EXPECT_EQ(small.room(device->services(), 10)[9], 1);
    }
    EXPECT_EQ(backend.locked, 0);
    void* memory = nullptr;
    sdk::call(device->services()->host_memory_create, device->services()->self, uint64_t{8}, &memory);
    mk_error error{};
    EXPECT_EQ(device->services()->host_memory_create(device->services()->self, 0, &memory, &error),
              MK_INVALID_ARGUMENT);
  }
  EXPECT_EQ(backend.locked, 0) << "a device gives back what a model forgot";
}

TEST(DeviceServices, TurnEveryExceptionIntoAStatus) {
  FakeBackend backend;
  const auto device = Device::open(backend.listed(), {}, 64, nullptr);
  const mk_device_services* s = device->services();
  mk_error error{};
  mk_buffer* const untouched = reinterpret_cast<mk_buffer*>(&error);
  mk_buffer* buffer = untouched;
  EXPECT_EQ(s->buffer_create(s->self, 65, &buffer, &error), MK_OUT_OF_MEMORY);
  EXPECT_EQ(buffer, untouched);
  EXPECT_TRUE(contains(error.text, "budget"));
  char memory[4];
  EXPECT_EQ(s->read(s->self, nullptr, 0, memory, 4, &error), MK_INVALID_ARGUMENT);
  EXPECT_EQ(s->write(s->self, nullptr, 0, memory, 4, nullptr), MK_INVALID_ARGUMENT);
  EXPECT_EQ(s->copy(s->self, nullptr, 0, nullptr, 0, 4, &error), MK_INVALID_ARGUMENT);
  const mk_op op = sdk::make_op(MK_OP_GEMM, {}, {});
  EXPECT_EQ(s->submit(s->self, &op, &error), MK_INVALID_ARGUMENT);
}

TEST(DeviceServices, KernelSourceComesWithTheDeviceAndItsQueue) {
  FakeBackend backend;
  mk_device* device = nullptr;
  mk_queue* queue = nullptr;
  {
    const auto without = Device::open(backend.listed(), {}, 64, nullptr);
    EXPECT_EQ(without->services()->kernel_source(without->services()->self, &device, &queue), nullptr);
  }
  backend.has_kernel_source = true;
  {
    const auto with = Device::open(backend.listed(), {}, 64, nullptr);
    EXPECT_EQ(with->services()->kernel_source(with->services()->self, &device, &queue), &backend.kernel_source);
    EXPECT_NE(device, nullptr);
    EXPECT_NE(queue, nullptr);
  }
  backend.kernel_source.struct_size = 8;  // shorter than the table that this program calls
  const auto old = Device::open(backend.listed(), {}, 64, nullptr);
  EXPECT_EQ(old->services()->kernel_source(old->services()->self, &device, &queue), nullptr);
}

}  // namespace
}  // namespace mokume::device
