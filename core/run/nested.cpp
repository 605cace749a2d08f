#include "run/nested.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/sealed.hpp"
#include "results/nested.hpp"
#include "sdk/error.hpp"

namespace mokume::run {
namespace {

constexpr const char* kNested = "nested.json";

}  // namespace

config::Config outer_config(const config::Config& whole, const std::string& run_directory, uint32_t fold) {
  config::Config config = whole;
  config.output = run_directory + "/outer";
  config.name = fmt::format("fold-{}", fold);
  config.outer_fold = fold;
  return config;
}

void keep_outer_result(const std::string& run_directory, uint32_t folds, uint32_t fold, const RunResult& result) {
  if (!result.test) return;
  const int64_t classes = result.test->confusion ? static_cast<int64_t>(result.test->confusion->classes) : 0;
  results::Nested nested = read_nested(run_directory, classes).value_or(results::Nested());
  if (nested.folds != folds) nested = {folds, {}};
  std::erase_if(nested.each, [&](const results::NestedFold& one) { return one.fold == fold; });
  const results::TestResult& test = *result.test;
  nested.each.push_back({fold, result.best, result.best_mean, test.errors, test.n, test.mse,
                         test.confusion ? test.confusion->counts : std::vector<int64_t>(), test.measures});
  std::sort(nested.each.begin(), nested.each.end(), [](const auto& a, const auto& b) { return a.fold < b.fold; });
  base::write_file(base::Below{run_directory, kNested}, base::seal(base::to_json(nested)));
}

std::optional<results::Nested> read_nested(const std::string& run_directory, int64_t classes) {
  const base::Below file{run_directory, kNested};
  if (!base::exists(file)) return std::nullopt;
  try {
    const auto text = base::unseal_file(base::read_file(file, 1U << 24));
    if (!text) throw Error(MK_BAD_DATA, "its checksum differs");
    auto nested = base::from_json<results::Nested>(text->object);
    if (nested.each.empty()) return std::nullopt;
    if (classes > 0 && nested.each.front().mse) base::bad_field("mse", "there for numbers only");
    nested.pooled = results::pool(nested.each, classes);
    return nested;
  } catch (const Error& e) {
    throw Error(MK_BAD_DATA, fmt::format("{} is damaged ({}): remove it, and `mokume resume {}` writes it again",
                                         file.path(), e.what(), run_directory));
  }
}

}  // namespace mokume::run
