// Selects devices by an expression such as "opencl:gpu,host".
#pragma once

#include <string>
#include <vector>

#include "device/device.hpp"

namespace mokume::device {

// Reports a part of a selection that matches no device.
class NoMatch : public Error {
 public:
  NoMatch(const std::string& wanted, const std::string& text, const std::string& thrown_at = here())
      : Error(MK_DEVICE_ERROR, text, thrown_at), wanted_(wanted) {}
  const std::string& wanted() const { return wanted_; }

 private:
  std::string wanted_;
};

// Returns the devices that SEL (docs/howto/devices.md) names, in list order and without repeats. `all` takes each
// physical GPU once. Throws NoMatch, which lists the available devices, if a part matches nothing.
std::vector<Listed> select(const std::vector<Listed>& listed, const std::string& selection);

// Returns the names in `backends` whose devices SEL can name, in the same order. A word that begins with a backend's
// name ("opencl", "opencl:gpu") names this backend; any other word ("all", "every", a part of a device's name) may name
// a device of any backend. Always includes the host backend, because it runs ops that other devices lack.
std::vector<std::string> backends_of(const std::string& selection, const std::vector<std::string>& backends);

// Returns SEL without the words that begin with the name of one of `backends`, or "" if no word is left.
std::string without_backends(const std::string& selection, const std::vector<std::string>& backends);

}  // namespace mokume::device
