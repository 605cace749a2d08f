// Makes records of a journal.
#pragma once

#include <string>

#include "journal/record.hpp"

namespace mokume::test {

inline journal::FitRecord fit_record(uint32_t fit, double errors = 3) {
  journal::FitRecord r;
  r.fit = fit;
  r.n = 10;
  r.values = {errors, errors / 10};
  r.device = "opencl:0";
  r.device_class = "opencl/Card";
  r.bundle = fit / 2;
  r.start_s = 1000 + fit;
  r.end_s = 1002.5 + fit;
  return r;
}

inline journal::EventRecord event_record(double time, journal::EventRecord::Kind kind, uint32_t node,
                                         const std::string& device, int64_t fit, uint32_t attempt,
                                         const std::string& text) {
  return {time, kind, node, device, fit, attempt, text};
}

}  // namespace mokume::test
