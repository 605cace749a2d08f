#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "problem.hpp"
#include "suite.hpp"

namespace mokume::conformance {
namespace {

// MOKUME_EXPECT_DEVICES holds comma-separated parts of labels. A run that needs a device must not pass without it.
void expected_devices_are_there(Machine& machine) {
  std::string found;
  for (auto& device : machine.devices()) found += "\n  " + device->label();
  for (const test::LogLine& line : machine.host().lines()) found += "\n  " + line.source + " said: " + line.text;
  const char* expected = std::getenv("MOKUME_EXPECT_DEVICES");
  std::istringstream parts(expected == nullptr ? "host0,host1,null0" : expected);
  for (std::string part; std::getline(parts, part, ',');) {
    const bool there = std::any_of(machine.devices().begin(), machine.devices().end(),
                                   [&](const auto& device) { return device->label().find(part) != std::string::npos; });
    EXPECT_TRUE(there) << "no device has \"" << part << "\" in its label; there is" << found;
  }
}

void every_op_has_cases() {
  std::set<int32_t> codes;
  for (const OpCases& op : all_cases()) {
    EXPECT_TRUE(codes.insert(op.code).second) << "two files in cases/ are for " << ops::rule(op.code).name;
    EXPECT_FALSE(op.cases.empty());
    std::set<std::string> names;
    for (const Case& one : op.cases) EXPECT_TRUE(names.insert(one.name).second) << one.name;
  }
  for (const ops::OpRule& rule : ops::kOps) EXPECT_TRUE(codes.count(rule.code) == 1) << rule.name << " has no cases";
}

// The cases check their own size when they run.
void every_op_has_a_large_case() {
  for (const OpCases& op : all_cases()) {
    const bool any = std::any_of(op.cases.begin(), op.cases.end(), [](const Case& c) { return c.size == Size::large; });
    EXPECT_TRUE(any) << ops::rule(op.code).name << " has no case of Size::large";
  }
}

// Models may run these ops in place, so each op needs a case in which the output is the same view as input 0.
void every_op_in_place_has_a_tiny_case_of_it() {
  for (const OpCases& op : all_cases()) {
    const int32_t output = ops::rule(op.code).in_place;
    if (output == ops::kApart) continue;
    const bool any = std::any_of(op.cases.begin(), op.cases.end(), [output](const Case& c) {
      if (c.size != Size::tiny) return false;
      const mk_op made = c.make().op;
      return output < static_cast<int32_t>(made.n_outputs) && made.outputs[output].buffer == made.inputs[0].buffer &&
             !sdk::empty(made.inputs[0]);
    });
    EXPECT_TRUE(any) << ops::rule(op.code).name << " has no case in place";
  }
}

}  // namespace

void add_inventory_tests(Machine& machine) {
  add_test("inventory", "expected_devices_are_there", [&machine] { expected_devices_are_there(machine); });
  add_test("inventory", "every_op_has_cases", every_op_has_cases);
  add_test("inventory", "every_op_has_a_large_case", every_op_has_a_large_case);
  add_test("inventory", "every_op_in_place_has_a_tiny_case_of_it", every_op_in_place_has_a_tiny_case_of_it);
}

}  // namespace mokume::conformance
