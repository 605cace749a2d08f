// `--data SPEC` and the rules that [data] and SPEC share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.hpp"

namespace mokume::data {

std::vector<std::string> source_names();  // what `source` takes
std::vector<std::string> spec_keys();     // what [data] takes, but for `source`

// `source[:path][,key=value]...`, e.g. "digits", "csv:a.csv,target=price,categorical=[town, street],missing=drop",
// "idx:mnist,limit=500,standardize={ mean = 127.5, scale = 73.61 }". Values may stand in quotes; commas inside quotes,
// brackets and braces do not separate. `like`: where the source is the same, target, categorical and missing are taken
// from it unless the text sets them. Throws Error(MK_INVALID_ARGUMENT) naming the part.
DataSpec parse_spec(std::string_view text, const DataSpec* like = nullptr);

// Throws Error(MK_INVALID_ARGUMENT) if the spec contradicts itself: unknown source, a path too few or too many, keys
// that the source does not use, a negative limit, a scale that is not positive.
void check_spec(const DataSpec& spec);

}  // namespace mokume::data
