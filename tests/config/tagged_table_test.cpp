// Tests tagged tables and "$name", and their form in a model.
#include <nlohmann/json.hpp>
#include <string>

#include "base/text.hpp"
#include "config/resolved.hpp"
#include "config/support.hpp"
#include "node/model_experiment.hpp"

namespace mokume::config {
namespace {

const std::string kLayer = "[[model_options.layers]]\ntype = \"relu\"\n";

std::string net(const std::string& options) { return experiment("net", "[model_options]\n" + options); }

std::string searched(const std::string& params, const std::string& options, const std::string& method = "grid") {
  return experiment("net", search_of(method, params) + "[model_options]\n" + options);
}

struct Expected {
  std::string message;
  std::string hint;
  std::string note;   // part of the note
  std::string under;  // text that the carets mark
};

// Expects exactly these diagnostics, each at the first occurrence of its `under`.
void expect_errors(const std::string& text, const std::vector<Expected>& expected) {
  const ParseResult result = parse_text(text);
  ASSERT_EQ(result.diagnostics.size(), expected.size()) << all_messages(result, text);
  for (size_t i = 0; i < expected.size(); ++i) {
    const Diagnostic& d = result.diagnostics[i];
    const Expected& e = expected[i];
    EXPECT_EQ(d.message, e.message);
    EXPECT_EQ(d.hint, e.hint) << d.message;
    EXPECT_NE(d.note.find(e.note), std::string::npos) << d.message << "\n" << d.note;
    const std::string line = base::split(text, '\n')[d.line - 1];
    EXPECT_EQ(line.substr(d.column - 1, d.length), e.under) << d.message;
  }
}

data::Dataset ten_rows() {
  data::Dataset data;
  data.train.rows = 10;
  return data;
}

std::vector<std::string> texts_of(const Config& config, const char* param) {
  const search::Plan plan = make_plan(config, "d");
  const data::Dataset data = ten_rows();
  mk_model model{};
  model.params = kNetParams.data();
  model.n_params = kNetParams.size();
  const node::ModelExperiment experiment(config, plan, data, node::Splits(config, plan, data), model);
  std::vector<std::string> texts;
  for (uint32_t c = 0; c < plan.candidates.size(); ++c)
    for (uint32_t p = 0; p < model.n_params; ++p)
      if (std::string(param) == model.params[p].name)
        texts.emplace_back(experiment.get()->values[c * model.n_params + p].text);
  return texts;
}

TEST(TaggedTables, AreReadWithDefaultsInTheOrderOfTheSchema) {
  const Config c =
      good(net("optimizer = { nesterov = true, type = \"sgd\" }\n"
               "[[model_options.layers]]\nkernel_size = 3\ntype = \"conv2d\"\nout_channels = 32\n"
               "[[model_options.layers]]\ntype = \"relu\"\n"));
  EXPECT_EQ(c.tagged.at("optimizer"), (TaggedTables{false, {{"sgd", {{"lr", 0.01, ""}, {"nesterov", true, ""}}}}}));
  EXPECT_EQ(c.tagged.at("layers"), (TaggedTables{true,
                                                 {{"conv2d",
                                                   {{"out_channels", int64_t{32}, ""},
                                                    {"kernel_size", int64_t{3}, ""},
                                                    {"padding_mode", std::string("zeros"), ""}}},
                                                  {"relu", {}}}}));
}

TEST(TaggedTables, WholeDefaultsAreFilledIn) {
  EXPECT_EQ(good(net("layers = []\n")).tagged.at("optimizer"),
            (TaggedTables{false, {{"adadelta", {{"lr", 1.0, ""}}}}}));
  EXPECT_TRUE(good(net("layers = []\n")).tagged.at("layers").tables.empty());
  expect_errors(experiment("net"), {{"net needs a value for 'layers'", "add it to [model_options]", "", "\"net\""}});
}

TEST(TaggedTables, EveryFaultIsReportedAtItsPlace) {
  expect_errors(net("optimizer = { type = \"sdg\", lr = 1 }\n"
                    "[[model_options.layers]]\ntype = \"conv2d\"\nout_channel = 3\nkernel_size = 0\n"
                    "[[model_options.layers]]\ntype = \"dropout\"\np = \"much\"\nlimit = 3\n"
                    "[[model_options.layers]]\nrate = 3\n"
                    "[[model_options.layers]]\ntype = \"conv2d\"\nkernel_size = 1\n"
                    "padding_mode = \"zero\"\nout_channels = 1.5\n"),
                {{"unknown type 'sdg' of optimizer", "did you mean 'sgd'?", "type is one of: sgd, adadelta", "\"sdg\""},
                 {"unknown key 'out_channel' in layers[0] (conv2d)", "did you mean 'out_channels'?",
                  "conv2d takes: type, out_channels, kernel_size, padding_mode", "out_channel"},
                 {"kernel_size must be from 1 to 99, not 0", "", "", "0"},
                 {"p must be a number, not a string", "", "", "\"much\""},
                 {"unknown key 'limit' in layers[1] (dropout)", "", "dropout takes: type, p", "limit"},
                 {"layers[2] needs 'type'", "add type = \"...\"", "type is one of: conv2d, dropout, relu",
                  "[[model_options.layers]]"},
                 {"unknown padding_mode 'zero'", "did you mean 'zeros'?", "zeros, reflect", "\"zero\""},
                 {"out_channels must be an integer, not a real number", "", "", "1.5"}});
  expect_errors(net("[[model_options.layers]]\ntype = \"conv2d\"\nkernel_size = 1\n"),
                {{"layers[0] (conv2d) needs 'out_channels'", "add out_channels = ...", "number of filters",
                  "[[model_options.layers]]"}});
  expect_errors(net("[[model_options.layers]]\ntpye = \"relu\"\n"),
                {{"unknown key 'tpye' in layers[0]", "did you mean 'type'?", "conv2d", "tpye"}});
}

TEST(TaggedTables, WrongKindsOfValueAreExplained) {
  expect_errors(net("optimizer = \"sgd\"\n" + kLayer),
                {{"optimizer must be a table with a type, not a string", "write { type = \"sgd\" }", "", "\"sgd\""}});
  expect_errors(net("layers = { type = \"relu\" }\n"), {{"layers must be a list of tables, not a table",
                                                         "write [[model_options.layers]]", "", "{ type = \"relu\" }"}});
  expect_errors(net("layers = [{ type = \"relu\" }, 3]\n"),
                {{"layers[1] must be a table with a type, not an integer", "", "", "3"}});
  expect_errors(net("layers = [{ type = 3 }]\n"),
                {{"the type of layers[0] must be a string, not an integer", "", "relu", "3"}});
  expect_errors(searched("t = [\"relu\"]\n", "layers = [{ type = \"$t\" }]\n"),
                {{"unknown key 't' in [search.params]", "", "net takes: epochs, momentum", "t"},
                 {"the type of layers[0] cannot be searched", "", "relu", "\"$t\""}});
  expect_errors(searched("layers = [1]\n", kLayer),
                {{"'layers' cannot be searched as a whole",
                  "search its parts: \"$name\" in [model_options] refers to the parameter 'name'", "", "layers"}});
}

// ---- "$name"

TEST(References, TakeTheValuesOfTheCandidate) {
  const Config c = good(searched("width = [8, 16]\nrate = [1, 1e-05]\nmomentum = 0.5\n",
                                 "epochs = \"$width\"\noptimizer = { type = \"sgd\", lr = \"$rate\" }\n"
                                 "[[model_options.layers]]\ntype = \"conv2d\"\nout_channels = \"$width\"\n"
                                 "kernel_size = 5\n[[model_options.layers]]\ntype = \"dropout\"\np = \"$momentum\"\n"));
  EXPECT_EQ(c.references.at("epochs"), "width");
  EXPECT_EQ(c.spaces[0].values, (std::vector<search::Value>{int64_t{8}, int64_t{16}}));
  EXPECT_EQ(c.spaces[1].values, (std::vector<search::Value>{1.0, 1e-05}));
  EXPECT_EQ(texts_of(c, "optimizer"),
            (std::vector<std::string>{
                R"({"type":"sgd","lr":1.0,"nesterov":false})", R"({"type":"sgd","lr":1e-05,"nesterov":false})",
                R"({"type":"sgd","lr":1.0,"nesterov":false})", R"({"type":"sgd","lr":1e-05,"nesterov":false})"}));
  EXPECT_EQ(
      texts_of(c, "layers")[3],
      R"([{"type":"conv2d","out_channels":16,"kernel_size":5,"padding_mode":"zeros"},{"type":"dropout","p":0.5}])");
}

// A list of tables in place of one has alternatives, and the search chooses one by its type.
TEST(References, ASearchChoosesAmongTables) {
  const std::string options =
      "optimizer = [{ type = \"sgd\", lr = \"$rate\" }, { type = \"adadelta\", lr = 0.5 }]\n" + kLayer;
  const Config c =
      good(searched("optimizer = [\"adadelta\", \"sgd\"]\nrate = { values = [1, 2], when = { optimizer = "
                    "\"sgd\" }, otherwise = 7 }\n",
                    options));
  const std::vector<std::string> texts = texts_of(c, "optimizer");
  ASSERT_EQ(texts.size(), 3U);
  EXPECT_EQ(texts[0], R"({"type":"adadelta","lr":0.5})");
  EXPECT_EQ(texts[1], R"({"type":"sgd","lr":1.0,"nesterov":false})");
  EXPECT_EQ(texts[2], R"({"type":"sgd","lr":2.0,"nesterov":false})");
  const Config again = good(to_toml(c));
  EXPECT_EQ(again.tagged.at("optimizer"), c.tagged.at("optimizer"));
  EXPECT_EQ(again.spaces, c.spaces);
}

TEST(References, AlternativesAreSearchedByTheirTypes) {
  const std::string two = "optimizer = [{ type = \"sgd\" }, { type = \"adadelta\" }]\n" + kLayer;
  expect_errors(net(two), {{"'$optimizer' is not searched", "add optimizer to [search.params]", "",
                            "[{ type = \"sgd\" }, { type = \"adadelta\" }]"}});
  expect_errors(searched("optimizer = [\"sgd\", \"adadetla\"]\n", two),
                {{"unknown optimizer 'adadetla'", "did you mean 'adadelta'?", "optimizer is one of: sgd, adadelta",
                  "\"adadetla\""}});
  expect_errors(searched("optimizer = [\"sgd\"]\n", kLayer),
                {{"'optimizer' cannot be searched as a whole",
                  "list its tables in [model_options], and here their types", "", "optimizer"}});
  expect_errors(searched("optimizer = [\"sgd\"]\n", "optimizer = [{ type = \"sgd\" }]\n" + kLayer),
                {{"optimizer lists fewer than two alternatives", "write one table, or list several for a search", "",
                  "[{ type = \"sgd\" }]"}});
  expect_errors(
      searched("optimizer = [\"sgd\"]\n", "optimizer = [{ type = \"sgd\" }, { type = \"sgd\", lr = 1 }]\n" + kLayer),
      {{"optimizer lists two alternatives of type \"sgd\"", "keep one, and search its keys with \"$name\"", "",
        "{ type = \"sgd\", lr = 1 }"}});
}

TEST(References, ScalarsReachTheModelInItsOwnType) {
  const Config c = good(searched("both = [1, 0]\n", "momentum = \"$both\"\n" + kLayer));
  EXPECT_EQ(c.spaces[0].values, (std::vector<search::Value>{1.0, 0.0}));
  const Config whole =
      good(searched("both = { int = [1, 1] }\n", "momentum = \"$both\"\nepochs = \"$both\"\n" + kLayer, "random"));
  const search::Plan plan = make_plan(whole, "d");
  mk_model model{};
  model.params = kNetParams.data();
  model.n_params = kNetParams.size();
  const data::Dataset data = ten_rows();
  const node::ModelExperiment experiment(whole, plan, data, node::Splits(whole, plan, data), model);
  EXPECT_EQ(experiment.get()->values[0].integer, 1);
  EXPECT_EQ(experiment.get()->values[1].real, 1.0) << "an integer was drawn, a real is wanted";
}

TEST(References, ValuesMustSuitEveryParameterThatTakesThem) {
  const std::string layers =
      "[[model_options.layers]]\ntype = \"conv2d\"\nout_channels = \"$w\"\nkernel_size = \"$w\"\n";
  expect_errors(searched("w = [0, 3, 100, 5000, 2.5]\n", layers),
                {{"out_channels must be from 1 to 4096, not 0", "", "w is used for out_channels at svm.toml:", "0"},
                 {"kernel_size must be from 1 to 99, not 100", "", "w is used for kernel_size at", "100"},
                 {"out_channels must be from 1 to 4096, not 5000", "", "out_channels", "5000"},
                 {"out_channels must be an integer, not a real number", "", "out_channels", "2.5"}});
  expect_errors(searched("w = { uniform = [1, 5] }\n", layers, "random"),
                {{"w is an integer, which 'uniform' cannot draw", "use int", "out_channels", "uniform"}});
  expect_errors(searched("w = { int = [1, 100] }\n", layers, "random"),
                {{"kernel_size must be from 1 to 99, not 100", "", "kernel_size", "100"}});
  expect_errors(searched("w = [1.0, 2.0]\n", "epochs = \"$w\"\nmomentum = \"$w\"\n" + kLayer),
                {{"epochs must be an integer, not a real number", "", "", "1.0"},
                 {"epochs must be an integer, not a real number", "", "", "2.0"}});
}

TEST(References, MustBeSearchedAndSearchedNamesUsed) {
  expect_errors(
      searched("width = [1]\n", "layers = [{ type = \"conv2d\", out_channels = \"$widht\", kernel_size = 1 }]\n"),
      {{"'$widht' is not searched", "did you mean '$width'?", "searched parameters: width", "\"$widht\""}});
  expect_errors(net("momentum = \"$m\"\n" + kLayer),
                {{"'$m' is not searched", "add m to [search.params]", "", "\"$m\""}});
  expect_errors(searched("width = [1]\n", kLayer),
                {{"unknown key 'width' in [search.params]", "", "net takes: epochs, momentum", "width"}});
  expect_errors(searched("fold = [1]\n\"a b\" = 1\n", "epochs = \"$fold\"\nmomentum = \"$a b\"\n" + kLayer),
                {{"'fold' is already a column of results.csv", "give the searched parameter another name", "", "fold"},
                 {"'a b' cannot name a searched parameter", "use letters, digits, '_' and '-'", "", "\"a b\""}});
}

// ---- --set

TEST(SetTaggedTables, ChangesOneKeyOrOneTable) {
  const std::string text =
      net("optimizer = { type = \"sgd\", lr = 1 }\n[[model_options.layers]]\ntype = \"dropout\"\n"
          "[[model_options.layers]]\ntype = \"dropout\"\np = 0.25\n");
  const Config c = good(text, {"model_options.optimizer.lr=0.5", "model_options.layers[1].p=0.125",
                               "model_options.layers[0]={ type = \"relu\" }"});
  EXPECT_EQ(std::get<double>(c.tagged.at("optimizer").tables[0].fields[0].value), 0.5);
  EXPECT_EQ(c.tagged.at("layers").tables[0].type, "relu");
  EXPECT_EQ(std::get<double>(c.tagged.at("layers").tables[1].fields[0].value), 0.125);

  const auto message = [&](const std::string& set) {
    const ParseResult result = parse_text(text, {set});
    EXPECT_EQ(result.diagnostics.size(), 1U) << all_messages(result, text, {set});
    return result.diagnostics.empty() ? "" : result.diagnostics[0].message;
  };
  EXPECT_EQ(message("model_options.layers[2].p=1"), "there is no 'model_options.layers[2]': the last is layers[1]");
  EXPECT_EQ(message("model_options.optimizer[0].p=1"),
            "there is no 'model_options.optimizer[0]': that is a table, not a list");
  EXPECT_EQ(message("model_options.layer[0].p=1"), "there is no 'model_options.layer[0]': it is not in the file");
  EXPECT_EQ(message("model_options.layers[1].p=7"), "p must be at least 0 and at most 1, not 7");
  for (const char* bad : {"model_options.layers[].p=1", "model_options.layers[-1].p=1", "model_options.layers[1.p=1",
                          "model_options.layers[1]p=1", "model_options.layers[99999999999999999999].p=1", "[1]=2"})
    EXPECT_EQ(message(bad), "this is not a setting") << bad;
}

// ---- output

const std::string kRich =
    searched("width = [8, 16]\nrate = { linear = [0.5, 1], n = 2 }\n",
             "epochs = \"$width\"\noptimizer = { type = \"sgd\", lr = \"$rate\" }\n"
             "[[model_options.layers]]\ntype = \"conv2d\"\nout_channels = \"$width\"\nkernel_size = 5\n"
             "[[model_options.layers]]\ntype = \"relu\"\n");

TEST(TaggedTables, ResolvedTextReadsBack) {
  for (const std::string& text : {kRich, net("layers = []\n"), net(kLayer)}) {
    const Config c = good(text);
    const Config again = good(to_toml(c));
    EXPECT_TRUE(same(c, again)) << to_toml(c) << to_toml(again);
    EXPECT_EQ(canonical_json(c), canonical_json(again));
  }
  EXPECT_NE(to_toml(good(kRich)).find(R"([model_options]
momentum = 0.0
epochs = "$width"
layers = [
  { type = "conv2d", out_channels = "$width", kernel_size = 5, padding_mode = "zeros" },
  { type = "relu" },
]
optimizer = { type = "sgd", lr = "$rate", nesterov = false }
)"),
            std::string::npos)
      << to_toml(good(kRich));
}

TEST(TaggedTables, ThePlanDependsOnThem) {
  const std::string hash = make_plan(good(kRich), "d").hash;
  EXPECT_EQ(make_plan(good(kRich, {"model_options.optimizer.nesterov=false"}), "d").hash, hash) << "the default";
  for (const char* set : {"model_options.optimizer.nesterov=true", "model_options.layers[0].kernel_size=6",
                          "model_options.layers[1]={ type = \"dropout\" }",
                          "model_options.layers[0].kernel_size=\"$width\"", "model_options.momentum=\"$rate\""})
    EXPECT_NE(make_plan(good(kRich, {set}), "d").hash, hash) << set;
}

TEST(TaggedTables, SchemaAndStarterDescribeThem) {
  using nlohmann::json;
  const json schema = json::parse(json_schema({{"net", kNet}}));
  const json& net_schema = schema["anyOf"][0]["properties"];
  const json& options = net_schema["model_options"]["properties"];
  const json& conv = options["layers"]["items"]["anyOf"][0];
  EXPECT_EQ(options["layers"]["type"], "array");
  EXPECT_EQ(conv["properties"]["type"]["enum"], json{"conv2d"});
  EXPECT_EQ(conv["required"], (json{"type", "out_channels", "kernel_size"}));
  EXPECT_EQ(conv["additionalProperties"], false);
  EXPECT_EQ(options["optimizer"]["anyOf"].size(), 3U) << "two types, or a list of alternatives";
  EXPECT_EQ(options["optimizer"]["anyOf"][2]["type"], "array");
  EXPECT_FALSE(net_schema["search"]["properties"]["params"]["properties"].contains("layers"));

  const std::string starter = starter_toml("net", kNet);
  EXPECT_NE(starter.find("optimizer      = { type = \"adadelta\" } # how steps are made\n"), std::string::npos)
      << starter;
  for (const char* part :
       {"# [[model_options.layers]]  # convolution\n# type = \"conv2d\"\n# out_channels ",
        "# optimizer = { type = \"sgd\", lr = 0.01, nesterov = false, damp = 0.0 }  # gradient descent\n#   lr  "
        "           learning rate",
        "e.g. epochs = [1, 2]\n"})
    EXPECT_NE(starter.find(part), std::string::npos) << starter;
  good(starter + kLayer);
  good(starter_toml("svc", kSvc));
}

// Runs and models that are older than a key keep their plan and their meaning.
TEST(Tagged, NewKeysAreLeftOutIfTheyHaveTheirDefaults) {
  const auto optimizer = [](const std::string& keys) {
    return json_of(good(experiment("net", "[model_options]\nlayers = []\noptimizer = { type = \"sgd\"" + keys + " }\n"))
                       .tagged.at("optimizer"))
        .dump();
  };
  EXPECT_EQ(optimizer(""), R"({"type":"sgd","lr":0.01,"nesterov":false})");
  EXPECT_EQ(optimizer(", damp = 0.0"), optimizer(""));
  EXPECT_EQ(optimizer(", damp = 0.5"), R"({"type":"sgd","lr":0.01,"nesterov":false,"damp":0.5})");
}

}  // namespace
}  // namespace mokume::config
