#include "report/pages/write.hpp"

#include <filesystem>
#include <set>
#include <system_error>

#include "base/files.hpp"
#include "report/charts/plots.hpp"
#include "report/pages/html.hpp"
#include "report/tables/tables.hpp"
#include "report/tables/tensorboard.hpp"
#include "sdk/error.hpp"

namespace mokume::report {
namespace {

namespace fs = std::filesystem;

void check(const std::error_code& code, const char* action, const fs::path& path) {
  if (code)
    throw Error(MK_STORAGE, std::string("cannot ") + action + " " + path.string() + ": " + code.message() +
                                "; make the run directory writable and run 'mokume report' again");
}

// Removes plots of an earlier report with other panels, which would be mistaken for plots of this one.
void remove_stale(const fs::path& folder, const std::set<std::string>& wanted) {
  std::error_code code;
  std::vector<fs::path> stale;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    const fs::path& path = it->path();
    if (path.extension() == ".svg" && wanted.count(path.filename().string()) == 0) stale.push_back(path);
  }
  check(code, "list", folder);
  for (const fs::path& path : stale) {
    if (!fs::is_directory(fs::symlink_status(path, code))) fs::remove(path, code);
    check(code, "remove", path);
  }
}

}  // namespace

void write(const RunView& view, const std::string& directory, bool live) {
  const fs::path root(directory);
  const auto put = [&](const std::string& name, const std::string& content) {
    base::write_file((root / name).string(), content);
  };
  std::error_code code;
  fs::create_directories(root / "plots", code);
  check(code, "create", root / "plots");

  const std::vector<NamedFile> files = plots(view);
  std::set<std::string> wanted;
  for (const NamedFile& file : files) {
    put(file.name, file.content);
    wanted.insert(fs::path(file.name).filename().string());
  }
  remove_stale(root / "plots", wanted);

  put("results.csv", results_csv(view));
  put("candidates.csv", candidates_csv(view));
  if (view.plan.bootstraps > 1) put("ensemble.csv", ensemble_csv(view));
  put("timeline.csv", timeline_csv(view));
  put("summary.json", summary_json(view));
  write_event_files(view, (root / "logs/tensorboard").string());
  // Written last: when it exists, so does everything it refers to.
  put("report.html", report_html(view, files, live));
}

}  // namespace mokume::report
