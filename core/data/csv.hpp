// The CSV reader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/raw_table.hpp"

namespace mokume::data {

// Some rows of a file that arrives in pieces, each under its header if it has one.
struct CsvPiece {
  std::string_view text;
  int64_t more_lines = 0;  // added to the line numbers of the rows
};

// Cells lose the blanks around them; see csv_format.hpp for what is found by looking.
struct CsvOptions {
  std::string target;                    // "" = the last column, or the last one not in `columns`
  std::vector<std::string> categorical;  // ignored if `columns` is given
  std::vector<std::string> ignore = {};  // columns that are no features
  std::string group = {};                // no feature: its values number Table::groups; "" or for rows to predict: none
  std::string weight = {};               // no feature: fills Table::weights; "" or for rows to predict: none
  Missing missing = Missing::error;
  int64_t limit = 0;
  const std::vector<Column>* columns = nullptr;  // of the training file
  bool target_required = true;
  std::vector<std::string> copy = {};  // columns whose cells are wanted as they are
  const CsvPiece* piece = nullptr;     // read in place of the file
};
struct CsvTable : RawTable {
  std::vector<Column> columns;
  std::string target;
  std::vector<Gap> gaps;                 // the missing cells of `table`, row by row
  std::vector<std::string> notes;        // what a reader of the file should know, one sentence each
  std::vector<std::string> copied = {};  // rows x CsvOptions::copy
};
CsvTable read_csv(const std::string& path, const CsvOptions& options);

}  // namespace mokume::data
