#include "node/models.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "sdk/error.hpp"

namespace mokume::node {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAttempt = "attempt-";

fs::path models_in(const std::string& run_directory) { return fs::path(run_directory) / "models"; }

fs::path attempt_in(const std::string& run_directory, uint32_t slot, uint32_t attempt) {
  return models_in(run_directory) / fmt::format("{}{}-{}", kAttempt, slot, attempt);
}

// A file system error is not a device's fault.
template <class Body>
void on_disk(const Body& body) {
  try {
    body();
  } catch (const fs::filesystem_error& e) {
    throw Error(MK_STORAGE, fmt::format("cannot write {}: {}; check free space and permissions", e.path1().string(),
                                        e.code().message()));
  }
}

}  // namespace

void keep_model(const std::string& run_directory, uint32_t slot, uint32_t attempt,
                const std::function<void(const std::string& directory)>& fill) {
  const fs::path directory = attempt_in(run_directory, slot, attempt);
  const fs::path fresh = directory.string() + ".new";
  on_disk([&] {
    fs::remove_all(fresh);
    fs::remove_all(directory);  // left by a killed session
    fs::create_directories(fresh);
    fill(fresh.string());
    fs::rename(fresh, directory);
  });
}

std::string model_path(const std::string& run_directory, const search::Plan& plan, uint32_t slot) {
  if (plan.bootstraps == 1) return models_in(run_directory) / "best";
  return models_in(run_directory) / fmt::format("member-{:03}", slot - plan.n_fits());
}

bool has_model(const std::string& run_directory, const search::Plan& plan, const journal::FitRecord& refit) {
  return refit.status == journal::FitStatus::failed || fs::exists(model_path(run_directory, plan, refit.fit)) ||
         fs::exists(attempt_in(run_directory, refit.fit, refit.attempt));
}

void adopt_models(const std::string& run_directory, const search::Plan& plan, const journal::Contents& contents) {
  for (const journal::FitRecord& refit : contents.refits) {
    if (refit.status == journal::FitStatus::failed) continue;
    const fs::path named = model_path(run_directory, plan, refit.fit);
    const fs::path made = attempt_in(run_directory, refit.fit, refit.attempt);
    const bool is_new = fs::exists(made);
    if (!is_new && !fs::exists(named))
      throw Error(MK_STORAGE, "the model of a refit is not in " + models_in(run_directory).string() +
                                  ": make the same directory visible to every node, and run again");
    if (!is_new) continue;  // an earlier session gave it its name
    on_disk([&] {
      fs::remove_all(named);
      fs::rename(made, named);
    });
  }
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(models_in(run_directory), none))
    if (entry.path().filename().string().starts_with(kAttempt)) on_disk([&] { fs::remove_all(entry.path()); });
}

}  // namespace mokume::node
