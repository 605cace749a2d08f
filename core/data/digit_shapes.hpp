// The shapes of the built-in digits.
#pragma once

#include <cstdint>
#include <span>

namespace mokume::data {

// Coordinates in hundredths of the unit square; y points down.
struct ControlPoint {
  int8_t x, y;
};
using Stroke = std::span<const ControlPoint>;  // drawn as a Catmull-Rom curve through the points
using Glyph = std::span<const Stroke>;

// Returns the variants of a digit 0..9, most common first.
std::span<const Glyph> glyphs(int digit);

}  // namespace mokume::data
