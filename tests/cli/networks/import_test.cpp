// Tests import with networks that PyTorch exported (imported/make.py), and with exports of `mokume export`.
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

fs::path fixture(const std::string& name) { return fs::path(test::source_directory()) / "tests/cli/imported" / name; }

// Replaces [data] of an imported experiment, as a user does.
void give_data(const fs::path& experiment, const std::string& data) {
  const std::string text = slurp(experiment);
  std::ofstream(experiment) << std::regex_replace(text, std::regex("\\[data\\]\n(.+\n)*"), "[data]\n" + data + "\n");
}

std::vector<std::vector<double>> numbers_in(const std::string& text, const std::string& separators, size_t skip) {
  std::vector<std::vector<double>> rows;
  for (std::string line : lines_of(text)) {
    for (char& c : line)
      if (separators.find(c) != std::string::npos) c = ' ';
    std::istringstream in(line);
    std::string word;
    for (size_t k = 0; k < skip; ++k) in >> word;
    std::vector<double>& row = rows.emplace_back();
    for (double v = 0; in >> v;) row.push_back(v);
  }
  return rows;
}

class Imported : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Networks, Imported,
                         testing::Values("lenet", "resnet8", "mobile", "norms", "joined", "rows", "spelt",
                                         "spelt-norms", "excited"));

// The experiment runs without training, and its model predicts the same as ONNX Runtime.
TEST_P(Imported, PredictsWhatOnnxRuntimeDoes) {
  const Place place;
  const std::string name = GetParam();
  const Ended imported = place.mokume("import " + test::shell_word(fixture(name + ".onnx").string()) + " --out net");
  ASSERT_EQ(imported.code, 0) << imported.err;
  EXPECT_EQ(imported.out, "net/model.toml\nnet/weights.safetensors\n");
  EXPECT_EQ(place.mokume("check net/model.toml").code, 3) << "only the data is missing";
  const std::string rows = fixture(name + "-rows.npy").string();
  const bool images = name != "rows";
  give_data(place.path() / "net/model.toml", "source = \"npy\"\npath = \"" + rows + "\"\nlabels = \"" +
                                                 fixture(name + "-labels.npy").string() + "\"\n" +
                                                 (images ? "layout = \"nhwc\"\n" : ""));
  const Ended run = place.mokume("run net/model.toml --devices host");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_FALSE(has(run.err, "start:")) << run.err;
  const Ended predicted =
      place.mokume("predict " + place.run(name).string() + " --devices host --data " + test::shell_word("npy:" + rows));
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  const auto expected = numbers_in(slurp(fixture(name + ".txt")), "", 0);
  const bool classes = expected.front().size() > 1;
  const auto given = numbers_in(predicted.out.substr(predicted.out.find('\n') + 1), ",", classes ? 2 : 1);
  ASSERT_EQ(given.size(), expected.size());
  for (size_t r = 0; r < expected.size(); ++r)
    for (size_t c = 0; c < expected[r].size(); ++c)
      EXPECT_NEAR(given[r].at(c), expected[r][c], 1e-5 * std::max(1.0, std::fabs(expected[r][c]))) << r << ", " << c;
}

// Layers keep the names from the file, so that freeze can use these names.
TEST(Import, KeepsTheNamesOfLayers) {
  const Place place;
  ASSERT_EQ(place.mokume("import " + test::shell_word(fixture("spelt.onnx").string()) + " --out net").code, 0);
  const std::string text = slurp(place.path() / "net/model.toml");
  EXPECT_TRUE(has(text,
                  "{ name = \"layer2.skip.0\", type = \"conv2d\", out_channels = 2, kernel_size = 1, stride = 2, "
                  "bias = false, inputs = [\"relu_3\"] }"))
      << text;
  EXPECT_TRUE(has(text, "{ name = \"layer2.bn1\", type = \"batch_norm\" }")) << text;
}

constexpr const char* kExported = R"(model = "cnn"
name = "net"
seed = 1
devices.use = "host"
validation.folds = 0
[data]
source = "digits"
limit = 200
standardize = DATA
[model_options]
epochs = 1
layers = [LAYERS]
)";

std::string exported(const std::string& data, const std::string& layers) {
  std::string text = kExported;
  text.replace(text.find("DATA"), 4, data);
  return text.replace(text.find("LAYERS"), 6, layers);
}

