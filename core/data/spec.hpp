// Parses `--data SPEC` and checks the rules that [data] and SPEC share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.hpp"

namespace mokume::data {

std::vector<std::string> source_names();    // accepted values of `source`
bool is_built_in(std::string_view source);  // true if the program draws the data instead of reading a file
std::vector<std::string> spec_keys();       // accepted keys of SPEC

// Parses `source[:path][,key=value]...`, e.g. "digits", "csv:a.csv,target=price,categorical=[town,
// street],missing=drop", "idx:mnist,limit=500,standardize={ mean = 127.5, scale = 73.61 }". Values may be quoted;
// commas inside quotes, brackets and braces do not separate. If `like` has the same source, its target, categorical,
// ignore, group, weight, missing, size, channels and layout are the defaults. The path "-" is standard input; the whole
// SPEC "-" reads standard input in the format of `like`. Throws Error(MK_INVALID_ARGUMENT) with the offending part.
DataSpec parse_spec(std::string_view text, const DataSpec* like = nullptr);

// Throws Error(MK_INVALID_ARGUMENT) if the spec contradicts itself, e.g. for an unknown source, a missing or
// superfluous path, keys that the source does not use, a negative limit, or a scale that is not positive.
void check_spec(const DataSpec& spec);

}  // namespace mokume::data
