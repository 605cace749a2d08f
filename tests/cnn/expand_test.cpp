// Tests layers with names and inputs, and blocks (network/expand.hpp), as the experiment file has them.
#include "network/expand.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/parse.hpp"
#include "config/resolved.hpp"
#include "config/schema.hpp"
#include "config/tagged_table.hpp"
#include "sdk/plugin.hpp"
#include "settings.hpp"

namespace mokume::expand_test {
namespace {

using config::Config;
using config::Field;
using config::ParseResult;
using config::TaggedTable;

int32_t expand_in_c(const char* list, const char* options, void* taker, void (*take)(void*, const char*),
                    mk_error* error) {
  return sdk::guard(error, [&] { take(taker, cnn::expand(list, options).c_str()); });
}

ParseResult parse_text(const std::string& text, config::Origin origin = config::Origin::experiment) {
  const auto lookup = [](const std::string&, const std::vector<std::string>&, std::string&) {
    return std::optional(config::model_schema(cnn::kParams, expand_in_c));
  };
  return config::parse(text, "net.toml", {}, lookup, origin);
}

Config good(const std::string& text, config::Origin origin = config::Origin::experiment) {
  const ParseResult result = parse_text(text, origin);
  if (result.config) return *result.config;
  ADD_FAILURE() << config::render_all(result.diagnostics, text, {});
  return {};
}

// Returns an experiment with these tables and model options.
std::string network(const std::string& options, const std::string& tables = "") {
  return "name = \"a\"\nmodel = \"cnn\"\n[data]\nsource = \"digits\"\n" + tables + "[model_options]\n" + options;
}

// Returns the layers as a candidate's JSON has them, without the keys that do not matter here.
std::string layers_of(const std::string& options) {
  const Config c = good(network(options));
  std::string text;
  for (const TaggedTable& table : c.tagged.at("layers").tables) {
    text += (text.empty() ? "" : " ") + table.type;
    for (const Field& field : table.fields) {
      const config::Json value = config::json_of(field);
      if (field.key == "name") text += ":" + value.get<std::string>();
      if (field.key == "inputs") text += "<" + value.get<std::string>();
      if (field.key == "out_channels") text += "=" + value.dump();
    }
  }
  return text;
}

void expect_error(const std::string& options, const std::string& message, const std::string& hint = "") {
  const ParseResult result = parse_text(network(options));
  ASSERT_EQ(result.diagnostics.size(), 1U) << config::render_all(result.diagnostics, network(options), {});
  EXPECT_EQ(result.diagnostics[0].message, message);
  EXPECT_EQ(result.diagnostics[0].hint, hint);
  EXPECT_GT(result.diagnostics[0].line, 0U);
}

const std::string kResidual = R"(
[model_options.blocks.residual]
channels = 16
layers = [
  { type = "conv2d", kernel_size = 3, out_channels = "$channels", name = "main" },
  { type = "relu", inputs = "input" },
  { type = "add", inputs = ["main", "previous"] },
]
)";

TEST(Expand, APlainListHasNeitherNamesNorInputs) {
  EXPECT_EQ(layers_of("layers = [{ type = \"relu\" }, { type = \"dropout\" }]\n"), "relu dropout");
}

TEST(Expand, NamesAndInputsReachTheModel) {
  EXPECT_EQ(layers_of("layers = [{ type = \"relu\", name = \"a\" }, { type = \"relu\" },\n"
                      "  { type = \"add\", inputs = [\"a\", \"previous\", \"input\", \"1\"] }]\n"),
            "relu:a relu add<a,1,input,1");
}

TEST(Expand, ABlockIsReplacedByItsLayers) {
  EXPECT_EQ(layers_of("layers = [{ type = \"relu\" }, { type = \"block\", block = \"residual\", channels = 8 },\n"
                      "  { type = \"dropout\" }]\n" +
                      kResidual),
            "relu:0 conv2d=8:1.main<0 relu:1.1<0 add:1.2<1.main,1.1 dropout:2");
}

TEST(Expand, RepetitionsFollowEachOtherAndMayDiffer) {
  EXPECT_EQ(
      layers_of("layers = [{ type = \"block\", block = \"residual\", name = \"s\", repeat = 2, channels = [4, 8] },\n"
                "  { type = \"add\", inputs = [\"s\", \"input\"] }]\n" +
                kResidual),
      "conv2d=4:s.0.main<input relu:s.0.1<input add:s.0.2<s.0.main,s.0.1 "
      "conv2d=8:s.1.main<s.0.2 relu:s.1.1<s.0.2 add:s.1.2<s.1.main,s.1.1 add:1<s.1.2,input");
}

TEST(Expand, BlocksNestAndReadWhatTheyAreTold) {
  EXPECT_EQ(layers_of("layers = [{ type = \"relu\", name = \"a\" }, { type = \"relu\" },\n"
                      "  { type = \"block\", block = \"pair\", name = \"p\", inputs = [\"a\"] },\n"
                      "  { type = \"add\", inputs = [\"p\", \"1\"] }]\n"
                      "[model_options.blocks.pair]\nwide = 2\n"
                      "layers = [{ type = \"block\", block = \"one\", out = \"$wide\" }, { type = \"dropout\" }]\n"
                      "[model_options.blocks.one]\nout = 1\n"
                      "layers = [{ type = \"conv2d\", kernel_size = 1, out_channels = \"$out\" }]\n"),
            "relu:a relu:1 conv2d=2:p.0.0<a dropout:p.1 add:3<p.1,1");
}

TEST(Expand, ASearchedParameterReachesIntoABlock) {
  const Config c =
      good(network("layers = [{ type = \"block\", block = \"residual\", channels = \"$width\" }]\n" + kResidual,
                   "[search]\nmethod = \"grid\"\n[search.params]\nwidth = [4, 8]\n"));
  EXPECT_EQ(c.tagged.at("layers").tables.at(0).fields.at(0).reference, "width");
}

// Returns the layers of each candidate of a list of depths, without the keys that do not matter here.
std::vector<std::string> layers_by_depth(const std::string& options, const std::string& depth) {
  const Config c = good(network(options, "[search]\nmethod = \"grid\"\n[search.params]\ndepth = " + depth + "\n"));
  EXPECT_EQ(good(config::to_toml(c), config::Origin::run).tagged.at("layers"), c.tagged.at("layers"));
  std::vector<std::string> all;
  for (const search::Value& value : c.spaces.at(0).values) {
    std::string text;
    const std::string json = config::json_text(c.tagged.at("layers"), {"depth"}, {value});
    for (const nlohmann::json& layer : nlohmann::json::parse(cnn::present_layers(json).layers))
      text += (text.empty() ? "" : " ") + layer.value("name", "") + "<" + layer.value("inputs", "");
    all.push_back(text);
  }
  return all;
}

TEST(Expand, ASearchGivesTheNumberOfRepetitions) {
  const std::string layers =
      "layers = [{ type = \"relu\" }, { type = \"dropout\" },\n"
      "  { type = \"block\", block = \"residual\", name = \"s\", repeat = \"$depth\", inputs = \"0\" },\n"
      "  { type = \"add\", inputs = [\"s\", \"1\"] }]\n" +
      kResidual;
  const std::string begin = "0<input 1<0", one = " s.0.main<0 s.0.1<0 s.0.2<s.0.main,s.0.1",
                    two = " s.1.main<s.0.2 s.1.1<s.0.2 s.1.2<s.1.main,s.1.1";
  EXPECT_EQ(layers_by_depth(layers, "[1, 2, 0]"),
            (std::vector<std::string>{begin + one + " 3<s.0.2,1", begin + one + two + " 3<s.1.2,1", begin + " 3<0,1"}));
  // Without a block that follows, the layer before the absent ones is the last one.
  EXPECT_EQ(layers_by_depth("layers = [{ type = \"relu\" }, { type = \"block\", block = \"residual\", "
                            "repeat = \"$depth\" }]\n" +
                                kResidual,
                            "{ values = [0, 1] }"),
            (std::vector<std::string>{"0<input", "0<input 1.0.main<0 1.0.1<0 1.0.2<1.0.main,1.0.1"}));
  EXPECT_EQ(layers_by_depth(layers, "[0]"), std::vector<std::string>{begin + " 3<0,1"});
  const Config drawn = good(network(layers,
                                    "[search]\nmethod = \"random\"\ncandidates = 9\n[search.params]\n"
                                    "depth = { int = [1, 5] }\n"));
  EXPECT_EQ(drawn.tagged.at("layers").tables.size(), 3 + 5 * 3U) << "as many as the search can ask for";
}

TEST(Expand, ASearchedRepeatIsNotInsideAnother) {
  const std::string text = network(
      "layers = [{ type = \"block\", block = \"outer\", repeat = \"$depth\" }]\n"
      "[model_options.blocks.outer]\nlayers = [{ type = \"block\", block = \"residual\", repeat = \"$depth\" }]\n" +
          kResidual,
      "[search]\nmethod = \"grid\"\n[search.params]\ndepth = [1, 2]\n");
  const ParseResult result = parse_text(text);
  ASSERT_FALSE(result.diagnostics.empty());
  EXPECT_EQ(result.diagnostics.back().message,
            "repeat of blocks.outer.layers[0] is searched, and so is that of a block around it");
}

TEST(Expand, OnlyAResolvedFileHasTheKeysOfASearchedRepeat) {
  for (const std::string key : {"repeats", "repetition"}) {
    const std::string text = network("layers = [{ type = \"relu\", " + key + " = 1 }]\n");
    const ParseResult result = parse_text(text);
    ASSERT_EQ(result.diagnostics.size(), 1U) << config::render_all(result.diagnostics, text, {});
    EXPECT_EQ(result.diagnostics[0].message, "unknown key '" + key + "' in layers[0]");
  }
  const ParseResult misspelt = parse_text(network("layers = [{ type = \"relu\", x = 1 }]\n"));
  ASSERT_EQ(misspelt.diagnostics.size(), 1U);
  EXPECT_EQ(misspelt.diagnostics[0].note, "relu takes: type, name, inputs");
  const config::ModelSchema schema = config::model_schema(cnn::kParams, expand_in_c);
  for (const std::string& text : {config::json_schema({{"cnn", schema}}), config::starter_toml("cnn", schema)}) {
    EXPECT_NE(text.find("channel_shuffle"), std::string::npos);
    EXPECT_EQ(text.find("repetition"), std::string::npos);
  }
}

TEST(Expand, TheResolvedFileGivesTheSamePlan) {
  const Config c = good(network("layers = [{ type = \"block\", block = \"residual\", repeat = 2 }]\n" + kResidual));
  const Config again = good(config::to_toml(c), config::Origin::run);
  EXPECT_EQ(again.tagged.at("layers"), c.tagged.at("layers"));
}

TEST(Expand, WrongNamesAndInputsAreNamed) {
  expect_error("layers = [{ type = \"relu\", name = \"main\" }, { type = \"add\", inputs = [\"mian\", \"main\"] }]\n",
               "layers[1] reads 'mian', but no layer has this name", "did you mean 'main'?");
  expect_error("layers = [{ type = \"add\", inputs = [\"b\"] }, { type = \"relu\", name = \"b\" }]\n",
               "layers[0] reads 'b', which comes later", "a layer can read only earlier layers");
  expect_error("layers = [{ type = \"relu\", name = \"a\" }, { type = \"relu\", name = \"a\" }]\n",
               "two layers are called 'a'", "choose another name");
  expect_error("layers = [{ type = \"relu\", name = \"1\" }, { type = \"relu\" }]\n", "two layers are called '1'",
               "choose another name");
  expect_error("layers = [{ type = \"relu\", name = \"a b\" }]\n",
               "the name 'a b' of layers[0] may contain only letters, digits, '.', '_' and '-'");
  expect_error("layers = [{ type = \"relu\", name = \"input\" }]\n",
               "layers[0] cannot be called 'input', which has a meaning in 'inputs'", "choose another name");
  expect_error("layers = [{ type = \"relu\" }, { type = \"relu\", inputs = \"input\" }]\n",
               "no layer reads the output of layers[0]", "remove the layer, or name it in the 'inputs' of another");
}

TEST(Expand, WrongBlocksAreNamed) {
  const std::string use = "layers = [{ type = \"block\", block = \"residual\"";
  expect_error(use + " }]\n", "there is no block 'residual'");
  expect_error("layers = [{ type = \"block\" }]\n" + kResidual, "layers[0] needs 'block', the name of a block");
  expect_error("layers = [{ type = \"block\", block = \"residul\" }]\n" + kResidual, "there is no block 'residul'",
               "did you mean 'residual'?");
  expect_error(use + ", chanels = 3 }]\n" + kResidual, "unknown key 'chanels' in layers[0]",
               "did you mean 'channels'?");
  expect_error(use + ", repeat = 0 }]\n" + kResidual, "repeat of layers[0] must be a whole number from 1 to 1000");
  expect_error(use + ", repeat = \"$n\" }]\n" + kResidual, "repeat of layers[0] must be a whole number from 1 to 1000",
               "search it among whole numbers: a list, or { int = [1, 4] }");
  expect_error(use + ", repeat = 3, channels = [1, 2] }]\n" + kResidual, "'channels' lists 2 values for 3 repetitions",
               "give one value, or one for each repetition");
  expect_error(
      "layers = [{ type = \"block\", block = \"a\" }]\n[model_options.blocks.a]\n"
      "layers = [{ type = \"block\", block = \"a\" }]\n",
      "the block 'a' contains itself", "remove one of the two");
  expect_error(
      "layers = [{ type = \"block\", block = \"a\", repeat = 2 }, { type = \"block\", block = \"a\" }]\n"
      "[model_options.blocks.a]\nlayers = [{ type = \"relu\", inputs = \"x\" }]\n",
      "blocks.a.layers[0] reads 'x', but no layer has this name");
  expect_error("layers = [{ type = \"block\", block = \"a\" }]\n[model_options.blocks.a]\nlayers = []\n",
               "the block 'a' needs a list of layers", "write [[model_options.blocks.a.layers]]");
  expect_error(
      "layers = [{ type = \"relu\", name = \"x\" }, { type = \"block\", block = \"residual\", "
      "inputs = [\"x\", \"input\"] }]\n" +
          kResidual,
      "the block 'residual' reads one input", "join the layers with add, multiply or concat before it");
}

}  // namespace
}  // namespace mokume::expand_test
