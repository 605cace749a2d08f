// Measures one submit through core's Device on the null backend: checks, bounds and dispatch, but no computation.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "base/log.hpp"
#include "device/device.hpp"
#include "registry/registry.hpp"
#include "scheduler/host_services.hpp"
#include "sdk/error.hpp"
#include "sdk/ops.hpp"

int main() {
  using namespace mokume;
  base::Log log;
  const scheduler::HostServices host(log, 1, "");
  registry::Registry registry(host.table(), {});
  const mk_backend* backend = registry.load(MK_PLUGIN_BACKEND, "null").backend();
  mk_device_info info{};
  uint32_t count = 0;
  sdk::call(backend->enumerate, backend->self, &info, 1U, &count);
  const auto device = device::Device::open({"null", 0, backend, info}, {}, uint64_t{1} << 30, nullptr);
  mk_buffer* buffer = device->buffer_create(3 * 64 * 64 * 4);
  const mk_op op = ops::gemm(sdk::matrix(buffer, 64, 64), false, sdk::matrix(buffer, 64, 64, 0, 64 * 64), true,
                             sdk::matrix(buffer, 64, 64, 0, 2 * 64 * 64));
  std::vector<double> ns;
  constexpr int kCalls = 100'000;
  for (int round = 0; round < 11; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < kCalls; ++k) device->submit(op);
    ns.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / kCalls);
  }
  std::sort(ns.begin(), ns.end());
  std::printf("submit on null through Device: median %.0f ns of %zu rounds of %d\n", ns[ns.size() / 2], ns.size(),
              kCalls);
  device->buffer_destroy(buffer);
  return 0;
}
