#include "answers.hpp"

#include <CL/cl_ext.h>

#include <algorithm>
#include <cstring>

namespace mokume::pose {
namespace {

constexpr cl_device_info kTopologyAmd = 0x4037;  // cl_amd_device_attribute_query
constexpr cl_device_info kPciBusNv = 0x4008;     // cl_nv_device_attribute_query; these three are in no header
constexpr cl_device_info kPciSlotNv = 0x4009;
constexpr cl_device_info kPciDomainNv = 0x400A;
constexpr cl_device_info kSubGroupSizesIntel = 0x4108;
constexpr cl_device_info kPciBusInfoKhr = 0x410F;

template <class T>
Answer bytes_of(const T& value) {
  Answer answer(sizeof(value));
  std::memcpy(answer.data(), &value, sizeof(value));
  return answer;
}

Answer text(const std::string& value) { return Answer(value.c_str(), value.c_str() + value.size() + 1); }

Answer sizes(const std::vector<size_t>& values) {
  Answer answer(values.size() * sizeof(size_t));
  std::memcpy(answer.data(), values.data(), answer.size());
  return answer;
}

// Answers the vendors' own queries, and queries for the slot of the card.
Answer vendor_answer(const Card& card, cl_device_info what) {
  const auto [domain, bus, device, function] = card.pci;
  if (card.has_extension("cl_nv_device_attribute_query")) {
    if (what == kPciBusNv) return bytes_of(bus);
    if (what == kPciSlotNv) return bytes_of(device << 3 | function);
    if (what == kPciDomainNv) return bytes_of(domain);
    if (what == CL_DEVICE_WARP_SIZE_NV) return bytes_of(card.wave);
    if (card.compute_capability && what == CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV)
      return bytes_of((*card.compute_capability)[0]);
    if (card.compute_capability && what == CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV)
      return bytes_of((*card.compute_capability)[1]);
  }
  if (card.has_extension("cl_amd_device_attribute_query") && what == kTopologyAmd) {
    Answer topology(24);  // type 1 is PCIe; bus, device and function are the last three bytes
    topology[0] = 1;
    topology[21] = static_cast<unsigned char>(bus);
    topology[22] = static_cast<unsigned char>(device);
    topology[23] = static_cast<unsigned char>(function);
    return topology;
  }
  if (card.has_extension("cl_khr_pci_bus_info") && what == kPciBusInfoKhr) return bytes_of(card.pci);
  if (!card.sub_groups.empty() && what == kSubGroupSizesIntel) return sizes(card.sub_groups);
  return {};
}

cl_device_fp_config single_config(const Card& card) {
  const cl_device_fp_config all = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_ROUND_TO_ZERO |
                                  CL_FP_ROUND_TO_INF | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
  return all | (card.fma ? CL_FP_FMA : 0);
}

cl_device_fp_config double_config(const Card& card) {
  return card.fp64 ? CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF |
                         CL_FP_FMA
                   : 0;
}

Answer text_answer(const Card& card, cl_device_info what) {
  switch (what) {
    case CL_DEVICE_NAME:
      return text(card.name);
    case CL_DEVICE_VENDOR:
      return text(card.vendor);
    case CL_DEVICE_VERSION:
      return text(card.version);
    case CL_DRIVER_VERSION:
      return text(card.driver);
    case CL_DEVICE_OPENCL_C_VERSION:
      return text("OpenCL C 1.2 ");
    case CL_DEVICE_EXTENSIONS:
      return text(card.extension_text());
    default:
      return {};
  }
}

}  // namespace

Answer platform_answer(const Card& card, cl_platform_info what) {
  switch (what) {
    case CL_PLATFORM_NAME:
      return text(card.platform.name);
    case CL_PLATFORM_VENDOR:
      return text(card.platform.vendor);
    case CL_PLATFORM_VERSION:
      return text(card.platform.version);
    case CL_PLATFORM_EXTENSIONS:
      return text(card.extension_text());
    default:
      return {};
  }
}

Answer device_answer(const Card& card, cl_device_info what, cl_ulong real_memory, cl_ulong real_buffer) {
  switch (what) {
    case CL_DEVICE_TYPE:
      return bytes_of(cl_device_type{CL_DEVICE_TYPE_GPU});
    case CL_DEVICE_VENDOR_ID:
      return bytes_of(card.vendor_id);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
      return bytes_of(card.compute_units);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
      return bytes_of(card.work_group);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
      return sizes({card.work_item_sizes.begin(), card.work_item_sizes.end()});
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT:
      return bytes_of(cl_uint{1});
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE:
      return bytes_of(cl_uint{card.fp64 ? 1U : 0U});
    case CL_DEVICE_LOCAL_MEM_TYPE:
      return bytes_of(cl_device_local_mem_type{CL_LOCAL});
    case CL_DEVICE_LOCAL_MEM_SIZE:
      return bytes_of(cl_ulong{card.local_bytes});
    case CL_DEVICE_GLOBAL_MEM_SIZE:
      return bytes_of(std::min(card.memory_bytes, real_memory));
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
      return bytes_of(std::min(card.buffer_bytes, real_buffer));
    case CL_DEVICE_MAX_PARAMETER_SIZE:
      return bytes_of(card.parameter_bytes);
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
      return bytes_of(static_cast<cl_bool>(card.shared_memory));
    case CL_DEVICE_SINGLE_FP_CONFIG:
      return bytes_of(single_config(card));
    case CL_DEVICE_DOUBLE_FP_CONFIG:
      return bytes_of(double_config(card));
    default:
      break;
  }
  Answer answer = text_answer(card, what);
  return answer.empty() ? vendor_answer(card, what) : answer;
}

cl_int give(const Answer& answer, size_t size, void* value, size_t* size_ret) {
  if (value != nullptr && size < answer.size()) return CL_INVALID_VALUE;
  if (value != nullptr) std::memcpy(value, answer.data(), answer.size());
  if (size_ret != nullptr) *size_ret = answer.size();
  return CL_SUCCESS;
}

}  // namespace mokume::pose
