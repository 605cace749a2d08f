// Measures the products and convolutions of the published networks and of the SVC grid, one op at a time on one device.
// Prints a JSON line for each op, with the choices that the device made.
//
//   op_bench [BACKEND [SECONDS [MOST_GFLOP [KEY=VALUE,...]]]]
//
// The defaults are opencl, 0.2 s for each shape, shapes of any size, and the device's own choices. MOST_GFLOP leaves
// out larger ops. The program measures the first device of the backend, with operands on the device. As in training,
// ops follow each other without a wait for several milliseconds. The result is the median of such rounds. The number of
// operations follows the op's definition.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/log.hpp"
#include "device/device.hpp"
#include "registry/registry.hpp"
#include "scheduler/host_services.hpp"
#include "sdk/device.hpp"
#include "sdk/error.hpp"
#include "sdk/ops.hpp"
#include "sdk/philox.hpp"

namespace {

using namespace mokume;

struct Product {
  const char* name;
  int64_t m, n, k;
  bool transpose_a, transpose_b;
};

constexpr Product kProducts[] = {
    {"square 1024", 1024, 1024, 1024, false, false},
    {"square 4096", 4096, 4096, 4096, false, false},
    {"svc gram, 5000 rows", 5000, 5000, 784, false, true},
    {"guide linear at 128, forward", 128, 128, 9216, false, false},
    {"guide linear at 128, gradient of weights", 9216, 128, 128, true, false},
    {"guide linear at 128, gradient of input", 128, 9216, 128, false, true},
    {"guide last layer at 128, forward", 128, 10, 128, false, false},
    {"study 13,8,227 linear at 10, forward", 10, 227, 5733, false, false},
    {"study 690,10,903 linear at 10, forward", 10, 903, 249090, false, false},
};

struct Convolution {
  const char* name;
  int64_t images, side, channels, out_channels, kernel, padding;
};

constexpr Convolution kConvolutions[] = {
    {"guide 1st layer at 128", 128, 28, 1, 32, 3, 0},       {"guide 2nd layer at 128", 128, 26, 32, 64, 3, 0},
    {"Lightning 1st layer at 128", 128, 28, 1, 64, 3, 1},   {"Lightning 2nd layer at 128", 128, 28, 64, 64, 3, 1},
    {"Lightning 3rd layer at 128", 128, 14, 64, 128, 3, 1}, {"Lightning 4th layer at 128", 128, 14, 128, 128, 3, 1},
    {"study 13,8,227 at 10", 10, 28, 1, 13, 8, 0},          {"study 690,10,903 at 10", 10, 28, 1, 690, 10, 0},
};

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Returns the seconds per op when many such ops follow each other.
double seconds_of(const sdk::Device& device, const mk_op& op, double seconds) {
  constexpr double kRound_s = 0.01;
  const auto run = [&](int times) {
    const double start = now_s();
    for (int i = 0; i < times; ++i) device.submit(op);
    device.finish();
    return now_s() - start;
  };
  run(1);  // builds the kernels
  int times = 1;
  while (times < 10000 && run(times) < kRound_s) times *= 2;
  std::vector<double> rounds;
  const double start = now_s();
  do rounds.push_back(run(times) / times);
  while (rounds.size() < 3 || now_s() - start < seconds);
  return median(rounds);
}

// Returns a buffer that repeats the same 2^20 numbers in [-1, 1).
sdk::Buffer numbers(const sdk::Device& device, int64_t count) {
  static const std::vector<float> some = [] {
    const sdk::Random random(1, sdk::Purpose::search, 1);
    std::vector<float> values(size_t{1} << 20);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(2 * random.uniform(static_cast<uint32_t>(i)) - 1);
    return values;
  }();
  const auto total = static_cast<uint64_t>(count);
  sdk::Buffer buffer = device.buffer<float>(total);
  for (uint64_t done = 0; done < total; done += some.size())
    device.write(buffer, some.data(), std::min<uint64_t>(some.size(), total - done), done);
  return buffer;
}

class Bench {
 public:
  Bench(const sdk::Device& device, double seconds, double most_gflop)
      : device_(device), seconds_(seconds), most_gflop_(most_gflop) {}

  void product(const Product& p) const {
    if (too_large(2.0 * static_cast<double>(p.m * p.n) * static_cast<double>(p.k))) return;
    const sdk::Buffer a = numbers(device_, p.m * p.k), b = numbers(device_, p.k * p.n);
    const sdk::Buffer out = device_.buffer<float>(static_cast<uint64_t>(p.m * p.n));
    const mk_tensor left = p.transpose_a ? sdk::matrix(a.get(), p.k, p.m) : sdk::matrix(a.get(), p.m, p.k);
    const mk_tensor right = p.transpose_b ? sdk::matrix(b.get(), p.n, p.k) : sdk::matrix(b.get(), p.k, p.n);
    char sizes[160];
    std::snprintf(sizes, sizeof(sizes),
                  "\"m\": %lld, \"n\": %lld, \"k\": %lld, \"transpose_a\": %s, \"transpose_b\": %s",
                  static_cast<long long>(p.m), static_cast<long long>(p.n), static_cast<long long>(p.k),
                  p.transpose_a ? "true" : "false", p.transpose_b ? "true" : "false");
    report(p.name, sizes,
           ops::rounding(ops::gemm(left, p.transpose_a, right, p.transpose_b, sdk::matrix(out.get(), p.m, p.n))));
  }

