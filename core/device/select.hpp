// Devices by a selection such as "opencl:gpu,host".
#pragma once

#include <string>
#include <vector>

#include "device/device.hpp"

namespace mokume::device {

// A part of a selection matches no device.
class NoMatch : public Error {
 public:
  NoMatch(const std::string& wanted, const std::string& text) : Error(MK_DEVICE_ERROR, text), wanted_(wanted) {}
  const std::string& wanted() const { return wanted_; }

 private:
  std::string wanted_;
};

// Devices selected by SEL (docs/guide.md). Throws NoMatch, which lists what there is, if a part matches nothing. The
// order is the order of the list; each device once; one physical device once under `all`.
std::vector<Listed> select(const std::vector<Listed>& listed, const std::string& selection);

}  // namespace mokume::device
