// Compares GEMM of a backend, through the C boundary, with oneDNN's sgemm on the same cores.
//
//   gemm_bench [DEVICE] [ROUNDS] [PLUGIN] [NUMERICS]     defaults: Portable (PoCL), 9, the opencl.so of this build,
//   fast
//
// The host backend (PLUGIN host.so, DEVICE empty) multiplies on one thread here, so pin the program to one core.
//
// The two sides alternate, so that other load on the machine affects both equally. A row shows the medians over the
// rounds and the median of the rounds' ratios. Data is on the device before the clock starts, as in a run. If a
// difference exceeds the op's tolerance, the program exits with code 1.
#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "abi/backend.h"
#include "abi/plugin.h"
#include "sdk/ops.hpp"
#include "sdk/philox.hpp"
#include "sdk/plugin.hpp"
#include "support/paths.hpp"

namespace {

using namespace mokume;
using Clock = std::chrono::steady_clock;

struct Shape {
  int64_t m, n, k;
  bool transpose_b;
};

constexpr Shape kShapes[] = {{512, 512, 512, false},
                             {1024, 1024, 1024, false},
                             {2048, 2048, 2048, false},
                             {5000, 5000, 784, true},
                             // The rest are fully connected layers, forward and backward, at batch 1, 10 and 128.
                             {1, 128, 9216, false},
                             {10, 227, 5733, false},
                             {10, 128, 57600, false},
                             {10, 57600, 128, true},
                             {128, 128, 9216, false},
                             {128, 9216, 128, true},
                             {128, 100, 784, false},
                             {1000, 10, 128, false},
                             {5000, 1, 784, true}};

int cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

// oneDNN uses its own OpenMP library, and the compiler of this program may have none.
void set_openmp_threads(int count) {
  if (void* set = dlsym(RTLD_DEFAULT, "omp_set_num_threads")) reinterpret_cast<void (*)(int)>(set)(count);
}

mk_host quiet_host() {
  mk_host host{};
  host.struct_size = sizeof(host);
  host.abi_major = MK_ABI_MAJOR;
  host.log = [](void*, int32_t level, const char* source, const char* text) {
    if (level >= MK_LOG_WARNING) std::fprintf(stderr, "%s: %s\n", source, text);
  };
  host.parallel_for = [](void*, uint64_t count, void (*body)(void*, uint64_t), void* context) {
    for (uint64_t i = 0; i < count; ++i) body(context, i);
  };
  host.concurrency = [](void*) -> uint32_t { return 1; };
  host.allocate = [](void*, size_t bytes) { return std::aligned_alloc(64, (bytes + 63) / 64 * 64); };
  host.release = [](void*, void* memory) { std::free(memory); };
  host.cache_directory = [](void*) { return ""; };
  return host;
}

const mk_backend* load(const std::string& path, const mk_host* host) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) throw Error(MK_DEVICE_ERROR, dlerror());
  const auto query = reinterpret_cast<mk_plugin_query>(dlsym(library, MK_PLUGIN_QUERY_SYMBOL));
  const mk_plugin_header* header = query == nullptr ? nullptr : query(MK_ABI_MAJOR);
  if (header == nullptr || header->kind != MK_PLUGIN_BACKEND) throw Error(MK_DEVICE_ERROR, path + " is no backend");
  const void* table = nullptr;
  sdk::call(header->start, host, &table);
  return static_cast<const mk_backend*>(table);
}

mk_device* open(const mk_backend& backend, const std::string& wanted, const char* numerics) {
  mk_device_info infos[32];
  uint32_t count = 0;
  sdk::call(backend.enumerate, backend.self, infos, 32U, &count);
  for (uint32_t i = 0; i < std::min(count, 32U); ++i) {
    if ((std::string(infos[i].platform) + " " + infos[i].name).find(wanted) == std::string::npos) continue;
    mk_device* device = nullptr;
    mk_choice choice{};
    sdk::set_text(choice.key, "numerics");
    sdk::set_text(choice.value, numerics);
    sdk::call(backend.open, backend.self, i, &choice, 1U, &device);
    std::printf("%s: %s\n", infos[i].platform, infos[i].name);
    return device;
  }
  throw Error(MK_INVALID_ARGUMENT, "no device is called " + wanted);
}

std::vector<float> numbers(int64_t count, uint32_t id) {
  const sdk::Random random(1, sdk::Purpose::search, id);
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(random.bits(static_cast<uint32_t>(i)) >> 8) * 0x1p-23F - 1.0F;
  return values;
}

