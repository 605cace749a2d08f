// Declares the groups of tests, each of which registers its own tests with GoogleTest.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "device_under_test.hpp"

namespace mokume::conformance {

class Lambda : public ::testing::Test {
 public:
  explicit Lambda(std::function<void()> body) : body_(std::move(body)) {}
  void TestBody() override { body_(); }

 private:
  std::function<void()> body_;
};

inline void add_test(const std::string& suite, const std::string& name, std::function<void()> body) {
  ::testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [body = std::move(body)]() -> ::testing::Test* { return new Lambda(body); });
}

void add_inventory_tests(Machine& machine);                        // the devices and cases that must exist
void add_op_tests(Machine& machine, DeviceUnderTest& dut);         // every case of every op against the oracle
void add_semantics_tests(Machine& machine, DeviceUnderTest& dut);  // combinations of ops
void add_group_tests(Machine& machine, DeviceUnderTest& dut);      // ops in a group against the same ops run separately
void add_refusal_tests(Machine& machine);                          // descriptors that must be refused
void add_handle_tests(Machine& machine, DeviceUnderTest& dut);     // devices, buffers, queues, copies, events
void add_kernel_source_tests(Machine& machine, DeviceUnderTest& dut);
void add_layout_tests(DeviceUnderTest& dut);  // structs that host and kernels share
void add_oracle_tests(Machine& machine);      // the oracle against numbers worked out by hand
void add_network_oracle_tests(Machine& machine);
void add_option_oracle_tests(Machine& machine);
void add_augment_oracle_tests(Machine& machine);
void add_host_tests(Machine& machine);  // guarantees that only the host backend makes
void add_formula_tests();               // the functions that backends share, against libm

}  // namespace mokume::conformance
