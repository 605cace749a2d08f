#include "report/pages/write.hpp"

#include <set>

#include "base/files.hpp"
#include "report/charts/plots.hpp"
#include "report/pages/html.hpp"
#include "report/tensorboard.hpp"

namespace mokume::report {
namespace {

// Removes plots of an earlier report, which readers would mistake for plots of this report.
void remove_stale(const base::Below& folder, const std::set<std::string>& wanted) {
  for (const std::string& name : base::names_in(folder)) {
    const base::Below plot{folder.root, folder.name + "/" + name};
    if (name.ends_with(".svg") && wanted.count(plot.name) == 0) base::remove(plot);
  }
}

}  // namespace

void write(const results::RunView& view, const std::string& directory, bool live) {
  const auto put = [&](const std::string& name, const std::string& content) {
    base::write_file(base::Below{directory, name}, content);
  };
  const base::Below folder{directory, "plots"};
  base::make_directories(folder);
  const std::vector<NamedFile> files = plots(view);
  std::set<std::string> wanted;
  for (const NamedFile& file : files) {
    put(file.name, file.content);
    wanted.insert(file.name);
  }
  remove_stale(folder, wanted);
  write_event_files(view, {directory, "logs/tensorboard"});
  // The page comes last, so that everything to which it refers exists.
  put("report.html", report_html(view, files, live));
}

}  // namespace mokume::report
