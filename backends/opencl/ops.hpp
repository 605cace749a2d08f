// Runs the ops on OpenCL through a table with one row per op. A new op adds a folder and a row.
#pragma once

#include <vector>

#include "runtime/launcher.hpp"
#include "variants/variant_set.hpp"

namespace mokume::opencl {

// Marks the outputs as changed and then runs the op. All functions here expect ops that the core has validated.
void submit(Launcher& launcher, const mk_op& op);

// Do the two halves of submit().
void mark_written(const mk_op& op);
void run(Launcher& launcher, const mk_op& op);

bool supports(const mk_device& device, const mk_op& op);

// Returns the recorded choices. Each choice comes after the choices on which its race depends.
const std::vector<const VariantSet*>& variant_sets();

}  // namespace mokume::opencl
