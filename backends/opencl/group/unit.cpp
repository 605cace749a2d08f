#include "group/unit.hpp"

#include <cctype>
#include <set>
#include <sstream>
#include <string_view>

namespace mokume::opencl {
namespace {

// Finds the names that a program defines. In .cl files, the start of a line shows a definition: #define, static,
// FORMULA, __kernel, typedef or the } of a struct. Otherwise, the line is a macro that defines a function, whose name
// is the macro's first argument. A manual list would need maintenance, and an omission would fail only on devices.
class Names {
 public:
  explicit Names(std::string_view source) {
    for (size_t at = 0; at < source.size();) {
      const size_t end = std::min(source.find('\n', at), source.size());
      read_line(source.substr(at, end - at));
      at = end + 1;
    }
  }

  // Return the names of functions and types, and the names of macros.
  const std::set<std::string>& names() const { return names_; }
  const std::set<std::string>& macros() const { return macros_; }

 private:
  static bool is_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
  static bool is_name(std::string_view word) { return !word.empty() && word[0] >= 'a' && word[0] <= 'z'; }
  // Return the identifier that ends before `at`, or that begins at it.
  static std::string_view word_before(std::string_view line, size_t at) {
    size_t begin = at;
    while (begin > 0 && is_part(line[begin - 1])) --begin;
    return line.substr(begin, at - begin);
  }
  static std::string_view word_at(std::string_view line, size_t at) {
    size_t end = at;
    while (end < line.size() && is_part(line[end])) ++end;
    return line.substr(at, end - at);
  }

  void read_line(std::string_view line) {
    const size_t first = line.find_first_not_of(' ');
    if (first == std::string_view::npos) return;
    const std::string_view text = line.substr(first);
    if (text.starts_with("#define ")) {
      macros_.emplace(word_at(text, 8));
    } else if (text.starts_with("static ") || text.starts_with("FORMULA ") || text.starts_with("__kernel ")) {
      for (size_t open = text.find('('); open != std::string_view::npos; open = text.find('(', open + 1))
        if (const std::string_view name = word_before(text, open); is_name(name)) {
          names_.emplace(name);
          return;
        }
    } else if (first == 0 && line.ends_with(';') && (line.starts_with("typedef ") || line.starts_with("} "))) {
      names_.emplace(word_before(line, line.size() - 1));
    } else if (first == 0 && is_part(line[0]) && line.find('(') != std::string_view::npos) {
      if (const std::string_view name = word_at(line, line.find('(') + 1); is_name(name)) names_.emplace(name);
    }
  }

  std::set<std::string> names_, macros_;
};

// Returns "-DNAME=VALUE -DNAME ..." as lines of C and collects the names. Leaves out other options.
std::string defined(const std::string& options, std::set<std::string>& macros) {
  std::istringstream words(options);
  std::string lines;
  for (std::string word; words >> word;) {
    if (!word.starts_with("-D")) continue;
    const size_t equals = word.find('=');
    const std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    lines += "#define " + name + " " + (equals == std::string::npos ? "1" : word.substr(equals + 1)) + "\n";
    macros.insert(name);
  }
  return lines;
}

}  // namespace

std::string unit_source(const mk_device& device, const BuiltIn& program, const std::string& functions,
                        const std::string& suffix) {
  const std::string source = program.source;
  const Names found(source);
  std::set<std::string> macros = found.macros();
  macros.insert("CALLED");
  const std::string defines = "#define CALLED\n" + defined(device.built_in_options(program), macros);
  macros.insert(found.names().begin(), found.names().end());
  std::string before, renamed, after;
  for (const std::string& name : found.names()) renamed += "#define " + name + " " + name + suffix + "\n";
  for (const std::string& name : macros) {  // the driver may define some of these names
    before += "#pragma push_macro(\"" + name + "\")\n";
    after += "#pragma pop_macro(\"" + name + "\")\n";
  }
  return before + defines + renamed + source + functions + after;
}

}  // namespace mokume::opencl
