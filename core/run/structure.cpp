#include "run/structure.hpp"

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/sealed.hpp"
#include "sdk/error.hpp"

namespace mokume::run {
namespace {

constexpr const char* kStructure = "structure.json";

}  // namespace

void keep_structure(const std::string& run_directory, const results::Structure& structure) {
  base::write_file(base::Below{run_directory, kStructure}, base::seal(base::to_json(structure)));
}

std::optional<results::Structure> read_structure(const std::string& run_directory) {
  const base::Below file{run_directory, kStructure};
  if (!base::exists(file)) return std::nullopt;
  try {
    const auto text = base::unseal_file(base::read_file(file, 1U << 24));
    if (!text) throw Error(MK_BAD_DATA, "its checksum differs");
    return base::from_json<results::Structure>(text->object);
  } catch (const Error& e) {
    throw Error(MK_BAD_DATA,
                fmt::format("{} is damaged ({}): remove it, and the report omits the network", file.path(), e.what()));
  }
}

}  // namespace mokume::run
