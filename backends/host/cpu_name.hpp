// Finds the name of a processor in the text of /proc/cpuinfo.
#pragma once

#include <string>
#include <string_view>

namespace mokume::host {

// Returns the first value of a key, or "".
inline std::string cpuinfo_value(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : text.size());
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || !line.starts_with(key)) continue;
    const size_t value = line.find_first_not_of(" \t", colon + 1);
    return value == std::string_view::npos ? "" : std::string(line.substr(value));
  }
  return "";
}

// Returns "" if the text does not name the processor. On arm64, the text has no model name, only the numbers of the
// maker and the core (MIDR_EL1). The table holds Arm's own names of its server cores.
inline std::string cpu_name(std::string_view text) {
  const std::string model = cpuinfo_value(text, "model name");
  if (!model.empty()) return model;
  const std::string maker = cpuinfo_value(text, "CPU implementer"), core = cpuinfo_value(text, "CPU part");
  if (maker.empty() || core.empty()) return "";
  constexpr struct {
    const char *core, *name;
  } kArm[] = {{"0xd08", "Cortex-A72"},
              {"0xd0c", "Neoverse N1"},
              {"0xd40", "Neoverse V1"},
              {"0xd49", "Neoverse N2"},
              {"0xd4f", "Neoverse V2"}};
  if (maker == "0x41")
    for (const auto& known : kArm)
      if (core == known.core) return std::string("Arm ") + known.name;
  return "arm64 processor " + maker + ":" + core;
}

}  // namespace mokume::host
