#include "node/scratch.hpp"

#include <fmt/format.h>

#include <exception>

#include "base/below.hpp"

namespace mokume::node {
namespace {

constexpr const char* kScratch = "scratch";

std::string name_of_fit(uint32_t id) { return fmt::format("{}/fit-{:06}", kScratch, id); }

}  // namespace

std::string Scratch::fit(uint32_t id) const {
  const base::Below directory{run_directory_, name_of_fit(id)};
  base::refuse_links(directory);
  return directory.path();
}

void Scratch::remove_fit(uint32_t id) const noexcept {
  try {
    base::remove({run_directory_, name_of_fit(id)});
  } catch (const std::exception&) {
    // See the header.
  }
}

void Scratch::remove_all() const noexcept {
  try {
    base::remove({run_directory_, kScratch});
  } catch (const std::exception&) {
    // See the header.
  }
}

}  // namespace mokume::node
