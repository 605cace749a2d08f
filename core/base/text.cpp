#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

namespace mokume::base {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = lower(c);
  return result;
}

void skip_spaces(std::string_view& text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
}

template <class Float>
std::string shortest_of(Float value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char text[64];
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

// Removes a number with an optional fraction from the front of `text`. Accepts no sign, exponent, "inf" or "nan".
std::optional<double> take_number(std::string_view& text) {
  if (text.empty() || (!is_digit(text.front()) && text.front() != '.')) return std::nullopt;
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (code != std::errc{} || !std::isfinite(value)) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

// Returns the optimal string alignment distance, i.e. uses Damerau's four edits but edits no substring twice. See
// Damerau, "A technique for computer detection and correction of spelling errors", CACM 7(3), 1964.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> two_up(b.size() + 1), up(b.size() + 1), row(b.size() + 1);
  std::iota(up.begin(), up.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({up[j] + 1, row[j - 1] + 1, up[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], two_up[j - 2] + 1);
    }
    two_up.swap(up);
    up.swap(row);
  }
  return up[b.size()];
}

// Returns whether the text begins with a control character: U+0000 to U+001F, U+007F, or U+0080 to U+009F.
bool begins_with_control(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  return first < 0x20 || first == 0x7F ||
         (first == 0xC2 && text.size() > 1 && static_cast<unsigned char>(text[1]) < 0xA0);
}

}  // namespace

std::string shortest(double value) { return shortest_of(value); }
std::string shortest(float value) { return shortest_of(value); }

std::string closest(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr size_t kMaxEdits = 2;
  const std::string wanted = lower(word);
  std::string best;
  size_t best_distance = std::min(kMaxEdits + 1, (wanted.size() + 1) / 2);
  for (const std::string& candidate : candidates) {
    if (candidate.size() > wanted.size() + kMaxEdits || wanted.size() > candidate.size() + kMaxEdits) continue;
    const size_t distance = edit_distance(wanted, lower(candidate));
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  return best;
}

std::string human_bytes(uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // 1023.95 would print as 1024.0.
  for (; value >= 1023.95 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string human_seconds(double seconds) {
  if (!(seconds >= 0) || seconds > 1e15) return "unknown";
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto s = static_cast<uint64_t>(std::llround(seconds));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  if (s < 24 * 3600) return fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
  return fmt::format("{} d {:02} h", s / (24 * 3600), s / 3600 % 24);
}

std::optional<double> parse_duration(std::string_view text) {
  struct Unit {
    char name;
    double seconds;
  };
  constexpr std::array<Unit, 4> kUnits = {{{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}}};
  const std::string trimmed = trim(text);
  std::string_view rest = trimmed;
  if (rest.empty()) return std::nullopt;
  double total = 0;
  size_t next = 0;  // units go from large to small, each at most once
  while (!rest.empty()) {
    const std::optional<double> number = take_number(rest);
    if (!number || rest.empty()) return std::nullopt;
    while (next < kUnits.size() && kUnits[next].name != rest.front()) ++next;
    if (next == kUnits.size()) return std::nullopt;
    total += *number * kUnits[next++].seconds;
    rest.remove_prefix(1);
    skip_spaces(rest);
  }
  return std::isfinite(total) ? std::optional(total) : std::nullopt;
}

std::optional<uint64_t> parse_bytes(std::string_view text) {
  const std::string trimmed = lower(trim(text));
  uint64_t whole = 0;
  const char* end = trimmed.data() + trimmed.size();
  // Whole numbers of bytes are exact even above 2^53.
  if (const auto [at, code] = std::from_chars(trimmed.data(), end, whole); code == std::errc{} && at == end)
    return whole;
  std::string_view rest = trimmed;
  const std::optional<double> number = take_number(rest);
  if (!number) return std::nullopt;
  skip_spaces(rest);
  constexpr std::string_view kPrefixes = "kmgtpe";
  double factor = 1;
  if (rest.size() > 1) {
    const size_t power = kPrefixes.find(rest.front());
    if (power == std::string_view::npos) return std::nullopt;
    const std::string_view unit = rest.substr(1);
    if (unit != "b" && unit != "ib") return std::nullopt;
    factor = std::pow(unit == "ib" ? 1024.0 : 1000.0, static_cast<double>(power + 1));
  } else if (rest != "b") {
    return std::nullopt;
  }
  const double bytes = std::floor(*number * factor);
  if (!(bytes < 0x1p64)) return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string trim(std::string_view text) {
  skip_spaces(text);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return std::string(text);
}

size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto in = [&](size_t i, unsigned low, unsigned high) { return byte(i) >= low && byte(i) <= high; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return in(1, 0x80, 0xBF) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool second = in(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF);
    return second && in(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool second = in(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF);
    return second && in(2, 0x80, 0xBF) && in(3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}

std::string without_controls(std::string_view text, std::string_view keep) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const bool kept = keep.find(text.front()) != std::string_view::npos;
    const bool bad = length == 0 || (begins_with_control(text) && !kept);
    result += bad ? std::string_view("?") : text.substr(0, length);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return result;
}

}  // namespace mokume::base
