#include "platforms/platforms.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "platforms/child.hpp"
#include "platforms/scoped_variable.hpp"
#include "sdk/cores.hpp"

extern char** environ;

namespace mokume::opencl {
namespace fs = std::filesystem;
namespace {

constexpr int kProbeTimeoutS = 20;
constexpr std::string_view kCacheHead = "mokume opencl probe 4\n";
constexpr std::string_view kCacheTail = "complete\n";
constexpr std::string_view kRecordEnd = "\nend \n";
constexpr std::string_view kPocl = "Portable Computing Language";
constexpr std::string_view kNotThere = "cannot be loaded or has no platform";

bool under_oclgrind() {
  const char* preload = std::getenv("LD_PRELOAD");
  return std::getenv("OCLGRIND") != nullptr ||
         (preload != nullptr && std::string_view(preload).find("oclgrind") != std::string_view::npos);
}

// Returns <prefix>/lib/mokume/libexec/opencl-probe for <prefix>/lib/mokume/backends/opencl.so.
std::string helper_path() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&helper_path), &info) == 0 || info.dli_fname == nullptr)
    throw Error(MK_INTERNAL, "opencl: cannot find the library's own path");
  const fs::path library = fs::absolute(info.dli_fname);
  return (library.parent_path().parent_path() / "libexec" / "opencl-probe").lexically_normal().string();
}

std::string to_text(const std::vector<IcdReport>& reports) {
  std::string text(kCacheHead);
  for (const IcdReport& r : reports) text += r.problem + "\n" + print(r.platforms);
  return text + std::string(kCacheTail);
}

// Returns the reports for `icds`, or nothing if the text is incomplete.
std::optional<std::vector<IcdReport>> from_text(std::string_view text, const std::vector<Icd>& icds) {
  if (!text.starts_with(kCacheHead) || !text.ends_with(kCacheTail)) return std::nullopt;
  text.remove_prefix(kCacheHead.size());
  std::vector<IcdReport> reports;
  for (const Icd& icd : icds) {
    const size_t line = text.find('\n');
    // A record without platforms consists of the end mark alone, so the search starts at the newline before it.
    const size_t end = line == std::string_view::npos ? line : text.find(kRecordEnd, line);
    if (end == std::string_view::npos) return std::nullopt;
    const size_t stop = end + kRecordEnd.size();
    try {
      reports.push_back({icd, std::string(text.substr(0, line)), parse(text.substr(line + 1, stop - line - 1))});
    } catch (const Error&) {
      return std::nullopt;
    }
    text.remove_prefix(stop);
  }
  if (text != kCacheTail) return std::nullopt;
  return reports;
}

// Removes results of earlier boots and driver versions, which nothing reads again.
void remove_old(const std::string& directory) {
  std::error_code error;
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(24 * 30);
  for (const auto& entry : fs::directory_iterator(directory, error))
    if (entry.path().filename().string().starts_with("probe-") && entry.last_write_time(error) < old)
      fs::remove(entry.path(), error);
}

size_t count_devices(const IcdReport& report) {
  size_t count = 0;
  for (const PlatformRecord& p : report.platforms) count += p.devices.size();
  return count;
}

// Returns the shared libraries of this process, except for mokume's own.
std::vector<std::string> loaded_libraries() {
  std::vector<std::string> paths;
  const auto add = [](dl_phdr_info* info, size_t, void* to) {
    const std::string_view path = info->dlpi_name;
    if (path.starts_with('/') && path.find("/ld-linux") == path.npos && path.find("/lib/mokume/") == path.npos)
      static_cast<std::vector<std::string>*>(to)->emplace_back(path);
    return 0;
  };
  dl_iterate_phdr(add, &paths);
  return paths;
}

// Returns the parenthesised part of a problem, with the parentheses.
std::string reason_in(const std::string& problem) {
  const size_t begin = problem.find(" ("), end = problem.rfind(')');
  return begin == problem.npos || end == problem.npos || end < begin ? "" : problem.substr(begin, end + 1 - begin);
}

