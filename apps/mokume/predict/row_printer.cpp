#include "predict/row_printer.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "results/format.hpp"

namespace mokume::app {
namespace {

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Files and programs get the bytes of names unchanged, but names must not control a terminal.
void put_row(const std::string& row) {
  if (isatty(STDOUT_FILENO) != 0) return say(stdout, "{}\n", row);
  std::fwrite(row.data(), 1, row.size(), stdout);
  std::fputc('\n', stdout);
}

}  // namespace

RowPrinter::RowPrinter(bool json, const std::vector<std::string>& columns) : json_(json) {
  for (const std::string& name : columns) names_.push_back(json ? json_text(name) : results::csv_field(name));
  if (!json) put_row(fmt::format("{}", fmt::join(names_, ",")));
}

void RowPrinter::print(const std::vector<Cell>& row) const {
  std::string line;
  for (size_t c = 0; c < row.size(); ++c) {
    if (c > 0) line += ',';
    if (json_) line += names_[c] + ':';
    line += text(row[c]);
  }
  put_row(json_ ? "{" + line + "}" : line);
}

std::string RowPrinter::text(const Cell& cell) const {
  if (const auto* count = std::get_if<size_t>(&cell)) return fmt::format("{}", *count);
  if (const auto* name = std::get_if<std::string_view>(&cell))
    return json_ ? json_text(*name) : results::csv_field(*name);
  if (const auto* number = std::get_if<double>(&cell); number != nullptr && (!json_ || std::isfinite(*number)))
    return fmt::format("{}", *number);
  const auto* number = std::get_if<float>(&cell);
  if (number != nullptr && (!json_ || std::isfinite(*number))) return fmt::format("{}", *number);
  return json_ ? "null" : "";
}

}  // namespace mokume::app
