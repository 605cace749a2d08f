#pragma once
// Defines the factor of averages (sdk/ops/avg_pool.hpp).
#include "formulas/math.cl"

// Returns 1 / the number of pixels of an area.
FORMULA vec share_of(int height, int width) { return reciprocal(SPLAT((float)height * (float)width)); }