// Returns the driver's own directory if this process has loaded another copy of a library in it, else a description.
std::string directory_to_put_first(const Icd& icd, const std::vector<std::string>& libraries) {
  const fs::path directory = fs::path(icd.library).parent_path();
  std::error_code error;
  for (const std::string& path : libraries)
    if (!directory.empty() && fs::exists(directory / fs::path(path).filename(), error)) return directory.string();
  return "the directory of the driver's own libraries";
}

std::string cure_for(const std::string& platform) {
  if (platform == "rusticl") return "set RUSTICL_ENABLE=llvmpipe, or radeonsi or iris for a GPU";
  if (platform == "Clover") return "Mesa's Clover supports only old AMD GPUs; without one it is not needed";
  if (platform == kPocl) return "set POCL_DEVICES=pthread, or unset it";
  return "check with clinfo that its hardware and kernel driver are present";
}

// Distinguishes the devices of a loaded platform. Devices with equal identities keep their order.
std::string identity(const mk_device_info& info) {
  return std::string(info.platform) + "\n" + info.version + "\n" + info.name + "\n" + info.driver;
}

}  // namespace

Platforms::Platforms(const sdk::Host& host) : host_(host) {
  const std::string base = host.cache_directory();
  if (base.empty()) return;
  std::error_code error;
  const fs::path directory = fs::path(base) / "opencl";
  fs::create_directories(directory, error);
  if (fs::is_directory(directory, error)) cache_ = directory.string();
}

std::string Platforms::try_units(uint32_t index, const UnitProbe& probe) {
  constexpr int kTimeoutS = 120;
  const std::lock_guard lock(mutex_);
  const mk_device_info& info = devices_[index];
  const std::string key = std::string(info.platform) + '\0' + info.name + '\0' + info.driver + '\0' + probe.options;
  if (const auto known = refusals_.find(key); known != refusals_.end()) return known->second;
  const auto before = std::count_if(devices_.begin(), devices_.begin() + index, [&](const mk_device_info& other) {
    return std::string_view(other.platform) == info.platform && std::string_view(other.name) == info.name;
  });
  const TemporaryDirectory directory(fs::temp_directory_path().string());
  write_vendors(good_, directory.path());
  const ChildResult child =
      run_child(helper_path(),
                {"--units", info.platform, info.name, std::to_string(before), probe.options, probe.source,
                 std::to_string(probe.lanes), std::to_string(probe.columns), std::to_string(probe.terms)},
                environment_with(directory.path()), kTimeoutS);
  // Drivers may print something first.
  const size_t refused = child.output.rfind(kUnitsRefused);
  std::string why;
  if (!child.problem.empty()) {
    why = "the program that tries them " + child.problem;
  } else if (refused != std::string::npos) {
    why = child.output.substr(refused + kUnitsRefused.size());
    while (why.ends_with('\n')) why.pop_back();
  } else if (child.output.find(kUnitsWork) == std::string::npos) {
    why = "the program that tries them ended without a result";
  }
  return refusals_[key] = why;
}

const std::vector<mk_device_info>& Platforms::devices() {
  const std::lock_guard lock(mutex_);
  if (!found_) find_devices();
  found_ = true;
  return devices_;
}

void Platforms::find_devices() {
  std::vector<mk_device_info> found;
  const auto take = [&](const std::vector<PlatformRecord>& platforms) {
    for (const PlatformRecord& p : platforms) found.insert(found.end(), p.devices.begin(), p.devices.end());
  };
  if (under_oclgrind()) {
    take(describe_platforms(false));
    for (mk_device_info& info : found) info.flags |= MK_DEVICE_INSTRUMENTED;
    devices_ = std::move(found);
    return;
  }
  const std::vector<Icd> icds = list_icds();
  pocl_cache_ = PoclCache(icds);
  const std::string state = fingerprint(icds) + helper_path() + pocl_cache_.variable() + pocl_cache_.problem();
  const std::string& file = cache_file_ =
      cache_.empty() ? "" : cache_ + "/probe-" + sha256(state).substr(0, 32) + ".txt";
  std::optional<std::vector<IcdReport>> reports;
  if (!file.empty()) reports = from_text(read_file(file).value_or(""), icds);
  const bool remembered = reports.has_value();
  if (!remembered) {
    reports.emplace();
    for (const Icd& icd : icds) reports->push_back(probe(icd));
    if (!file.empty()) {
      remove_old(cache_);
      replace_file(file, to_text(*reports));
    }
  }
  report(*reports, remembered ? file : "");
  good_.clear();
  for (const IcdReport& r : *reports) {
    take(r.platforms);
    if (count_devices(r) > 0) good_.push_back(r.icd);
  }
  // The cores are the cores of this process, which may differ from the cores of the process that wrote the cache.
  for (mk_device_info& info : found)
    if (info.kind == MK_DEVICE_CPU) sdk::set_text(info.physical_id, sdk::cpu_id());
  devices_ = std::move(found);
}

