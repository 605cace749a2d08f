// Generates the manual page.
#include <fmt/format.h>

#include <cctype>

#include "texts/command_table.hpp"

namespace mokume::app {
namespace {

// Escapes backslashes, minus signs, and characters at the start of a line that would begin a command of roff.
std::string plain(const std::string& text) {
  std::string made;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (made.empty() || made.back() == '\n')) made += "\\&";
    if (c == '\\')
      made += "\\e";
    else if (c == '-')
      made += "\\-";
    else
      made += c;
  }
  return made;
}

std::string capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string usage_of(const Command& command) {
  std::string line = fmt::format("\\fB{}\\fR", plain(joined(command.path)));
  if (!command.options.empty()) line += " [\\fIoptions\\fR]";
  if (!command.inner.empty()) line += " \\fIcommand\\fR";
  for (const Argument& word : command.words)
    line +=
        word.required ? fmt::format(" \\fI{}\\fR", plain(word.name)) : fmt::format(" [\\fI{}\\fR]", plain(word.name));
  return line;
}

std::string entries_of(const std::vector<Argument>& arguments) {
  std::string text;
  for (const Argument& one : arguments) {
    const bool option = one.name.front() == '-';
    const std::string value = option && !one.value.empty() ? fmt::format(" \\fI{}\\fR", plain(one.value)) : "";
    text += fmt::format(".TP\n\\f{}{}\\fR{}{}\n{}\n", option ? 'B' : 'I', plain(one.name), value,
                        option && one.repeated ? " ..." : "", plain(one.help));
  }
  return text;
}

std::string section_of(const Command& command) {
  std::string text;
  if (command.inner.empty())
    text += fmt::format(".SS {}\n{}\n.PP\n{}.\n{}{}", plain(joined(command.path)), usage_of(command),
                        plain(capital(command.help)), entries_of(command.words), entries_of(command.options));
  for (const Command& inner : command.inner) text += section_of(inner);
  return text;
}

constexpr const char* kFiles = R"(.SH ENVIRONMENT
.TP
\fBMOKUME_DATA\fR
a folder with data sets, one folder for each name
.TP
\fBMOKUME_PLUGIN_PATH\fR
directories with further backends and models, separated by colons
.TP
\fBMOKUME_MPI_NETWORK\fR
the network or interface over which ranks reach rank 0
.TP
\fBXDG_CACHE_HOME\fR
the directory that holds the cache, mokume, instead of ~/.cache
.SH FILES
.TP
\fIruns/NAME/STAMP\fR
a run directory: report, results, models and journal
.TP
\fI~/.cache/mokume\fR
built kernels, measured choices and fetched data sets
)";

}  // namespace

std::string manual(const Command& mokume, const std::string& version, const std::string& footer) {
  std::string text = fmt::format(
      ".TH MOKUME 1 \"\" \"mokume {}\" \"User Commands\"\n.SH NAME\nmokume \\- machine-learning experiments on every "
      "device\n.SH SYNOPSIS\n{}\n.SH DESCRIPTION\n{}\n.SH OPTIONS\n{}.SH COMMANDS\n{}",
      plain(version), usage_of(mokume), plain(mokume.help), entries_of(mokume.options), section_of(mokume));
  return text + ".SH EXIT STATUS\n.nf\n" + plain(footer) + "\n.fi\n" + kFiles;
}

}  // namespace mokume::app
