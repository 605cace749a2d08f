#include "variants/race.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <string>

#include "ops.hpp"
#include "runtime/wait.hpp"

namespace mokume::opencl {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Returns infinity if the variant fails.
double measure(mk_queue& queue, const mk_op& op, const std::string& what) {
  try {
    return seconds_of(queue, op);
  } catch (const Error& e) {
    const mk_device& device = *queue.device;
    device.host.log(MK_LOG_WARNING, "opencl", what + " does not work on " + device.info.name + ": " + e.what());
    return std::numeric_limits<double>::infinity();
  }
}

}  // namespace

RaceSize race_size(const mk_device_info& info) {
  if ((info.flags & MK_DEVICE_INSTRUMENTED) != 0) return {8, 8, 0};
  if ((info.flags & MK_DEVICE_SOFTWARE) != 0) return {64, 64, 0.5};
  return info.kind == MK_DEVICE_GPU ? RaceSize{2048, 8192, 30} : RaceSize{384, 2048, 30};
}

bool is_emulated(const mk_device& device) {
  return (device.info.flags & (MK_DEVICE_SOFTWARE | MK_DEVICE_INSTRUMENTED)) != 0;
}

void run_unmeasured(mk_queue& queue, const mk_op& op) {
  Launcher launcher(queue, false);
  submit(launcher, op);
}

double seconds_of(mk_queue& queue, const mk_op& op) {
  const auto once = [&] {
    const auto start = Clock::now();
    run_unmeasured(queue, op);
    finish(queue);
    return seconds_since(start);
  };
  once();
  double best = once(), spent = best;
  for (int i = 0; i < 3 && spent < 0.02; ++i) {
    const double time = once();
    spent += time;
    best = std::min(best, time);
  }
  return best;
}

void race(mk_device& device, mk_queue& queue, const VariantSet& set, const mk_op& op, double work, double per_core,
          double lead) {
  const bool cpu = device.info.kind == MK_DEVICE_CPU;
  const double good_enough_s = cpu ? work / (per_core * std::max(device.info.compute_units, 1U)) : 0;
  const double budget_s = race_size(device.info).budget_s;
  std::string& slot = device.choices.*set.slot;
  const auto start = Clock::now();
  std::string winner, report;
  double best = std::numeric_limits<double>::infinity();
  for (const std::string& candidate : set.candidates(device)) {
    if (best <= good_enough_s || (!winner.empty() && seconds_since(start) > budget_s)) break;
    slot = candidate;
    const double time = measure(queue, op, std::string(set.key) + " " + candidate);
    char text[64];
    std::snprintf(text, sizeof(text), " %s %.3f ms", candidate.c_str(), time * 1e3);
    report += text;
    if (time * (winner.empty() ? 1 : lead) < best) {
      best = time;
      winner = candidate;
    }
  }
  if (winner.empty())
    throw Error(MK_DEVICE_ERROR, std::string("no ") + set.key + " kernel works on " + device.info.name +
                                     ": update its driver, or leave it out with --devices");
  slot = winner;
  device.host.log(MK_LOG_DEBUG, "opencl", std::string(set.key) + " on " + device.info.name + ":" + report);
}

}  // namespace mokume::opencl
