// How messages display texts: UTF-8, quotes, lists and suggestions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mokume::config {

// The length in bytes of the UTF-8 sequence at the front of `text`; 0 if it is invalid (overlong, surrogate, truncated,
// ...).
size_t utf8_length(std::string_view text);

bool is_plain(char c);  // an ASCII letter, a digit, '_' or '-'

// The number of characters (code points) in UTF-8 text.
uint32_t characters(std::string_view text);

// The byte offset of character `index` (from 0) in `text`.
size_t byte_of(std::string_view text, size_t index);

// Replaces control characters and invalid UTF-8 with '?', so that a hostile file cannot control the terminal.
std::string clean(std::string_view text, bool keep_tabs);

// Makes an external text safe to show in a message: one line, no control characters, at most `limit` characters.
std::string printable(std::string_view text, size_t limit = 80);

std::string in_quotes(std::string_view text);  // 'text', printable

std::string join(const std::vector<std::string>& words);  // "a, b, c"

// The known word closest to `word`, or "".
std::string closest(const std::string& word, const std::vector<std::string>& known);

// "did you mean 'limit'?", or "" if no known word is close.
std::string suggest(const std::string& word, const std::vector<std::string>& known);

}  // namespace mokume::config
