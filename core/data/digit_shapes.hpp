// The shapes of the built-in digits.
#pragma once

#include <cstdint>
#include <span>

namespace mokume::data {

// Hundredths of the unit square, y downwards.
struct ControlPoint {
  int8_t x, y;
};
using Stroke = std::span<const ControlPoint>;  // drawn as a Catmull-Rom curve through its points
using Glyph = std::span<const Stroke>;

// The ways to write a digit 0..9, most common first.
std::span<const Glyph> glyphs(int digit);

}  // namespace mokume::data
