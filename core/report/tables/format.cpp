#include "report/tables/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/text.hpp"

namespace mokume::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool allowed_in_xml(uint32_t code) {
  if (code < 0x20) return code == '\t' || code == '\n' || code == '\r';
  if (code >= 0x7F && code <= 0x9F) return false;  // legal, but invisible controls
  return code != 0xFFFE && code != 0xFFFF;
}

// The length of the well-formed UTF-8 sequence at the front of `text` (Unicode table 3-7) and its code; 0 if none.
size_t decode(std::string_view text, uint32_t& code) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  code = first;
  if (first < 0x80) return 1;
  const size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
  code = first & (0x7FU >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3FU);
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

std::string escape(std::string_view text) {
  std::string result;
  for (const char c : clean(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      case '\r':
        result += "&#13;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

size_t count_characters(std::string_view utf8) {
  return static_cast<size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string elide(std::string_view text, size_t limit) {
  std::string whole = clean(text);
  std::replace_if(
      whole.begin(), whole.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  if (count_characters(whole) <= limit || limit == 0) return whole;
  size_t end = 0;
  for (size_t seen = 0; end < whole.size(); ++end) {
    if ((static_cast<unsigned char>(whole[end]) & 0xC0) != 0x80 && ++seen == limit) break;
  }
  return whole.substr(0, end) + "\xE2\x80\xA6";
}

std::string pretty(double value, int digits) {
  if (!std::isfinite(value)) return base::shortest(value);
  if (value == 0) return "0";
  // Rounding first: 9.9996 in four digits is 10.
  std::string text = fmt::format("{:.{}e}", value, digits - 1);
  const size_t e = text.find('e');
  const int exponent = std::atoi(text.c_str() + e + 1);
  if (exponent >= -4 && exponent < 6) {
    text = fmt::format("{:.{}f}", value, std::max(0, digits - 1 - exponent));
    trim_zeros(text);
    return text;
  }
  text.erase(e);
  trim_zeros(text);
  return fmt::format("{}e{}", text, exponent);
}

std::string pretty(const search::Value& value) {
  if (const auto* real = std::get_if<double>(&value)) return pretty(*real);
  if (const auto* integer = std::get_if<int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return elide(std::get<std::string>(value), 40);
}

std::string pretty_params(const search::Plan& plan, size_t candidate, const std::vector<size_t>& except) {
  std::string text;
  const auto& values = plan.candidates.at(candidate);
  for (size_t p = 0; p < std::min(plan.params.size(), values.size()); ++p) {
    if (std::find(except.begin(), except.end(), p) != except.end()) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} = {}", elide(plan.params[p], 40), pretty(values[p]));
  }
  return text;
}

std::string Unit::text(double value) const {
  if (!std::isfinite(value)) return "\xE2\x80\x93";
  return percent ? spread(value) + "\xC2\xA0%" : spread(value);
}

std::string Unit::spread(double value) const {
  if (!std::isfinite(value)) return "\xE2\x80\x93";
  return percent ? fmt::format("{:.2f}", factor * value) : pretty(value);
}

Unit unit_of(const Metric& metric) {
  const std::string name = elide(metric.name, 40);
  if (metric.name == "error" && !metric.integer) return {name, name + " (%)", 100, true};
  return {name, name, 1, false};
}

std::string seconds_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e9) return "\xE2\x80\x93";
  if (seconds < 10) return pretty(seconds, seconds < 1 ? 2 : 3) + "\xC2\xA0s";
  return base::human_seconds(seconds);
}

std::string percent(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f}\u00A0%", 100 * share) : std::string("–");
}

std::string grouped(uint64_t count) {
  const std::string digits = fmt::format("{}", count);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += "\xE2\x80\xAF";
    text += digits[i];
  }
  return text;
}

}  // namespace mokume::report
