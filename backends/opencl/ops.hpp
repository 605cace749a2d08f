// The ops on OpenCL, one row of a table each. A new op is a folder and a row.
#pragma once

#include <vector>

#include "runtime/launcher.hpp"
#include "variants/variant_set.hpp"

namespace mokume::opencl {

// Notes that the outputs change, then runs the op. As everything here, it takes ops that core has checked.
void submit(Launcher& launcher, const mk_op& op);

// The two halves of submit().
void mark_written(const mk_op& op);
void run(Launcher& launcher, const mk_op& op);

bool supports(const mk_device& device, const mk_op& op);

// The recorded choices, each after those that its race depends on.
const std::vector<const VariantSet*>& variant_sets();

}  // namespace mokume::opencl
