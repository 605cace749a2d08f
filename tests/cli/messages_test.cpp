// Tests the messages after a user's mistake: the sentences and the exit code of each command.
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <tuple>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

class Messages : public testing::Test {
 protected:
  Messages() {
    place_.write("e.toml", small_experiment("host"));
    place_.write("cnn.toml", network(""));
  }

  // Returns a small network whose options end with `more`.
  static std::string network(const std::string& more) {
    return "name = \"net\"\nmodel = \"cnn\"\n[data]\nsource = \"digits\"\nlimit = 100\n[validation]\nfolds = 2\n"
           "[devices]\nuse = \"host\"\n[model_options]\nepochs = 1\nbatch_size = 10\noptimizer = { type = \"sgd\", lr "
           "= 0.1 }\n"
           "layers = [{ type = \"conv2d\", out_channels = 2, kernel_size = 5 }, { type = \"flatten\" },\n"
           "          { type = \"linear\", out_features = 10 }]\n" +
           more;
  }

  // Writes the small experiment to `file`, with `by` in place of `part`.
  void replaced(const std::string& file, const std::string& part, const std::string& by) {
    std::string text = small_experiment("host");
    ASSERT_NE(text.find(part), std::string::npos) << part;
    place_.write(file, text.replace(text.find(part), part.size(), by));
  }

  // Expects that the command exits with `code` and writes each of these sentences.
  void says(const std::string& command, int code, std::initializer_list<const char*> sentences) {
    const Ended ended = place_.mokume(command);
    EXPECT_EQ(ended.code, code) << command << "\n" << ended.out << ended.err;
    last_ = ended.out + ended.err;
    for (const char* sentence : sentences)
      EXPECT_NE(last_.find(sentence), std::string::npos) << command << "\n" << sentence << "\n" << last_;
  }
  size_t at(const char* part) const { return last_.find(part); }
  bool said(const char* part) const { return at(part) != std::string::npos; }

  Place place_;
  std::string last_;  // output of the last command
};

TEST_F(Messages, AWordThatNoCommandTakesIsNamed) {
  says("rnu", 2, {"error: mokume has no command 'rnu'; did you mean 'run'?\n"});
  says("rnu e.toml --fresh", 2, {"mokume has no command 'rnu'; did you mean 'run'?\n"});
  says("fly", 2, {"mokume has no command 'fly'\n"});
  says("data lst", 2, {"mokume data has no command 'lst'; did you mean 'list'?\n"});
  says("run e.toml --device host", 2, {"mokume run has no option '--device'; did you mean '--devices'?\n"});
  says("run --device=host", 2, {"mokume run has no option '--device'; did you mean '--devices'?\n"});
  says("run e.toml again", 2, {"mokume run does not take the word 'again'\n"});
  says("\"$(printf 'r\\033[31mun')\"", 2, {"mokume has no command"});
  EXPECT_FALSE(said("\x1b")) << "the word would control the terminal";
  says("run", 2, {"CONFIG is required"});
}

TEST_F(Messages, AnUnknownModelIsOneSentenceWithItsSuggestionFirst) {
  replaced("svm.toml", "\"svc\"", "\"svm\"");
  for (const char* command : {"init svm", "check svm.toml", "run svm.toml"}) {
    says(command, 2,
         {"the model 'svm' cannot be loaded; did you mean 'svc'? (there are: ", "there is no plugins/svm.so"});
    EXPECT_LT(at("did you mean"), at("/plugins")) << last_;
  }
}

TEST_F(Messages, AStringThatIsNotClosedIsShownWhereItOpens) {
  replaced("open.toml", "seed = 7", "seed = \"7");
  says("check open.toml", 2, {"this string is not closed", "open.toml:3:8", "^ add \" at its end"});
  replaced("open.toml", "seed = 7", "seed = '7 # \"seven\"");
  says("check open.toml", 2, {"this string is not closed", "open.toml:3:8", "^ add ' at its end"});
  replaced("open.toml", "seed = 7", "seed = \"\"\"7\"\"");
  says("check open.toml", 2, {"this string is not closed", "open.toml:3:8", "add \"\"\" at its end"});
  replaced("open.toml", "seed = 7", "seed = \"7\" 8 # it's");
  says("check open.toml", 2, {"syntax error"});
  EXPECT_FALSE(said("not closed"));
}

TEST_F(Messages, ATableWithoutItsDotIsOneError) {
  replaced("flat.toml", "[search.params]", "[search_params]");
  says("check flat.toml", 2, {"unknown key 'search_params' at the top level", "write [search.params]"});
  EXPECT_EQ(at("error:"), last_.rfind("error:")) << last_;
}

