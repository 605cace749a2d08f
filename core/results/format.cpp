#include "results/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/text.hpp"

namespace mokume::results {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool allowed_in_xml(uint32_t code) {
  if (code < 0x20) return code == '\t' || code == '\n' || code == '\r';
  if (code >= 0x7F && code <= 0x9F) return false;  // legal, but invisible controls
  return code != 0xFFFE && code != 0xFFFF;
}

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// Returns the length of the well-formed UTF-8 sequence (Unicode table 3-7) at the start of `text`, or 0 if there is
// none. Sets `code` to its code point.
size_t decode(std::string_view text, uint32_t& code) {
  const auto first = static_cast<unsigned char>(text[0]);
  code = first;
  if (first < 0x80) return 1;
  const size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
  code = first & (0x7FU >> size);
  for (size_t i = 1; i < size; ++i) {
    if (starts_character(text[i])) return 0;
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool outside = code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF);
  return overlong || outside ? 0 : size;
}

void trim_zeros(std::string& text) {
  if (text.find('.') == std::string::npos) return;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
}

}  // namespace

std::string clean(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    uint32_t code = 0;
    const size_t size = decode(text, code);
    result += size > 0 && allowed_in_xml(code) ? text.substr(0, size) : kReplacement;
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return result;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string result = "\"";
  for (const char c : text) result.append(c == '"' ? 2 : 1, c);
  return result + '"';
}

size_t count_characters(std::string_view utf8) {
  return static_cast<size_t>(std::count_if(utf8.begin(), utf8.end(), starts_character));
}

std::string elide(std::string_view text, size_t limit) {
  std::string whole = clean(text);
  for (char& c : whole)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  if (count_characters(whole) <= limit || limit == 0) return whole;
  size_t end = 0;
  for (size_t seen = 0; end < whole.size(); ++end)
    if (starts_character(whole[end]) && ++seen == limit) break;
  return whole.substr(0, end) + "…";
}

std::string pretty(double value, int digits) {
  if (!std::isfinite(value)) return base::shortest(value);
  if (value == 0) return "0";
  // Rounds first, because 9.9996 in four digits is 10.
  std::string text = fmt::format("{:.{}e}", value, digits - 1);
  const size_t e = text.find('e');
  const int exponent = std::atoi(text.c_str() + e + 1);
  const bool plain = exponent >= -4 && exponent < 6;
  if (plain)
    text = fmt::format("{:.{}f}", value, std::max(0, digits - 1 - exponent));
  else
    text.erase(e);
  trim_zeros(text);
  return plain ? text : fmt::format("{}e{}", text, exponent);
}

std::string pretty(const search::Value& value) {
  const auto* real = std::get_if<double>(&value);
  return real != nullptr ? pretty(*real) : elide(search::to_text(value), 40);
}

std::string pretty_params(const search::Plan& plan, size_t candidate, const std::vector<size_t>& except) {
  std::string text;
  const auto& values = plan.candidates.at(candidate);
  for (size_t p = 0; p < std::min(plan.params.size(), values.size()); ++p)
    if (std::find(except.begin(), except.end(), p) == except.end())
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", elide(plan.params[p], 40), pretty(values[p]));
  return text;
}

std::string fit_name(const search::Plan& plan, uint32_t fit) {
  const bool bagging = plan.bootstraps > 1;
  if (plan.is_refit(fit)) return bagging ? fmt::format("the refit of bootstrap {}", fit - plan.n_fits()) : "the refit";
  const search::FitKey key = plan.key(fit);
  return fmt::format("fit {}: candidate {}{}, fold {}", fit, key.candidate,
                     bagging ? fmt::format(", bootstrap {}", key.bootstrap) : "", key.fold);
}

std::string Unit::text(double value) const {
  return percent && std::isfinite(value) ? spread(value) + "\u00A0%" : spread(value);
}

std::string Unit::spread(double value) const {
  if (!std::isfinite(value)) return kNoValue;
  return percent ? fmt::format("{:.2f}", factor * value) : pretty(value);
}

Unit unit_of(const Metric& metric) {
  const std::string name = elide(metric.name, 40);
  if (metric.name == "error" && !metric.integer) return {name, name + " (%)", 100, true};
  return {name, name, 1, false};
}

std::string seconds_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e9) return kNoValue;
  if (seconds < 10) return pretty(seconds, seconds < 1 ? 2 : 3) + "\u00A0s";
  return base::human_seconds(seconds);
}

std::string percent(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f}\u00A0%", 100 * share) : kNoValue;
}

std::string grouped(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t left = text.size(); left > 3; left -= 3) text.insert(left - 3, "\u202F");
  return text;
}

std::string counted(uint64_t count, const std::string& noun) {
  return grouped(count) + ' ' + noun + (count == 1 ? "" : "s");
}

}  // namespace mokume::results
