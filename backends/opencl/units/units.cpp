#include "units/units.hpp"

#include <cstdlib>
#include <string_view>
#include <vector>

#include "gemm/tile.hpp"
#include "runtime/buffer.hpp"
#include "runtime/copy.hpp"
#include "runtime/wait.hpp"

namespace mokume::opencl {
namespace {

// Two terms of bf16 share a word, so BK is a multiple of 16.
constexpr Tile kUnitTiles[] = {{128, 128, 16, 8, 8},     {128, 64, 16, 8, 4, 0.9}, {64, 128, 16, 4, 8, 0.9},
                               {64, 64, 16, 4, 4, 0.8},  {128, 32, 16, 8, 4, 0.8}, {32, 128, 16, 4, 8, 0.8},
                               {64, 16, 16, 4, 4, 0.6},  {16, 64, 16, 4, 4, 0.6}};

struct Unit {
  const char* name;
  const char* macro;
  int64_t lanes, block_n;  // work-items of a sub-group, and columns of a block
  bool emulated;
};
constexpr Unit kUnits[] = {{"mma", "MMA", 32, 8, false},
                           {"mfma", "MFMA", 64, 16, false},
                           {"emulated_mma", "MMA", 32, 8, true},
                           {"emulated_mfma", "MFMA", 64, 16, true}};

const Unit* unit_of(const mk_device& device) {
  for (const Unit& unit : kUnits)
    if (device.choices.units == unit.name) return &unit;
  return nullptr;
}

int64_t terms_of_word(const mk_device& device) { return device.choices.precision == "bf16" ? 2 : 1; }

// Returns the columns of the tile that a sub-group computes. Both sides are multiples of 16, and about equal, because a
// sub-group loads as many words as both sides together have.
int64_t columns_of(const Unit& unit, const Tile& t) {
  const int64_t area = int64_t{t.bm} * t.bn * unit.lanes / t.items();
  int64_t best = 0, least = 0;
  for (int64_t columns = 16; columns <= t.bn; columns *= 2) {
    const int64_t rows = area / columns;
    if (rows % 16 != 0 || rows > t.bm) continue;
    if (best == 0 || rows + columns < least) {
      best = columns;
      least = rows + columns;
    }
  }
  return best;
}

// Returns the units that the device should have, or "none". v_mfma_f32_16x16x8_xf32 exists on gfx942 only.
std::string expected_units(const mk_device& device) {
  if (device.info.kind != MK_DEVICE_GPU) return "none";
  const std::string_view vendor = device.info.vendor, isa = device.info.isa;
  if (vendor.find("NVIDIA") != std::string_view::npos) return "mma";
  return isa.starts_with("gfx942") ? "mfma" : "none";
}

void copy(mk_queue& queue, mk_copy_kind kind, mk_buffer& buffer, std::vector<float>& values) {
  const bool write = kind == MK_COPY_WRITE;
  const mk_copy what{kind, 0, write ? nullptr : &buffer, write ? &buffer : nullptr, values.data(), 0, 0,
                     values.size() * 4};
  Launcher launcher(queue, false);
  launcher.enqueue_foreign([&](cl_event* done) { enqueue_copy(queue, what, done); });
}

// Multiplies matrices of small integers, whose products and sums are exact in every precision and order.
bool multiplies_integers(mk_device& device) {
  constexpr int64_t kSide = 48;
  std::vector<float> a(kSide * kSide), b(kSide * kSide), out(kSide * kSide);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>((i * 7 + i / 5) % 9) - 4;
    b[i] = static_cast<float>((i * 5 + i / 3) % 7) - 3;
  }
  const std::unique_ptr<mk_queue> queue = create_queue(device, false);
  mk_buffer in_a = create_buffer(device, a.size() * 4), in_b = create_buffer(device, b.size() * 4),
            result = create_buffer(device, out.size() * 4);
  copy(*queue, MK_COPY_WRITE, in_a, a);
  copy(*queue, MK_COPY_WRITE, in_b, b);
  Problem p{};
  Product& q = p.product;
  q.alpha = 1;
  q.m = q.n = q.k = kSide;
  q.a = {0, kSide, 1};
  q.b = {0, 1, kSide};
  q.out = {0, kSide, 1};
  p.a = in_a.memory.get();
  p.b = in_b.memory.get();
  p.out = p.bias = result.memory.get();
  {
    Launcher launcher(*queue, false);
    gemm_tile(launcher, p);
  }
  copy(*queue, MK_COPY_READ, result, out);
  finish(*queue);
  for (size_t m = 0; m < kSide; ++m)
    for (size_t n = 0; n < kSide; ++n) {
      float sum = 0;
      for (size_t k = 0; k < kSide; ++k) sum += a[m * kSide + k] * b[k * kSide + n];
      if (sum != out[m * kSide + n]) return false;
    }
  return true;
}

// Returns why the device cannot use its units, or "".
std::string refusal(mk_device& device) {
  if (!has_units(device)) return "it has no matrix units that mokume knows";
  try {
    return multiplies_integers(device) ? "" : "its matrix units gave a wrong product";
  } catch (const Error& e) {
    return std::string("its compiler refuses matrix units: ") + e.what();
  }
}

std::vector<std::string> fp32_first(const mk_device&) { return {"fp32"}; }
std::vector<std::string> no_units(const mk_device&) { return {"none"}; }

}  // namespace

void choose_units(mk_device& device) {
  Choices& choices = device.choices;
  if (choices.precision.empty()) choices.precision = "fp32";
  if (choices.precision == "fp32") {
    choices.units = "none";
    return;
  }
  if (choices.units.empty()) choices.units = expected_units(device);
  const std::string why = refusal(device);
  if (why.empty()) {
    choices.gemm = "tile";
    choices.conv = "implicit";
    return;
  }
  device.host.log(MK_LOG_NOTE, "opencl",
                  std::string(device.info.name) + " computes in fp32, not in " + choices.precision + ": " + why);
  choices.precision = "fp32";
  choices.units = "none";
}

std::span<const Tile> unit_tiles() { return kUnitTiles; }

std::string unit_macros(const mk_device& device, const Tile& t) {
  const Unit* unit = unit_of(device);
  if (unit == nullptr) return "";
  const int64_t columns = columns_of(*unit, t), rows = int64_t{t.bm} * t.bn * unit->lanes / t.items() / columns;
  return std::string(" -DUNIT=") + unit->macro + " -DTERMS=" + std::to_string(terms_of_word(device)) +
         " -DWM=" + std::to_string(rows) + " -DWN=" + std::to_string(columns) + (unit->emulated ? " -DEMULATED" : "");
}

int64_t local_floats(const mk_device& device, const Tile& t) {
  const Unit* unit = unit_of(device);
  if (unit == nullptr) return int64_t{2} * t.bk * (t.bm + t.bn + 8);
  const int64_t scratch = unit->emulated ? t.items() / unit->lanes * 8 * (16 + unit->block_n) : 0;
  return 2 * t.bk / terms_of_word(device) * (t.bm + t.bn + 16) + scratch;
}

const VariantSet kPrecisionVariants{"precision", &Choices::precision, {"fp32", "tf32", "bf16"}, {}, fp32_first, nullptr};
const VariantSet kUnitVariants{
    "units", &Choices::units, {"none", "mma", "mfma", "emulated_mma", "emulated_mfma"}, {}, no_units, nullptr};

}  // namespace mokume::opencl
