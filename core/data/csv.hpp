// The CSV reader.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/raw_table.hpp"

namespace mokume::data {

// RFC 4180 with a header row. Blanks around cells are removed.
struct CsvOptions {
  std::string target;                    // "" = the last column, or the last one not in `columns`
  std::vector<std::string> categorical;  // ignored if `columns` is given
  Missing missing = Missing::error;
  int64_t limit = 0;
  const std::vector<Column>* columns = nullptr;  // of the training file
  bool target_required = true;
};
struct CsvTable : RawTable {
  std::vector<Column> columns;
  std::string target;
};
CsvTable read_csv(const std::string& path, const CsvOptions& options);

}  // namespace mokume::data
