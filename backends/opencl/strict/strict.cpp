#include "strict/strict.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "common/grid.hpp"
#include "runtime/copy.hpp"
#include "runtime/launcher.hpp"
#include "runtime/wait.hpp"
#include "strict/strict.embed.hpp"
#include "strict/strict_args.h"

namespace mokume::opencl {
namespace {

constexpr size_t kCount = 4096;
constexpr const char* kFuses = "its compiler fuses products with sums";
constexpr float kLimits[] = {0.0F,
                             -0.0F,
                             1.0F,
                             -1.0F,
                             3.0F,
                             0x1p-126F,
                             0x1.fffffep127F,
                             0x1.fffffep0F,
                             0x1.000002p0F,
                             0x1p-60F,
                             std::numeric_limits<float>::infinity(),
                             -std::numeric_limits<float>::infinity(),
                             std::numeric_limits<float>::quiet_NaN()};

// Returns a, b and c: pairs of special values, squares of numbers between two floats, whose roots are hard to round,
// and numbers of all sizes for which a product and a sum cancel.
std::vector<float> operands() {
  uint64_t state = 48;
  const auto bits = [&state] {
    return static_cast<uint32_t>((state = state * 6364136223846793005U + 1442695040888963407U) >> 32);
  };
  const auto number = [&bits](int spread) {
    const int power = static_cast<int>(bits() % static_cast<uint32_t>(2 * spread + 1)) - spread;
    const float fraction = std::bit_cast<float>((bits() & 0x007FFFFFU) | 0x3F800000U);
    return std::ldexp(bits() % 2 == 0 ? fraction : -fraction, power);
  };
  std::vector<float> in(3 * kCount);
  for (size_t i = 0; i < kCount; ++i) {
    constexpr size_t kSpecial = std::size(kLimits);
    float &a = in[i], &b = in[kCount + i], &c = in[2 * kCount + i];
    a = number(i % 2 == 0 ? 30 : 0);
    b = number(i % 2 == 0 ? 30 : 0);
    if (i < kSpecial * kSpecial) {
      a = kLimits[i / kSpecial];
      b = kLimits[i % kSpecial];
    } else if (i % 8 == 1) {
      const double between = std::fabs(double{a}) + 0x1p-24;
      a = static_cast<float>(between * between);
    } else if (i % 8 == 3) {
      a = std::fabs(a);
    }
    c = -(a * b);
  }
  return in;
}

float flushed(float x) { return std::fabs(x) < 0x1p-126F ? 0.0F : x; }

bool same(float a, float b) { return flushed(a) == flushed(b) || (std::isnan(a) && std::isnan(b)); }

// Returns what the device does wrong, or "". The volatile product keeps the host from fusing.
std::string fault(const std::vector<float>& in, const std::vector<float>& out) {
  for (size_t i = 0; i < kCount; ++i) {
    const float a = in[i], b = in[kCount + i], c = in[2 * kCount + i];
    const volatile float product = a * b;
    if (!same(out[i], std::fma(a, b, c))) return "its fma() rounds twice";
    if (!same(out[kCount + i], product + c)) return kFuses;
    if (!same(out[2 * kCount + i], a / b)) return "it rounds quotients wrongly";
    if (!same(out[3 * kCount + i], std::sqrt(flushed(a)))) return "it rounds square roots wrongly";
  }
  return "";
}

void copy(mk_queue& queue, mk_copy_kind kind, mk_buffer& buffer, std::vector<float>& host) {
  mk_copy copy{};
  copy.kind = kind;
  (kind == MK_COPY_WRITE ? copy.to : copy.from) = &buffer;
  copy.host = host.data();
  copy.bytes = host.size() * sizeof(float);
  enqueue_copy(queue, copy, nullptr);
}

std::string fault_of(mk_device& device, mk_queue& queue, int width) {
  std::vector<float> in = operands(), out(4 * kCount);
  mk_buffer from = create_buffer(device, in.size() * sizeof(float)),
            to = create_buffer(device, out.size() * sizeof(float));
  copy(queue, MK_COPY_WRITE, from, in);
  Launcher launcher(queue, false);
  launcher.run(device.kernel(for_width("strict", kStrictStrict, width), "strict_values"),
               {{static_cast<int64_t>(kCount) / width, 1, 1}, {1, 1, 1}}, StrictArgs{.count = kCount},
               {from.memory.get(), to.memory.get()});
  copy(queue, MK_COPY_READ, to, out);
  finish(queue);
  return fault(in, out);
}

}  // namespace

void require_strict(mk_device& device) {
  const std::unique_ptr<mk_queue> queue = create_queue(device, false);
  std::string wrong = (device.info.flags & MK_DEVICE_FUSES) != 0 ? kFuses : fault_of(device, *queue, 1);
  if (wrong.empty()) wrong = fault_of(device, *queue, 4);
  if (!wrong.empty())
    throw Error(MK_DEVICE_ERROR, std::string(device.info.name) + " cannot compute with strict numerics, because " +
                                     wrong + ": leave it out with --devices, or set devices.numerics to fast");
}

}  // namespace mokume::opencl
