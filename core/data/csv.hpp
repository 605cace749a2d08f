#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/csv_format.hpp"
#include "data/raw_table.hpp"

namespace mokume::data {

// Holds some rows of a file that arrives in pieces. Each piece starts with the header if the file has one.
struct CsvPiece {
  std::string_view text;
  int64_t more_lines = 0;  // number to add to the line numbers of the rows
  CsvFormat format = {};   // the first piece decides, but a later one may be the first with decimal commas
};

// Selects columns and rows. The reader strips blanks around cells and detects the properties listed in csv_format.hpp.
struct CsvOptions {
  std::string target;                    // "" for the last column, unless rows to predict use it as a feature
  std::vector<std::string> categorical;  // ignored if `columns` is given
  std::vector<std::string> ignore = {};  // columns that are not features
  std::string group = {};   // column whose values become Table::groups; "" for none and for rows to predict
  std::string weight = {};  // column whose values become Table::weights; "" for none and for rows to predict
  Missing missing = Missing::error;
  int64_t limit = 0;
  bool exact = false;                            // keeps the values that float32 rounds in Table::exact
  const std::vector<Column>* columns = nullptr;  // columns of the training file, if this is another file
  bool target_required = true;
  std::vector<std::string> copy = {};  // columns whose cells are copied unchanged
  const CsvPiece* piece = nullptr;     // replaces the file if not null
};

// Returns what is known of a file: the names of columns, and the format of the training file if `columns` is its own.
CsvExpected expected_of(const CsvOptions& options);

struct CsvTable : RawTable {
  std::vector<Column> columns;
  std::string target;
  std::vector<Gap> gaps;                 // missing cells of `table`, row by row
  std::vector<std::string> notes;        // messages for the user, one sentence each
  std::vector<std::string> copied = {};  // rows x CsvOptions::copy
};
CsvTable read_csv(const std::string& path, const CsvOptions& options);

}  // namespace mokume::data
