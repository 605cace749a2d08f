#include "config/wording.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace mokume::config {
namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

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

std::string printable(std::string_view text, size_t limit) {
  return base::without_controls(text.substr(0, byte_of(text, limit))) + (characters(text) > limit ? "..." : "");
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
