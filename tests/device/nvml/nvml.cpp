// Stands in for the library of NVIDIA's driver on a machine with one card, which uses 2.5 J between two readings.
// MOKUME_TEST_NVML=restarts makes the counter start again at 0 after the second reading.
#include <cstdlib>
#include <cstring>

extern "C" {

static int started = 0, card = 0;

int nvmlInit_v2() {
  started = 1;
  return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** found) {
  if (started == 0) return 1;
  if (std::strcmp(address, "0000:3b:00.0") != 0) return 6;
  *found = &card;
  return 0;
}

int nvmlDeviceGetTotalEnergyConsumption(void* of, unsigned long long* millijoules) {
  static int readings = 0;
  if (of != &card) return 2;
  const char* mode = std::getenv("MOKUME_TEST_NVML");
  const bool restarted = mode != nullptr && std::strcmp(mode, "restarts") == 0 && readings >= 2;
  *millijoules = (restarted ? 0 : 5'000'000) + 2'500ULL * static_cast<unsigned long long>(++readings);
  return 0;
}
}
