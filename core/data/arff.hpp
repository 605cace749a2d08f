// Turns ARFF, the format of Weka and OpenML, into CSV.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mokume::data {

struct ArffText {
  std::string csv;                   // names of the attributes, then the rows, on the lines where the file has them
  std::string last;                  // name of the last attribute
  std::vector<std::string> nominal;  // attributes with a list of values
};

// Returns whether the text begins, after comments, with @relation in upper or lower case.
bool is_arff(std::string_view text);

// Follows https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable: `%` starts a comment, single or
// double quotes enclose names and cells. Throws Error(MK_BAD_DATA) for sparse rows, for weights of rows, and if there
// is no attribute or no @data.
ArffText arff_to_csv(const std::string& path, std::string_view text);

}  // namespace mokume::data
