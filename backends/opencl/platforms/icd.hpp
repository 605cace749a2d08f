// The OpenCL drivers (ICDs) that the loader would load, and how to make it load only some of them.
#pragma once

#include <string>
#include <vector>

namespace mokume::opencl {

struct Icd {
  std::string source;   // what named it: an .icd file, or the library itself
  std::string library;  // what dlopen is given
};

// In a stable order. Looks where the loaders of Debian and Khronos look: OCL_ICD_FILENAMES, then OCL_ICD_VENDORS (a
// directory, an .icd file or a library), OPENCL_VENDOR_PATH or /etc/OpenCL/vendors.
std::vector<Icd> list_icds();

// Everything that can change what a probe of these drivers finds: files with times and sizes, environment, boot.
std::string fingerprint(const std::vector<Icd>& icds);

// Writes one .icd file for each driver into `directory`, which exists.
void write_vendors(const std::vector<Icd>& icds, const std::string& directory);

// The environment variables that choose drivers; a loader pointed at a directory must see only that.
inline constexpr const char* kLoaderVariables[] = {"OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH"};

}  // namespace mokume::opencl
