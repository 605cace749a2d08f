#include "device/nvidia_energy.hpp"

#include <dlfcn.h>

#include <optional>
#include <utility>

namespace mokume::device {
namespace {

// Calls NVML, the library of NVIDIA's driver, whose interface has been stable since 2018. mokume neither includes its
// header nor links it, because most machines have neither.
class Nvml {
 public:
  struct Card;

  explicit Nvml(const std::string& file) {
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) return;
    int (*init)() = nullptr;
    find(library, "nvmlInit_v2", init);
    find(library, "nvmlDeviceGetHandleByPciBusId_v2", by_address_);
    find(library, "nvmlDeviceGetTotalEnergyConsumption", energy_);
    if (init == nullptr || init() != kSuccess) by_address_ = nullptr;
  }

  Card* card(const std::string& pci_address) const {
    Card* found = nullptr;
    const bool works = by_address_ != nullptr && energy_ != nullptr;
    return works && by_address_(pci_address.c_str(), &found) == kSuccess ? found : nullptr;
  }

  // Returns the millijoules since the driver was loaded.
  std::optional<unsigned long long> energy_mj(Card* card) const {
    unsigned long long value = 0;
    if (energy_(card, &value) != kSuccess) return std::nullopt;
    return value;
  }

 private:
  static constexpr int kSuccess = 0;

  template <class Function>
  static void find(void* library, const char* name, Function*& to) {
    to = reinterpret_cast<Function*>(dlsym(library, name));
  }

  int (*by_address_)(const char* pci_address, Card** card) = nullptr;
  int (*energy_)(Card* card, unsigned long long* millijoules) = nullptr;
};

class NvidiaMeter : public EnergyMeter {
 public:
  NvidiaMeter(const Nvml& nvml, Nvml::Card* card, unsigned long long first) : nvml_(nvml), card_(card), last_(first) {}

 private:
  std::optional<double> added() override {
    const auto now = nvml_.energy_mj(card_);
    if (!now) return std::nullopt;
    const unsigned long long before = std::exchange(last_, *now);
    return *now > before ? 1e-3 * static_cast<double>(*now - before) : 0;  // a driver that restarts counts from 0
  }

  const Nvml nvml_;
  Nvml::Card* card_;
  unsigned long long last_;
};

}  // namespace

std::unique_ptr<EnergyMeter> nvidia_energy(const std::string& library, const std::string& pci_address) {
  const Nvml nvml(library);
  Nvml::Card* const card = nvml.card(pci_address);
  const auto first = card != nullptr ? nvml.energy_mj(card) : std::nullopt;
  return first ? std::make_unique<NvidiaMeter>(nvml, card, *first) : nullptr;
}

}  // namespace mokume::device
