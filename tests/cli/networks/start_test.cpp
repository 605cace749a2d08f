// Tests runs that begin with the weights of another run, and keep some of them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

// Returns an experiment. `options` holds further lines of [model_options].
std::string experiment(const std::string& name, const std::string& options) {
  return "name = \"" + name + R"("
model = "cnn"
seed = 3
[data]
source = "digits"
limit = 300
standardize = { mean = 0, scale = 255 }
[validation]
share = 0.25
[devices]
use = "host"
[model_options]
batch_size = 25
optimizer = { type = "adam", lr = 0.01 }
)" + options +
         R"(
[[model_options.layers]]
name = "stem"
type = "conv2d"
out_channels = 4
kernel_size = 5
stride = 2
[[model_options.layers]]
type = "batch_norm"
[[model_options.layers]]
type = "relu"
[[model_options.layers]]
type = "flatten"
[[model_options.layers]]
name = "head"
type = "linear"
out_features = 10
)";
}

fs::path weights_of(const fs::path& run) {
  for (const auto& entry : fs::recursive_directory_iterator(run / "models"))
    if (entry.path().filename() == "model.safetensors") return entry.path();
  return {};
}

TEST(Start, BeginsWithTheWeightsOfARun) {
  const Place place;
  place.write("base.toml", experiment("base", "epochs = 4"));
  ASSERT_EQ(place.mokume("run base.toml").code, 0);
  const fs::path base = place.run("base");
  fs::copy(weights_of(base), place.path() / "w.safetensors");

  // A model without training predicts the same as the other model.
  place.write("same.toml", experiment("same", "epochs = 0\nstart = \"w.safetensors\""));
  const Ended same = place.mokume("run same.toml");
  ASSERT_EQ(same.code, 0) << same.err;
  EXPECT_FALSE(has(same.err, "start:")) << same.err;
  const std::string rows = " --data digits,limit=40 --devices host";
  const Ended ours = place.mokume("predict " + place.run("same").string() + rows),
              theirs = place.mokume("predict " + base.string() + rows);
  ASSERT_EQ(ours.code, 0) << ours.err;
  EXPECT_EQ(ours.out, theirs.out);
  EXPECT_EQ(slurp(weights_of(place.run("same"))), slurp(weights_of(base)));

  // A frozen stem keeps its bits, while the head learns.
  place.write("tuned.toml", experiment("tuned", "epochs = 2\nstart = \"w.safetensors\"\nfreeze = [\"stem\", \"1\"]"));
  const Ended dry = place.mokume("run tuned.toml --dry-run");
  EXPECT_TRUE(has(dry.err, "104, frozen")) << dry.err;
  const Ended tuned = place.mokume("run tuned.toml");
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  const std::string before = slurp(weights_of(base)), after = slurp(weights_of(place.run("tuned")));
  ASSERT_EQ(before.size(), after.size());
  const uint64_t header =
      8 + uint64_t(static_cast<unsigned char>(before[0])) + 256 * uint64_t(static_cast<unsigned char>(before[1]));
  const auto header_json = nlohmann::json::parse(before.substr(8, header - 8));
  for (const auto& [name, tensor] : header_json.items()) {
    if (name == "__metadata__") continue;
    const uint64_t begin = tensor["data_offsets"][0], end = tensor["data_offsets"][1];
    const bool kept = before.substr(header + begin, end - begin) == after.substr(header + begin, end - begin);
    EXPECT_EQ(kept, !name.starts_with("head")) << name;
  }
}

TEST(Start, NamesTheMismatch) {
  const Place place;
  place.write("base.toml", experiment("base", "epochs = 1"));
  ASSERT_EQ(place.mokume("run base.toml").code, 0);
  fs::copy(weights_of(place.run("base")), place.path() / "w.safetensors");
  place.write("other.toml", experiment("other", "epochs = 0\nstart = \"w.safetensors\""));
  const auto code_of = [&](const std::string& arguments, const std::string& message) {
    const Ended run = place.mokume("run other.toml --dry-run " + arguments);
    EXPECT_TRUE(has(run.err, message)) << run.err;
    return run.code;
  };
  EXPECT_EQ(code_of("--set 'model_options.start=\"none.safetensors\"'", "model_options.start: "), 3);
  EXPECT_EQ(code_of("--set 'model_options.start=\"base.toml\"'", "it is not a safetensors file"), 3);
  EXPECT_EQ(code_of("--set 'model_options.start=\"\"'", "epochs is 0, so the model is what it starts with"), 2);
  EXPECT_EQ(code_of("--set 'model_options.freeze=[\"stm\"]' --set model_options.epochs=1",
                    "no layer with parameters is called 'stm'; these layers have some: stem, 1, head"),
            2);
  EXPECT_EQ(code_of("--set 'model_options.freeze=[\"stem\", \"1\", \"head\"]' --set model_options.epochs=1",
                    "freeze names every layer with parameters, so nothing learns"),
            2);
  std::string text = experiment("other", "epochs = 0\nstart = \"w.safetensors\"");
  place.write("other.toml", text.replace(text.find("\"head\""), 6, "\"last\""));
  EXPECT_EQ(code_of("", "it has no tensor for last.weight, last.bias"), 0);
  text.replace(text.find("out_channels = 4"), 16, "out_channels = 3");
  place.write("other.toml", text);
  EXPECT_EQ(
      code_of("", "the tensor stem.weight of w.safetensors is 4 x 1 x 5 x 5, but the network needs 3 x 1 x 5 x 5"), 3);
}

// The plan includes the content of the start file.
TEST(Start, IsNotResumedWithAnotherFile) {
  const Place place;
  place.write("base.toml", experiment("base", "epochs = 1"));
  ASSERT_EQ(place.mokume("run base.toml").code, 0);
  const fs::path file = place.path() / "w.safetensors";
  fs::copy(weights_of(place.run("base")), file);
  place.write("on.toml", experiment("on", "epochs = 1\nstart = \"w.safetensors\""));
  ASSERT_EQ(place.mokume("run on.toml").code, 0);
  const fs::path run = place.run("on");
  EXPECT_EQ(nlohmann::json::parse(slurp(run / "run.json"))["files"].size(), 1U);
  EXPECT_EQ(place.mokume("report " + run.string()).code, 0) << "what is derived needs no file";
  const Ended again = place.mokume("resume " + run.string());
  EXPECT_EQ(again.code, 0) << again.err;
  // Runs reuse fits that started from the same content, whatever the path of the file.
  fs::copy(file, place.path() / "copy.safetensors");
  const std::string other = " --set 'model_options.start=\"copy.safetensors\"' --set 'name=\"copied\"'";
  EXPECT_TRUE(has(place.mokume("run on.toml" + other).err, "taking over 1 of 1 fits"));
  std::string bytes = slurp(file);
  bytes.back() = char(bytes.back() ^ 1);
  place.write("w.safetensors", bytes);
  EXPECT_FALSE(has(place.mokume("run on.toml --set 'name=\"changed\"'").err, "taking over"));
  const Ended changed = place.mokume("resume " + run.string());
  EXPECT_EQ(changed.code, 2) << changed.err;
  EXPECT_TRUE(has(changed.err,
                  "was started with other contents of w.safetensors: restore that file, or start a new "
                  "run"))
      << changed.err;
}

}  // namespace
}  // namespace mokume::cli_test
