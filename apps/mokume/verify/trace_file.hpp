// Stores traces of fits (core/device/trace.hpp) as text files that two sites can exchange, and compares two traces.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace mokume::app {

struct FitTrace {
  // Is the first line of the file, as JSON.
  struct Header {
    uint32_t format = 1;
    std::string version, plan_hash;
    uint32_t fit = 0;  // id in the plan; ids of refits follow those of the fits
    std::string device, device_class, numerics;
    uint64_t steps = 0;
    bool complete = false;  // false if the fit has further steps

    template <class Self, class Fields>
    static void fields(Self& self, Fields& field) {
      field("mokume_trace", self.format, 1U, 1U);
      field("version", self.version);
      field("plan_hash", self.plan_hash);
      field("fit", self.fit);
      field("device", self.device);
      field("class", self.device_class);
      field("numerics", self.numerics);
      field("steps", self.steps);
      field("complete", self.complete);
    }
  };
  Header header;
  std::vector<std::string> lines = {};
};

void write_trace(const std::string& path, const FitTrace& trace);

// Throws Error(MK_BAD_DATA), which names file, line and cure, if the file is no trace or only a part of one.
FitTrace read_trace(const std::string& path);

struct TracesCompared {
  bool differ = false;
  std::string text;  // whole lines
};

// Tells the first step in which two traces of one fit differ. `first` and `second` name their origins.
TracesCompared compare_traces(const FitTrace& a, const FitTrace& b, const std::string& first,
                              const std::string& second);

}  // namespace mokume::app
