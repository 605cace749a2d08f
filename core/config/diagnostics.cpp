#include "config/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace mokume::config {
namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

// Control characters and broken UTF-8 become '?', so that a hostile file cannot reach the terminal.
std::string clean(std::string_view text, bool keep_tabs) {
  std::string result;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const bool bad = length == 0 || (is_control(text.front()) && !(keep_tabs && text.front() == '\t'));
    result += bad ? std::string_view("?") : text.substr(0, length);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return result;
}

// The byte at which character `index` (from 0) of `text` begins.
size_t byte_of(std::string_view text, size_t index) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (continues_character(text[at])) continue;
    if (index-- == 0) break;
  }
  return at;
}

// The lines of a text without their ends.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") text_.remove_prefix(3);  // the byte order mark has no column
    begins_.push_back(0);
    for (size_t at = 0; (at = text_.find('\n', at)) != std::string_view::npos;) begins_.push_back(++at);
  }

  std::string_view line(uint32_t number) const {
    if (number == 0 || number > begins_.size()) return {};
    std::string_view line = text_.substr(begins_[number - 1]);
    line = line.substr(0, line.find('\n'));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
  }

 private:
  std::string_view text_;
  std::vector<size_t> begins_;
};

// The part of a line that is shown, and how many of its characters were cut off in front.
struct Window {
  std::string text;
  size_t cut = 0;
};

Window window_of(std::string_view line, size_t column) {
  constexpr size_t kWidth = 160;
  constexpr size_t kBefore = 60;
  Window window;
  if (characters(line) > kWidth) {
    window.cut = column > kBefore ? column - kBefore : 0;
    const size_t begin = byte_of(line, window.cut);
    line = line.substr(begin, byte_of(line.substr(begin), kWidth));
  }
  window.text = clean(line, true);
  return window;
}

std::string draw(const Diagnostic& d, const Lines& lines) {
  std::string block = "error: " + d.message + "\n";
  if (d.line == 0) {
    block += fmt::format("  --> {}\n", d.file);
    if (!d.hint.empty()) block += fmt::format("   = {}\n", d.hint);
    if (!d.note.empty()) block += fmt::format("   = {}\n", d.note);
    return block;
  }
  const std::string number = d.set == 0 ? std::to_string(d.line) : " ";
  const std::string margin(number.size(), ' ');
  const Window window = window_of(lines.line(d.line), d.column);
  // Tabs are repeated so that the carets stand under what they mean, however wide a tab is.
  std::string before;
  const size_t shown = d.column > window.cut ? d.column - window.cut - 1 : 0;
  for (const char c : std::string_view(window.text).substr(0, byte_of(window.text, shown)))
    if (!continues_character(c)) before += c == '\t' ? '\t' : ' ';
  before.resize(std::max(before.size(), shown), ' ');
  const size_t room = std::max<size_t>(characters(window.text), shown + 1) - shown;
  const std::string carets(std::clamp<size_t>(d.length, 1, room), '^');

  block += d.set == 0 ? fmt::format("{}--> {}:{}:{}\n", margin, d.file, d.line, d.column)
                      : fmt::format("{}--> {}, column {}\n", margin, d.file, d.column);
  block += fmt::format("{} |\n", margin);
  block += fmt::format("{} | {}\n", number, window.text);
  block += fmt::format("{} | {}{}{}{}\n", margin, before, carets, d.hint.empty() ? "" : " ", d.hint);
  if (!d.note.empty()) block += fmt::format("{} = {}\n", margin, d.note);
  return block;
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

uint32_t characters(std::string_view text) {
  return static_cast<uint32_t>(std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

std::string printable(std::string_view text, size_t limit) {
  const bool cut = characters(text) > limit;
  const std::string result = clean(text.substr(0, byte_of(text, limit)), false);
  return cut ? result + "..." : result;
}

std::string Quoted::operator()(std::string_view text) const { return "'" + printable(text) + "'"; }

std::string Findings::file_name(uint32_t set) const { return set == 0 ? file_ : fmt::format("--set argument {}", set); }

std::string Findings::where(const Place& place) const {
  if (place.line == 0) return file_name(place.set);
  if (place.set != 0) return fmt::format("{}, column {}", file_name(place.set), place.column);
  return fmt::format("{}:{}:{}", file_, place.line, place.column);
}

void Findings::add(const Place& place, std::string message, std::string hint, std::string note) {
  Diagnostic d;
  d.file = file_name(place.set);
  d.line = place.line;
  d.column = place.column;
  d.length = std::max(place.length, 1U);
  d.message = std::move(message);
  d.hint = std::move(hint);
  d.note = std::move(note);
  d.set = place.set;
  found_.push_back(std::move(d));
}

void Findings::merge(Findings other, const std::string& note) {
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> taken;
  for (const Diagnostic& d : found_) taken.emplace(d.set, d.line, d.column);
  for (Diagnostic& d : other.found_) {
    if (taken.count({d.set, d.line, d.column}) != 0) continue;
    if (d.note.empty()) d.note = note;
    found_.push_back(std::move(d));
  }
}

std::vector<Diagnostic> Findings::take() {
  std::stable_sort(found_.begin(), found_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.set, a.line, a.column) < std::tie(b.set, b.line, b.column);
  });
  return std::move(found_);
}

std::string render(const Diagnostic& diagnostic, const std::string& text) { return draw(diagnostic, Lines(text)); }

std::string render_all(const std::vector<Diagnostic>& diagnostics, const std::string& text,
                       const std::vector<std::string>& sets) {
  const Lines file(text);
  std::string result;
  for (const Diagnostic& d : diagnostics) {
    if (!result.empty()) result += '\n';
    if (d.set == 0) {
      result += draw(d, file);
    } else {
      result += draw(d, Lines(d.set <= sets.size() ? std::string_view(sets[d.set - 1]) : std::string_view()));
    }
  }
  return result;
}

}  // namespace mokume::config