// Covers the scaling of the rows, constants for each feature, and layers that ONNX writes as several operators.
TEST(Import, ReadsWhatExportWrites) {
  const std::string residual =
      R"({ name = "stem", type = "conv2d", out_channels = 4, kernel_size = 3, stride = 3, bias = false }, { type = "batch_norm" },
         { name = "one", type = "relu" }, { type = "conv2d", out_channels = 4, kernel_size = 3, padding = 1, groups = 4 },
         { name = "a", type = "batch_norm" }, { type = "add", inputs = ["a", "one"] }, { type = "silu" },
         { type = "adaptive_avg_pool2d", output_size = 4 }, { type = "flatten" }, { type = "linear", out_features = 10 })";
  const std::string norms =
      R"({ type = "normalise", mean = 0.1, std = 1.5 }, { type = "conv2d", out_channels = 4, kernel_size = 5, stride = 4 },
         { type = "group_norm", num_groups = 2 }, { type = "gelu" }, { type = "layer_norm" }, { type = "leaky_relu" },
         { type = "flatten" }, { type = "linear", out_features = 10 }, { type = "log_softmax" })";
  const std::string features =
      R"({ type = "normalise", per_feature = true }, { type = "flatten" }, { type = "linear", out_features = 12 },
         { type = "layer_norm" }, { type = "gelu", approximate = "tanh" }, { type = "linear", out_features = 10 })";
  const std::string local =
      R"({ type = "conv2d", out_channels = 8, kernel_size = 5, stride = 3 }, { type = "relu" },
         { type = "lrn", size = 5, alpha = 0.5, beta = 0.7, k = 1.5 }, { type = "max_pool2d", kernel_size = 2 },
         { type = "lrn", size = 2, alpha = 1.0 }, { type = "flatten" }, { type = "linear", out_features = 10 })";
  const std::string fixed = "{ mean = 127.5, scale = 73.61 }";
  for (const auto& [data, layers] : {std::pair(fixed, residual),
                                     {fixed, norms},
                                     {fixed, local},
                                     {"\"features\"", residual},
                                     {"\"none\"", features}}) {
    const Place place;
    place.write("e.toml", exported(data, layers));
    ASSERT_EQ(place.mokume("run e.toml").code, 0);
    const std::string first = place.run("net").string();
    ASSERT_EQ(place.mokume("export " + first + " --onnx again.onnx").code, 0);
    const Ended imported = place.mokume("import again.onnx");
    ASSERT_EQ(imported.code, 0) << imported.err;
    const fs::path file = place.path() / "again/model.toml";
    EXPECT_TRUE(has(slurp(file), "They must be in this order in the data: 0, 1, 2, 3")) << slurp(file);
    // The import combines the scaling of the data with that of a normalise layer with constants.
    const std::string text = slurp(file);
    std::smatch scaling;
    EXPECT_EQ(std::regex_search(text, scaling, std::regex("\nstandardize = .*\n")), data == fixed) << text;
    give_data(file, "source = \"digits\"\nlimit = 200" + scaling.str() + "\n");
    ASSERT_EQ(place.mokume("run again/model.toml --devices host").code, 0);
    const std::string rows = " --devices host --data digits,limit=50";
    const auto said = [&](const std::string& run) {
      const std::string out = place.mokume("predict " + run + rows).out;
      return numbers_in(out.substr(out.find('\n') + 1), ",", 2);
    };
    const auto ours = said(place.run("again").string()), theirs = said(first);
    ASSERT_EQ(ours.size(), theirs.size());
    ASSERT_GE(theirs.size(), 50U);
    for (size_t r = 0; r < theirs.size(); ++r) {
      ASSERT_EQ(ours[r].size(), theirs[r].size());
      for (size_t c = 0; c < theirs[r].size(); ++c) ASSERT_NEAR(ours[r][c], theirs[r][c], 1e-5) << layers;
    }
  }
}

TEST(Import, ReadsWeightsNextToTheFileAndNowhereElse) {
  const Place place;
  for (const char* name : {"outside.onnx", "outside.data"}) fs::copy(fixture(name), place.path() / name);
  const Ended good = place.mokume("import outside.onnx --out a");
  ASSERT_EQ(good.code, 0) << good.err;
  ASSERT_EQ(place.mokume("import " + test::shell_word(fixture("mobile.onnx").string()) + " --out b").code, 0);
  EXPECT_EQ(slurp(place.path() / "a/weights.safetensors"), slurp(place.path() / "b/weights.safetensors"));
  const auto refused = [&](const std::string& message) {
    const Ended ended = place.mokume("import outside.onnx --out c");
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_TRUE(has(ended.err, message)) << ended.err;
    EXPECT_FALSE(fs::exists(place.path() / "c")) << "an import that fails leaves nothing";
  };
  const std::string model = slurp(place.path() / "outside.onnx");
  place.write("outside.data", "short");
  refused("outside.data is too short for the weights that it should hold");
  fs::remove(place.path() / "outside.data");
  refused("outside.data cannot be opened");
  fs::create_symlink(fixture("outside.data"), place.path() / "outside.data");
  EXPECT_EQ(place.mokume("import outside.onnx --out linked").code, 0) << "caches of downloads hold links";
  std::string away = model;
  for (size_t at = 0; (at = away.find("outside.data", at)) != std::string::npos;) away.replace(at, 12, "../side.data");
  place.write("outside.onnx", away);
  refused("its weights are in a file that is not next to it");
}

TEST(Import, ReportsWhatItCannotRead) {
  const Place place;
  const auto refused = [&](const std::string& arguments, const std::string& message) {
    const Ended ended = place.mokume("import " + arguments);
    EXPECT_TRUE(has(ended.err, message)) << ended.err;
    return ended.code;
  };
  EXPECT_EQ(refused(test::shell_word(fixture("softplus.onnx").string()) + " --out c",
                    "(Softplus) has no equivalent in mokume; supported are: Add AveragePool BatchNormalization Clip"),
            4);
  EXPECT_FALSE(fs::exists(place.path() / "c"));
  EXPECT_EQ(refused("none.onnx", "none.onnx cannot be opened: No such file or directory, relative to"), 3);
  const std::string whole = slurp(fixture("lenet.onnx"));
  place.write("cut.onnx", whole.substr(0, whole.size() / 2));
  EXPECT_EQ(refused("cut.onnx", "cut.onnx: it is not an ONNX file, or is truncated or damaged; export it again"), 3);
  place.write("text.onnx", "name = \"net\"\n");
  EXPECT_EQ(refused("text.onnx", "it is not an ONNX file"), 3);
  fs::create_directory(place.path() / "taken");
  EXPECT_EQ(refused(test::shell_word(fixture("lenet.onnx").string()) + " --out taken",
                    "taken exists: remove it, or name another folder with --out"),
            2);
}

}  // namespace
}  // namespace mokume::cli_test
