#include <filesystem>
#include <set>
#include <system_error>

#include "base/files.hpp"
#include "report/view.hpp"
#include "report/tables/tensorboard.hpp"
#include "sdk/error.hpp"

namespace mokume::report {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& what, const std::error_code& code) {
  throw Error(MK_STORAGE, "cannot " + what + " " + path.string() + ": " + code.message() +
                              "; make the run directory writable and run 'mokume report' again");
}

// Plots of an earlier report, with another plan of panels, would be taken for this one's.
void remove_stale(const fs::path& folder, const std::set<std::string>& wanted) {
  std::error_code code;
  std::vector<fs::path> stale;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    const fs::path& path = it->path();
    if (path.extension() == ".svg" && wanted.count(path.filename().string()) == 0) stale.push_back(path);
  }
  if (code) fail(folder, "list", code);
  for (const fs::path& path : stale) {
    if (!fs::is_directory(fs::symlink_status(path, code))) fs::remove(path, code);
    if (code) fail(path, "remove", code);
  }
}

}  // namespace

void write(const RunView& view, const std::string& directory) {
  const fs::path root(directory);
  std::error_code code;
  fs::create_directories(root / "plots", code);
  if (code) fail(root / "plots", "create", code);

  const std::vector<NamedFile> files = plots(view);
  std::set<std::string> wanted;
  for (const NamedFile& file : files) {
    base::write_file((root / file.name).string(), file.content);
    wanted.insert(fs::path(file.name).filename().string());
  }
  remove_stale(root / "plots", wanted);

  base::write_file((root / "results.csv").string(), results_csv(view));
  base::write_file((root / "candidates.csv").string(), candidates_csv(view));
  if (view.plan.bootstraps > 1) base::write_file((root / "ensemble.csv").string(), ensemble_csv(view));
  base::write_file((root / "timeline.csv").string(), timeline_csv(view));
  base::write_file((root / "summary.json").string(), summary_json(view));
  write_event_files(view, (root / "logs/tensorboard").string());
  // Last: whoever sees it finds everything that it speaks of.
  base::write_file((root / "report.html").string(), report_html(view, files));
}

}  // namespace mokume::report
