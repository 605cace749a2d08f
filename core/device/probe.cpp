#include "device/probe.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "sdk/error.hpp"
#include "sdk/ops.hpp"

namespace mokume::device {
namespace {

constexpr double kLongEnoughS = 0.02;  // minimum time of one op, because shorter ops measure the call overhead
constexpr double kEachS = 0.3;         // time limit for the repetitions of an op
constexpr int kRepeats = 5;

class Buffers {
 public:
  explicit Buffers(Device& device) : device_(device) {}
  ~Buffers() {
    for (mk_buffer* buffer : made_) device_.buffer_destroy(buffer);
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  // Creates a matrix and fills it, because memory that was never written has no pages yet.
  mk_tensor matrix(int64_t rows, int64_t columns) {
    made_.push_back(device_.buffer_create(static_cast<uint64_t>(rows * columns) * sdk::kElementBytes));
    const mk_tensor tensor = sdk::matrix(made_.back(), rows, columns);
    device_.submit(ops::fill(tensor, 1.0F));
    return tensor;
  }

 private:
  Device& device_;
  std::vector<mk_buffer*> made_;
};

class Probe {
 public:
  Probe(Device& device, const Clock& clock) : device_(device), clock_(clock) {}

  // Multiplies square matrices of growing size until a product takes long enough.
  double gflops() {
    return grow(64, 2048, [&](int64_t n, Buffers& buffers) {
      const mk_tensor a = buffers.matrix(n, n), b = buffers.matrix(n, n), out = buffers.matrix(n, n);
      const mk_op op = ops::gemm(a, false, b, false, out);
      return measured(op, ops::cost_gemm(op).flops);
    });
  }

  // Passes over arrays of growing size, which exceed the caches of a fast device.
  double gbytes() {
    return grow(64, 4096, [&](int64_t n, Buffers& buffers) {
      const mk_tensor x = buffers.matrix(n, 4096), scale = buffers.matrix(1, 4096);
      const mk_op op = ops::affine_columns(x, scale, sdk::vector(nullptr, 0), x);
      return measured(op, ops::cost_affine_columns(op).bytes);
    });
  }

 private:
  struct Measured {
    double seconds, rate;  // time of one op; 10^9 units of work per second
  };

  // Measures the op that `at` creates for growing sizes. Returns the rate of the largest size that works, or 0.
  template <class At>
  double grow(int64_t size, int64_t largest, const At& at) {
    double rate = 0;
    try {
      for (; size <= largest; size *= 2) {
        Buffers buffers(device_);
        const Measured now = at(size, buffers);
        rate = now.rate;
        if (now.seconds >= kLongEnoughS) break;
      }
    } catch (const Error& e) {
      if (e.status() != MK_OUT_OF_MEMORY && e.status() != MK_UNSUPPORTED) throw;
    }
    return rate;
  }

  double once(const mk_op& op) {
    const double begin = clock_();
    device_.submit(op);
    device_.finish();
    return clock_() - begin;
  }

  // Takes the best of several measurements, because interference can only slow an op down.
  Measured measured(const mk_op& op, double work) {
    device_.finish();
    once(op);  // builds the op's kernel
    const double begin = clock_();
    double best = once(op);
    for (int k = 1; k < kRepeats && clock_() - begin < kEachS; ++k) best = std::min(best, once(op));
    return {best, best > 0 ? work / best * 1e-9 : 0};
  }

  Device& device_;
  const Clock& clock_;
};

// Defines the content of a cache file.
struct SpeedFile {
  std::string device_class;
  uint64_t cores = 0;
  Speed speed;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    constexpr double kMost = std::numeric_limits<double>::max();
    field("class", self.device_class);
    field("cores", self.cores);
    field("gflops", self.speed.gflops, 0.0, kMost);
    field("gbytes", self.speed.gbytes, 0.0, kMost);
  }
};

std::string file_of(const std::string& directory, const Listed& device, size_t cores) {
  const bool on_cores = device.info.kind == MK_DEVICE_CPU || (device.info.flags & MK_DEVICE_SOFTWARE) != 0;
  const std::string key = device.device_class() + " on " + (on_cores ? std::to_string(cores) + " cores" : "its own");
  return directory + "/speed-" + base::sha256(key).substr(0, 32) + ".json";
}

}  // namespace

double Speed::overall() const { return std::sqrt(gflops * gbytes); }

Speed probe(Device& device, const Clock& clock) {
  const Clock real = base::steady_s;
  Probe run(device, clock ? clock : real);
  Speed speed;
  speed.gflops = run.gflops();
  speed.gbytes = run.gbytes();
  return speed;
}

std::optional<Speed> remembered_speed(const std::string& cache_directory, const Listed& device, size_t cores,
                                      std::string& warning) {
  if (cache_directory.empty()) return std::nullopt;
  const std::string path = file_of(cache_directory, device, cores);
  if (::access(path.c_str(), F_OK) != 0) return std::nullopt;
  try {
    const auto file = base::from_json<SpeedFile>(base::read_file(path, 10000));
    return file.device_class == device.device_class() ? std::optional(file.speed) : std::nullopt;
  } catch (const Error& e) {
    warning = base::set_aside(path, e.what());
    return std::nullopt;
  }
}

void remember_speed(const std::string& cache_directory, const Listed& device, size_t cores, const Speed& speed) {
  if (cache_directory.empty()) return;
  const SpeedFile file{device.device_class(), cores, speed};
  try {
    base::write_file(file_of(cache_directory, device, cores), base::to_json(file) + "\n");
  } catch (const Error&) {
    // The next run measures again.
  }
}

ProbeTurn::ProbeTurn(const std::string& cache_directory, const std::string& host, double seconds) {
  const std::string path = cache_directory + "/probe-" + base::sha256(host).substr(0, 16) + ".lock";
  if (!cache_directory.empty()) file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  taken_ = file_ < 0;
  const double deadline = base::steady_s() + seconds;
  while (!taken_) {
    taken_ = ::flock(file_, LOCK_EX | LOCK_NB) == 0;
    if (taken_ || base::steady_s() >= deadline) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

ProbeTurn::~ProbeTurn() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace mokume::device
