#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/raw_table.hpp"

namespace mokume::data {

// Some rows of a file that arrives in pieces. Each piece starts with the header if the file has one.
struct CsvPiece {
  std::string_view text;
  int64_t more_lines = 0;  // to add to the line numbers of the rows
};

// Cells are stripped of surrounding blanks. csv_format.hpp lists the properties that the reader detects.
struct CsvOptions {
  std::string target;                    // "" = the last column, or the last one not in `columns`
  std::vector<std::string> categorical;  // ignored if `columns` is given
  std::vector<std::string> ignore = {};  // columns that are not features
  std::string group = {};   // column whose values become Table::groups; "" for none and for rows to predict
  std::string weight = {};  // column whose values become Table::weights; "" for none and for rows to predict
  Missing missing = Missing::error;
  int64_t limit = 0;
  const std::vector<Column>* columns = nullptr;  // the training file's columns
  bool target_required = true;
  std::vector<std::string> copy = {};  // columns whose cells are copied unchanged
  const CsvPiece* piece = nullptr;     // if set, replaces the file
};
struct CsvTable : RawTable {
  std::vector<Column> columns;
  std::string target;
  std::vector<Gap> gaps;                 // the missing cells of `table`, row by row
  std::vector<std::string> notes;        // messages for the user, one sentence each
  std::vector<std::string> copied = {};  // rows x CsvOptions::copy
};
CsvTable read_csv(const std::string& path, const CsvOptions& options);

}  // namespace mokume::data
