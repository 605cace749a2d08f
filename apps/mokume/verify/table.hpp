// Prints the table of results that were computed again.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "verify/recompute.hpp"

namespace mokume::app {

class ResultTable {
 public:
  // Takes all rows that print() may get, to know the widths of the columns. `fits` must outlive the table.
  ResultTable(const RecordedFits& fits, const std::vector<Site>& sites, const std::vector<uint32_t>& slots);

  void print_header() const;
  void print(uint32_t slot, const Site& site, const std::string& verdict) const;

 private:
  static constexpr size_t kColumns = 4;
  using Cells = std::array<std::string, kColumns>;

  Cells cells_of(uint32_t slot, const Site& site) const;
  std::string candidate_of(uint32_t slot) const;
  std::string recorded_on(uint32_t slot, const Site& site) const;
  void print_line(const Cells& cells, const std::string& last) const;

  const RecordedFits& fits_;
  std::string introduction_;
  std::array<size_t, kColumns> widths_{};
};

}  // namespace mokume::app
