// Implements the commands data list and data info.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/files.hpp"
#include "base/plural.hpp"
#include "base/text.hpp"
#include "commands.hpp"
#include "data/dataset.hpp"
#include "data/load.hpp"
#include "data/spec.hpp"

namespace mokume::app {

namespace fs = std::filesystem;

int list_data() {
  std::printf("digits   built in\nfriedman built in\n");
  const char* set = std::getenv("MOKUME_DATA");
  for (const std::string& root : {set != nullptr ? std::string(set) : std::string(), base::cache_directory()}) {
    if (root.empty()) continue;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(root, error))
      if (entry.is_directory(error) && fs::exists(entry.path() / "train-images-idx3-ubyte.gz", error))
        say(stdout, "{:<8} {}\n", entry.path().filename().string(), entry.path().string());
  }
  std::printf("mnist can be fetched: mokume data fetch mnist\n");
  return kDone;
}

int data_info(const std::string& spec) {
  const data::Dataset d = data::load(data::parse_spec(spec));
  const auto counted = [](int64_t count, const char* noun) {
    return base::counted(static_cast<uint64_t>(count), noun);
  };
  std::string text = fmt::format(
      "{}\n{}, {}, {}, {}\nsha256 {}\n", d.name, counted(d.train.rows, "training row"),
      counted(d.test.rows, "test row"), counted(d.train.features, "feature"),
      d.class_names.empty() ? "numeric targets" : base::counted(d.class_names.size(), "class", "classes"), d.sha256);
  for (const std::string& note : d.notes) text += note + "\n";
  if (!d.storage_note.empty()) text += d.storage_note + "\n";
  if (!d.train.labels.empty()) {
    std::vector<int64_t> counts(d.class_names.size(), 0);
    for (const int32_t label : d.train.labels) ++counts[static_cast<size_t>(label)];
    for (size_t c = 0; c < counts.size(); ++c) text += fmt::format("  {:<12} {}\n", d.class_names[c], counts[c]);
  }
  show(stdout, text);
  return kDone;
}

}  // namespace mokume::app
