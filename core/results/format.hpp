// Formats text for people and files: CSV fields, short numbers, units. All functions accept arbitrary bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "results/view.hpp"

namespace mokume::results {

// Returns valid UTF-8. Replaces invalid bytes, invisible controls and characters that XML 1.0 forbids by U+FFFD.
std::string clean(std::string_view text);

// Quotes the field of a CSV file by RFC 4180 if necessary.
std::string csv_field(std::string_view text);

// Returns at most `limit` characters of clean() text, with an ellipsis if more follow. Line breaks become spaces.
std::string elide(std::string_view text, size_t limit);

size_t count_characters(std::string_view utf8);

inline constexpr const char* kNoValue = "–";

// Returns about `digits` significant digits without trailing zeros, such as "0.00202", or with an exponent if a plain
// number would be long, such as "1.5e-7".
std::string pretty(double value, int digits = 4);
std::string pretty(const search::Value& value);

// Returns the candidate's parameters that are not in `except`, such as "C = 13.5, gamma = 0.00202", or "".
std::string pretty_params(const search::Plan& plan, size_t candidate, const std::vector<size_t>& except = {});

// Returns "fit 17: candidate 3, fold 2" or "the refit", with the bootstrap if the plan has several.
std::string fit_name(const search::Plan& plan, uint32_t fit);

// Describes the display unit of a metric. Only the share called "error" is shown in percent.
struct Unit {
  std::string name;   // "error"
  std::string title;  // "error (%)"
  double factor = 1;  // text() shows factor * value
  bool percent = false;

  std::string text(double value) const;    // such as "1.52 %"; kNoValue if not finite
  std::string spread(double value) const;  // like text(), without the unit
};
Unit unit_of(const Metric& metric);

// Returns a text such as "42 s" or "2 h 05 min", or kNoValue if `seconds` is not a duration.
std::string seconds_text(double seconds);

// Returns a text such as "99.5 %", or kNoValue if `share` is not finite.
std::string percent(double share);

// Returns a text such as "12 345", in groups of three digits with narrow no-break spaces between them.
std::string grouped(uint64_t count);

// Returns a text such as "1 fit" or "1 234 fits".
std::string counted(uint64_t count, const std::string& noun);

}  // namespace mokume::results
