// Reports words of the command line that no command or option accepts.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace mokume::app {

// Returns a sentence that names the first word that `cli` could not place and suggests the likely word, or "" if `cli`
// placed every word. Callers call this function after parse() has thrown.
std::string unknown_word(const CLI::App& cli);

}  // namespace mokume::app
