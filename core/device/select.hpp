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

// Returns those of `backends` (names) whose devices SEL can name, in their order. A word that begins with a backend's
// name
// ("opencl", "opencl:gpu") names that backend; any other ("all", "every", a part of a device's name) may name a device
// of each. The host backend is always returned, because it computes what other devices do not support.
std::vector<std::string> backends_of(const std::string& selection, const std::vector<std::string>& backends);

// Returns SEL without the words that begin with the name of one of `backends`: "" if none is left.
std::string without_backends(const std::string& selection, const std::vector<std::string>& backends);

}  // namespace mokume::device
