// What a model reports of a fit, checked before anything is made of it.
#pragma once

#include <string>
#include <vector>

#include "abi/model.h"
#include "journal/record.hpp"

namespace mokume::node {

constexpr uint32_t kMaxCurves = 16;
constexpr size_t kMaxCurveName = 64;
constexpr uint32_t kMaxCurveValues = 1000000;

// The curves of a report as the journal keeps them. Error(MK_INTERNAL) that names the curve and the rule it breaks: at
// most kMaxCurves curves with names of their own, 1 to kMaxCurveName printable ASCII characters without quotes and
// backslashes, of at most kMaxCurveValues values each.
std::vector<journal::Curve> curves_of(const mk_fit_result& result);

// "" for NULL.
std::string note_of(const mk_fit_result& result);

}  // namespace mokume::node