  void convolution(const Convolution& c) const {
    const ops::Window w{c.side, c.side, c.channels, c.kernel, c.kernel, 1, 1, c.padding, c.padding};
    const double windows_in_all = static_cast<double>(c.images * w.out_pixels());
    if (too_large(2 * windows_in_all * static_cast<double>(w.patch() * c.out_channels))) return;
    const int64_t y_size = c.images * w.out_pixels() * c.out_channels, weights = w.patch() * c.out_channels;
    const sdk::Buffer x = numbers(device_, c.images * w.image()), weight = numbers(device_, weights);
    const sdk::Buffer y = numbers(device_, y_size), bias = numbers(device_, c.out_channels);
    const mk_tensor images = sdk::matrix(x.get(), c.images, w.image());
    const mk_tensor windows = sdk::matrix(y.get(), c.images, w.out_pixels() * c.out_channels);
    const mk_tensor filters = sdk::matrix(weight.get(), w.patch(), c.out_channels);
    const mk_tensor offsets = sdk::vector(bias.get(), c.out_channels);
    char sizes[160];
    std::snprintf(sizes, sizeof(sizes),
                  "\"images\": %lld, \"side\": %lld, \"channels\": %lld, \"out_channels\": %lld, \"kernel\": %lld, "
                  "\"padding\": %lld",
                  static_cast<long long>(c.images), static_cast<long long>(c.side), static_cast<long long>(c.channels),
                  static_cast<long long>(c.out_channels), static_cast<long long>(c.kernel),
                  static_cast<long long>(c.padding));
    const std::string name = c.name;
    report(name + ", gradient of weights", sizes, ops::conv2d_grad_weight(images, windows, w, filters, offsets));
    if (c.channels > 1)
      report(name + ", gradient of input", sizes, ops::conv2d_grad_input(windows, filters, w, images));
    report(name + ", forward", sizes, ops::conv2d(images, filters, offsets, w, ops::Activation::relu, windows));
  }

 private:
  bool too_large(double flops) const { return flops > 1e9 * most_gflop_; }

  void report(const std::string& name, const char* sizes, const mk_op& op) const {
    const ops::OpRule& rule = ops::rule(op.code);
    const sdk::Cost cost = rule.cost(op);
    const double seconds = seconds_of(device_, op, seconds_);
    std::printf("{\"op\": \"%s\", \"name\": \"%s\", %s, \"us\": %.2f, \"gflop_s\": %.1f, \"gb_s\": %.1f}\n", rule.name,
                name.c_str(), sizes, 1e6 * seconds, 1e-9 * cost.flops / seconds, 1e-9 * cost.bytes / seconds);
    std::fflush(stdout);
  }

  const sdk::Device& device_;
  double seconds_, most_gflop_;
};

device::Choices choices_of(const std::string& list) {
  device::Choices choices;
  std::istringstream text(list);
  for (std::string one; std::getline(text, one, ',');) {
    const size_t equals = one.find('=');
    if (equals == std::string::npos) throw Error(MK_INVALID_ARGUMENT, one + " is not KEY=VALUE, like gemm=clblast");
    choices[one.substr(0, equals)] = one.substr(equals + 1);
  }
  return choices;
}

// Returns whether a shape succeeds. One that fails, for example for lack of memory, does not affect the others.
bool attempt(const char* name, const std::function<void()>& body) {
  try {
    body();
    return true;
  } catch (const Error& e) {
    std::fprintf(stderr, "op_bench: %s: %s\n", name, e.what());
    return false;
  }
}

int run(int argc, char** argv) {
  const std::string backend = argc > 1 ? argv[1] : "opencl";
  const double seconds = argc > 2 ? std::stod(argv[2]) : 0.2, most_gflop = argc > 3 ? std::stod(argv[3]) : 1e9;
  base::Log log;
  log.set_level(MK_LOG_INFO);
  scheduler::HostServices host(log, 0, base::cache_directory());
  registry::Registry registry(host.table(), {});
  const mk_backend* table = registry.load(MK_PLUGIN_BACKEND, backend).backend();
  mk_device_info info[8];
  uint32_t count = 0;
  sdk::call(table->enumerate, table->self, &info[0], 8U, &count);
  if (count == 0) throw Error(MK_DEVICE_ERROR, "no device of " + backend);
  const auto opened = device::Device::open({backend, 0, table, info[0]}, choices_of(argc > 4 ? argv[4] : ""),
                                           uint64_t{20} << 30, nullptr);
  std::printf("{\"device\": \"%s\", \"platform\": \"%s\", \"choices\": {", info[0].name, info[0].platform);
  const char* separator = "";
  for (const auto& [key, value] : opened->choices()) {
    std::printf("%s\"%s\": \"%s\"", separator, key.c_str(), value.c_str());
    separator = ", ";
  }
  std::printf("}}\n");
  const sdk::Device device(opened->services());
  const Bench bench(device, seconds, most_gflop);
  bool good = true;
  for (const Product& p : kProducts) good = attempt(p.name, [&] { bench.product(p); }) && good;
  for (const Convolution& c : kConvolutions) good = attempt(c.name, [&] { bench.convolution(c); }) && good;
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "op_bench: %s\n", e.what());
    return 1;
  }
}
