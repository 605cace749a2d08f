// Tests guarantees that only the host backend makes.
#include <sched.h>

#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>

#include "problem.hpp"
#include "sdk/philox.hpp"
#include "sdk/plugin.hpp"
#include "suite.hpp"

namespace mokume::conformance {
namespace {

DeviceUnderTest& fast(Machine& machine) {
  DeviceUnderTest* device = machine.find("host", 0);
  if (device == nullptr) throw Error(MK_INTERNAL, "the host backend is not built");
  return *device;
}

using Choices = std::vector<std::pair<const char*, const char*>>;

// Holds a second handle of the fast device, opened with choices.
class Opened {
 public:
  Opened(DeviceUnderTest& dut, const char* key, const char* value) : Opened(dut, Choices{{key, value}}) {}
  Opened(DeviceUnderTest& dut, const Choices& choices) : table_(dut.table()) {
    std::vector<mk_choice> all;
    for (const auto& [key, value] : choices) {
      sdk::set_text(all.emplace_back().key, key);
      sdk::set_text(all.back().value, value);
    }
    status_ = table_.open(table_.self, dut.index(), all.data(), static_cast<uint32_t>(all.size()), &device_, &error_);
  }
  ~Opened() {
    if (device_ != nullptr) table_.close(device_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  int32_t status() const { return status_; }
  const char* message() const { return error_.text; }

  std::vector<Words> run(const Problem& problem) const {
    mk_queue* queue = nullptr;
    sdk::call(table_.queue_create, device_, 0U, &queue);
    std::vector<mk_buffer*> buffers;
    for (const Words& words : problem.memory) {
      mk_buffer* buffer = nullptr;
      sdk::call(table_.buffer_create, device_, uint64_t{words.size()} * 4, &buffer);
      transfer(queue, MK_COPY_WRITE, buffer, const_cast<uint32_t*>(words.data()), words.size());
      buffers.push_back(buffer);
    }
    const mk_op op = problem.bound(buffers);
    sdk::call(table_.submit, queue, &op, static_cast<mk_event**>(nullptr));
    std::vector<Words> result = problem.memory;
    for (size_t i = 0; i < buffers.size(); ++i) {
      transfer(queue, MK_COPY_READ, buffers[i], result[i].data(), result[i].size());
      table_.buffer_destroy(device_, buffers[i]);
    }
    table_.queue_destroy(queue);
    return result;
  }

 private:
  void transfer(mk_queue* queue, mk_copy_kind kind, mk_buffer* buffer, uint32_t* words, size_t n) const {
    const mk_copy what{kind, 0, buffer, buffer, words, 0, 0, uint64_t{n} * 4};
    sdk::call(table_.copy, queue, &what, static_cast<mk_event**>(nullptr));
  }

  const mk_backend& table_;
  mk_device* device_ = nullptr;
  int32_t status_ = MK_OK;
  mk_error error_{};
};

#if defined(__aarch64__)
const char* const kSets[] = {"base", "neon"};
#else
const char* const kSets[] = {"base", "avx2", "avx512"};
#endif

// The backend opens all compiled instruction sets except those that this machine lacks, and explains each refusal.
void instruction_sets_are_honoured(Machine& machine) {
  DeviceUnderTest& dut = fast(machine);
  bool can = true;  // true from base up to the machine's own set
  for (const char* isa : kSets) {
    const Opened opened(dut, "host.isa", isa);
    EXPECT_EQ(opened.status(), can ? MK_OK : MK_DEVICE_ERROR) << isa;
    if (std::string(dut.info().isa) == isa) can = false;
  }
  EXPECT_FALSE(can) << "the device's instruction set is none of those known: " << dut.info().isa;
  const Opened opened(dut, "host.isa", "mmx");
  EXPECT_EQ(opened.status(), MK_DEVICE_ERROR);
  EXPECT_NE(std::string(opened.message()).find("mmx"), std::string::npos) << opened.message();
  const Opened gemm(dut, "host.gemm", "abacus");
  EXPECT_EQ(gemm.status(), MK_DEVICE_ERROR);
#if defined(__aarch64__)
  const Opened other_machine(dut, "host.gemm", "onednn-avx512");
  EXPECT_EQ(other_machine.status(), MK_DEVICE_ERROR);
#endif
}

// The smallest instruction set has no fused multiply-adds, so its results differ in the last bits.
void instruction_sets_give_the_same_bits(Machine& machine) {
  for (const OpCases& op : all_cases())
    for (const Case& one : op.cases) {
      if (one.size == Size::large) continue;
      const Problem problem = one.make();
      const std::vector<Words> want = run(fast(machine), problem);
      for (const char* isa : kSets) {
        const Opened opened(fast(machine), "host.isa", isa);
        if (opened.status() != MK_OK) continue;  // instruction_sets_are_honoured checks which sets must open
        const std::vector<Words> got = opened.run(problem);
        if (std::string_view(isa) == "base")
          expect_near_oracle(machine, op, problem, got);
        else
          EXPECT_TRUE(got == want) << isa << " " << one.name;
      }
    }
}

// In strict numerics, the smallest set emulates fused multiply-adds, which takes long, so it runs the tiny cases.
void strict_instruction_sets_give_the_same_bits(Machine& machine) {
  const Opened best(fast(machine), "numerics", "strict");
  ASSERT_EQ(best.status(), MK_OK) << best.message();
  for (const char* isa : kSets) {
    const Opened opened(fast(machine), {{"host.isa", isa}, {"numerics", "strict"}});
    if (opened.status() != MK_OK) continue;
    for (const OpCases& op : all_cases())
      for (const Case& one : op.cases) {
        if (one.size != Size::tiny && (one.size == Size::large || std::string_view(isa) == "base")) continue;
        const Problem problem = one.make();
        SCOPED_TRACE(std::string(isa) + " " + one.name);
        expect_same_values(problem, opened.run(problem), best.run(problem));
      }
  }
}

// The product alpha * a + out is one fused operation per element. The smallest set must round it once, also where the
// exact sum lies next to the middle of two floats or almost cancels.
void emulated_fused_operations_round_once(Machine& machine) {
  const Opened base(fast(machine), {{"host.isa", "base"}, {"numerics", "strict"}});
  ASSERT_EQ(base.status(), MK_OK) << base.message();
  constexpr int64_t kCount = 5000;
  const sdk::Random random(3, sdk::Purpose::search, 1);
  for (uint32_t round = 0; round < 24; ++round) {
    const int digits = static_cast<int>(round % 24);  // few digits make exact sums and middles likely
    const auto value = [&](int64_t i) {
      const uint32_t word = random.bits(round << 16 | static_cast<uint32_t>(i));
      const double size = 1 + std::ldexp(static_cast<double>(word % (1U << digits)), -digits);
      return static_cast<float>(std::ldexp(word >> 31 != 0 ? -size : size, static_cast<int>((word >> 24) % 64) - 32));
    };
    const float alpha = value(0);
    Problem p;
    const mk_tensor a = p.floats(kCount, 1, {}, [&](int64_t r, int64_t) { return value(2 * r + 1); });
    const mk_tensor one = p.floats(1, 1, {}, [](int64_t, int64_t) { return 1.0F; });
    const mk_tensor out = p.floats(
        kCount, 1, {}, [&](int64_t r, int64_t) { return r % 2 == 0 ? value(2 * r + 2) : -alpha * value(2 * r + 1); });
    p.op = ops::gemm(a, false, one, false, out, alpha, 1.0F);
    const std::vector<Words> got = base.run(p);
    for (int64_t r = 0; r < kCount; ++r)
      ASSERT_EQ(as_float(got[Problem::memory_of(out)][Problem::place(out, r, 0)]),
                std::fma(alpha, static_cast<float>(p.at(a, r, 0)), static_cast<float>(p.at(out, r, 0))))
          << "round " << round << ", row " << r;
  }
}

void expect_same_with_threads(Machine& machine, const Opened& opened, const Case& one) {
  const Problem problem = one.make();
  std::vector<Words> first;
  for (const uint32_t threads : {1U, 2U, 5U}) {
    machine.host().set_threads(threads);
    const std::vector<Words> got = opened.run(problem);
    if (first.empty()) first = got;
    EXPECT_TRUE(got == first) << threads << " threads, " << one.name;
  }
  machine.host().set_threads(2);
}

void threads_give_the_same_bits(Machine& machine) {
  for (const char* numerics : {"fast", "strict"}) {
    const Opened opened(fast(machine), "numerics", numerics);
    for (const OpCases& op : all_cases())
      for (const Case& one : op.cases)
        if (one.size == Size::normal) expect_same_with_threads(machine, opened, one);
  }
}

// Tests exp over the whole range of floats, as the RBF of a distance: with gamma 1 or -1, its argument is -+norm_x.
void exp_is_accurate(Machine& machine) {
  constexpr double kUlps = 1.2;  // 1 with fused multiply-adds (formulas_test.cpp)
  double worst = 0;
  for (const double gamma : {1.0, -1.0}) {
    const float end = gamma > 0 ? 87.3F : 88.7F;  // beyond this value the result is no longer a normal float
    constexpr int64_t kCount = 400000;
    Problem p;
    const mk_tensor dot = p.floats(1, kCount, {}, [](int64_t, int64_t) { return 0.0F; });
    const mk_tensor zero = p.floats(1, 1, {}, [](int64_t, int64_t) { return 0.0F; });
    const mk_tensor x = p.floats(
        1, kCount, {}, [=](int64_t, int64_t c) { return static_cast<float>(c) * (end / static_cast<float>(kCount)); });
    p.op = ops::kernel_map(dot, zero, x, p.unwritten(1, kCount), {ops::KernelKind::rbf, gamma, 0, 3});
    const std::vector<Words> got = run(fast(machine), p);
    const mk_tensor& out = p.op.outputs[0];
    for (int64_t c = 0; c < kCount; ++c) {
      const double want = std::exp(-gamma * p.at(x, 0, c));
      const double value = as_float(got[Problem::memory_of(out)][Problem::place(out, 0, c)]);
      const double ulp = std::ldexp(1.0, std::ilogb(want) - 23);
      worst = std::max(worst, std::fabs(value - want) / ulp);
    }
  }
  EXPECT_LE(worst, kUlps);
  ::testing::Test::RecordProperty("worst_ulp", std::to_string(worst));
}

void exp_ends_well(Machine& machine) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  const std::pair<float, float> pairs[] = {{0, 1},          {104, 0},           {1e30F, 0}, {infinity, 0},
                                           {-89, infinity}, {-1e30F, infinity}, {nan, nan}, {100, 0}};
  for (const auto& [argument, want] : pairs) {
    Problem p;
    const mk_tensor dot = p.floats(1, 1, {}, [](int64_t, int64_t) { return 0.0F; });
    const mk_tensor x = p.floats(1, 1, {}, [&, value = argument](int64_t, int64_t) { return std::fabs(value); });
    p.op = ops::kernel_map(dot, dot, x, p.unwritten(1, 1), {ops::KernelKind::rbf, argument < 0 ? -1.0 : 1.0, 0, 3});
    const std::vector<Words> got = run(fast(machine), p);
    const float value = as_float(got[Problem::memory_of(p.op.outputs[0])][0]);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(value)) << "a NaN became " << value;
    } else {
      EXPECT_EQ(value, want) << argument;
    }
  }
}

void indices_are_checked(Machine& machine) {
  for (DeviceUnderTest* dut : {&fast(machine), &machine.oracle()})
    for (const int32_t index : {-1, 3, INT32_MAX, INT32_MIN}) {
      Problem p;
      const mk_tensor x = p.random(3, 4), rows = p.indices({0, 2, index});
      p.op = ops::gather_rows(x, rows, p.unwritten(3, 4));
      std::vector<std::unique_ptr<Buffer>> buffers;
      std::vector<mk_buffer*> handles;
      for (const Words& words : p.memory) {
        buffers.push_back(std::make_unique<Buffer>(*dut, words));
        handles.push_back(buffers.back()->handle());
      }
      const Outcome outcome = submit(*dut, p.bound(handles));
      EXPECT_EQ(outcome.status, MK_INVALID_ARGUMENT) << index;
      EXPECT_NE(std::string(outcome.error.text).find(std::to_string(index)), std::string::npos) << outcome.error.text;
      EXPECT_TRUE(buffers[2]->read() == p.memory[2]) << "rows were written before the bad index was found";
    }
}

void indices_of_pixels_are_checked(Machine& machine) {
  for (DeviceUnderTest* dut : {&fast(machine), &machine.oracle()})
    for (const auto& [row, column, part] :
         {std::tuple<int32_t, int32_t, const char*>{3, 0, "index 1 is 3, but there are 3 rows"},
          {-1, 0, "index 1 is -1"},
          {0, 2, "index 1 is 2, but there are 2 columns"}}) {
      Buffer x(*dut, Words(6, 0)), out(*dut, Words(4, 7));
      Buffer rows(*dut, Words{0, static_cast<uint32_t>(row)}), columns(*dut, Words{0, static_cast<uint32_t>(column)});
      const Outcome outcome =
          submit(*dut, ops::gather_pixels(sdk::matrix(x.handle(), 1, 6), sdk::vector(rows.handle(), 2, 0, MK_I32),
                                          sdk::vector(columns.handle(), 2, 0, MK_I32), {3, 2, 1, 2, 2},
                                          sdk::matrix(out.handle(), 1, 4)));
      EXPECT_EQ(outcome.status, MK_INVALID_ARGUMENT) << part;
      EXPECT_NE(std::string(outcome.error.text).find(part), std::string::npos) << outcome.error.text;
    }
}

void labels_are_checked(Machine& machine) {
  for (DeviceUnderTest* dut : {&fast(machine), &machine.oracle()})
    for (const auto& [label, index, part] : {std::tuple<int32_t, int32_t, const char*>{4, 1, "label 4"},
                                             {-1, 1, "label -1"},
                                             {0, 3, "index 2 is 3"},
                                             {0, -1, "index 2 is -1"},
                                             {4, 0, ""}}) {
      Buffer logits(*dut, Words(12, 0)), labels(*dut, Words{3, static_cast<uint32_t>(label), 0});
      Buffer indices(*dut, Words{0, 2, static_cast<uint32_t>(index)}), rows(*dut, Words(6, 7));
      const Outcome outcome =
          submit(*dut, ops::softmax_loss(sdk::matrix(logits.handle(), 3, 4), sdk::vector(labels.handle(), 3, 0, MK_I32),
                                         sdk::vector(indices.handle(), 3, 0, MK_I32), 1,
                                         sdk::matrix(rows.handle(), 3, 2), {}));
      if (*part == 0) {
        EXPECT_EQ(outcome.status, MK_OK) << "a label that no row uses";
        continue;
      }
      EXPECT_EQ(outcome.status, MK_INVALID_ARGUMENT) << label << " " << index;
      EXPECT_NE(std::string(outcome.error.text).find(part), std::string::npos) << outcome.error.text;
      EXPECT_TRUE(rows.read() == Words(6, 7)) << "rows were written before the fault was found";
    }
}

void host_pointer_is_the_memory(Machine& machine) {
  DeviceUnderTest& dut = fast(machine);
  const auto* extension =
      static_cast<const mk_host_pointer*>(dut.table().extension(dut.table().self, "host_pointer_v1"));
  ASSERT_NE(extension, nullptr);
  Buffer buffer(dut, Words(33, 5));
  auto* words = static_cast<uint32_t*>(extension->pointer(buffer.handle()));
  ASSERT_NE(words, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(words) % 64, 0U);
  EXPECT_EQ(words[32], 5U);
  words[32] = 6;
  EXPECT_EQ(buffer.read()[32], 6U);
}

// The id names the cores that this process may use, so that backends for the same cores produce the same text.
void physical_id_names_the_cores(Machine& machine) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const auto id = [&] {
    mk_device_info info{};
    uint32_t count = 0;
    const mk_backend& t = fast(machine).table();
    sdk::call(t.enumerate, t.self, &info, 1U, &count);
    return std::string(info.physical_id);
  };
  const std::string all = id();
  EXPECT_EQ(all.rfind("cpu:", 0), 0U) << all;
  EXPECT_EQ(all, machine.oracle().info().physical_id);
  int core = 0;
  while (!CPU_ISSET(core, &before)) ++core;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(id(), "cpu:" + std::to_string(core));
  EXPECT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

void oracle_is_out_of_the_way(Machine& machine) {
  EXPECT_TRUE(machine.oracle().has(MK_DEVICE_INSTRUMENTED));
  EXPECT_FALSE(fast(machine).has(MK_DEVICE_INSTRUMENTED));
  EXPECT_STREQ(machine.oracle().info().name, "reference oracle");
}

}  // namespace

void add_host_tests(Machine& machine) {
  const auto add = [&machine](const char* name, void (*body)(Machine&)) {
    add_test("host", name, [&machine, body] { body(machine); });
  };
  add("instruction_sets_are_honoured", instruction_sets_are_honoured);
  add("instruction_sets_give_the_same_bits", instruction_sets_give_the_same_bits);
  add("strict_instruction_sets_give_the_same_bits", strict_instruction_sets_give_the_same_bits);
  add("emulated_fused_operations_round_once", emulated_fused_operations_round_once);
  add("threads_give_the_same_bits", threads_give_the_same_bits);
  add("exp_is_accurate", exp_is_accurate);
  add("exp_ends_well", exp_ends_well);
  add("indices_are_checked", indices_are_checked);
  add("labels_are_checked", labels_are_checked);
  add("indices_of_pixels_are_checked", indices_of_pixels_are_checked);
  add("host_pointer_is_the_memory", host_pointer_is_the_memory);
  add("physical_id_names_the_cores", physical_id_names_the_cores);
  add("oracle_is_out_of_the_way", oracle_is_out_of_the_way);
}

}  // namespace mokume::conformance
