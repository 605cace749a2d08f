// Tests that, after a flip of any bit in a run directory, every reader gives the same as before or names the file.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "cli/shell.hpp"
#include "inspect/explain.hpp"
#include "inspect/inspect.hpp"
#include "registry/registry.hpp"
#include "results/tables.hpp"
#include "run/ensemble.hpp"
#include "run/view.hpp"
#include "support/sample.hpp"
#include "support/test_host.hpp"

namespace mokume::cli_test {
namespace {

// Returns the number of flips, which is enough to reach every file.
size_t flips() {
  const char* more = std::getenv("MOKUME_FLIPS");
  return more != nullptr ? std::stoul(more) : test::sample(250, 1000);
}

class Flips : public testing::Test {
 protected:
  static constexpr const char* kData = "data = { source = \"digits\", limit = 120, standardize = \"features\" }\n";

  Flips() : registry_(host_.table(), {}) {
    place_.write("bag.toml", std::string("name = \"bag\"\nmodel = \"svc\"\nseed = 3\ndevices.use = \"host\"\n") +
                                 kData +
                                 "bagging.bootstraps = 2\nvalidation = { folds = 2, calibrate = true }\n"
                                 "search = { method = \"grid\", params = { C = [1, 10], gamma = [0.001, 0.01] } }\n");
    place_.write("outer.toml", std::string("name = \"outer\"\nmodel = \"svc\"\nseed = 3\ndevices.use = \"host\"\n") +
                                   kData +
                                   "validation = { folds = 2, outer = 2 }\nsearch = { method = \"grid\", params = { C "
                                   "= [1, 10], gamma = [0.001] } }\n");
    place_.write("net.toml", std::string("name = \"net\"\nmodel = \"cnn\"\nseed = 3\ndevices.use = \"host\"\n") +
                                 kData +
                                 "validation.folds = 2\nsearch.method = \"none\"\n[model_options]\nepochs = 2\n"
                                 "batch_size = 10\n[[model_options.layers]]\ntype = \"flatten\"\n"
                                 "[[model_options.layers]]\ntype = \"linear\"\nout_features = 10\n");
    for (const char* name : {"bag.toml --profile", "outer.toml", "net.toml"}) {
      const Ended ended = place_.mokume(std::string("run ") + name);
      EXPECT_EQ(ended.code, 0) << ended.err;
    }
  }

  // Returns everything that report, status, explain and predict read from a run directory.
  std::string said(const fs::path& run) {
    const inspect::Inspection seen = inspect::inspect(registry_, run.string());
    const results::RunView& view = seen.view;
    std::string text = results::results_csv(view) + results::candidates_csv(view) + results::timeline_csv(view) +
                       results::summary_json(view) + inspect::status_text(seen) + inspect::explain_run(seen);
    for (const std::string& notice : view.notices) throw Error(MK_BAD_DATA, notice);  // the program only warns
    const mk_model& model = *registry_.load(MK_PLUGIN_MODEL, view.model).model();
    const run::Ensemble ensemble(model, run.string());
    ensemble.for_each([&](const run::Trained& member) { text += std::to_string(member.features); });
    return text;
  }

  Place place_;
  test::TestHost host_;
  registry::Registry registry_;
  std::mt19937_64 random_{20260729};
};

TEST_F(Flips, NoFlippedBitPassesSilently) {
  std::vector<fs::path> files;
  std::map<fs::path, std::string> before;
  std::vector<fs::path> runs;
  for (const char* name : {"bag", "outer", "net"}) {
    runs.push_back(place_.run(name));
    before[runs.back()] = said(runs.back());
    for (const auto& entry : fs::recursive_directory_iterator(runs.back()))
      if (entry.is_regular_file() && entry.file_size() > 0) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  size_t named = 0, same = 0;
  for (size_t flip = 0; flip < flips(); ++flip) {
    const fs::path& file = files[flip % files.size()];
    const fs::path& run = *std::find_if(
        runs.begin(), runs.end(), [&](const fs::path& one) { return file.string().starts_with(one.string() + "/"); });
    const std::string whole = slurp(file);
    std::string flipped = whole;
    const size_t at = random_() % whole.size(), bit = random_() % 8;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
    std::ofstream(file, std::ios::binary) << flipped;
    const std::string what = fs::relative(file, run).string() + ", byte " + std::to_string(at) + " of " +
                             std::to_string(whole.size()) + ", bit " + std::to_string(bit);
    try {
      EXPECT_EQ(said(run), before.at(run)) << what;
      ++same;
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), MK_BAD_DATA) << what << ": " << e.what();
      EXPECT_NE(std::string(e.what()).find(file.filename().string()), std::string::npos) << what << ": " << e.what();
      ++named;
    }
    std::ofstream(file, std::ios::binary) << whole;
  }
  EXPECT_GT(named, flips() / 10) << same << " flips changed nothing";
  for (const fs::path& run : runs) EXPECT_EQ(said(run), before.at(run));
}

}  // namespace
}  // namespace mokume::cli_test
