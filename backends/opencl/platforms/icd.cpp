#include "platforms/icd.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "sdk/error.hpp"
#include "support/files.hpp"

extern char** environ;

namespace mokume::opencl {
namespace fs = std::filesystem;
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

// An .icd file contains the library's name in its first line.
void add_file(const std::string& path, std::vector<Icd>& icds) {
  const std::string content = read_file(path, 4096).value_or("");
  std::string library = content.substr(0, content.find_first_of("\r\n"));
  library.erase(library.find_last_not_of(" \t") + 1);
  if (!library.empty()) icds.push_back({path, library});
}

void add_directory(const std::string& path, std::vector<Icd>& icds) {
  std::error_code error;
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(path, error))
    if (entry.path().extension() == ".icd") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) add_file(file, icds);
}

void add_any(const std::string& what, const std::string& default_directory, std::vector<Icd>& icds) {
  std::error_code error;
  if (fs::is_directory(what, error)) return add_directory(what, icds);
  if (!what.ends_with(".icd")) return icds.push_back({what, what});
  const std::string next_to_default = default_directory + "/" + what;
  add_file(what.find('/') == std::string::npos && fs::exists(next_to_default, error) ? next_to_default : what, icds);
}

std::string file_state(const std::string& path) {
  struct stat state {};
  if (stat(path.c_str(), &state) != 0) return path + " absent";
  return path + " " + std::to_string(state.st_size) + " " + std::to_string(state.st_mtim.tv_sec) + "." +
         std::to_string(state.st_mtim.tv_nsec) + " " + std::to_string(state.st_ino);
}

// Describes, without loading it, the file that the dynamic loader would probably find for a plain library name.
std::string library_state(const std::string& library) {
  if (library.find('/') != std::string::npos) return file_state(library);
  std::vector<std::string> directories = split(variable("LD_LIBRARY_PATH"), ':');
  for (const char* usual : {"/usr/local/lib", "/usr/local/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu",
                            "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/lib64", "/lib"})
    directories.emplace_back(usual);
  for (const std::string& directory : directories) {
    const std::string path = directory + "/" + library;
    if (access(path.c_str(), F_OK) == 0) return file_state(path);
  }
  return library + " is not in the usual places " + file_state("/etc/ld.so.cache");
}

// Returns whether drivers use this variable to select their devices.
bool matters(const std::string& name) {
  constexpr const char* kPrefixes[] = {"OCL_ICD_",     "OPENCL_",        "RUSTICL_",          "POCL_",
                                       "LP_NUM_",      "GALLIUM_",       "CL_CONFIG_",        "CUDA_VISIBLE_",
                                       "CUDA_DEVICE_", "ROCR_VISIBLE_",  "HIP_VISIBLE_",      "GPU_DEVICE_",
                                       "ZE_AFFINITY",  "ONEAPI_DEVICE_", "SYCL_DEVICE_",      "LD_LIBRARY_PATH=",
                                       "LD_PRELOAD=",  "CLOVER_",        "MESA_LOADER_DRIVER"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](const char* prefix) { return name.starts_with(prefix); });
}

}  // namespace

std::vector<Icd> list_icds() {
  std::vector<Icd> icds;
  const std::string vendor_path = variable("OPENCL_VENDOR_PATH");
  const std::string usual = vendor_path.empty() ? "/etc/OpenCL/vendors" : vendor_path;
  for (const std::string& file : split(variable("OCL_ICD_FILENAMES"), ':')) add_any(file, usual, icds);
  const std::string vendors = variable("OCL_ICD_VENDORS");
  // A machine without drivers lacks the system's directory; a directory that the user names is expected to exist.
  if (vendors.empty() && vendor_path.empty())
    add_directory(usual, icds);
  else
    add_any(vendors.empty() ? usual : vendors, usual, icds);
  return icds;
}

std::string fingerprint(const std::vector<Icd>& icds) {
  std::string text;
  for (const Icd& icd : icds) text += file_state(icd.source) + "\n" + library_state(icd.library) + "\n";
  std::vector<std::string> variables;
  for (char** v = environ; *v != nullptr; ++v)
    if (matters(*v)) variables.emplace_back(*v);
  std::sort(variables.begin(), variables.end());
  for (const std::string& v : variables) text += v + "\n";
  return text + read_file("/proc/sys/kernel/random/boot_id", 128).value_or("");
}

void write_vendors(const std::vector<Icd>& icds, const std::string& directory) {
  for (size_t i = 0; i < icds.size(); ++i) {
    std::string name = std::to_string(i);
    name = std::string(4 - std::min<size_t>(4, name.size()), '0') + name + ".icd";
    if (!replace_file(directory + "/" + name, icds[i].library + "\n"))
      throw Error(MK_DEVICE_ERROR, "cannot write " + directory + "/" + name + ": is the disk full?");
  }
}

}  // namespace mokume::opencl
