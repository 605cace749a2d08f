// Provides the interface of OpenCL's loader for the layers of this tree: each layer defines clGetLayerInfo and
// clInitLayer with these functions.
#pragma once

#include <CL/cl_layer.h>

#include <algorithm>
#include <cstring>

namespace mokume::pose {

inline cl_int layer_info(const char* layer_name, cl_layer_info what, size_t size, void* value, size_t* size_ret) {
  constexpr cl_layer_api_version kVersion = CL_LAYER_API_VERSION_100;
  const void* answer = nullptr;
  size_t bytes = 0;
  if (what == CL_LAYER_API_VERSION) answer = &kVersion, bytes = sizeof(kVersion);
  if (what == CL_LAYER_NAME) answer = layer_name, bytes = std::strlen(layer_name) + 1;
  if (answer == nullptr || (value != nullptr && size < bytes)) return CL_INVALID_VALUE;
  if (value != nullptr) std::memcpy(value, answer, bytes);
  if (size_ret != nullptr) *size_ret = bytes;
  return CL_SUCCESS;
}

// The loader calls `table`, a copy of the driver's table in which put_in_front(table) has replaced functions.
template <class PutInFront>
cl_int init_layer(cl_icd_dispatch& table, cl_uint n_entries, const cl_icd_dispatch* driver, cl_uint* n_entries_ret,
                  const cl_icd_dispatch** table_ret, PutInFront&& put_in_front) {
  if (driver == nullptr || n_entries_ret == nullptr || table_ret == nullptr) return CL_INVALID_VALUE;
  const size_t entries = std::min<size_t>(n_entries, sizeof(table) / sizeof(void*));
  std::memcpy(static_cast<void*>(&table), driver, entries * sizeof(void*));
  put_in_front(table);
  *table_ret = &table;
  *n_entries_ret = static_cast<cl_uint>(entries);
  return CL_SUCCESS;
}

}  // namespace mokume::pose
