#include "variants/variants.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "gemm/clblast.hpp"
#include "ops.hpp"
#include "platforms/describe.hpp"
#include "runtime/queue.hpp"
#include "support/files.hpp"

namespace mokume::opencl {
namespace {

std::vector<std::string> quotients_of(const mk_device& device) {
  return {device.choices.strict() && !rounds_quotients(device.id) ? "exact" : "device"};
}

std::vector<std::string> fast_first(const mk_device&) { return {"fast"}; }

// Returns the cache file of the device class, which depends on all that makes two devices run the same code.
std::string class_file(const mk_device& device) {
  if (device.cache_directory.empty()) return "";
  const mk_device_info& i = device.info;
  std::string key;
  for (const char* text : {i.name, i.driver, i.version, i.isa}) key += std::string(text) + '\0';
  if (device.choices.strict()) key += "strict";
  for (const VariantSet* set : variant_sets())
    for (const char* source : set->sources) key += std::string(source) + '\0';
  return device.cache_directory + "/choices-" + sha256(key).substr(0, 32) + ".txt";
}

bool allows(const VariantSet& set, const std::string& value) {
  return std::find(set.values.begin(), set.values.end(), value) != set.values.end();
}

std::string names_of(const VariantSet& set) {
  std::string names;
  for (const std::string_view value : set.values) names += (names.empty() ? "" : ", ") + std::string(value);
  return names;
}

// Parses lines of "key value" and ignores unknown entries.
Choices remembered(const std::string& file) {
  Choices choices;
  const std::string text = file.empty() ? "" : read_file(file, 4096).value_or("");
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const std::string name = line.substr(0, line.find(' '));
    const std::string value = line.size() > name.size() ? line.substr(name.size() + 1) : "";
    for (const VariantSet* set : variant_sets())
      if (name == set->key && allows(*set, value)) choices.*set->slot = value;
  }
  return choices;
}

}  // namespace

Choices given_choices(std::span<const mk_choice> choices) {
  Choices result;
  for (const mk_choice& choice : choices) {
    const std::string name(choice.key, strnlen(choice.key, sizeof(choice.key)));
    const std::string value(choice.value, strnlen(choice.value, sizeof(choice.value)));
    for (const VariantSet* set : variant_sets()) {
      if (name != set->key) continue;
      if (!allows(*set, value))
        throw Error(MK_INVALID_ARGUMENT,
                    "opencl: choice " + name + " = " + value + " is unknown; known values are " + names_of(*set));
      result.*set->slot = value;
    }
  }
  return result;
}

void choose_variants(mk_device& device, const Choices& given) {
  device.choices = given;
  if (device.choices.numerics.empty()) device.choices.numerics = "fast";
  const std::string file = class_file(device);
  const Choices known = remembered(file);
  Choices measured = known;
  // The remembered choice for convolutions was measured with a particular GEMM, so it does not apply to another GEMM.
  const bool another_gemm = !device.choices.gemm.empty() && device.choices.gemm != known.gemm;
  for (const VariantSet* set : variant_sets()) {
    if (set->slot == &Choices::conv && another_gemm) continue;
    if ((device.choices.*set->slot).empty()) device.choices.*set->slot = known.*set->slot;
  }
  if (device.choices.gemm == "clblast" && device.choices.strict())
    throw Error(MK_DEVICE_ERROR, "opencl: CLBlast's sums have no strict definition: start a new run");
  if (device.choices.gemm == "clblast" && !device.clblast->available())
    throw Error(MK_DEVICE_ERROR, "opencl: the recorded choice gemm = clblast needs CLBlast: install libclblast1");
  std::unique_ptr<mk_queue> queue;
  // The sets are in order, because each race uses earlier choices. The file remembers only measured choices, because a
  // choice that a caller fixes for a single run must not affect the next run.
  for (const VariantSet* set : variant_sets()) {
    std::string& slot = device.choices.*set->slot;
    if (!slot.empty()) continue;
    slot = set->candidates(device).front();
    if (set->race == nullptr) continue;
    if (queue == nullptr) {
      queue = create_queue(device, false);
      device.host.log(MK_LOG_NOTE, "opencl",
                      std::string("compiling kernels for ") + device.info.name + ", once: this can take a minute");
    }
    set->race(device, *queue);
    if (set->slot != &Choices::conv || device.choices.gemm == measured.gemm) measured.*set->slot = slot;
  }
  if (queue == nullptr || file.empty()) return;
  std::string text;
  for (const VariantSet* set : variant_sets())
    if (!(measured.*set->slot).empty()) text += std::string(set->key) + " " + measured.*set->slot + "\n";
  replace_file(file, text);
}

const VariantSet kNumericsVariants{"numerics", &Choices::numerics, {"fast", "strict"}, {}, fast_first, nullptr};
const VariantSet kQuotientVariants{"quotients", &Choices::quotients, {"device", "exact"}, {}, quotients_of, nullptr};

}  // namespace mokume::opencl
