// Connects a layer of this tree with OpenCL's loader: loader.cpp exports the two functions that the loader calls. Each
// layer consists of that file and of one that defines the two names below.
#pragma once

#include <CL/cl_icd.h>

namespace mokume::layer {

extern const char* const kName;

// Replaces functions in the table, which the loader calls. Until then, it is a copy of the driver's, which a layer
// keeps to call the driver itself.
void put_in_front(cl_icd_dispatch& table);

}  // namespace mokume::layer
