#include "cpu_name.hpp"

#include <gtest/gtest.h>

namespace mokume::host {
namespace {

TEST(CpuName, comes_from_the_model_or_from_the_numbers_of_the_core) {
  EXPECT_EQ(cpu_name("vendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 7B13\nmodel name\t: other\n"), "AMD EPYC 7B13");
  const std::string_view grace =
      "processor\t: 0\nBogoMIPS\t: 2000.00\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\n"
      "CPU part\t: 0xd4f\nCPU revision\t: 0\n";
  EXPECT_EQ(cpu_name(grace), "Arm Neoverse V2");
  EXPECT_EQ(cpu_name("CPU implementer\t: 0xc0\nCPU part\t: 0xac3"), "arm64 processor 0xc0:0xac3");
  EXPECT_EQ(cpu_name("processor : 0\nmodel name\t:\n"), "");
  EXPECT_EQ(cpu_name(""), "");
  EXPECT_EQ(cpuinfo_value("vendor_id : GenuineIntel", "vendor_id"), "GenuineIntel");
}

}  // namespace
}  // namespace mokume::host
