#include "bandwidth.hpp"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <thread>
#include <vector>

namespace mokume::bench {
namespace {

constexpr size_t kLanes = 64;  // number of independent sums, so that additions need not wait

size_t cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? static_cast<size_t>(CPU_COUNT(&set)) : 1;
}

// Allocates memory in huge pages if the system has them, like the backends' large buffers.
class Floats {
 public:
  explicit Floats(size_t n) : bytes_(n * sizeof(float)) {
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    madvise(memory_, bytes_, MADV_HUGEPAGE);
  }
  ~Floats() { munmap(memory_, bytes_); }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  float* data() const { return static_cast<float*>(memory_); }

 private:
  size_t bytes_;
  void* memory_;
};

// Runs body(first, last) on an equal part of [0, n) on every core. Returns the seconds until all cores are done.
double on_all_cores(size_t n, const std::function<void(size_t, size_t)>& body) {
  const size_t parts = cores();
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (size_t p = 0; p < parts; ++p) threads.emplace_back([&, p] { body(n / parts * p, n / parts * (p + 1)); });
  for (std::thread& t : threads) t.join();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Compiles a copy for each instruction set. Calls go through a resolver and are never inlined.
#define MOKUME_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))

MOKUME_CLONES float add_up(const float* x, size_t n) {
  float sums[kLanes] = {};
  for (size_t i = 0; i + kLanes <= n; i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += x[i + lane];
  float sum = 0;
  for (const float s : sums) sum += s;
  return sum;
}

MOKUME_CLONES void update(float* __restrict weight, float* __restrict state, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    state[i] = 0.5F * state[i];
    weight[i] -= 0.5F * state[i];
  }
}

}  // namespace

struct BandwidthProbe::Arrays {
  explicit Arrays(size_t count) : n(count), weight(count), state(count) {}
  size_t n;
  Floats weight, state;
  std::atomic<float> kept{0};  // prevents the compiler from removing the sums
};

BandwidthProbe::BandwidthProbe(double bytes) : arrays_(std::make_unique<Arrays>(static_cast<size_t>(bytes / 8))) {
  // The first pass touches each page on the core that will use it.
  on_all_cores(arrays_->n, [this](size_t a, size_t b) {
    std::fill(arrays_->weight.data() + a, arrays_->weight.data() + b, 1.0F);
    std::fill(arrays_->state.data() + a, arrays_->state.data() + b, 1.0F);
  });
}

BandwidthProbe::~BandwidthProbe() = default;

Bandwidth BandwidthProbe::pass() {
  Arrays& all = *arrays_;
  const double read = on_all_cores(all.n, [&](size_t a, size_t b) { all.kept = add_up(all.weight.data() + a, b - a); });
  const double both =
      on_all_cores(all.n, [&](size_t a, size_t b) { update(all.weight.data() + a, all.state.data() + a, b - a); });
  const auto count = static_cast<double>(all.n);
  return {4 * count / read, 16 * count / both};
}

}  // namespace mokume::bench