// Returns this process's environment, except that the loader searches only `directory`, and that PoCL uses the folder
// of `pocl_cache_`.
std::vector<std::string> Platforms::environment_with(const std::string& directory) const {
  std::vector<std::string> variables{"OCL_ICD_VENDORS=" + directory};
  const std::string cache = pocl_cache_.variable();
  for (char** v = environ; *v != nullptr; ++v) {
    const std::string_view text = *v;
    bool chooses = !cache.empty() && text.starts_with("POCL_CACHE_DIR=");
    for (const std::string_view name : kLoaderVariables)
      chooses = chooses || (text.starts_with(name) && text.substr(name.size()).starts_with('='));
    if (!chooses) variables.emplace_back(text);
  }
  if (!cache.empty()) variables.push_back(cache);
  return variables;
}

// Makes the helper load these libraries and describe one driver.
IcdReport Platforms::ask_helper(const Icd& icd, const std::vector<std::string>& libraries) const {
  const TemporaryDirectory directory(fs::temp_directory_path().string());
  write_vendors({icd}, directory.path());
  std::vector<std::string> arguments{icd.library};
  arguments.insert(arguments.end(), libraries.begin(), libraries.end());
  const ChildResult child = run_child(helper_path(), arguments, environment_with(directory.path()), kProbeTimeoutS);
  IcdReport report{icd, child.problem, {}};
  if (report.problem.empty()) {
    try {
      report.platforms = parse(child.output);
    } catch (const Error& e) {
      report.problem = e.what();
    }
  }
  if (!report.problem.empty()) {
    report.problem += " and is left out: update or remove its package";
  } else if (report.platforms.empty()) {
    const std::string_view said = child.output;
    const bool failed = said.starts_with(kLoadError);
    const std::string why(failed ? said.substr(kLoadError.size(), said.find('\n') - kLoadError.size()) : "");
    report.problem = std::string(kNotThere) + (failed ? " (" + why + ")" : "") +
                     ": install the package it belongs to, or remove " + icd.source;
  }
  return report;
}

IcdReport Platforms::probe(const Icd& icd) const {
  const std::vector<std::string> libraries = loaded_libraries();
  IcdReport report = ask_helper(icd, libraries);
  if (report.problem.empty()) return report;
  IcdReport alone = ask_helper(icd, {});
  if (count_devices(alone) == 0) return report;
  report.problem = "works alone, but not with the libraries that mokume has loaded" + reason_in(report.problem) +
                   ": start mokume with " + directory_to_put_first(icd, libraries) + " first in LD_LIBRARY_PATH";
  return report;
}