class Side {
 public:
  Side(const mk_backend& backend, mk_device* device) : backend_(backend), device_(device) {
    sdk::call(backend.queue_create, device, 0U, &queue_);
  }
  ~Side() {
    for (mk_buffer* buffer : buffers_) backend_.buffer_destroy(device_, buffer);
    backend_.queue_destroy(queue_);
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  mk_buffer* upload(std::vector<float>& values) {
    mk_buffer* buffer = nullptr;
    sdk::call(backend_.buffer_create, device_, uint64_t{values.size()} * sizeof(float), &buffer);
    buffers_.push_back(buffer);
    move(MK_COPY_WRITE, buffer, values);
    return buffer;
  }
  void download(mk_buffer* buffer, std::vector<float>& values) { move(MK_COPY_READ, buffer, values); }
  void run(const mk_op& op, int times = 1) {
    for (int i = 0; i < times; ++i) sdk::call(backend_.submit, queue_, &op, static_cast<mk_event**>(nullptr));
    sdk::call(backend_.finish, queue_);
  }

 private:
  void move(mk_copy_kind kind, mk_buffer* buffer, std::vector<float>& values) {
    const mk_copy copy{kind, 0, buffer, buffer, values.data(), 0, 0, values.size() * sizeof(float)};
    sdk::call(backend_.copy, queue_, &copy, static_cast<mk_event**>(nullptr));
    sdk::call(backend_.finish, queue_);
  }
  const mk_backend& backend_;
  mk_device* device_;
  mk_queue* queue_ = nullptr;
  std::vector<mk_buffer*> buffers_;
};

template <class Body>
double seconds(Body&& body) {
  const auto start = Clock::now();
  body();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Returns whether the results differ by at most twice the tolerance of gemm, because each of them may be off by the
// tolerance. For elements in [-1, 1), |a| * |b| in tolerance_gemm() is about k / 4.
bool agree(const std::vector<float>& x, const std::vector<float>& y, const mk_op& op, int64_t k) {
  const double most = ops::tolerance_gemm(op) * static_cast<double>(k) / 2;
  for (size_t i = 0; i < x.size(); ++i)
    if (!(std::abs(double{x[i]} - double{y[i]}) <= most)) return false;
  return true;
}

bool compare(const mk_backend& backend, mk_device* device, const Shape& s, int rounds) {
  std::vector<float> a = numbers(s.m * s.k, 1), b = numbers(s.k * s.n, 2);
  std::vector<float> ours(static_cast<size_t>(s.m * s.n)), theirs(ours.size());
  Side side(backend, device);
  mk_buffer *da = side.upload(a), *db = side.upload(b), *dout = side.upload(ours);
  const mk_tensor tb = s.transpose_b ? sdk::matrix(db, s.n, s.k) : sdk::matrix(db, s.k, s.n);
  const mk_op op = ops::gemm(sdk::matrix(da, s.m, s.k), false, tb, s.transpose_b, sdk::matrix(dout, s.m, s.n));
  const double flop = 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
  // As in a run, products follow each other for several milliseconds.
  const int times = std::max(1, static_cast<int>(2e9 / flop));
  const auto run_ours = [&] { side.run(op, times); };
  const auto run_theirs = [&] {
    for (int i = 0; i < times; ++i)
      dnnl_sgemm('N', s.transpose_b ? 'T' : 'N', s.m, s.n, s.k, 1.0F, a.data(), s.k, b.data(),
                 s.transpose_b ? s.k : s.n, 0.0F, theirs.data(), s.n);
  };
  run_ours();
  run_theirs();
  std::vector<double> t_ours, t_theirs, ratios;
  for (int i = 0; i < rounds; ++i) {
    t_ours.push_back(seconds(run_ours));
    t_theirs.push_back(seconds(run_theirs));
    ratios.push_back(t_theirs.back() / t_ours.back());
  }
  const double gflop = 1e-9 * flop * times;
  std::printf("| %5lld x %5lld x %5lld %s | %7.1f | %7.1f | %5.2f |\n", static_cast<long long>(s.m),
              static_cast<long long>(s.n), static_cast<long long>(s.k), s.transpose_b ? "A*B^T" : "A*B  ",
              gflop / median(t_ours), gflop / median(t_theirs), median(ratios));
  std::fflush(stdout);
  side.download(dout, ours);
  if (agree(ours, theirs, op, s.k)) return true;
  std::fprintf(stderr, "the results differ by more than the tolerance of gemm\n");
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string wanted = argc > 1 ? argv[1] : "Portable";
    const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 9;
    const mk_host host = quiet_host();
    const std::string library = argc > 3 ? argv[3] : test::libraries() + "/backends/opencl.so";
    const mk_backend* backend = load(library, &host);
    set_openmp_threads(cores());
    mk_device* device = open(*backend, wanted, argc > 4 ? argv[4] : "fast");
    std::printf("%d cores, median of %d alternating rounds\n\n", cores(), rounds);
    std::printf("| m x n x k                   | mokume  | oneDNN  | ratio |\n");
    std::printf("|                             | GFLOP/s | GFLOP/s |       |\n|---|---|---|---|\n");
    bool good = true;
    for (const Shape& shape : kShapes) good = compare(*backend, device, shape, rounds) && good;
    backend->close(device);
    backend->shutdown(backend->self);
    return good ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "gemm_bench: %s\n", e.what());
    return 1;
  }
}
