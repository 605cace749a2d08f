// Locates the running program and the file that starts it again. A portable package starts the program through a loader
// (docs/adr/0040), and then /proc/self/exe names the loader.
#pragma once

#include <string>

namespace mokume::base {

// Returns the absolute path of the program, or of the script that starts it in a portable package, or "" if unknown.
std::string program_path();

// Returns the file that starts another process of this program: /proc/self/exe, which remains the same program when an
// installation replaces the file, or program_path() in a portable package.
std::string program_to_start();

}  // namespace mokume::base
