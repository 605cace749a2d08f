#include <gtest/gtest.h>

#include "device/device.hpp"
#include "device/select.hpp"
#include "sdk/error.hpp"
#include "sdk/plugin.hpp"

namespace mokume::device {
namespace {

struct Sketch {
  const char *backend, *name, *platform, *vendor, *version;
  mk_device_kind kind;
  uint64_t flags;
  const char* physical_id;
};

std::vector<Listed> list(const std::vector<Sketch>& sketches) {
  std::vector<Listed> listed;
  for (const Sketch& sketch : sketches) {
    Listed device;
    device.backend = sketch.backend;
    for (const Listed& before : listed)
      if (before.backend == device.backend) ++device.index;
    sdk::set_text(device.info.name, sketch.name);
    sdk::set_text(device.info.platform, sketch.platform);
    sdk::set_text(device.info.vendor, sketch.vendor);
    sdk::set_text(device.info.version, sketch.version);
    sdk::set_text(device.info.physical_id, sketch.physical_id);
    device.info.kind = sketch.kind;
    device.info.flags = sketch.flags;
    listed.push_back(device);
  }
  return listed;
}

// Returns the devices of a machine with every kind of device. Two platforms list the second GPU.
std::vector<Listed> machine() {
  return list({
      {"host", "Xeon", "host", "", "oneDNN 2.6", MK_DEVICE_CPU, 0, "cpu:0-7"},
      {"null", "null", "null", "", "", MK_DEVICE_CPU, MK_DEVICE_TEMPLATE, ""},
      {"opencl", "NVIDIA H200", "NVIDIA CUDA", "NVIDIA Corporation", "OpenCL 3.0 CUDA", MK_DEVICE_GPU, MK_DEVICE_FP64,
       "pci:0000:01:00.0"},
      {"opencl", "gfx90a", "AMD Accelerated Parallel Processing", "Advanced Micro Devices, Inc.", "OpenCL 2.1 AMD-APP",
       MK_DEVICE_GPU, MK_DEVICE_FP64, "pci:0000:02:00.0"},
      {"opencl", "AMD Instinct MI210 (radeonsi)", "rusticl", "AMD", "OpenCL 3.0", MK_DEVICE_GPU, 0, "pci:0000:02:00.0"},
      {"opencl", "llvmpipe (LLVM 15)", "rusticl", "Mesa", "OpenCL 3.0", MK_DEVICE_CPU, MK_DEVICE_SOFTWARE, "cpu:0-7"},
      {"opencl", "pthread-haswell-Xeon", "Portable Computing Language", "GenuineIntel", "OpenCL 3.0 PoCL HSTR: x86_64",
       MK_DEVICE_CPU, MK_DEVICE_FP64, "cpu:0-7"},
      {"opencl", "Oclgrind Simulator", "Oclgrind", "University of Bristol", "OpenCL 1.2 (Oclgrind 21.10)",
       MK_DEVICE_CPU, MK_DEVICE_INSTRUMENTED, ""},
  });
}

using Ids = std::vector<std::string>;

Ids ids(const std::vector<Listed>& devices) {
  Ids result;
  for (const Listed& device : devices) result.push_back(device.id());
  return result;
}

Ids chosen(const std::string& selection) { return ids(select(machine(), selection)); }

std::string refusal(const std::vector<Listed>& devices, const std::string& selection) {
  try {
    select(devices, selection);
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), MK_DEVICE_ERROR);
    return e.what();
  }
  ADD_FAILURE() << "no error for '" << selection << "'";
  return "";
}

TEST(Select, AllTakesEveryPhysicalGpuOnceAndOneCpu) {
  EXPECT_EQ(chosen("all"), (Ids{"opencl:0", "opencl:1", "opencl:4"}));
}

TEST(Select, AllTakesTheHostIfThereIsNoRealOpenClCpu) {
  std::vector<Listed> devices = machine();
  std::erase_if(devices, [](const Listed& d) { return d.id() == "opencl:4"; });
  EXPECT_EQ(ids(select(devices, "all")), (Ids{"host:0", "opencl:0", "opencl:1"}));
}

TEST(Select, AllKeepsGpusWithoutAPhysicalId) {
  const std::vector<Listed> devices =
      list({{"opencl", "a", "p", "v", "", MK_DEVICE_GPU, 0, ""}, {"opencl", "b", "p", "v", "", MK_DEVICE_GPU, 0, ""}});
  EXPECT_EQ(ids(select(devices, "all")), (Ids{"opencl:0", "opencl:1"}));
}

TEST(Select, EveryTakesAllListedDevicesExceptTemplatesAndCheckers) {
  EXPECT_EQ(chosen("every"), (Ids{"host:0", "opencl:0", "opencl:1", "opencl:2", "opencl:3", "opencl:4"}));
}

TEST(Select, SelectsByBackend) {
  EXPECT_EQ(chosen("host"), (Ids{"host:0"}));
  EXPECT_EQ(chosen("null"), (Ids{"null:0"}));
  EXPECT_EQ(chosen("OpenCL"), (Ids{"opencl:0", "opencl:1", "opencl:2", "opencl:3", "opencl:4"}));
}

TEST(Select, SelectsByBackendAndKind) {
  EXPECT_EQ(chosen("opencl:gpu"), (Ids{"opencl:0", "opencl:1", "opencl:2"}));
  EXPECT_EQ(chosen("opencl:CPU"), (Ids{"opencl:3", "opencl:4"}));
  refusal(machine(), "host:gpu");
}

