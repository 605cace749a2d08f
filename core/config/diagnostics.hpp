// What is wrong with an experiment file, collected in one pass and shown with place and caret.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"

namespace mokume::config {

// Where something stands: in the file (set = 0) or in the set-th --set argument. Lines and columns count from 1, in
// characters; line 0 is no place at all.
struct Place {
  uint32_t set = 0;
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t length = 1;
};

class Findings {
 public:
  explicit Findings(std::string file) : file_(std::move(file)) {}

  void add(const Place& place, std::string message, std::string hint = "", std::string note = "");
  // Takes over what `other` found at places where nothing was found yet; what has no note gets `note`.
  void merge(Findings other, const std::string& note);
  Findings empty_copy() const { return Findings(file_); }
  bool empty() const { return found_.empty(); }
  size_t size() const { return found_.size(); }

  // "svm.toml:17:1" or "--set argument 2, column 5".
  std::string where(const Place& place) const;

  // Sorted by place: what has none, the file, then the --set arguments.
  std::vector<Diagnostic> take();

 private:
  std::string file_name(uint32_t set) const;

  std::string file_;
  std::vector<Diagnostic> found_;
};

// The bytes of the UTF-8 sequence at the front of `text`; 0 if there is none (overlong, surrogate, cut off, ...).
size_t utf8_length(std::string_view text);

// The number of characters (code points) in UTF-8 text.
uint32_t characters(std::string_view text);

// Texts from outside as they may be shown: one line, no control characters, at most `limit` characters.
std::string printable(std::string_view text, size_t limit = 80);

// 'text', printable.
struct Quoted {
  std::string operator()(std::string_view text) const;
};
inline constexpr Quoted quoted;  // no function: beside one, std::quoted would be found for a std::string

}  // namespace mokume::config
