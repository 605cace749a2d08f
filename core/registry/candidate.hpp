// Checks a shared library before the program uses it. Each check is a stage of the load report.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

#include "registry/registry.hpp"

namespace mokume::registry {

// Rejects a candidate. Names the stage at which it failed and explains in one sentence how to fix the problem.
class Refused : public std::runtime_error {
 public:
  Refused(const std::string& stage, const std::string& text) : std::runtime_error(text), stage_(stage) {}
  const std::string& stage() const noexcept { return stage_; }

 private:
  std::string stage_;
};

const char* kind_name(int32_t kind);       // "backend", "model", "transport" or "library of unknown kind"
const char* kind_directory(int32_t kind);  // "backends", "plugins", "transports" or "another directory"

// Opens `real_path`, checks its header and starts the library. `name` is the file name without ".so". Throws Refused
// with a stage from "open" to "start"; the library then stays mapped but unused. Calls `begin` with "open", "query" and
// "start" before the library's code runs.
using Begin = std::function<void(const char* stage)>;
Library start_library(mk_plugin_kind kind, const std::string& name, const std::string& real_path, const mk_host* host,
                      const Begin& begin = {});

// Calls the library's shutdown() and ignores its exceptions.
void shut_down(const Library& library) noexcept;

}  // namespace mokume::registry
