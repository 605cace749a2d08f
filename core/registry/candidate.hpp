// The checks that a shared library must pass before it is used; each is a stage of the load report.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

#include "registry/registry.hpp"

namespace mokume::registry {

// Why a candidate is rejected: the stage at which it failed, and one sentence with the cure.
class Refused : public std::runtime_error {
 public:
  Refused(const std::string& stage, const std::string& text) : std::runtime_error(text), stage_(stage) {}
  const std::string& stage() const noexcept { return stage_; }

 private:
  std::string stage_;
};

const char* kind_name(int32_t kind);       // "backend", "model", "transport"; "unknown kind" for anything else
const char* kind_directory(int32_t kind);  // "backends", "plugins", "transports"

// Opens `real_path`, checks its header and starts it. `name` is the file name without ".so". Throws Refused with a
// stage from "open" to "start"; the library then stays mapped but unused. `begin` is called before code of the library
// runs, with "open", "query" and "start".
using Begin = std::function<void(const char* stage)>;
Library start_library(mk_plugin_kind kind, const std::string& name, const std::string& real_path, const mk_host* host,
                      const Begin& begin = {});

// Calls the table's shutdown().
void shut_down(const Library& library) noexcept;

}  // namespace mokume::registry
