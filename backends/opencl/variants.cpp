#include "variants.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <vector>

#include "gemm/clblast.hpp"
#include "common/common.embed.hpp"
#include "elementwise/elementwise.embed.hpp"
#include "support/files.hpp"
#include "gemm/skinny.embed.hpp"
#include "gemm/tile.embed.hpp"
#include "gemm/vector.embed.hpp"
#include "common/math.embed.hpp"
#include "ops.hpp"
#include "conv/patches.embed.hpp"
#include "row_norm2/row_norm2.embed.hpp"
#include "common/runs.embed.hpp"
#include "sdk/ops.hpp"
#include "common/transpose.embed.hpp"
#include "common/vector.embed.hpp"
#include "common/windows.embed.hpp"
#include "conv/winograd.embed.hpp"

namespace mokume::opencl {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The sizes of a probe. Devices that emulate a GPU get so little that the whole takes a second, builds included.
struct ProbeSize {
  int64_t gemm;     // a cube
  int64_t columns;  // of a map of 256 rows
  double budget_s;  // no further candidate is begun after this
};

ProbeSize probe_size(const mk_device_info& info) {
  if ((info.flags & MK_DEVICE_INSTRUMENTED) != 0) return {8, 8, 0};
  if ((info.flags & MK_DEVICE_SOFTWARE) != 0) return {64, 64, 0.5};
  return info.kind == MK_DEVICE_GPU ? ProbeSize{2048, 8192, 30} : ProbeSize{384, 2048, 30};
}

// Such devices reach a sixth with vector kernels (measured on llvmpipe) and build them for minutes: not even tried.
bool emulated(const mk_device& device) {
  return (device.info.flags & (MK_DEVICE_SOFTWARE | MK_DEVICE_INSTRUMENTED)) != 0;
}

// The likely winner first.
std::vector<std::string> gemm_candidates(const mk_device& device) {
  if (device.info.kind != MK_DEVICE_CPU) {
    std::vector<std::string> names{"tile"};
    if (device.info.kind == MK_DEVICE_GPU && device.clblast->available()) names.emplace_back("clblast");
    return names;
  }
  if (emulated(device)) return {"tile"};
  return {"vector", "tile"};
}

std::vector<std::string> map_candidates(const mk_device& device) {
  if (device.info.kind == MK_DEVICE_GPU || emulated(device)) return {"scalar"};
  return {"vector", "scalar"};
}

std::vector<std::string> conv_candidates(const mk_device& device) {
  if (device.info.kind == MK_DEVICE_CPU && device.choices.gemm == "vector") return {"winograd", "patches"};
  return {"patches"};
}

// The best of up to four runs after one that builds and warms up; infinity if the variant fails on this device.
double measure(mk_queue& queue, const mk_op& op, const std::string& what) {
  const auto once = [&] {
    const auto start = Clock::now();
    Launcher launcher(queue, false);
    submit(launcher, op);
    finish(queue);
    return seconds_since(start);
  };
  try {
    once();
    double best = once(), spent = best;
    for (int i = 0; i < 3 && spent < 0.02; ++i) {
      const double time = once();
      spent += time;
      best = std::min(best, time);
    }
    return best;
  } catch (const Error& e) {
    const mk_device& device = *queue.device;
    device.host.log(MK_LOG_WARNING, "opencl", what + " does not work on " + device.info.name + ": " + e.what());
    return std::numeric_limits<double>::infinity();
  }
}

// What is raced, and when the race is over before all candidates have run: the slot in device.choices, the likely
// winner first; no further candidate is begun after one that took at most `good_enough_s`, or once `budget_s` is spent.
struct Race {
  const char* key;
  std::string* slot;
  std::vector<std::string> candidates;
  double good_enough_s;
  double budget_s;
};

// Runs `op` with each candidate in the slot and leaves the fastest there.
void race(mk_device& device, mk_queue& queue, const mk_op& op, const Race& r) {
  const auto start = Clock::now();
  std::string winner, report;
  double best = std::numeric_limits<double>::infinity();
  for (const std::string& candidate : r.candidates) {
    if (best <= r.good_enough_s || (!winner.empty() && seconds_since(start) > r.budget_s)) break;
    *r.slot = candidate;
    const double time = measure(queue, op, std::string(r.key) + " " + candidate);
    char text[64];
    std::snprintf(text, sizeof(text), " %s %.3f ms", candidate.c_str(), time * 1e3);
    report += text;
    if (time < best) {
      best = time;
      winner = candidate;
    }
  }
  if (winner.empty())
    throw Error(MK_DEVICE_ERROR, std::string("no ") + r.key + " kernel works on " + device.info.name +
                                     ": update its driver, or leave it out with --devices");
  *r.slot = winner;
  device.host.log(MK_LOG_DEBUG, "opencl", std::string(r.key) + " on " + device.info.name + ":" + report);
}

// On CPUs the local-memory tile reaches a few GFLOP/s and takes seconds to build: a vector GEMM of 8 GFLOP/s per core
// is taken at once, and so is a map of 50 million elements per second and core.
double good_enough_s(const mk_device_info& info, double work, double per_core) {
  return info.kind == MK_DEVICE_CPU ? work / (per_core * std::max(info.compute_units, 1U)) : 0;
}

void probe_gemm(mk_device& device, mk_queue& queue) {
  const ProbeSize size = probe_size(device.info);
  const int64_t n = size.gemm;
  mk_buffer a = create_buffer(device, static_cast<uint64_t>(n * n) * 4);
  mk_buffer b = create_buffer(device, a.bytes), out = create_buffer(device, a.bytes);
  Launcher launcher(queue, false);
  for (mk_buffer* buffer : {&a, &b}) submit(launcher, ops::fill(sdk::matrix(buffer, n, n), 0.5F));
  finish(queue);
  const mk_op op = ops::gemm(sdk::matrix(&a, n, n), false, sdk::matrix(&b, n, n), true, sdk::matrix(&out, n, n));
  const double flops = 2.0 * static_cast<double>(n * n * n);
  race(device, queue, op,
       {"gemm", &device.choices.gemm, gemm_candidates(device), good_enough_s(device.info, flops, 8e9), size.budget_s});
}

void probe_map(mk_device& device, mk_queue& queue) {
  const ProbeSize size = probe_size(device.info);
  constexpr int64_t kRows = 256;
  mk_buffer matrix = create_buffer(device, static_cast<uint64_t>(kRows * size.columns) * 4);
  const mk_op op = ops::fill(sdk::matrix(&matrix, kRows, size.columns), 0.25F);
  const mk_op map = ops::kernel_map(sdk::matrix(&matrix, kRows, size.columns), {}, {},
                                    sdk::matrix(&matrix, kRows, size.columns), {ops::KernelKind::sigmoid, 1, 0, 0});
  // The first candidate also fills, so that it has numbers to work on.
  const std::vector<std::string> candidates = map_candidates(device);
  device.choices.map = candidates.front();
  Launcher launcher(queue, false);
  submit(launcher, op);
  finish(queue);
  const double elements = static_cast<double>(kRows * size.columns);
  race(device, queue, map,
       {"map", &device.choices.map, candidates, good_enough_s(device.info, elements, 5e7), size.budget_s});
}

void probe_conv(mk_device& device, mk_queue& queue) {
  const std::vector<std::string> candidates = conv_candidates(device);
  device.choices.conv = candidates.front();
  if (candidates.size() == 1) return;
  // A layer as published networks have them.
  constexpr int64_t kImages = 4, kChannels = 64;
  const ops::Window window{28, 28, kChannels, 3, 3, 1, 1, 1, 1};
  mk_buffer x = create_buffer(device, static_cast<uint64_t>(kImages * window.image()) * 4);
  mk_buffer y = create_buffer(device, x.bytes);
  mk_buffer weight = create_buffer(device, static_cast<uint64_t>(window.patch() * kChannels) * 4);
  const mk_tensor from = sdk::matrix(&x, kImages, window.image()), to = sdk::matrix(&y, kImages, window.image());
  const mk_tensor weights = sdk::matrix(&weight, window.patch(), kChannels);
  // The two differ in bits: only a transform that is slow beyond doubt loses.
  const double flops =
      2.0 * static_cast<double>(kImages * window.out_pixels()) * static_cast<double>(window.patch() * kChannels);
  Launcher launcher(queue, false);
  for (const mk_tensor& t : {from, weights}) submit(launcher, ops::fill(t, 0.5F));
  finish(queue);
  race(device, queue, ops::conv2d(from, weights, {}, window, ops::Activation::none, to),
       {"conv", &device.choices.conv, candidates, good_enough_s(device.info, flops, 8e9),
        probe_size(device.info).budget_s});
}

// A device class: what makes two devices run the same code, and the code itself.
std::string class_file(const mk_device& device) {
  if (device.cache_directory.empty()) return "";
  const mk_device_info& i = device.info;
  std::string key;
  for (const std::string_view part :
       {std::string_view(i.name), std::string_view(i.driver), std::string_view(i.version), std::string_view(i.isa),
        std::string_view(k_common_common), std::string_view(k_common_vector), std::string_view(k_common_transpose),
        std::string_view(k_gemm_vector), std::string_view(k_gemm_skinny), std::string_view(k_gemm_tile),
        std::string_view(k_elementwise_elementwise), std::string_view(k_row_norm2_row_norm2), std::string_view(k_common_math),
        std::string_view(k_common_runs), std::string_view(k_common_windows), std::string_view(k_conv_patches),
        std::string_view(k_conv_winograd)})
    key += std::string(part) + '\0';
  return device.cache_directory + "/choices-" + sha256(key).substr(0, 32) + ".txt";
}

bool allows(const ChoiceKey& key, const std::string& value) {
  return !value.empty() && std::find(key.values.begin(), key.values.end(), value) != key.values.end();
}

// Lines of "key value"; what is not known is as if not there.
Choices remembered(const std::string& file) {
  Choices choices;
  const std::string text = file.empty() ? "" : read_file(file, 4096).value_or("");
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const std::string name = line.substr(0, line.find(' '));
    const std::string value = line.size() > name.size() ? line.substr(name.size() + 1) : "";
    for (const ChoiceKey& key : kChoiceKeys)
      if (name == key.name && allows(key, value)) choices.*key.slot = value;
  }
  return choices;
}

