#include "report/pages/markup.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "report/charts/svg.hpp"
#include "results/format.hpp"

namespace mokume::report {

std::string element(const std::string& name, const std::string& attributes, const std::string& inner) {
  return fmt::format("<{0}{1}{2}>{3}</{0}>", name, attributes.empty() ? "" : " ", attributes, inner);
}

std::string section(const std::string& title, const std::string& lead, const std::string& body) {
  const std::string intro = lead.empty() ? "" : element("p", "class=\"soft\"", escape(lead)) + '\n';
  return fmt::format("<section>\n<h2>{}</h2>\n{}{}</section>\n", escape(title), intro, body);
}

std::string left_out(size_t count, size_t most, const std::string& said) {
  return count > most ? fmt::format("<p class=\"soft\">{} {}.</p>\n", count - most, said) : "";
}

std::string folded(const std::string& summary, const std::string& inner) {
  return fmt::format("<details>\n<summary>{}</summary>\n{}</details>\n", escape(summary), inner);
}

std::string inlined(const std::string& svg, const std::string& classes) {
  std::string text = svg;
  const size_t from = text.find("<style>"), to = text.find("</style>");
  if (from < to && to != std::string::npos) text.erase(from, to + 8 - from);
  return fmt::format("<div class=\"{}\">\n{}</div>\n", classes, text);
}

std::vector<std::string> inlined(const std::vector<NamedFile>& plots, const std::string& prefix) {
  std::vector<std::string> found;
  for (const NamedFile& file : plots)
    if (file.name.starts_with(prefix)) found.push_back(inlined(file.content, "plot"));
  return found;
}

std::string joined(const std::vector<std::string>& parts, size_t from, size_t to) {
  std::string text;
  for (size_t i = from; i < std::min(to, parts.size()); ++i) text += parts[i];
  return text;
}

Cell::Cell(std::string content, double sort_key) : Cell(std::move(content), base::shortest(sort_key)) {}

Cell Cell::count(uint64_t number) { return {results::grouped(number), std::to_string(number)}; }

void Table::row(const std::vector<Cell>& cells, const std::string& attributes) {
  std::string row;
  for (size_t i = 0; i < cells.size(); ++i) {
    std::string with = columns_[i].number ? "class=\"n\"" : "";
    if (!cells[i].key.empty()) with += fmt::format(" data-v=\"{}\"", escape(cells[i].key));
    row += element("td", with, escape(cells[i].text));
  }
  rows_ += element("tr", attributes, row) + '\n';
}

std::string Table::html(bool sortable) const {
  std::string head;
  for (const Column& one : columns_) head += element("th", one.number ? "class=\"n\"" : "", escape(one.head));
  return fmt::format(
      "<div class=\"scroll\"><table class=\"{}\">\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody></table></div>\n",
      sortable ? "sort" : "", head, rows_);
}

}  // namespace mokume::report
