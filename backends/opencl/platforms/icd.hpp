// Lists the OpenCL drivers (ICDs) that the loader would load, and restricts the loader to some of them.
#pragma once

#include <string>
#include <vector>

namespace mokume::opencl {

struct Icd {
  std::string source;   // place where the driver was found: an .icd file, or the library itself
  std::string library;  // argument of dlopen
};

// Returns the drivers in a stable order. Searches the same places as the loaders of Debian and Khronos:
// OCL_ICD_FILENAMES, then OCL_ICD_VENDORS (a directory, an .icd file or a library), OPENCL_VENDOR_PATH or
// /etc/OpenCL/vendors.
std::vector<Icd> list_icds();

// Returns all properties that affect a probe of these drivers: files with times and sizes, environment, boot.
std::string fingerprint(const std::vector<Icd>& icds);

// Writes one .icd file per driver into `directory`, which must exist.
void write_vendors(const std::vector<Icd>& icds, const std::string& directory);

// Lists the environment variables that select drivers. A loader that may see only one directory must see none of them.
inline constexpr const char* kLoaderVariables[] = {"OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH"};

}  // namespace mokume::opencl
