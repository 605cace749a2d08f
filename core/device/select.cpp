// Finds the devices that a SEL names. SEL (docs/howto/devices.md) is a list, separated by commas, of: all, every,
// backend, backend:kind, backend:index, or a part of the name of a platform, vendor, version or device.
#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "device/select.hpp"
#include "sdk/error.hpp"

namespace mokume::device {
namespace {

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

bool has(const Listed& device, uint64_t flags) { return (device.info.flags & flags) != 0; }

// Holds positions in the list of devices, in list order.
using Positions = std::set<size_t>;

Positions every_of(const std::vector<Listed>& listed) {
  Positions taken;
  for (size_t i = 0; i < listed.size(); ++i)
    if (!has(listed[i], MK_DEVICE_TEMPLATE | MK_DEVICE_INSTRUMENTED)) taken.insert(i);
  return taken;
}

// Takes each physical GPU once, and one CPU device. Prefers a driver's CPU to the host backend's, which always exists.
Positions all_of(const std::vector<Listed>& listed) {
  Positions taken;
  std::set<std::string> physical;
  std::optional<size_t> cpu;
  for (size_t i = 0; i < listed.size(); ++i) {
    const Listed& device = listed[i];
    if (has(device, MK_DEVICE_TEMPLATE | MK_DEVICE_INSTRUMENTED | MK_DEVICE_SOFTWARE)) continue;
    const std::string id = device.info.physical_id;
    if (device.info.kind == MK_DEVICE_GPU && (id.empty() || physical.insert(id).second)) taken.insert(i);
    if (device.info.kind != MK_DEVICE_CPU) continue;
    if (!cpu || (listed[*cpu].backend == "host" && device.backend != "host")) cpu = i;
  }
  if (cpu) taken.insert(*cpu);
  return taken;
}

std::optional<int32_t> kind_of(const std::string& word) {
  if (word == "cpu") return MK_DEVICE_CPU;
  if (word == "gpu") return MK_DEVICE_GPU;
  if (word == "other") return MK_DEVICE_OTHER;
  return std::nullopt;
}

// Returns whether a word such as "opencl", "opencl:gpu" or "opencl:0" selects the device by its backend.
bool matches_backend(const Listed& device, const std::string& word) {
  const std::string backend = lower(device.backend);
  if (word == backend) return true;
  if (word.compare(0, backend.size() + 1, backend + ":") != 0) return false;
  const std::string rest = word.substr(backend.size() + 1);
  if (const std::optional<int32_t> kind = kind_of(rest)) return device.info.kind == *kind;
  uint32_t index = 0;
  const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), index);
  return code == std::errc{} && end == rest.data() + rest.size() && index == device.index;
}

bool matches_name(const Listed& device, const std::string& word) {
  const mk_device_info& info = device.info;
  for (const char* text : {info.name, info.platform, info.vendor, info.version})
    if (lower(text).find(word) != std::string::npos) return true;
  return false;
}

Positions named(const std::vector<Listed>& listed, const std::string& word) {
  Positions taken;
  for (size_t i = 0; i < listed.size(); ++i)
    if (matches_backend(listed[i], word)) taken.insert(i);
  const bool by_name = taken.empty() && !word.empty();
  for (size_t i = 0; by_name && i < listed.size(); ++i)
    if (matches_name(listed[i], word)) taken.insert(i);
  // A checker such as Oclgrind is a thousand times slower, so a word that also matches real devices does not select it.
  const auto instrumented = [&](size_t i) { return has(listed[i], MK_DEVICE_INSTRUMENTED); };
  if (!std::all_of(taken.begin(), taken.end(), instrumented)) std::erase_if(taken, instrumented);
  return taken;
}

[[noreturn]] void fail_match(const std::vector<Listed>& listed, const std::string& part) {
  std::string text = "no device matches '" + part + "'";
  if (lower(part) == "rusticl")
    text += ": Mesa lists these devices only if enabled: set RUSTICL_ENABLE=llvmpipe (or your GPU's driver)";
  text += listed.empty() ? "; there are no devices, 'mokume doctor' shows why" : "; there are:";
  for (const Listed& device : listed)
    text += "\n  " + device.id() + "  " + device.info.name + " (" + device.info.platform + ")";
  throw NoMatch(part, text);
}

// Returns the backend that a word such as "opencl:gpu" names before its colon, or "".
std::string backend_in(const std::string& word, const std::vector<std::string>& backends) {
  const std::string first = lower(base::trim(word.substr(0, word.find(':'))));
  const auto found =
      std::find_if(backends.begin(), backends.end(), [&](const auto& one) { return lower(one) == first; });
  return found == backends.end() ? "" : *found;
}

}  // namespace

std::vector<std::string> backends_of(const std::string& selection, const std::vector<std::string>& backends) {
  std::set<std::string> wanted = {"host"};
  for (const std::string& word : base::split(selection, ',')) {
    const std::string backend = backend_in(word, backends);
    if (backend.empty()) return backends;
    wanted.insert(backend);
  }
  std::vector<std::string> found;
  for (const std::string& one : backends)
    if (wanted.count(one) != 0) found.push_back(one);
  return found;
}

std::string without_backends(const std::string& selection, const std::vector<std::string>& backends) {
  std::string rest;
  for (const std::string& word : base::split(selection, ','))
    if (backend_in(word, backends).empty()) rest += (rest.empty() ? "" : ",") + word;
  return rest;
}

std::vector<Listed> select(const std::vector<Listed>& listed, const std::string& selection) {
  Positions taken;
  for (const std::string& part : base::split(selection, ',')) {
    const std::string word = lower(base::trim(part));
    const Positions found = word == "all" ? all_of(listed) : word == "every" ? every_of(listed) : named(listed, word);
    if (found.empty()) fail_match(listed, base::trim(part));
    taken.insert(found.begin(), found.end());
  }
  std::vector<Listed> result;
  for (const size_t i : taken) result.push_back(listed[i]);
  return result;
}

}  // namespace mokume::device
