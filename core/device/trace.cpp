#include "device/trace.hpp"

#include <algorithm>

namespace mokume::device {
namespace {

uint32_t canonical(uint32_t word, bool floats) {
  constexpr uint32_t kInfinity = 0x7F800000, kNaN = 0x7FC00000, kSmallest = 0x00800000;
  const uint32_t magnitude = word & 0x7FFFFFFF;
  if (magnitude > kInfinity) return kNaN;
  return magnitude == 0 || (floats && magnitude < kSmallest) ? 0 : word;
}

}  // namespace

void Digest::add(std::span<uint32_t> words) {
  for (uint32_t& word : words) word = canonical(word, kind_ == Kind::floats);
  sum_.update(words.data(), words.size_bytes());
}

std::string Digest::hex() {
  constexpr size_t kDigits = 32;
  return sum_.hex().substr(0, kDigits);
}

void Trace::add(const std::string& step, const std::vector<std::string>& digests) {
  if (full()) return;
  std::string line = std::to_string(lines_.size() + 1) + " " + step + kDigestsFollow;
  for (const std::string& digest : digests) line += (line.ends_with(kDigestsFollow) ? "" : " ") + digest;
  lines_.push_back(std::move(line));
}

std::string Tracer::phase() const {
  const auto inner =
      std::find_if(scopes.rbegin(), scopes.rend(), [](const auto& scope) { return scope.first == MK_SCOPE_PHASE; });
  return inner == scopes.rend() ? "" : inner->second + ": ";
}

void Tracer::share(mk_buffer* buffer) {
  if (shared_used) shared.clear();
  shared_used = false;
  if (std::find(shared.begin(), shared.end(), buffer) == shared.end()) shared.push_back(buffer);
}

}  // namespace mokume::device
