#include "node/models.hpp"

#include <fmt/format.h>

#include "base/below.hpp"
#include "sdk/error.hpp"

namespace mokume::node {
namespace {

constexpr const char* kAttempt = "attempt-";

base::Below below(const std::string& run_directory, const std::string& name) {
  return {run_directory, "models/" + name};
}

base::Below attempt_in(const std::string& run_directory, uint32_t slot, uint32_t attempt) {
  return below(run_directory, fmt::format("{}{}-{}", kAttempt, slot, attempt));
}

}  // namespace

void keep_model(const std::string& run_directory, uint32_t slot, uint32_t attempt,
                const std::function<void(const std::string& directory)>& fill) {
  const base::Below directory = attempt_in(run_directory, slot, attempt);
  const base::Below fresh{directory.root, directory.name + ".new"};
  base::remove(fresh);
  base::remove(directory);  // a killed session may have left it
  base::make_directories(fresh);
  fill(fresh.path());
  base::rename(fresh, directory);
}

base::Below model_place(const std::string& run_directory, const search::Plan& plan, uint32_t slot) {
  return below(run_directory, plan.bootstraps == 1 ? "best" : fmt::format("member-{:03}", slot - plan.n_fits()));
}

std::string model_path(const std::string& run_directory, const search::Plan& plan, uint32_t slot) {
  return model_place(run_directory, plan, slot).path();
}

bool has_model(const std::string& run_directory, const search::Plan& plan, const journal::FitRecord& refit) {
  return refit.status == journal::FitStatus::failed || base::exists(model_place(run_directory, plan, refit.fit)) ||
         base::exists(attempt_in(run_directory, refit.fit, refit.attempt));
}

void adopt_models(const std::string& run_directory, const search::Plan& plan, const journal::Contents& contents) {
  for (const journal::FitRecord& refit : contents.refits) {
    if (refit.status == journal::FitStatus::failed) continue;
    const base::Below name = model_place(run_directory, plan, refit.fit);
    const base::Below made = attempt_in(run_directory, refit.fit, refit.attempt);
    const bool is_new = base::exists(made);
    if (!is_new && !base::exists(name))
      throw Error(MK_BAD_DATA, "the model of a refit is not in " + run_directory +
                                   "/models: make the same directory visible to every node, and run again");
    if (!is_new) continue;  // an earlier session has renamed it
    base::remove(name);
    base::rename(made, name);
  }
  for (const std::string& name : base::names_in({run_directory, "models"}))
    if (name.starts_with(kAttempt)) base::remove(below(run_directory, name));
}

}  // namespace mokume::node
