// Defines the shapes of the built-in digits.
#pragma once

#include <cstdint>
#include <span>

namespace mokume::data {

// Holds coordinates in hundredths of the unit square; y points down.
struct ControlPoint {
  int8_t x, y;
};
using Stroke = std::span<const ControlPoint>;  // drawn as a Catmull-Rom curve through the points
using Glyph = std::span<const Stroke>;

// Returns the variants of a digit from 0 to 9.
std::span<const Glyph> glyphs(int digit);

}  // namespace mokume::data
