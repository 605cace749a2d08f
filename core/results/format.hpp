// Text for people and files: CSV fields, short numbers, units of a metric. All functions accept arbitrary bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "results/view.hpp"

namespace mokume::results {

// Returns valid UTF-8 without the characters that XML 1.0 forbids; each offending byte or character becomes U+FFFD.
std::string clean(std::string_view text);

// Quotes the field of a CSV file by RFC 4180 if necessary.
std::string csv_field(std::string_view text);

// Returns at most `limit` characters, the last one an ellipsis if some were cut; line breaks become spaces.
std::string elide(std::string_view text, size_t limit);

size_t count_characters(std::string_view utf8);

inline constexpr const char* kNoValue = "–";

// Returns about `digits` significant digits without trailing zeros, with an exponent if a plain number would be long:
// "0.00202", "1.5e-7".
std::string pretty(double value, int digits = 4);
std::string pretty(const search::Value& value);

// Returns "C = 13.5, gamma = 0.00202", a candidate's parameters without those in `except`; "" if none are left.
std::string pretty_params(const search::Plan& plan, size_t candidate, const std::vector<size_t>& except = {});

// Returns "fit 17: candidate 3, fold 2" or "the refit"; with the bootstrap if the plan has several.
std::string fit_name(const search::Plan& plan, uint32_t fit);

// The display unit of a metric: the share called "error" is in percent, everything else is unchanged.
struct Unit {
  std::string name;   // "error"
  std::string title;  // "error (%)"
  double factor = 1;  // shown = factor * value
  bool percent = false;

  std::string text(double value) const;    // "1.52 %"; kNoValue if not finite
  std::string spread(double value) const;  // like text(), without the unit
};
Unit unit_of(const Metric& metric);

// Returns text like "42 s" or "2 h 05 min"; kNoValue if not a duration.
std::string seconds_text(double seconds);

// Returns text like "99.5 %"; kNoValue if not finite.
std::string percent(double share);

// Returns text like "12 345": groups of three, separated by a no-break thin space.
std::string grouped(uint64_t count);

// Returns text like "1 fit" or "1 234 fits".
std::string counted(uint64_t count, const std::string& noun);

}  // namespace mokume::results
