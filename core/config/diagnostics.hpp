// Collects the errors of an experiment file in one pass and shows each with its location and a caret. Also prepares
// texts for messages: UTF-8, quotes, lists and suggestions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mokume::config {

// Holds a position in the file (set = 0) or in --set argument number `set`. Lines and columns count from 1, and columns
// count characters. Line 0 means no position.
struct Location {
  uint32_t set = 0;
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t length = 1;  // number of underlined characters
};

struct Diagnostic : Location {
  std::string file;     // name of the file, or e.g. "--set argument 2"
  std::string message;  // e.g. "unknown key 'gama' in [search.params]"
  std::string hint;     // e.g. "did you mean 'gamma'?", or ""
  std::string note;     // e.g. "svc takes: C, gamma", or ""
};

class Diagnostics {
 public:
  explicit Diagnostics(std::string file) : file_(std::move(file)) {}

  void add(const Location& location, std::string message, std::string hint = "", std::string note = "");
  // Takes over the diagnostics of `other` at locations that have none yet, and adds `note` to those without a note.
  void merge(Diagnostics other, const std::string& note = "");
  Diagnostics empty_copy() const { return Diagnostics(file_); }
  bool empty() const { return all_.empty(); }
  size_t size() const { return all_.size(); }

  // Returns text like "svm.toml:17:1" or "--set argument 2, column 5".
  std::string where(const Location& location) const;

  // Returns the diagnostics sorted by location: first those without a location, then the file, then the --set
  // arguments.
  std::vector<Diagnostic> take();

 private:
  std::string file_name(uint32_t set) const;

  std::string file_;
  std::vector<Diagnostic> all_;
};

// Renders a diagnostic together with the line of `text`, which is the text of the file or of the --set argument:
//
//   error: unknown key 'gama' in [search.params]
//     --> svm.toml:17:1
//      |
//   17 | gama = { log10 = [-3, 6], n = 24 }
//      | ^^^^ did you mean 'gamma'?
//      = svc takes: C, gamma
std::string render(const Diagnostic& diagnostic, const std::string& text);

// Renders one block per diagnostic, separated by empty lines.
std::string render_all(const std::vector<Diagnostic>& diagnostics, const std::string& text,
                       const std::vector<std::string>& sets);

// ---- texts in messages

bool is_plain(char c);  // true for an ASCII letter, a digit, '_' and '-'

// Returns the number of characters (code points) in UTF-8 text.
uint32_t characters(std::string_view text);

// Returns the byte offset of character `index` (from 0) in `text`.
size_t byte_of(std::string_view text, size_t index);

// Makes an external text safe to show in a message: one line, no control characters, at most `limit` characters.
std::string printable(std::string_view text, size_t limit = 80);

std::string in_quotes(std::string_view text);  // returns the printable text in single quotes

std::string join(const std::vector<std::string>& words);  // returns "a, b, c"

// Returns the known word closest to `word`, or "".
std::string closest(const std::string& word, const std::vector<std::string>& known);

// Returns "did you mean 'limit'?", or "" if no known word is close.
std::string suggest(const std::string& word, const std::vector<std::string>& known);

}  // namespace mokume::config
