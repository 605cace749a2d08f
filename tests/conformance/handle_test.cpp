#include <sched.h>

#include <cstring>
#include <map>
#include <numeric>
#include <span>

#include "problem.hpp"
#include "sdk/plugin.hpp"
#include "skips.hpp"
#include "suite.hpp"

namespace mokume::conformance {
namespace {

template <size_t N>
bool terminated(const char (&text)[N]) {
  return strnlen(text, N) < N;
}

void info_is_sane(DeviceUnderTest& dut) {
  const mk_device_info& info = dut.info();
  EXPECT_EQ(info.struct_size, sizeof(mk_device_info));
  EXPECT_TRUE(info.kind == MK_DEVICE_CPU || info.kind == MK_DEVICE_GPU || info.kind == MK_DEVICE_OTHER) << info.kind;
  EXPECT_GT(info.memory_bytes, 0U);
  EXPECT_GT(info.max_buffer_bytes, 0U);
  EXPECT_GT(info.compute_units, 0U);
  EXPECT_TRUE(terminated(info.name) && terminated(info.platform) && terminated(info.vendor) &&
              terminated(info.version) && terminated(info.driver) && terminated(info.physical_id) &&
              terminated(info.isa));
  EXPECT_STRNE(info.name, "");
  EXPECT_STRNE(info.platform, "");
  EXPECT_STRNE(info.version, "");
}

// Unless limited, drivers start a thread for every core of the machine, so the threads of a rank that shares the
// machine would compete for the cores of the other ranks.
void a_cpu_uses_the_cores_of_this_process(DeviceUnderTest& dut) {
  if (dut.info().kind != MK_DEVICE_CPU || dut.has(MK_DEVICE_INSTRUMENTED) || dut.has(MK_DEVICE_SOFTWARE)) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  const mk_backend& t = dut.table();
  mk_device* device = nullptr;
  sdk::call(t.open, t.self, dut.index(), static_cast<const mk_choice*>(nullptr), 0U, &device);
  t.close(device);
  std::vector<mk_device_info> infos(dut.index() + 1);
  uint32_t count = 0;
  sdk::call(t.enumerate, t.self, infos.data(), static_cast<uint32_t>(infos.size()), &count);
  EXPECT_LE(infos[dut.index()].compute_units, static_cast<uint32_t>(CPU_COUNT(&set)));
}

void enumerate_is_stable(DeviceUnderTest& dut) {
  const mk_backend& t = dut.table();
  std::vector<mk_device_info> infos(dut.index() + 2);
  uint32_t count = 0;
  sdk::call(t.enumerate, t.self, infos.data(), static_cast<uint32_t>(infos.size()), &count);
  ASSERT_GT(count, dut.index());
  // A driver may report the memory that is free at present.
  mk_device_info now = infos[dut.index()];
  now.memory_bytes = dut.info().memory_bytes;
  now.max_buffer_bytes = dut.info().max_buffer_bytes;
  EXPECT_EQ(std::memcmp(&now, &dut.info(), sizeof(mk_device_info)), 0);
  mk_device* device = nullptr;
  mk_error error{};
  EXPECT_NE(t.open(t.self, count, nullptr, 0, &device, &error), MK_OK) << "a device beyond the last was opened";
  EXPECT_EQ(device, nullptr);
  EXPECT_STRNE(error.text, "");
}

std::map<std::string, std::string> choices_of(const mk_backend& t, mk_device* device) {
  uint32_t count = 0;
  sdk::call(t.choices, device, static_cast<mk_choice*>(nullptr), 0U, &count);
  std::vector<mk_choice> list(count);
  sdk::call(t.choices, device, list.data(), count, &count);
  std::map<std::string, std::string> result;
  for (const mk_choice& one : list) {
    EXPECT_TRUE(terminated(one.key) && terminated(one.value));
    EXPECT_STRNE(one.key, "");
    EXPECT_TRUE(result.emplace(one.key, one.value).second) << one.key << " is there twice";
  }
  return result;
}

void recorded_choices_are_kept(DeviceUnderTest& dut) {
  if (dut.has(MK_DEVICE_SOFTWARE)) GTEST_SKIP() << kSlowReopen;
  const mk_backend& t = dut.table();
  const auto first = choices_of(t, dut.device());
  std::vector<mk_choice> given(1);
  sdk::set_text(given[0].key, "another.backends.key");
  for (const auto& [key, value] : first) {
    mk_choice one{};
    sdk::set_text(one.key, key);
    sdk::set_text(one.value, value);
    given.push_back(one);
  }
  mk_device* again = nullptr;
  sdk::call(t.open, t.self, dut.index(), static_cast<const mk_choice*>(given.data()),
            static_cast<uint32_t>(given.size()), &again);
  const auto second = choices_of(t, again);
  t.close(again);
  EXPECT_EQ(first, second);
}

// A device remembers the winner of a race only for the products that it was measured with.
void a_given_product_takes_no_convolution_of_another(DeviceUnderTest& dut) {
  if (dut.has(MK_DEVICE_SOFTWARE)) GTEST_SKIP() << kSlowReopen;
  const mk_backend& t = dut.table();
  const auto opened = [&](std::span<const mk_choice> given) {
    mk_device* device = nullptr;
    sdk::call(t.open, t.self, dut.index(), given.data(), static_cast<uint32_t>(given.size()), &device);
    auto choices = choices_of(t, device);
    t.close(device);
    return choices;
  };
  const auto measured = opened({});
  if (!measured.contains("conv") || measured.at("gemm") != "vector") return;
  mk_choice tile{};
  sdk::set_text(tile.key, "gemm");
  sdk::set_text(tile.value, "tile");
  EXPECT_EQ(opened({&tile, 1}).at("conv"), "patches");
  EXPECT_EQ(opened({}), measured);
}

void null_is_nothing(DeviceUnderTest& dut) {
  const mk_backend& t = dut.table();
  t.buffer_destroy(dut.device(), nullptr);
  t.queue_destroy(nullptr);
  t.event_destroy(nullptr);
  EXPECT_EQ(t.extension(t.self, "no_such_extension_v1"), nullptr);
  mk_buffer* buffer = nullptr;
  mk_error error{};
  EXPECT_EQ(t.buffer_create(dut.device(), 0, &buffer, &error), MK_INVALID_ARGUMENT);
  EXPECT_EQ(buffer, nullptr);
}

void impossible_buffer_is_out_of_memory(DeviceUnderTest& dut) {
  if (dut.has(MK_DEVICE_TEMPLATE)) GTEST_SKIP() << kSkips[0].reason;
  mk_buffer* buffer = nullptr;
  mk_error error{};
  EXPECT_EQ(dut.table().buffer_create(dut.device(), uint64_t{1} << 60, &buffer, &error), MK_OUT_OF_MEMORY);
  EXPECT_EQ(buffer, nullptr);
  EXPECT_STRNE(error.text, "");
}

mk_copy transfer(mk_copy_kind kind, mk_buffer* from, uint64_t from_offset, mk_buffer* to, uint64_t to_offset,
                 void* host, uint64_t bytes) {
  return {kind, 0, from, to, host, from_offset, to_offset, bytes};
}

Words counting(size_t n, uint32_t from) {
  Words words(n);
  std::iota(words.begin(), words.end(), from);
  return words;
}

// Copies count bytes, not words, so their offsets and sizes need no alignment.
void copies_hit_their_range(DeviceUnderTest& dut) {
  if (const char* reason = skip_reason(dut, Size::tiny)) GTEST_SKIP() << reason;
  const Words initial = counting(100, 0x01020304U), source = counting(100, 0xA0B0C0D0U);
  Buffer a(dut, initial), b(dut, initial);
  std::vector<unsigned char> expected_a(400), expected_b(400);
  std::memcpy(expected_a.data(), initial.data(), 400);
  expected_b = expected_a;

  auto* host = reinterpret_cast<unsigned char*>(const_cast<uint32_t*>(source.data()));
  must(copy(dut, transfer(MK_COPY_WRITE, nullptr, 0, a.handle(), 37, host + 5, 201)));
  std::memcpy(expected_a.data() + 37, host + 5, 201);
  must(copy(dut, transfer(MK_COPY_DEVICE, a.handle(), 36, b.handle(), 120, nullptr, 180)));
  std::memcpy(expected_b.data() + 120, expected_a.data() + 36, 180);
  must(copy(dut, transfer(MK_COPY_DEVICE, b.handle(), 120, b.handle(), 20, nullptr, 100)));
  std::memcpy(expected_b.data() + 20, expected_b.data() + 120, 100);
  std::vector<unsigned char> part(60, 0xEE);
  must(copy(dut, transfer(MK_COPY_READ, b.handle(), 111, nullptr, 0, part.data() + 10, 41)));
  finish(dut);

  EXPECT_EQ(std::memcmp(a.read().data(), expected_a.data(), 400), 0);
  EXPECT_EQ(std::memcmp(b.read().data(), expected_b.data(), 400), 0);
  std::vector<unsigned char> expected_part(60, 0xEE);
  std::memcpy(expected_part.data() + 10, expected_b.data() + 111, 41);
  EXPECT_EQ(part, expected_part);
}

void events_tell_times(DeviceUnderTest& dut) {
  const mk_backend& t = dut.table();
  Buffer a(dut, uint64_t{4096});
  Words host(1024);
  const mk_copy read = transfer(MK_COPY_READ, a.handle(), 0, nullptr, 0, host.data(), 4096);
  const mk_op fill = ops::fill(sdk::vector(a.handle(), 1024), 1);
  mk_event* events[2] = {};
  sdk::call(t.submit, dut.queue(), &fill, &events[0]);
  sdk::call(t.copy, dut.queue(), &read, &events[1]);
  uint64_t last_end = 0;
  for (mk_event* event : events) {
    ASSERT_NE(event, nullptr);
    sdk::call(t.event_wait, event);
    uint64_t times[2] = {1, 0};
    sdk::call(t.event_time_ns, event, static_cast<uint64_t*>(times));
    EXPECT_LE(times[0], times[1]);
    EXPECT_LE(last_end, times[1]) << "a later command of an in-order queue ended earlier";
    last_end = times[1];
    t.event_destroy(event);
  }
  finish(dut);
}

void queues_are_independent(DeviceUnderTest& dut) {
  const mk_backend& t = dut.table();
  mk_queue* second = nullptr;
  sdk::call(t.queue_create, dut.device(), 0U, &second);
  Words host(16);
  {
    Buffer a(dut, counting(16, 7));
    const mk_copy read = transfer(MK_COPY_READ, a.handle(), 0, nullptr, 0, host.data(), 64);
    mk_event* event = nullptr;
    sdk::call(t.copy, second, &read, &event);
    sdk::call(t.event_wait, event);
    sdk::call(t.finish, second);
    t.event_destroy(event);
  }
  t.queue_destroy(second);
  EXPECT_EQ(host, dut.has(MK_DEVICE_TEMPLATE) ? Words(16, 0) : counting(16, 7));
}

void locked_memory_is_memory(DeviceUnderTest& dut) {
  const mk_backend& t = dut.table();
  const auto* locked = static_cast<const mk_host_memory*>(t.extension(t.self, "host_memory_v1"));
  if (locked == nullptr) return;
  constexpr size_t count = 5000, bytes = 4 * count;
  mk_host_block* block = nullptr;
  void* memory = nullptr;
  mk_error error{};
  EXPECT_NE(locked->create(dut.queue(), 0, &block, &memory, &error), MK_OK);
  sdk::call(locked->create, dut.queue(), uint64_t{bytes}, &block, &memory);
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignof(std::max_align_t), 0U);
  const Words given = counting(count, 3);
  std::memcpy(memory, given.data(), bytes);
  Buffer a(dut, uint64_t{bytes});
  const mk_copy write = transfer(MK_COPY_WRITE, nullptr, 0, a.handle(), 0, memory, bytes);
  sdk::call(t.copy, dut.queue(), &write, static_cast<mk_event**>(nullptr));
  finish(dut);
  std::memset(memory, 0, bytes);
  const mk_copy read = transfer(MK_COPY_READ, a.handle(), 4, nullptr, 0, memory, bytes - 4);
  sdk::call(t.copy, dut.queue(), &read, static_cast<mk_event**>(nullptr));
  finish(dut);
  EXPECT_EQ(std::memcmp(memory, given.data() + 1, bytes - 4), 0);
  locked->destroy(block);
}

}  // namespace

void add_handle_tests(Machine&, DeviceUnderTest& dut) {
  const auto add = [&dut](const char* name, void (*body)(DeviceUnderTest&)) {
    add_test(dut.label(), std::string("handle.") + name, [&dut, body] { body(dut); });
  };
  add("info_is_sane", info_is_sane);
  add("a_cpu_uses_the_cores_of_this_process", a_cpu_uses_the_cores_of_this_process);
  add("enumerate_is_stable", enumerate_is_stable);
  add("recorded_choices_are_kept", recorded_choices_are_kept);
  add("a_given_product_takes_no_convolution_of_another", a_given_product_takes_no_convolution_of_another);
  add("null_is_nothing", null_is_nothing);
  add("impossible_buffer_is_out_of_memory", impossible_buffer_is_out_of_memory);
  add("copies_hit_their_range", copies_hit_their_range);
  add("events_tell_times", events_tell_times);
  add("queues_are_independent", queues_are_independent);
  add("locked_memory_is_memory", locked_memory_is_memory);
}

}  // namespace mokume::conformance
