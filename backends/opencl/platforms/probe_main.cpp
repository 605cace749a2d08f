// opencl-probe [DRIVER [LIBRARY]...]: describes the OpenCL platforms that the loader finds, on standard output; where
// it finds none, why DRIVER cannot be loaded. The backend starts it once per driver, because a driver may crash or hang
// the process that touches it.
//
// It loads each LIBRARY first, as the program has. A driver that brings a library of the same name gets that one, and
// fails if it needs a newer one: then it must fail here, not when the program opens its device.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "platforms/describe.hpp"

int main(int argc, char** argv) {
  using namespace mokume::opencl;
  try {
    for (int i = 2; i < argc; ++i) dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL);
    const std::vector<PlatformRecord> platforms = describe_platforms(true);
    std::string text;
    if (platforms.empty() && argc > 1 && dlopen(argv[1], RTLD_NOW) == nullptr)
      text = std::string(kLoadError) + dlerror() + "\n";
    text += print(platforms);
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    std::_Exit(written ? 0 : 1);  // what drivers do, or leak, on their way out says nothing about their devices
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
