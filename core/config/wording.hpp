// Formats texts for messages: UTF-8, quotes, lists and suggestions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mokume::config {

bool is_plain(char c);  // an ASCII letter, a digit, '_' or '-'

// Returns the number of characters (code points) in UTF-8 text.
uint32_t characters(std::string_view text);

// Returns the byte offset of character `index` (from 0) in `text`.
size_t byte_of(std::string_view text, size_t index);

// Makes an external text safe for a message: one line, no control characters, at most `limit` characters.
std::string printable(std::string_view text, size_t limit = 80);

std::string in_quotes(std::string_view text);  // 'text', printable

std::string join(const std::vector<std::string>& words);  // like "a, b, c"

// Returns the known word closest to `word`, or "".
std::string closest(const std::string& word, const std::vector<std::string>& known);

// Returns text like "did you mean 'limit'?", or "" if no known word is close.
std::string suggest(const std::string& word, const std::vector<std::string>& known);

}  // namespace mokume::config
