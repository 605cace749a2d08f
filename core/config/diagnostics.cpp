#include "config/diagnostics.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include "base/text.hpp"

namespace mokume::config {
namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

auto order_of(const Location& l) { return std::tie(l.set, l.line, l.column); }

// Splits a text into lines, without line ends.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);  // the byte order mark takes no column
    begins_.push_back(0);
    for (size_t at = 0; (at = text_.find('\n', at)) != std::string_view::npos;) begins_.push_back(++at);
  }

  std::string_view line(uint32_t number) const {
    if (number == 0 || number > begins_.size()) return {};
    std::string_view line = text_.substr(begins_[number - 1]);
    line = line.substr(0, line.find('\n'));
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

 private:
  std::string_view text_;
  std::vector<size_t> begins_;
};

// Holds the visible part of a line, and the number of characters that are cut off before it.
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
    line.remove_prefix(byte_of(line, window.cut));
    line = line.substr(0, byte_of(line, kWidth));
  }
  window.text = base::without_controls(line, "\t");
  return window;
}

std::string draw(const Diagnostic& d, const Lines& lines) {
  std::string block = "error: " + d.message + "\n";
  if (d.line == 0) {
    block += fmt::format("  --> {}\n", d.file);
    for (const std::string& more : {d.hint, d.note})
      if (!more.empty()) block += fmt::format("   = {}\n", more);
    return block;
  }
  const std::string number = d.set == 0 ? std::to_string(d.line) : " ";
  const std::string margin(number.size(), ' ');
  const Window window = window_of(lines.line(d.line), d.column);
  // The line of carets repeats tabs, so that the carets align with the marked text at any tab width.
  const size_t shown = d.column > window.cut ? d.column - window.cut - 1 : 0;
  std::string before;
  for (std::string_view rest = window.text; !rest.empty() && before.size() < shown;
       rest.remove_prefix(byte_of(rest, 1)))
    before += rest.front() == '\t' ? '\t' : ' ';
  before.resize(shown, ' ');
  const size_t room = std::max<size_t>(characters(window.text), shown + 1) - shown;
  const std::string carets(std::clamp<size_t>(d.length, 1, room), '^');

  block += d.set == 0 ? fmt::format("{}--> {}:{}:{}\n", margin, d.file, d.line, d.column)
                      : fmt::format("{}--> {}, column {}\n", margin, d.file, d.column);
  block += fmt::format("{0} |\n{1} | {2}\n{0} | {3}{4}{5}{6}\n", margin, number, window.text, before, carets,
                       d.hint.empty() ? "" : " ", d.hint);
  if (!d.note.empty()) block += fmt::format("{} = {}\n", margin, d.note);
  return block;
}

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

std::string Diagnostics::file_name(uint32_t set) const {
  return set == 0 ? file_ : fmt::format("--set argument {}", set);
}

std::string Diagnostics::where(const Location& location) const {
  std::string name = file_name(location.set);
  if (location.line == 0) return name;
  return location.set != 0 ? fmt::format("{}, column {}", name, location.column)
                           : fmt::format("{}:{}:{}", name, location.line, location.column);
}

void Diagnostics::add(const Location& location, std::string message, std::string hint, std::string note) {
  all_.push_back({location, file_name(location.set), std::move(message), std::move(hint), std::move(note)});
  all_.back().length = std::max(location.length, 1U);
}

void Diagnostics::merge(Diagnostics other, const std::string& note) {
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> taken;
  for (const Diagnostic& d : all_) taken.insert(order_of(d));
  for (Diagnostic& d : other.all_) {
    if (taken.count(order_of(d)) != 0) continue;
    if (d.note.empty()) d.note = note;
    all_.push_back(std::move(d));
  }
}

std::vector<Diagnostic> Diagnostics::take() {
  std::stable_sort(all_.begin(), all_.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return order_of(a) < order_of(b); });
  return std::move(all_);
}

std::string render(const Diagnostic& diagnostic, const std::string& text) { return draw(diagnostic, Lines(text)); }

std::string render_all(const std::vector<Diagnostic>& diagnostics, const std::string& text,
                       const std::vector<std::string>& sets) {
  const Lines file(text);
  std::string result;
  for (const Diagnostic& d : diagnostics) {
    if (!result.empty()) result += '\n';
    result += d.set == 0 ? draw(d, file) : draw(d, Lines(d.set <= sets.size() ? sets[d.set - 1] : ""));
  }
  return result;
}

}  // namespace mokume::config
