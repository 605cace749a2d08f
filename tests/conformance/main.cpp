// Conformance: one suite, through the C boundary, on every device of every backend that is built.
#include <cstdio>
#include <exception>

#include "suite.hpp"

int main(int argc, char** argv) {
  using namespace mokume::conformance;
  ::testing::InitGoogleTest(&argc, argv);
  try {
    Machine machine;
    add_inventory_tests(machine);
    add_oracle_tests(machine);
    add_network_oracle_tests(machine);
    add_option_oracle_tests(machine);
    add_augment_oracle_tests(machine);
    add_host_tests(machine);
    add_refusal_tests(machine);
    for (auto& device : machine.devices()) {
      add_handle_tests(machine, *device);
      add_op_tests(machine, *device);
      add_semantics_tests(machine, *device);
      add_group_tests(machine, *device);
      add_kernel_source_tests(machine, *device);
      add_layout_tests(*device);
    }
    return RUN_ALL_TESTS();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "conformance: %s\n", e.what());
    return 1;
  }
}