Choices given(const mk_choice* choices, uint32_t count) {
  Choices result;
  for (uint32_t i = 0; i < count; ++i) {
    const std::string name(choices[i].key, strnlen(choices[i].key, sizeof(choices[i].key)));
    const std::string value(choices[i].value, strnlen(choices[i].value, sizeof(choices[i].value)));
    for (const ChoiceKey& key : kChoiceKeys) {
      if (name != key.name) continue;
      if (!allows(key, value))
        throw Error(MK_INVALID_ARGUMENT, "opencl: choice " + name + " = " + value + " is not known; known are " +
                                             key.values[0] + ", " + key.values[1] +
                                             (*key.values[2] != '\0' ? std::string(", ") + key.values[2] : ""));
      result.*key.slot = value;
    }
  }
  return result;
}

}  // namespace

void choose_variants(mk_device& device, const mk_choice* choices, uint32_t n_choices) {
  device.choices = given(choices, n_choices);
  const std::string file = class_file(device);
  Choices measured = remembered(file);
  for (const ChoiceKey& key : kChoiceKeys)
    if ((device.choices.*key.slot).empty()) device.choices.*key.slot = measured.*key.slot;
  if (device.choices.sequence.empty()) device.choices.sequence = "worthwhile";
  if (device.choices.gemm == "clblast" && !device.clblast->available())
    throw Error(MK_DEVICE_ERROR, "opencl: the recorded choice gemm = clblast needs CLBlast: install libclblast1");
  std::unique_ptr<mk_queue> queue;
  // Only what was measured is remembered: a choice given for one run must not decide the next.
  const auto probe = [&](std::string Choices::*slot, void (*run)(mk_device&, mk_queue&)) {
    if (!(device.choices.*slot).empty()) return;
    if (queue == nullptr) queue = create_queue(device, 0);
    run(device, *queue);
    // What was measured beside a choice that was given belongs to that one.
    if (slot != &Choices::conv || device.choices.gemm == measured.gemm) measured.*slot = device.choices.*slot;
  };
  // In this order: each uses what was chosen before.
  probe(&Choices::map, probe_map);
  probe(&Choices::gemm, probe_gemm);
  probe(&Choices::conv, probe_conv);
  if (queue == nullptr || file.empty()) return;
  std::string text;
  for (const ChoiceKey& key : kChoiceKeys)
    if (!(measured.*key.slot).empty()) text += std::string(key.name) + " " + measured.*key.slot + "\n";
  replace_file(file, text);
}

}  // namespace mokume::opencl
