#include "report/pages/markup.hpp"

#include <fmt/format.h>

namespace mokume::report {

std::string counted(uint64_t count, const std::string& noun) {
  return grouped(count) + ' ' + noun + (count == 1 ? "" : "s");
}

std::string element(const std::string& name, const std::string& attributes, const std::string& inner) {
  return fmt::format("<{0}{1}{2}>{3}</{0}>", name, attributes.empty() ? "" : " ", attributes, inner);
}

std::string cell(const std::string& text) { return element("td", "", escape(text)); }
std::string number_cell(const std::string& text) { return element("td", "class=\"n\"", escape(text)); }
std::string number_cell(const std::string& text, const std::string& sort_by) {
  return element("td", fmt::format("class=\"n\" data-v=\"{}\"", escape(sort_by)), escape(text));
}

std::string table(const std::string& classes, const std::vector<std::pair<std::string, bool>>& heads,
                  const std::string& rows) {
  std::string head;
  for (const auto& [text, number] : heads) head += element("th", number ? "class=\"n\"" : "", escape(text));
  return fmt::format(
      "<div class=\"scroll\"><table class=\"{}\">\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody></table></div>\n",
      classes, head, rows);
}

std::string section(const std::string& title, const std::string& lead, const std::string& body) {
  const std::string intro = lead.empty() ? "" : element("p", "class=\"soft\"", escape(lead)) + '\n';
  return fmt::format("<section>\n<h2>{}</h2>\n{}{}</section>\n", escape(title), intro, body);
}

std::string inlined(const std::string& svg, const std::string& classes) {
  std::string text = svg;
  const size_t from = text.find("<style>"), to = text.find("</style>");
  if (from != std::string::npos && to != std::string::npos && from < to) text.erase(from, to + 8 - from);
  return fmt::format("<div class=\"{}\">\n{}</div>\n", classes, text);
}

}  // namespace mokume::report
