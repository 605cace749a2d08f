#include "inspect/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/missing.hpp"
#include "base/plural.hpp"
#include "base/text.hpp"
#include "base/tree.hpp"
#include "inspect/inspect.hpp"
#include "results/best.hpp"
#include "results/format.hpp"
#include "results/stats.hpp"
#include "run/run_directory.hpp"
#include "sdk/error.hpp"

namespace mokume::inspect {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using RunState = ListedRun::RunState;

constexpr size_t kLongestTrouble = 160;

std::vector<fs::path> folders_in(const fs::path& directory) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error))
    if (fs::is_directory(it->symlink_status(error))) found.push_back(it->path());
  return found;
}

// Returns whether the directory holds a run. Some of the run's files may be missing.
bool is_run(const fs::path& directory) {
  std::error_code error;
  for (const char* name : {"run.json", "config.resolved.toml", "journal"})
    if (fs::exists(fs::symlink_status(directory / name, error))) return true;
  return false;
}

double last_work(const fs::path& directory) {
  double last = base::written_s((directory / "run.json").string());
  std::error_code error;
  for (fs::directory_iterator it(directory / "journal", error), end; !error && it != end; it.increment(error))
    last = std::max(last, base::written_s(it->path().string()));
  return last > 0 ? last : base::written_s(directory.string());
}

void read(registry::Registry& registry, ListedRun& run) {
  const Inspection found = inspect(registry, run.directory);
  const std::string& state = found.view.state;
  run.state = found.live                                  ? RunState::running
              : state == "done" || state == "failed fits" ? RunState::finished
                                                          : RunState::unfinished;
  run.fits = found.view.records.size() - results::count_dropped(found.view);
  run.planned = found.view.plan.n_computed();
  run.failed = results::count_fits(found.view, journal::FitStatus::failed);
  if (run.failed == 0) run.failed = results::failed_refits(found.view);
  const results::BestSoFar best = results::best_so_far(found.view);
  if (!best.best()) return;
  run.metric = best.metric();
  run.best = best.best()->mean;
  run.params = results::params_json(found.view.plan, best.best()->candidate);
}

ListedRun listed(registry::Registry& registry, const fs::path& directory) {
  ListedRun run;
  run.directory = directory.string();
  run.stamp = directory.filename().string();
  run.name = directory.parent_path().filename().string();
  run.worked_s = last_work(directory);
  run.bytes = base::tree_bytes(run.directory);
  std::error_code error;
  if (!fs::exists(directory / "run.json", error)) {
    run.state = run::is_held(run.directory) ? RunState::running : RunState::damaged;
    run.trouble = run.state == RunState::damaged ? "it holds no run.json" : "";
    return run;
  }
  try {
    read(registry, run);
  } catch (const std::exception& e) {
    run.state = run::is_held(run.directory) ? RunState::running : RunState::damaged;
    run.trouble = e.what();
  }
  return run;
}

std::string state_text(const ListedRun& run) {
  const std::string fits = fmt::format("{} of {}", run.fits, base::counted(run.planned, "fit"));
  switch (run.state) {
    case RunState::finished:
      return run.failed > 0 ? "finished, " + std::to_string(run.failed) + " failed" : "finished";
    case RunState::running:
      return run.planned > 0 ? "running, " + fits : "running";
    case RunState::unfinished:
      return run.planned > 0 ? "unfinished, " + fits : "unfinished";
    case RunState::damaged:
      break;
  }
  return "damaged";
}

std::string age_text(const ListedRun& run, double now_s) {
  return base::human_seconds(std::max(0.0, now_s - run.worked_s));
}

}  // namespace

const char* name_of(RunState state) {
  switch (state) {
    case RunState::finished:
      return "finished";
    case RunState::unfinished:
      return "unfinished";
    case RunState::running:
      return "running";
    case RunState::damaged:
      break;
  }
  return "damaged";
}

std::vector<ListedRun> list_runs(registry::Registry& registry, const std::string& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error))
    throw Error(MK_INVALID_ARGUMENT, "there is no directory " + directory + base::relative_to(directory) +
                                         ": name the one that runs were written to with --out");
  std::vector<fs::path> found;
  for (const fs::path& outer : folders_in(directory)) {
    if (is_run(outer)) {
      found.push_back(outer);
      continue;
    }
    for (const fs::path& inner : folders_in(outer))
      if (is_run(inner)) found.push_back(inner);
  }
  std::vector<ListedRun> runs;
  for (const fs::path& one : found) runs.push_back(listed(registry, one));
  std::sort(runs.begin(), runs.end(), [](const ListedRun& a, const ListedRun& b) {
    return std::tie(b.stamp, a.name) < std::tie(a.stamp, b.name);
  });
  return runs;
}

std::string list_text(const std::vector<ListedRun>& runs, double now_s) {
  using Row = std::array<std::string, 6>;
  std::vector<Row> rows{{"experiment", "stamp", "state", "best", "age", "size"}};
  for (const ListedRun& run : runs)
    rows.push_back({results::elide(run.name, 40), results::elide(run.stamp, 30), state_text(run),
                    run.best ? results::elide(run.metric, 20) + " " + results::score_text(run.metric, *run.best) : "-",
                    age_text(run, now_s), base::human_bytes(run.bytes)});
  std::array<size_t, 6> widths{};
  for (const Row& row : rows)
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], results::count_characters(row[c]));
  std::string text;
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (size_t c = 0; c < rows[r].size(); ++c)
      line += rows[r][c] + std::string(widths[c] - results::count_characters(rows[r][c]) + 2, ' ');
    if (r > 0 && !runs[r - 1].trouble.empty()) line += results::elide(runs[r - 1].trouble, kLongestTrouble);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

Json list_json(const std::vector<ListedRun>& runs, double now_s) {
  Json list = Json::array();
  for (const ListedRun& run : runs) {
    Json best = nullptr;
    if (run.best) best = {{"metric", run.metric}, {"value", *run.best}, {"params", run.params}};
    list.push_back({{"run", run.directory},
                    {"name", run.name},
                    {"stamp", run.stamp},
                    {"state", name_of(run.state)},
                    {"fits", run.fits},
                    {"fits_planned", run.planned},
                    {"failed", run.failed},
                    {"best", best},
                    {"age_s", std::max(0.0, now_s - run.worked_s)},
                    {"bytes", run.bytes},
                    {"trouble", run.trouble}});
  }
  return list;
}

}  // namespace mokume::inspect
