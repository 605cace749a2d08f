// Builds the elements of report.html. These functions escape text; `inner` and `body` are markup.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/named_file.hpp"
#include "results/view.hpp"

namespace mokume::report {

std::string element(const std::string& name, const std::string& attributes, const std::string& inner);

// `lead` may be empty.
std::string section(const std::string& title, const std::string& lead, const std::string& body);

// Returns a paragraph on the number and place of missing entries, or "". `said` is text like "more are in ...".
std::string left_out(size_t count, size_t most, const std::string& said);

// Returns markup that shows `inner` after a click on `summary`.
std::string folded(const std::string& summary, const std::string& inner);

// Returns a plot as part of the page, whose style already contains the plots' rules.
std::string inlined(const std::string& svg, const std::string& classes);
std::vector<std::string> inlined(const std::vector<NamedFile>& plots, const std::string& prefix);
std::string joined(const std::vector<std::string>& parts, size_t from = 0, size_t to = SIZE_MAX);

struct Cell {
  Cell(std::string content) : text(std::move(content)) {}
  Cell(const char* content) : text(content) {}
  Cell(std::string content, std::string sort_key) : text(std::move(content)), key(std::move(sort_key)) {}
  Cell(std::string content, double sort_key);
  // Returns the number itself, without digit grouping.
  static Cell id(uint64_t number) { return std::to_string(number); }
  static Cell count(uint64_t number);

  std::string text, key = {};  // if key is "", the text replaces it
};

struct Column {
  std::string head;
  bool number = false;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add_column(Column column) { columns_.push_back(std::move(column)); }

  // Adds a row, which must have a cell for each column.
  void row(const std::vector<Cell>& cells, const std::string& attributes = {});
  bool empty() const { return rows_.empty(); }
  // A click on a head sorts a sortable table.
  std::string html(bool sortable) const;

 private:
  std::vector<Column> columns_;
  std::string rows_;
};

}  // namespace mokume::report
