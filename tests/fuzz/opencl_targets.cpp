// Defines a target for the description of OpenCL platforms, which comes from a driver's process or from the cache.
#include "fuzz.hpp"
#include "platforms/describe.hpp"

namespace mokume::fuzz {
namespace {

FUZZ_TARGET(platforms) {
  accepts([&] {
    const std::string first = opencl::print(opencl::parse(bytes));
    require(opencl::print(opencl::parse(first)) == first, "platforms read back differently");
  });
}

}  // namespace
}  // namespace mokume::fuzz
