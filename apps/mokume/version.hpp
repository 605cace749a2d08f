// Declares the version of the program. Each build generates the file that defines it (cmake/Version.cmake).
#pragma once

namespace mokume::app {

extern const char* const kVersion;  // X.Y.Z, or X.Y.Z+N.gHASH between releases

}  // namespace mokume::app
