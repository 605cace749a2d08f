// Starts the helper program and collects its output.
#pragma once

#include <string>
#include <vector>

namespace mokume::opencl {

struct ChildResult {
  std::string output;   // standard output of the program
  std::string problem;  // "" if the program exited with 0, otherwise e.g. "crashed (Segmentation fault)"
};

// Runs `program` with `arguments` in the environment `variables` ("NAME=value"), and kills the program after
// `timeout_s` seconds. Throws MK_DEVICE_ERROR if the program cannot be started.
ChildResult run_child(const std::string& program, const std::vector<std::string>& arguments,
                      const std::vector<std::string>& variables, int timeout_s);

}  // namespace mokume::opencl
