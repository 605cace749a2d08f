// opencl-probe --units PLATFORM DEVICE BEFORE OPTIONS SOURCE LANES COLUMNS TERMS prints what try_units() returns.
//
// opencl-probe [DRIVER [LIBRARY]...] describes on standard output the OpenCL platforms that the loader finds. If there
// are none, it prints why DRIVER cannot be loaded. The backend starts it for each driver, because a driver may crash or
// hang the process that loads it.
//
// The helper first loads each LIBRARY, as the program did. A driver with a newer copy of such a library then gets the
// loaded copy. If that makes the driver fail, it must fail here, not when the program opens its device.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "platforms/describe.hpp"

int main(int argc, char** argv) {
  using namespace mokume::opencl;
  try {
    if (argc == 10 && std::string_view(argv[1]) == "--units") {
      const UnitProbe probe{argv[5], argv[6], std::atoll(argv[7]), std::atoll(argv[8]), std::atoll(argv[9])};
      std::printf("\n%s\n", try_units(argv[2], argv[3], std::atoll(argv[4]), probe).c_str());
      std::_Exit(std::fflush(stdout) == 0 ? 0 : 1);
    }
    for (int i = 2; i < argc; ++i) dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL);
    const std::vector<PlatformRecord> platforms = describe_platforms(true);
    std::string text;
    if (platforms.empty() && argc > 1 && dlopen(argv[1], RTLD_NOW) == nullptr)
      text = std::string(kLoadError) + dlerror() + "\n";
    text += print(platforms);
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    std::_Exit(written ? 0 : 1);  // ignores what drivers do or leak at exit
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
