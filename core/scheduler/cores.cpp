#include "scheduler/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <system_error>
#include <tuple>

#include "base/files.hpp"
#include "base/text.hpp"
#include "sdk/cores.hpp"
#include "sdk/error.hpp"

namespace mokume::scheduler {
namespace {

struct FreeSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using Set = std::unique_ptr<cpu_set_t, FreeSet>;

bool set_mask(const std::vector<uint32_t>& cores) {
  const size_t capacity = size_t{*std::max_element(cores.begin(), cores.end())} + 1;
  const Set set(CPU_ALLOC(capacity));
  if (!set) return false;
  const size_t bytes = CPU_ALLOC_SIZE(capacity);
  CPU_ZERO_S(bytes, set.get());
  for (const uint32_t core : cores) CPU_SET_S(core, bytes, set.get());
  return sched_setaffinity(0, bytes, set.get()) == 0;
}

// Returns a number that the kernel reports for a core, or 0 if it reports none.
int64_t topology(const std::string& root, uint32_t core, const char* what) {
  try {
    const std::string text = base::trim(
        base::read_file(root + "/sys/devices/system/cpu/cpu" + std::to_string(core) + "/topology/" + what, 100));
    int64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    return code == std::errc{} && end == text.data() + text.size() ? value : 0;
  } catch (const Error&) {
    return 0;
  }
}

}  // namespace

std::vector<uint32_t> allowed_core_list(const std::string& root) {
  std::vector<std::tuple<int64_t, int64_t, uint32_t>> positions;
  for (const uint32_t core : sdk::allowed_cores())
    positions.emplace_back(topology(root, core, "physical_package_id"), topology(root, core, "core_id"), core);
  std::sort(positions.begin(), positions.end());
  std::vector<uint32_t> cores;
  for (const auto& place : positions) cores.push_back(std::get<2>(place));
  return cores;
}

void run_on(const std::vector<uint32_t>& cores) {
  if (cores.empty() || set_mask(cores)) return;
  throw Error(MK_INTERNAL, "cannot run on cores " + core_text(cores) + ": " + std::generic_category().message(errno));
}

OnCores::OnCores(const std::vector<uint32_t>& cores) : before_(sdk::allowed_cores()) { run_on(cores); }

OnCores::~OnCores() {
  if (!before_.empty()) set_mask(before_);
}

std::string core_text(std::vector<uint32_t> cores) {
  std::sort(cores.begin(), cores.end());
  return sdk::core_ranges(cores);
}

}  // namespace mokume::scheduler