TEST(Select, SelectsByBackendAndIndex) {
  EXPECT_EQ(chosen("opencl:4"), (Ids{"opencl:4"}));
  EXPECT_EQ(chosen("opencl:5"), (Ids{"opencl:5"}));  // a checker, selected by name
  for (const char* bad : {"opencl:6", "opencl:", "opencl:-1", "opencl:0x0", "opencl:4294967296", "opencl:1 2"})
    refusal(machine(), bad);
}

TEST(Select, SelectsByAPartOfAName) {
  EXPECT_EQ(chosen("pocl"), (Ids{"opencl:4"}));                 // version
  EXPECT_EQ(chosen("portable computing"), (Ids{"opencl:4"}));   // platform
  EXPECT_EQ(chosen("rusticl"), (Ids{"opencl:2", "opencl:3"}));  // platform
  EXPECT_EQ(chosen("llvmpipe"), (Ids{"opencl:3"}));             // name
  EXPECT_EQ(chosen("nvidia"), (Ids{"opencl:0"}));               // vendor
  EXPECT_EQ(chosen("ADVANCED micro"), (Ids{"opencl:1"}));
  EXPECT_EQ(chosen("oclgrind"), (Ids{"opencl:5"}));
  EXPECT_EQ(chosen("xeon"), (Ids{"host:0", "opencl:4"}));
}

TEST(Select, AWordForRealDevicesDoesNotSelectCheckers) {
  EXPECT_EQ(chosen("opencl 1.2"), (Ids{"opencl:5"}));
  EXPECT_EQ(chosen("a"), (Ids{"opencl:0", "opencl:1", "opencl:2", "opencl:3", "opencl:4"}));
}

TEST(Select, ListsKeepTheOrderOfTheMachineAndTakeEachOnce) {
  EXPECT_EQ(chosen("pocl, rusticl ,host,opencl:4"), (Ids{"host:0", "opencl:2", "opencl:3", "opencl:4"}));
}

TEST(Select, AWordThatMatchesNothingListsTheDevices) {
  const std::string text = refusal(machine(), "host,quantum");
  EXPECT_NE(text.find("'quantum'"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  opencl:4  pthread-haswell-Xeon (Portable Computing Language)"), std::string::npos) << text;
  EXPECT_EQ(text.find("RUSTICL_ENABLE"), std::string::npos) << text;
  for (const char* bad : {"", ",", "host,", "cpu:0-7,"}) refusal(machine(), bad);
}

TEST(Select, MissingRusticlDevicesNameTheCure) {
  std::vector<Listed> devices = machine();
  std::erase_if(devices, [](const Listed& d) { return std::string(d.info.platform) == "rusticl"; });
  const std::string text = refusal(devices, "Rusticl");
  EXPECT_NE(text.find("set RUSTICL_ENABLE=llvmpipe (or your GPU's driver)"), std::string::npos) << text;
}

TEST(Select, WithoutDevicesEverythingIsAnError) {
  for (const char* selection : {"all", "every", "host"})
    EXPECT_NE(refusal({}, selection).find("mokume doctor"), std::string::npos);
}

// Checks which backends a selection can name, because the program loads no other backend.
TEST(BackendsOf, ASelectionCanName) {
  const std::vector<std::string> all = {"fault", "host", "null", "opencl"};
  using Names = std::vector<std::string>;
  for (const char* selection : {"host", "HOST", " host:0 ", "host:1,host", "host:cpu"})
    EXPECT_EQ(backends_of(selection, all), Names{"host"}) << selection;
  for (const char* selection : {"opencl", "opencl:gpu", "OpenCL:3,host", " opencl , opencl:0"})
    EXPECT_EQ(backends_of(selection, all), (Names{"host", "opencl"})) << selection;
  EXPECT_EQ(backends_of("null,fault:0", all), (Names{"fault", "host", "null"}));
  for (const char* selection :
       {"", "all", "every", "pocl", "nvidia", "host,all", "opencl,rusticl", "opencl 1.2", "gpu"})
    EXPECT_EQ(backends_of(selection, all), all) << selection;
  EXPECT_EQ(backends_of("opencl", {"opencl"}), Names{"opencl"}) << "there is no host backend";
  EXPECT_EQ(backends_of("host", {}), Names{}) << "there are none";
}

TEST(BackendsOf, WordsThatNameABackendCanBeRemoved) {
  EXPECT_EQ(without_backends("opencl:0,host", {"opencl"}), "host");
  EXPECT_EQ(without_backends("host, OpenCL:gpu,pocl", {"opencl", "null"}), "host,pocl");
  EXPECT_EQ(without_backends("opencl", {"opencl"}), "");
  EXPECT_EQ(without_backends("all", {"opencl"}), "all");
  EXPECT_EQ(without_backends("opencl,host", {}), "opencl,host");
}

TEST(DeviceClass, DiffersWhereResultsMayDiffer) {
  Listed device = machine()[6];
  const std::string before = device.device_class();
  EXPECT_NE(before.find("pthread-haswell-Xeon"), std::string::npos);
  device.index = 7;
  sdk::set_text(device.info.physical_id, "elsewhere");
  EXPECT_EQ(device.device_class(), before);
  sdk::set_text(device.info.isa, "avx512");
  EXPECT_NE(device.device_class(), before);
  device = machine()[6];
  sdk::set_text(device.info.driver, "3.2");
  EXPECT_NE(device.device_class(), before);
  device = machine()[6];
  device.backend = "host";
  EXPECT_NE(device.device_class(), before);
}

}  // namespace
}  // namespace mokume::device
