// Provides the common parts of the fuzz targets. A target feeds hostile bytes to one decoder. The decoder may refuse
// them with mokume::Error; any other end (another exception, a crash, a sanitizer's report, a hang, too much memory) is
// a finding. If the format has a writer, the decoded content must survive writing and reading.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/error.hpp"

namespace mokume::fuzz {

struct Target {
  std::string name;
  void (*run)(std::string_view bytes) = nullptr;
  // Repairs checksums after a mutation, so that the input passes their check; null if the format has none.
  std::string (*repair)(std::string_view bytes) = nullptr;
};

// Returns all targets in this program.
std::vector<Target>& targets();
const Target& target(std::string_view name);

struct Registration {
  explicit Registration(Target target) { targets().push_back(std::move(target)); }
};

// FUZZ_TARGET(name) { ... bytes ... } defines the target `name`; FUZZ_TARGET(name, repair) adds a repair of checksums.
#define FUZZ_TARGET(name, ...)                                                                          \
  void run_##name(std::string_view bytes);                                                              \
  const ::mokume::fuzz::Registration registered_##name({#name, run_##name __VA_OPT__(, ) __VA_ARGS__}); \
  void run_##name(std::string_view bytes)

inline void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "a fuzz target's check failed: %s\n", what.c_str());
  std::abort();
}

// Returns whether `body` returned. The only exception that may leave `body` is mokume::Error with a message, which
// MOKUME_FUZZ_TELL makes visible.
template <class Body>
bool accepts(const Body& body) {
  try {
    body();
    return true;
  } catch (const Error& e) {
    require(*e.what() != '\0', "an error has no message");
    static const bool tell = std::getenv("MOKUME_FUZZ_TELL") != nullptr;
    if (tell) std::fprintf(stderr, "refused: %s\n", e.what());
    return false;
  }
}

// Separates several files or messages in one input.
inline constexpr std::string_view kCut = "\n=====\n";
// Returns `count` parts. Missing parts are empty, and the last part takes the rest.
std::vector<std::string_view> parts(std::string_view bytes, size_t count);

// Returns a directory in memory, for decoders that take a path. It is the same for the whole process.
const std::string& scratch();
// Writes scratch() + "/" + name, creating directories as needed, and returns the path.
std::string file(const std::string& name, std::string_view bytes);
std::string contents(const std::string& path);

// Corrects the checksum of a text that ends like a sealed text (base/sealed.hpp), and seals any other object.
std::string resealed(std::string_view text);
// Corrects the checksum of a safetensors file (storage/safetensors.hpp).
std::string summed(std::string_view bytes);

}  // namespace mokume::fuzz
