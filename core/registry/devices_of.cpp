#include "registry/devices_of.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "registry/foreign.hpp"
#include "sdk/error.hpp"

namespace mokume::registry {
namespace {

constexpr const char* kAuthor = "report this to the author of the backend";

template <size_t N>
void check_text(char (&text)[N], const char* what, size_t device) {
  char* const end = std::find(&text[0], &text[N], '\0');
  if (end == &text[N])
    throw Error(MK_DEVICE_ERROR,
                fmt::format("the {} of its device {} does not end within {} bytes: {}", what, device, N, kAuthor));
  std::replace_if(
      &text[0], end, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
}

void check_info(mk_device_info& info, size_t device) {
  if (info.struct_size != sizeof(mk_device_info))
    throw Error(MK_DEVICE_ERROR, fmt::format("the info of its device {} has {} bytes, this program's {}: {}", device,
                                             info.struct_size, sizeof(mk_device_info), kAuthor));
  check_text(info.name, "name", device);
  check_text(info.platform, "platform", device);
  check_text(info.vendor, "vendor", device);
  check_text(info.version, "version", device);
  check_text(info.driver, "driver", device);
  check_text(info.physical_id, "physical id", device);
  check_text(info.isa, "instruction set", device);
}

}  // namespace

std::vector<mk_device_info> devices_of(const mk_backend& backend) {
  uint32_t count = 0;
  call_foreign("enumerate", backend.enumerate, backend.self, static_cast<mk_device_info*>(nullptr), 0U, &count);
  if (count > kMostDevices)
    throw Error(MK_DEVICE_ERROR,
                fmt::format("it claims {} devices, and at most {} are accepted: {}", count, kMostDevices, kAuthor));
  std::vector<mk_device_info> infos(count);
  for (mk_device_info& info : infos) info.struct_size = sizeof(mk_device_info);
  if (count > 0) call_foreign("enumerate", backend.enumerate, backend.self, infos.data(), count, &count);
  infos.resize(std::min<size_t>(count, infos.size()));  // a device may have disappeared since the first call
  for (size_t device = 0; device < infos.size(); ++device) check_info(infos[device], device);
  return infos;
}

}  // namespace mokume::registry
