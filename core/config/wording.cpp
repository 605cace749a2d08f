#include "config/wording.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace mokume::config {
namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// Whether the text begins with a character that controls a terminal: U+0000 to U+001F, U+007F, or U+0080 to U+009F.
bool begins_with_control(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  return first < 0x20 || first == 0x7F ||
         (first == 0xC2 && text.size() > 1 && static_cast<unsigned char>(text[1]) < 0xA0);
}

}  // namespace

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

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

uint32_t characters(std::string_view text) {
  return static_cast<uint32_t>(std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

size_t byte_of(std::string_view text, size_t index) {
  size_t at = 0;
  for (; at < text.size(); ++at)
    if (!continues_character(text[at]) && index-- == 0) break;
  return at;
}

std::string clean(std::string_view text, bool keep_tabs) {
  std::string result;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const bool bad = length == 0 || (begins_with_control(text) && !(keep_tabs && text.front() == '\t'));
    result += bad ? std::string_view("?") : text.substr(0, length);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return result;
}

std::string printable(std::string_view text, size_t limit) {
  return clean(text.substr(0, byte_of(text, limit)), false) + (characters(text) > limit ? "..." : "");
}

std::string in_quotes(std::string_view text) { return "'" + printable(text) + "'"; }

std::string join(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

std::string closest(const std::string& word, const std::vector<std::string>& known) {
  return base::closest(printable(word), known);
}

std::string suggest(const std::string& word, const std::vector<std::string>& known) {
  const std::string best = closest(word, known);
  return best.empty() ? "" : fmt::format("did you mean '{}'?", best);
}

}  // namespace mokume::config
