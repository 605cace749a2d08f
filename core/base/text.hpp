// Text helpers: numbers that round-trip, name suggestions, durations and sizes for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mokume::base {

std::string shortest(double value);  // shortest text that reads back to the same double; "nan", "inf", "-inf"
std::string shortest(float value);

// Returns the candidate closest to `word` (Damerau-Levenshtein, ignoring case; at most 2 edits and less than half the
// word), or "".
std::string closest(std::string_view word, const std::vector<std::string>& candidates);

std::string human_bytes(uint64_t bytes);                                // "1.9 GiB"
std::string human_seconds(double seconds);                              // "42 s", "3 min 10 s", "2 h 05 min"
std::optional<double> parse_duration(std::string_view text);            // "11h30m", "90s", "45m", "2d" -> seconds
std::optional<uint64_t> parse_bytes(std::string_view text);             // "512 MiB", "2GiB", "1.5 GB", "4096" -> bytes
std::vector<std::string> split(std::string_view text, char separator);  // keeps empty parts
std::string trim(std::string_view text);

// Length in bytes of the UTF-8 sequence at the start of `text`; 0 if invalid (overlong, surrogate, truncated, ...).
size_t utf8_length(std::string_view text);

// Replaces each control character that is not in `keep`, and each byte of invalid UTF-8, with '?'. Every text for
// people that may contain names or messages from outside (files, drivers, libraries) passes through this function, so
// that none can control the terminal.
std::string without_controls(std::string_view text, std::string_view keep = "");

}  // namespace mokume::base
