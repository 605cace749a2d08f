// Selects devices by an expression such as "opencl:gpu,host".
#pragma once

#include <string>
#include <vector>

#include "device/device.hpp"

namespace mokume::device {

// A part of a selection that matches no device.
class NoMatch : public Error {
 public:
  NoMatch(const std::string& wanted, const std::string& text) : Error(MK_DEVICE_ERROR, text), wanted_(wanted) {}
  const std::string& wanted() const { return wanted_; }

 private:
  std::string wanted_;
};

// Returns the devices selected by SEL (docs/howto/devices.md), in list order, each once; under `all`, each physical
// device once. Throws NoMatch, which lists the available devices, if a part matches nothing.
std::vector<Listed> select(const std::vector<Listed>& listed, const std::string& selection);

}  // namespace mokume::device