void Platforms::report(const std::vector<IcdReport>& reports, const std::string& cache_file) const {
  const auto log = [&](mk_log_level level, const std::string& text) { host_.log(level, "opencl", text); };
  const std::string again =
      cache_file.empty() ? "" : "; this result is cached, remove " + cache_file + " to try it again";
  if (const std::string note = pocl_cache_.note(); !note.empty()) log(MK_LOG_NOTE, note);
  for (const IcdReport& r : reports) {
    // Not every command has to report a driver file that its package left without a library. Every command does report
    // a driver that fails, also from the cache, because its devices are missing and nothing else in a run says why.
    const bool is_absent = r.problem.starts_with(kNotThere);
    if (!r.problem.empty())
      log(is_absent ? MK_LOG_INFO : MK_LOG_WARNING,
          "driver " + r.icd.library + " (" + r.icd.source + ") " + r.problem + again);
    for (const PlatformRecord& p : r.platforms) {
      if (!p.problem.empty())
        log(MK_LOG_WARNING, p.name + ": " + p.problem + " and is left out: update the driver" + again);
      else if (p.name == kPocl && !pocl_cache_.problem().empty())
        log(MK_LOG_WARNING, p.name + " " + pocl_cache_.problem());
      else if (p.devices.empty())
        log(MK_LOG_INFO, p.name + " has no devices: " + cure_for(p.name));
    }
  }
}

// CPU drivers start a thread for every core of the machine, even if this process may use only a few cores. The threads
// of PoCL 3.1 and llvmpipe would then compete for these cores. Keeps variables that the user has set.
class DriverThreads {
 public:
  DriverThreads() {
    const long all = sysconf(_SC_NPROCESSORS_ONLN), cores = std::ssize(sdk::allowed_cores());
    if (cores < 1 || cores >= all) return;
    for (const char* name : {"POCL_MAX_PTHREAD_COUNT", "LP_NUM_THREADS"})
      if (std::getenv(name) == nullptr)
        set_.push_back(std::make_unique<ScopedVariable>(name, std::to_string(cores).c_str()));
  }

 private:
  std::vector<std::unique_ptr<ScopedVariable>> set_;
};

// Sets the loader's variables as the helper had them, because loaders interpret the user's variables differently.
void Platforms::load_drivers() {
  if (good_.empty()) {  // only under Oclgrind
    all_platforms();
    return;
  }
  const TemporaryDirectory directory(fs::temp_directory_path().string());
  write_vendors(good_, directory.path());
  const ScopedVariable vendors("OCL_ICD_VENDORS", directory.path().c_str());
  const ScopedVariable files("OCL_ICD_FILENAMES", nullptr), path("OPENCL_VENDOR_PATH", nullptr);
  all_platforms();  // the loader reads its variables here, once
}

// The memory that PoCL reports depends on the state of the machine, so the values of the open device replace the cached
// values. Removes a cache that differs; the next start writes it again.
void Platforms::refresh(mk_device_info& known, const mk_device_info& now) {
  if (known.memory_bytes == now.memory_bytes && known.max_buffer_bytes == now.max_buffer_bytes) return;
  known.memory_bytes = now.memory_bytes;
  known.max_buffer_bytes = now.max_buffer_bytes;
  std::error_code error;
  if (!cache_file_.empty()) fs::remove(cache_file_, error);
}

DeviceHandle Platforms::handle(uint32_t index) {
  const std::vector<mk_device_info>& known = devices();
  if (index >= known.size())
    throw Error(MK_INVALID_ARGUMENT, "opencl has " + std::to_string(known.size()) + " devices, so there is no device " +
                                         std::to_string(index));
  const std::lock_guard lock(mutex_);
  if (!loaded_) {
    const DriverThreads threads;
    const auto cache = pocl_cache_.apply();
    load_drivers();
    for (const cl_platform_id platform : all_platforms()) devices_of(platform);  // PoCL starts its threads here
  }
  loaded_ = true;
  const std::string wanted = identity(known[index]);
  size_t skip = 0;
  for (uint32_t i = 0; i < index; ++i) skip += identity(known[i]) == wanted ? 1 : 0;
  for (const cl_platform_id platform : all_platforms())
    for (const cl_device_id device : devices_of(platform)) {
      const mk_device_info now = describe_device(platform, device);
      if (identity(now) != wanted || skip-- != 0) continue;
      refresh(devices_[index], now);
      devices_[index].compute_units = now.compute_units;  // only the cores of this process (see DriverThreads)
      return {platform, device};
    }
  throw Error(MK_DEVICE_ERROR,
              std::string(known[index].name) + " of " + known[index].platform + " is gone: run mokume devices again");
}

}  // namespace mokume::opencl
