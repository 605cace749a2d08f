// Stands in for the library of a driver that is too old to count energy.
extern "C" {

int nvmlInit_v2() { return 0; }

int nvmlDeviceGetHandleByPciBusId_v2(const char*, void** found) {
  static int card = 0;
  *found = &card;
  return 0;
}
}
