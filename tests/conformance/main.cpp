// Runs one suite, through the C boundary, on every device of every backend that is built.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "suite.hpp"

namespace {

// CMakeLists.txt sets these variables for a test that runs a sample of its cases: MOKUME_SAMPLE=N runs each Nth case,
// and MOKUME_SAMPLE_WITHOUT is a pattern of cases to leave out. MOKUME_TEST_ALL=1 (scripts/test --all) runs all cases.
void take_sample() {
  if (std::getenv("MOKUME_TEST_ALL") != nullptr) return;
  if (const char* every = std::getenv("MOKUME_SAMPLE")) {
    setenv("GTEST_TOTAL_SHARDS", every, 1);
    const char* first = std::getenv("MOKUME_SAMPLE_FIRST");
    setenv("GTEST_SHARD_INDEX", first != nullptr ? first : "0", 1);
  }
  if (const char* without = std::getenv("MOKUME_SAMPLE_WITHOUT")) {
    std::string filter = GTEST_FLAG_GET(filter);
    filter += (filter.find('-') == std::string::npos ? "-" : ":") + std::string(without);
    GTEST_FLAG_SET(filter, filter);
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace mokume::conformance;
  ::testing::InitGoogleTest(&argc, argv);
  take_sample();
  try {
    Machine machine;
    add_inventory_tests(machine);
    add_oracle_tests(machine);
    add_network_oracle_tests(machine);
    add_option_oracle_tests(machine);
    add_augment_oracle_tests(machine);
    add_host_tests(machine);
    add_formula_tests();
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
