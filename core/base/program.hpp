// Where the running program lies, and how to start it again. A portable package starts it through a loader
// (docs/adr/0040), and then /proc/self/exe names the loader.
#pragma once

#include <string>

namespace mokume::base {

// The absolute path of the program, or of the script that stands for it in a portable package; "" if unknown.
std::string program_path();

// What starts another process of this program: /proc/self/exe, which stays the same program when an installation
// replaces the file, or program_path() of a portable package.
std::string program_to_start();

}  // namespace mokume::base
