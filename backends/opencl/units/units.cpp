#include "units/units.hpp"

#include <cstdlib>
#include <string_view>
#include <vector>

#include "units/unit_probe.embed.hpp"

namespace mokume::opencl {
namespace {

// Two terms of bf16 share a word, so BK is a multiple of 16.
constexpr Tile kUnitTiles[] = {{128, 128, 16, 8, 8},    {128, 64, 16, 8, 4, 0.9}, {64, 128, 16, 4, 8, 0.9},
                               {64, 64, 16, 4, 4, 0.8}, {128, 32, 16, 8, 4, 0.8}, {32, 128, 16, 4, 8, 0.8},
                               {64, 16, 16, 4, 4, 0.6}, {16, 64, 16, 4, 4, 0.6}};

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

const Unit* unit_of(const Choices& choices) {
  for (const Unit& unit : kUnits)
    if (choices.units == unit.name) return &unit;
  return nullptr;
}

int64_t terms_of_word(const Choices& choices) { return choices.precision == "bf16" ? 2 : 1; }

std::string instruction_macros(const Choices& choices, const Unit& unit) {
  return std::string(" -DUNIT=") + unit.macro + " -DTERMS=" + std::to_string(terms_of_word(choices)) +
         (unit.emulated ? " -DEMULATED" : "");
}

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
std::string expected_units(const mk_device_info& info) {
  if (info.kind != MK_DEVICE_GPU) return "none";
  const std::string_view vendor = info.vendor, isa = info.isa;
  constexpr int kAmpere = 80;  // the first with tf32 and bf16
  if (vendor.find("NVIDIA") != std::string_view::npos && isa.starts_with("sm_"))
    return std::atoi(info.isa + 3) >= kAmpere ? "mma" : "none";
  return isa.starts_with("gfx942") ? "mfma" : "none";
}

// Returns why the device cannot use its units, or "".
std::string refusal(const Choices& choices, const TryUnits& try_units) {
  const Unit* unit = unit_of(choices);
  if (unit == nullptr) return "it has no matrix units that mokume knows";
  const int64_t terms = 8 * terms_of_word(choices);
  const std::string problem = try_units(
      {"-cl-std=CL1.2" + instruction_macros(choices, *unit), kUnitsUnitProbe, unit->lanes, unit->block_n, terms});
  return problem.empty() ? "" : "it cannot use its matrix units: " + problem;
}

std::vector<std::string> fp32_first(const mk_device&) { return {"fp32"}; }
std::vector<std::string> no_units(const mk_device&) { return {"none"}; }

}  // namespace

Choices choose_units(const sdk::Host& host, const mk_device_info& info, Choices given, const TryUnits& try_units) {
  const bool recorded = !given.units.empty();
  if (given.precision.empty()) given.precision = "fp32";
  if (given.precision == "fp32") {
    given.units = "none";
    return given;
  }
  if (!recorded) given.units = expected_units(info);
  const std::string why = refusal(given, try_units);
  if (why.empty()) {
    given.gemm = "tile";
    given.conv = "implicit";
    return given;
  }
  if (recorded)
    throw Error(MK_DEVICE_ERROR, "opencl: the run has recorded products in " + given.precision + " by " + given.units +
                                     ", but " + why + ": leave the device out with --devices, or start a new run");
  host.log(MK_LOG_NOTE, "opencl", std::string(info.name) + " computes in fp32, not in " + given.precision + ": " + why);
  given.precision = "fp32";
  given.units = "none";
  return given;
}

std::span<const Tile> unit_tiles() { return kUnitTiles; }

bool with_units(const mk_device& device, const Problem& p) {
  return p.may_round && !device.choices.strict() && unit_of(device.choices) != nullptr;
}

std::string unit_macros(const mk_device& device, const Problem& p, const Tile& t) {
  if (!with_units(device, p)) return "";
  const Unit& unit = *unit_of(device.choices);
  const int64_t columns = columns_of(unit, t), rows = int64_t{t.bm} * t.bn * unit.lanes / t.items() / columns;
  return instruction_macros(device.choices, unit) + " -DWM=" + std::to_string(rows) +
         " -DWN=" + std::to_string(columns);
}

int64_t local_floats(const mk_device& device, const Problem& p, const Tile& t) {
  if (!with_units(device, p)) return int64_t{2} * t.bk * (t.bm + t.bn + 8);
  const Unit& unit = *unit_of(device.choices);
  const int64_t scratch = unit.emulated ? t.items() / unit.lanes * 8 * (16 + unit.block_n) : 0;
  return 2 * t.bk / terms_of_word(device.choices) * (t.bm + t.bn + 16) + scratch;
}

const VariantSet kPrecisionVariants{"precision", &Choices::precision, {"fp32", "tf32", "bf16"},
                                    {},          fp32_first,          nullptr};
const VariantSet kUnitVariants{"units", &Choices::units, {"none", "mma", "mfma", "emulated_mma", "emulated_mfma"},
                               {},      no_units,        nullptr};

}  // namespace mokume::opencl
