// Formats and parses numbers, durations and sizes, suggests names, and removes control characters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mokume::base {

std::string shortest(double value);  // shortest text that reads back as the same double, or "nan", "inf" or "-inf"
std::string shortest(float value);

// Returns the candidate with the smallest edit distance from `word`, ignoring case; a swap of neighbours is one edit.
// Returns "" if every distance is more than 2, or at least half the number of characters in `word`.
std::string closest(std::string_view word, const std::vector<std::string>& candidates);

std::string human_bytes(uint64_t bytes);                                // e.g. "1.9 GiB"
std::string human_seconds(double seconds);                              // e.g. "42 s", "3 min 10 s", "2 h 05 min"
std::optional<double> parse_duration(std::string_view text);            // reads "11h30m", "90s" or "2d" as seconds
std::optional<uint64_t> parse_bytes(std::string_view text);             // reads "512 MiB", "1.5 GB" or "4096" as bytes
std::vector<std::string> split(std::string_view text, char separator);  // keeps empty parts
std::string trim(std::string_view text);

// Returns the length in bytes of the UTF-8 sequence at the start of `text`, or 0 if it is invalid, e.g. truncated.
size_t utf8_length(std::string_view text);

// Replaces each control character that is not in `keep`, and each byte of invalid UTF-8, with '?'. Every text for
// people that may contain names or messages from outside (files, drivers, libraries) passes through this function, so
// that no such name or message can control the terminal.
std::string without_controls(std::string_view text, std::string_view keep = "");

}  // namespace mokume::base
