#include "loader.hpp"

#include <CL/cl_layer.h>

#include <algorithm>
#include <cstring>

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void* value, size_t* size_ret) {
  constexpr cl_layer_api_version kVersion = CL_LAYER_API_VERSION_100;
  const void* answer = nullptr;
  size_t bytes = 0;
  if (what == CL_LAYER_API_VERSION) answer = &kVersion, bytes = sizeof(kVersion);
  if (what == CL_LAYER_NAME) answer = mokume::layer::kName, bytes = std::strlen(mokume::layer::kName) + 1;
  if (answer == nullptr || (value != nullptr && size < bytes)) return CL_INVALID_VALUE;
  if (value != nullptr) std::memcpy(value, answer, bytes);
  if (size_ret != nullptr) *size_ret = bytes;
  return CL_SUCCESS;
}

EXPORTED cl_int CL_API_CALL clInitLayer(cl_uint n_entries, const cl_icd_dispatch* driver, cl_uint* n_entries_ret,
                                        const cl_icd_dispatch** table_ret) {
  static cl_icd_dispatch table;
  if (driver == nullptr || n_entries_ret == nullptr || table_ret == nullptr) return CL_INVALID_VALUE;
  const size_t entries = std::min<size_t>(n_entries, sizeof(table) / sizeof(void*));
  std::memcpy(static_cast<void*>(&table), driver, entries * sizeof(void*));
  mokume::layer::put_in_front(table);
  *table_ret = &table;
  *n_entries_ret = static_cast<cl_uint>(entries);
  return CL_SUCCESS;
}
