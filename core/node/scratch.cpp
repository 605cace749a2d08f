#include "node/scratch.hpp"

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <system_error>

namespace mokume::node {
namespace {

void remove(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

}  // namespace

std::string Scratch::fit(uint32_t id) const { return fmt::format("{}/fit-{:06}", root_, id); }

void Scratch::remove_fit(uint32_t id) const noexcept {
  try {
    remove(fit(id));
  } catch (const std::exception&) {
    // Out of memory for the path: see the header.
  }
}

void Scratch::remove_all() const noexcept {
  try {
    remove(root_);
  } catch (const std::exception&) {
    // As above.
  }
}

}  // namespace mokume::node
