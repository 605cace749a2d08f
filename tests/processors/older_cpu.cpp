// Hides a processor's newer instructions from LLVM, as a library for LD_PRELOAD, so that PoCL compiles its kernels as
// on an older machine. OLDER_CPU holds prefixes of the names of the features to hide, such as "avx512,avx2".
#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

// Mirrors llvm::StringMap<bool> in the memory of LLVM 14 to 19: a table of entries, each followed by its key.
struct Entry {
  size_t key_length;
  bool value;
  std::string_view key() const { return {reinterpret_cast<const char*>(this) + sizeof(Entry), key_length}; }
};
struct Features {
  Entry** table;
  unsigned buckets;
};

bool hides(std::string_view feature) {
  const char* const all = std::getenv("OLDER_CPU");
  std::string_view names = all == nullptr ? "" : all;
  while (!names.empty()) {
    const size_t end = names.find(',');
    if (feature.starts_with(names.substr(0, end))) return true;
    names.remove_prefix(end == std::string_view::npos ? names.size() : end + 1);
  }
  return false;
}

// The driver loads LLVM only for itself, so RTLD_NEXT does not find it.
void* loaded_llvm() {
  void* found = nullptr;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* handle) {
        if (std::string_view(info->dlpi_name).find("libLLVM") == std::string_view::npos) return 0;
        *static_cast<void**>(handle) = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        return 1;
      },
      &found);
  return found;
}

template <class Function>
Function in_llvm(const char* name) {
  void* const llvm = loaded_llvm();
  return reinterpret_cast<Function>(llvm == nullptr ? nullptr : dlsym(llvm, name));
}

void hide(Features& features) {
  for (unsigned i = 0; i < features.buckets; ++i) {
    Entry* const entry = features.table[i];
    const auto tombstone = static_cast<uintptr_t>(-1) << 3;
    if (entry != nullptr && reinterpret_cast<uintptr_t>(entry) != tombstone && hides(entry->key()))
      entry->value = false;
  }
}

}  // namespace

// Replaces llvm::sys::getHostCPUFeatures(llvm::StringMap<bool>&), up to LLVM 18. Callers find this function first.
extern "C" bool _ZN4llvm3sys18getHostCPUFeaturesERNS_9StringMapIbNS_15MallocAllocatorEEE(Features& features) {
  const auto real =
      in_llvm<bool (*)(Features&)>("_ZN4llvm3sys18getHostCPUFeaturesERNS_9StringMapIbNS_15MallocAllocatorEEE");
  if (real == nullptr || !real(features)) return false;
  hide(features);
  return true;
}

// Replaces llvm::sys::getHostCPUFeatures(), from LLVM 19 on. The caller passes the place for the result.
extern "C" Features* _ZN4llvm3sys18getHostCPUFeaturesEv(Features* result) {
  const auto real = in_llvm<Features* (*)(Features*)>("_ZN4llvm3sys18getHostCPUFeaturesEv");
  if (real == nullptr) std::abort();
  real(result);
  hide(*result);
  return result;
}
