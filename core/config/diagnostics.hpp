// The errors of an experiment file, collected in one pass and shown with location and caret.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mokume::config {

// A position in the file (set = 0) or in the set-th --set argument. Lines and columns count from 1, in characters; line
// 0 means no position.
struct Location {
  uint32_t set = 0;
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t length = 1;  // number of underlined characters
};

struct Diagnostic : Location {
  std::string file;     // or "--set argument 2"
  std::string message;  // "unknown key 'gama' in [search.params]"
  std::string hint;     // "did you mean 'gamma'?", or ""
  std::string note;     // "svc takes: C, gamma", or ""
};

class Diagnostics {
 public:
  explicit Diagnostics(std::string file) : file_(std::move(file)) {}

  void add(const Location& location, std::string message, std::string hint = "", std::string note = "");
  // Adds the diagnostics of `other` at locations that have none yet. A diagnostic without a note gets `note`.
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

// error: unknown key 'gama' in [search.params]
//   --> svm.toml:17:1
//    |
// 17 | gama = { log10 = [-3, 6], n = 24 }
//    | ^^^^ did you mean 'gamma'?
//    = svc takes: C, gamma
//
// `text` is the text of the file or the --set argument.
std::string render(const Diagnostic& diagnostic, const std::string& text);

// Renders one block per diagnostic, separated by empty lines.
std::string render_all(const std::vector<Diagnostic>& diagnostics, const std::string& text,
                       const std::vector<std::string>& sets);

}  // namespace mokume::config
