// Reads the energy of an NVIDIA card from the library of its driver.
#pragma once

#include <memory>
#include <string>

#include "device/energy.hpp"

namespace mokume::device {

// Returns a meter of the GPU at a PCI address such as "0000:3b:00.0", or null if this library is absent or does not
// count the energy of this card.
std::unique_ptr<EnergyMeter> nvidia_energy(const std::string& library, const std::string& pci_address);

}  // namespace mokume::device