TEST_F(Messages, AFieldOfATableIsSentThere) {
  place_.write("lr.toml", network("[search]\nmethod = \"grid\"\n[search.params]\nlr = [0.1, 0.01]\n"));
  says("check lr.toml", 2,
       {"unknown key 'lr' in [search.params]", "use it: write lr = \"$lr\" in optimizer in [model_options]"});
  says("check cnn.toml --set model_options.kernel_size=3", 2,
       {"unknown key 'kernel_size' in [model_options]", "write kernel_size = ... in one of the layers"});
}

TEST_F(Messages, AMissingFieldOfALayerIsDescribed) {
  std::string text = network("");
  text.erase(text.find("out_channels = 2, "), 18);
  place_.write("thin.toml", text);
  says("check thin.toml", 2,
       {"layers[0] (conv2d) needs 'out_channels'", "add out_channels = ...",
        "out_channels is an integer from 1 to 1000000: filters"});
}

TEST_F(Messages, LayersHaveTheSameNumberInAllMessages) {
  says("check cnn.toml --set model_options.layers[0].kernel_size=50", 2, {"layers[0] (conv2d): "});
  says("check cnn.toml --set model_options.layers[2].out_features=11", 2, {"layers[2] (linear): "});
  says("check cnn.toml --set model_options.layers[2].out_feature=11", 2, {"layers[2] (linear)", "'out_features'"});
  says("run cnn.toml --dry-run", 0, {"  [0] conv2d ", "  [2] linear "});
}

TEST_F(Messages, CheckFindsWhatRunRefuses) {
  says("check cnn.toml", 0, {"cnn.toml: ok"});
  const std::string shards = " --set 'model_options.parallel={ type = \"synchronous\", shards = 6 }'";
  for (const auto& [set, code, sentence] :
       {std::tuple(shards, 2, "shards is 6"), std::tuple(std::string(" --set devices.use=cuda"), 4, "cuda"),
        std::tuple(std::string(" --set model_options.layers[0].kernel_size=50"), 2, "50 x 50"),
        std::tuple(std::string(" --set data.source=csv --set data.path=gone.csv"), 3, "gone.csv")}) {
    says("check cnn.toml" + set, code, {sentence});
    says("run cnn.toml" + set, code, {sentence});
  }
}

TEST_F(Messages, AStopNamesItsCause) {
  place_.write("long.toml", small_experiment("host", 3000));
  says("run long.toml --max-time 0s", 75, {"time limit reached; stopping\n", "--max-time 0.0 s is over"});
  replaced("typo.toml", "gamma", "gama");
  says("run typo.toml --max-time 0s", 2, {"did you mean 'gamma'?"});
  EXPECT_FALSE(said("time limit")) << last_;
}

TEST_F(Messages, NumbersAgreeWithTheirNouns) {
  says("run e.toml --dry-run --set search.params.C=[1] --set search.params.gamma=[0.1] --set data.limit=100", 0,
       {"1 candidate x 3 folds = 3 fits in 1 bundle, split into 3 where that helps, then one refit\n",
        "  C: 1 value\n"});
  place_.write("one.csv", "x,label\n1,a\n2,b\n3,a\n4,b\n");
  says("data info csv:one.csv", 0, {"4 training rows, 0 test rows, 1 feature, 2 classes\n"});
}

TEST_F(Messages, ADivergedTrainingNamesItsCure) {
  says("run cnn.toml --set 'model_options.optimizer={ type = \"sgd\", lr = 1e5 }'", 5,
       {"fold 0 failed: the training diverged: its loss is not finite in epoch 1; lower lr or scale the data (and 1 "
        "more)\n",
        "2 fits failed; the report shows why\n"});
}

TEST_F(Messages, CompareTellsAProgramWhetherFitsDiffer) {
  for (const char* run : {"a", "b", "c --set data.limit=400"}) says(std::string("run e.toml --out ") + run, 0, {});
  const auto run = [&](const char* out) {
    return fs::directory_iterator(place_.path() / out / "small")->path().string();
  };
  says("compare " + run("a") + " " + run("b"), 0, {"36 of 36 in both, with the same values bit for bit"});
  says("compare " + run("a") + " " + run("c"), 1, {"from different plans"});
}

TEST_F(Messages, DataNeverControlsTheTerminal) {
  place_.write("bad.csv",
               "x,label\n1,\x1b[31mred\n2,\xc2\x9b"
               "31m\n3,\x1b[31mred\n4,\xc2\x9b"
               "31m\n");
  says("data info csv:bad.csv", 0, {"2 classes", "?[31mred", "?31m"});
  EXPECT_FALSE(said("\x1b") || said("\xc2\x9b"));
  says("data info \"$(printf 'csv:g\\033one')\"", 3, {"no file or data set 'g?one'"});
  EXPECT_FALSE(said("\x1b"));
}

}  // namespace
}  // namespace mokume::cli_test
