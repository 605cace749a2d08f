#include "data/arff.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "base/text.hpp"
#include "data/input.hpp"

namespace mokume::data {
namespace {

bool starts_with_word(std::string_view line, std::string_view word) {
  const auto same = [](char wanted, char c) { return std::tolower(static_cast<unsigned char>(c)) == wanted; };
  return line.size() >= word.size() && std::equal(word.begin(), word.end(), line.begin(), same);
}

// Takes the next line from `rest`, without blanks around it.
std::string_view next_line(std::string_view& rest) {
  const size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  const size_t first = line.find_first_not_of(" \t\r"), last = line.find_last_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view() : line.substr(first, last - first + 1);
}

// Appends the text as a quoted cell of RFC 4180.
void add_cell(std::string_view text, std::string& csv) {
  csv += '"';
  for (const char c : text) csv += c == '"' ? "\"\"" : std::string(1, c);
  csv += '"';
}

// Takes a word, which may be in quotes, from the start of `line`.
std::string take_word(std::string_view& line) {
  std::string word;
  const char quote = line.empty() ? '\0' : line[0];
  const bool is_quoted = quote == '\'' || quote == '"';
  size_t i = is_quoted ? 1 : 0;
  for (; i < line.size() && (is_quoted ? line[i] != quote : line[i] != ' ' && line[i] != '\t'); ++i) {
    if (line[i] == '\\' && i + 1 < line.size()) ++i;
    word += line[i];
  }
  line.remove_prefix(std::min(line.size(), i + (is_quoted ? 1 : 0)));
  line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t")));
  return word;
}

// Appends a row, whose cells may be in single quotes, as one of RFC 4180.
void add_row(std::string_view line, std::string& csv) {
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\'') {
      csv += line[i];
      continue;
    }
    std::string cell;
    for (++i; i < line.size() && line[i] != '\''; ++i) {
      if (line[i] == '\\' && i + 1 < line.size()) ++i;
      cell += line[i];
    }
    add_cell(cell, csv);
  }
}

struct Attribute {
  std::string name;
  bool nominal = false;
};

// Reads the attributes, up to and including the line @data. Returns the number of lines read.
int64_t read_attributes(const std::string& path, std::string_view& rest, std::vector<Attribute>& attributes) {
  for (int64_t lines = 1; !rest.empty(); ++lines) {
    std::string_view line = next_line(rest);
    if (starts_with_word(line, "@data")) {
      if (attributes.empty())
        bad_data(path, "line " + std::to_string(lines), "has @data before any @attribute; it is damaged");
      return lines;
    }
    if (!starts_with_word(line, "@attribute")) continue;
    line.remove_prefix(std::string_view("@attribute").size());
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t")));
    const std::string name = take_word(line);
    if (name.empty()) bad_data(path, "line " + std::to_string(lines), "has an attribute without a name");
    attributes.push_back({name, line.starts_with('{')});
  }
  bad_data(path, "", "has no line @data; it is damaged");
}

}  // namespace

bool is_arff(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (!line.empty() && line[0] != '%') return starts_with_word(line, "@relation");
  }
  return false;
}

ArffText arff_to_csv(const std::string& path, std::string_view text) {
  std::vector<Attribute> attributes;
  int64_t lines = read_attributes(path, text, attributes);
  ArffText arff;
  arff.csv.assign(static_cast<size_t>(lines - 1), '\n');
  for (size_t i = 0; i < attributes.size(); ++i) {
    if (i > 0) arff.csv += ',';
    add_cell(attributes[i].name, arff.csv);
    if (attributes[i].nominal) arff.nominal.push_back(attributes[i].name);
  }
  arff.last = attributes.back().name;
  arff.csv += '\n';
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    ++lines;
    if (line.starts_with('{'))
      bad_data(path, "line " + std::to_string(lines),
               "is a sparse row; write it in full, for example with Weka's filter SparseToNonSparse");
    if (line.ends_with('}') && !line.starts_with('%'))
      bad_data(path, "line " + std::to_string(lines),
               "ends with the weight of the row; make it an attribute of its own");
    if (!line.starts_with('%')) add_row(line, arff.csv);
    arff.csv += '\n';
  }
  return arff;
}

}  // namespace mokume::data
