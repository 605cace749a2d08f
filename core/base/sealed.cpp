#include "base/sealed.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <utility>

namespace mokume::base {
namespace {

constexpr std::string_view kCrc = ",\"crc\":\"";
constexpr size_t kTail = 18;  // length of ,"crc":"89abcdef"}

std::string checksum(const std::string& object) {
  return fmt::format("{:08x}", crc32_z(0, reinterpret_cast<const Bytef*>(object.data()), object.size()));
}

}  // namespace

std::string seal(std::string object) {
  while (object.ends_with('\n')) object.pop_back();
  const std::string crc = checksum(object);
  object.pop_back();
  object.append(kCrc).append(crc).append("\"}\n");
  return object;
}

std::optional<std::string> unseal(std::string_view text) {
  if (text.size() <= kTail || !text.ends_with("\"}")) return std::nullopt;
  const std::string_view tail = text.substr(text.size() - kTail);
  std::string object = std::string(text.substr(0, text.size() - kTail)) + "}";
  if (!tail.starts_with(kCrc) || tail.substr(kCrc.size(), 8) != checksum(object)) return std::nullopt;
  return object;
}

std::optional<Unsealed> unseal_file(std::string_view text) {
  std::string_view whole = text;
  if (whole.ends_with('\n')) whole.remove_suffix(1);
  if (auto object = unseal(whole)) return Unsealed{std::move(*object), true};
  // Any fragment of the field proves that a checksum existed. A damaged checksum must not count as missing.
  const std::string_view tail = whole.substr(whole.size() - std::min(whole.size(), kTail));
  for (const std::string_view part : {std::string_view("\"crc"), std::string_view("rc\":"), std::string_view(",\"c")})
    if (tail.find(part) != std::string_view::npos) return std::nullopt;
  return Unsealed{std::string(text), false};
}

}  // namespace mokume::base
