// Tests to_toml(), canonical_json(), json_schema() and make_plan().
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "base/files.hpp"
#include "config/support.hpp"
#include "sdk/error.hpp"
#include "sdk/philox.hpp"
#include "support/paths.hpp"

namespace mokume::config {
namespace {

using nlohmann::json;
using search::Space;
using search::Value;

void expect_round_trip(const Config& config) {
  const std::string text = to_toml(config);
  const ParseResult result = parse_text(text);
  ASSERT_TRUE(result.config) << text << all_messages(result, text);
  EXPECT_TRUE(same(*result.config, config)) << text << to_toml(*result.config);
  EXPECT_EQ(canonical_json(*result.config), canonical_json(config));
}

TEST(Resolved, ReadsBackAsWritten) {
  EXPECT_EQ(to_toml(good(grid("C = { linear = [1, 3], n = 3 }\n[model_options]\nkernel = \"linear\"\n"))), R"(name = "a"
model = "svc"
seed = 0

[data]
source = "digits"
standardize = "none"

[validation]
folds = 5
shuffle = true
stratified = true
repeats = 1
ordered = false
calibrate = false

[search]
method = "grid"
rungs = 1
factor = 4

[search.params]
C = [1.0, 2.0, 3.0]

[model_options]
coef0 = 0.0
degree = 3
gamma = 0.001
kernel = "linear"
max_iterations = 10000000
multiclass = "ovr"
tol = 0.001

[devices]
use = "all"
isolation = "thread"
team = false
split = "auto"
sums = "mpi"
precision = "fp32"
numerics = "fast"

[output]
directory = "runs"
)");
}

TEST(Resolved, ExtremeValuesRoundTrip) {
  Config c = good(minimal());
  c.seed_text = "00169514335042358758700408908237337905507";
  c.seed = good("seed = \"" + c.seed_text + "\"\n" + minimal()).seed;
  c.data.source = "csv";
  c.data.path = "a \"b\" \\ \t \xC3\xA4 'c' #.csv";
  c.data.categorical = {"x, y", "[z]"};
  c.data.missing = data::Missing::drop;
  c.data.limit = std::numeric_limits<int64_t>::max();
  c.data.standardize = {data::Standardize::Kind::fixed, -1e-300, 123456789012345680000.0};
  c.folds = 0;
  c.memory_bytes = std::numeric_limits<int64_t>::max();
  c.isolation = "process";
  c.team = true;
  c.precision = "bf16";
  c.devices = "pocl,\"x\"";
  c.options["coef0"] = -0.0;
  c.options["max_iterations"] = int64_t{999'999'999'999};
  expect_round_trip(c);
  c.seed_text = "18446744073709551615";
  c.seed = UINT64_MAX;
  expect_round_trip(c);
  c.seed_text = "9223372036854775807";
  c.seed = 9223372036854775807U;
  expect_round_trip(c);
}

// Tries a few choices for each part of the file. Every pair of choices occurs.
TEST(Resolved, ManyConfigsRoundTrip) {
  const std::string heads[] = {"", "seed = 7\n", "seed = \"0012\"\n", "seed = \"99999999999999999999999\"\n"};
  const std::string datas[] = {
      "source = \"digits\"\nlimit = 10\n", "source = \"mnist\"\nstandardize = \"features\"\n",
      "source = \"libsvm\"\npath = \"x\"\ntest = \"y\"\nstandardize = { mean = 127.5, scale = 73.61 }\n",
      "source = \"csv\"\npath = \"x\"\ntarget = \"t\"\nmissing = \"mean\"\ncategorical = [\"a\", \"b\"]\n"};
  const std::string searches[] = {
      "[validation]\nfolds = 0\n",
      "[validation]\nshare = 0.25\nstratified = true\n",
      "[search]\nmethod = \"none\"\n[validation]\nshuffle = true\nstratified = true\n",
      "[search]\nmethod = \"grid\"\n[search.params]\ngamma = { log10 = [-6, -2], n = 24 }\nC = [1, 2e10, 1e-7]\n",
      "[search]\nmethod = \"grid\"\n[search.params]\nkernel = \"linear\"\ndegree = { log2 = [0, 6], n = 7 }\n"
      "coef0 = { linear = [-1, 1], n = 7 }\n",
      "[search]\nmethod = \"random\"\ncandidates = 12\n[search.params]\nkernel = [\"rbf\", \"sigmoid\"]\n"
      "coef0 = { uniform = [0, 2], step = 0.5, when = { kernel = \"sigmoid\" }, otherwise = 1 }\n"
      "degree = { values = [1, 2], when = { kernel = [\"rbf\", \"sigmoid\"] } }\n",
      "[search]\nmethod = \"random\"\ncandidates = 12\n[search.params]\nC = { log10_uniform = [-5, -1] }\n"
      "coef0 = { uniform = [-0.5, 100] }\ndegree = { int = [0, 64] }\nkernel = [\"rbf\", \"sigmoid\"]\n"};
  const std::string tails[] = {"", "[devices]\nuse = [\"opencl:0\", \"host\"]\nmemory = \"1.5 GB\"\n",
                               "[plugins]\ndirectories = [\"/a\", \"/b c\"]\n[output]\ndirectory = \"/tmp/x\"\n",
                               "[model_options]\ntol = 0.1\nmax_iterations = 5\nmulticlass = \"ovo\"\n"};
  for (size_t h = 0; h < std::size(heads); ++h)
    for (size_t d = 0; d < std::size(datas); ++d)
      for (size_t s = 0; s < std::size(searches); ++s)
        expect_round_trip(good(heads[h] + "name = \"n\"\nmodel = \"svc\"\n[data]\n" + datas[d] + searches[s] +
                               tails[(h + d + s) % std::size(tails)]));
}

TEST(Resolved, OtherModelsRoundTrip) {
  expect_round_trip(
      good(experiment("other", search_of("grid", "bias = [true, false]\nlabel = [\"a b\", \"\\\"\", \"\"]\n") +
                                   "[model_options]\nrate = -1\ndepth = -5\n")));
}

TEST(Canonical, IsSortedAndOmitsSettingsThatCannotChangeAFit) {
  EXPECT_EQ(
      canonical_json(good("seed = \"007\"\n" + grid("kernel = [\"rbf\"]\nC = [1, 0.1]\n"))),
      R"({"bagging":{"bootstraps":0},"data":{"categorical":[],"limit":0,"missing":"error","path":"","source":"digits","standardize":"none",)"
      R"("target":"","test":""},"model":"svc","model_options":{"coef0":0.0,"degree":3,"gamma":0.001,)"
      R"("max_iterations":10000000,"multiclass":"ovr","tol":0.001},"random":{"compat":""},"search":{"candidates":0,"method":"grid",)"
      R"("params":[{"name":"kernel","values":["rbf"]},{"name":"C","values":[1.0,0.1]}],"select":""},"seed":"7",)"
      R"("validation":{"folds":5,"shuffle":true,"stratified":true}})");
}

// ---- the plan

const std::string kData(64, 'd');

TEST(MakePlan, KeepsItsHash) {
  const Config c = good(grid("C = [0.5, 1, 2]\nkernel = [\"rbf\", \"linear\"]\n") +
                        "[validation]\nshuffle = false\nstratified = false\n");
  const search::Plan plan = make_plan(c, kData);
  EXPECT_EQ(plan.hash, "28737739696281ddb85a57645f7fd4515c1b182cd3a83ebd36a298bbc225b891");
  EXPECT_EQ(plan.params, (std::vector<std::string>{"C", "kernel"}));
  ASSERT_EQ(plan.candidates.size(), 6U);
  EXPECT_TRUE(plan.candidates[3] == (std::vector<Value>{1.0, std::string("linear")}));
  EXPECT_EQ(plan.folds, 5U);
  EXPECT_EQ(plan.bootstraps, 1U);
  EXPECT_EQ(plan.n_fits(), 30U);
}

TEST(MakePlan, WithoutASearchThereIsOneCandidate) {
  const search::Plan plan = make_plan(good(minimal()), kData);
  ASSERT_EQ(plan.candidates.size(), 1U);
  EXPECT_TRUE(plan.candidates[0].empty());
  EXPECT_EQ(plan.n_fits(), 5U);
}

TEST(MakePlan, RandomUsesTheSeed) {
  const std::string text = random_search("C = { log10_uniform = [-3, 3] }\ndegree = { int = [2, 10] }\n");
  const search::Plan plan = make_plan(good("seed = 5\n" + text), kData);
  ASSERT_EQ(plan.candidates.size(), 7U);
  EXPECT_TRUE(plan.candidates == search::random_candidates(good(text).spaces, 7, 5));
  EXPECT_FALSE(plan.candidates == make_plan(good("seed = 6\n" + text), kData).candidates);
}

TEST(MakePlan, AStepIsPartOfThePlan) {
  const std::string text = random_search("degree = { int = [2, 10] }\n");
  const Config stepped = good(text, {"search.params.degree={ int = [2, 10], step = 4 }"});
  EXPECT_NE(make_plan(stepped, kData).hash, make_plan(good(text), kData).hash);
  const std::string resolved = to_toml(stepped);
  EXPECT_NE(resolved.find("step = 4"), std::string::npos) << resolved;
  EXPECT_EQ(make_plan(good(resolved), kData).hash, make_plan(stepped, kData).hash);
}

TEST(MakePlan, TheHashDoesNotDependOnDevicesPathsOrSpelling) {
  const std::string text = grid("C = [1, 2]\n");
  const std::string hash = make_plan(good(text), kData).hash;
  for (const char* set :
       {"devices.use=host", "devices.memory=1GiB", "devices.isolation=process", "output.directory=elsewhere",
        "name=other", "plugins.directories=[\"/opt/x\"]", "seed=\"000\"", "search.params.C=[1.0, 2e0]",
        "model_options.kernel=rbf", "search.params.C={ linear = [1, 2], n = 2 }"})
    EXPECT_EQ(make_plan(good(text, {set}), kData).hash, hash) << set;
}

TEST(MakePlan, TheHashDependsOnEverythingElse) {
  const std::string text = grid("C = [1, 2]\n");
  std::set<std::string> hashes = {make_plan(good(text), kData).hash, make_plan(good(text), std::string(64, 'e')).hash};
  size_t expected = 2;
  const std::vector<std::string> variants[] = {
      {"seed=1"},
      {"seed=18446744073709551616"},
      {"model=other", "search.params={rate=[0.5]}"},
      {"data.limit=5"},
      {"data.source=mnist"},
      {"data.standardize=features"},
      {"data.standardize={mean=1,scale=2}"},
      {"data.standardize={mean=1,scale=3}"},
      {"data.standardize={mean=2,scale=2}"},
      {"data.source=libsvm", "data.path=x"},
      {"data.source=libsvm", "data.path=y"},
      {"data.source=libsvm", "data.path=x", "data.test=z"},
      {"data.source=csv", "data.path=x"},
      {"data.source=csv", "data.path=x", "data.target=t"},
      {"data.source=csv", "data.path=x", "data.missing=drop"},
      {"data.source=csv", "data.path=x", "data.categorical=[\"t\"]"},
      {"data.source=npy", "data.path=x", "data.labels=y"},
      {"data.source=npy", "data.path=x", "data.labels=z"},
      {"data.source=npy", "data.path=x", "data.labels=y", "data.test=t"},
      {"data.source=npy", "data.path=x", "data.labels=y", "data.test=t", "data.test_labels=u"},
      {"data.source=npy", "data.path=x", "data.labels=y", "data.layout=nhwc"},
      {"data.source=npy", "data.path=x", "data.labels=y", "data.layout=nchw"},
      {"validation.file=folds.txt"},
      {"data.source=images", "data.path=x"},
      {"data.source=images", "data.path=x", "data.size=8"},
      {"data.source=images", "data.path=x", "data.channels=1"},
      {"validation.folds=4"},
      {"validation.shuffle=false"},
      {"validation.stratified=false"},
      {"search.params.C=[2, 1]"},
      {"search.params.C=[1, 3]"},
      {"search.params.C=[1, 2.0000000000000004]"},
      {"search.params.gamma=0.001"},
      {"search.params.kernel=rbf"},
      {"search.method=random", "search.candidates=2"},
      {"search.method=random", "search.candidates=3"},
      {"search.method=random", "search.candidates=2", "search.params.C={uniform=[1,2]}"},
      {"search.method=random", "search.candidates=2", "search.params.C={uniform=[1,3]}"},
      {"search.method=random", "search.candidates=2", "search.params.C={log10_uniform=[1,2]}"},
      {"search.method=random", "search.candidates=2", "search.params={degree={int=[1,2]}}"},
      {"model_options.gamma=0.002"},
      {"model_options.kernel=linear"},
      {"model_options.max_iterations=7"}};
  for (const auto& sets : variants) {
    hashes.insert(make_plan(good(text, sets), kData).hash);
    EXPECT_EQ(hashes.size(), ++expected) << sets.front() << " changes nothing";
  }
  const std::string two = grid("C = [1, 2]\ngamma = [1, 2]\n");
  const std::string swapped = grid("gamma = [1, 2]\nC = [1, 2]\n");
  EXPECT_NE(make_plan(good(two), kData).hash, make_plan(good(swapped), kData).hash)
      << "candidates come in another order";
}

// The program still resumes runs that are older than the parameter.
TEST(MakePlan, AYoungerParameterWithItsDefaultChangesNoHash) {
  std::vector<mk_param> younger(kSvcParams.begin(), kSvcParams.end());
  younger.push_back(
      {"unit", MK_PARAM_TEXT, MK_PARAM_YOUNGER, 0, 0, "\"one\"", "one|two", "a younger one", nullptr, 0, 0});
  const ModelSchema schema = model_schema(younger);
  const auto hash = [&](const std::string& more) {
    const ParseResult result =
        parse(grid("C = [1, 2]\n") + more, "svm.toml", {},
              [&](const std::string&, const std::vector<std::string>&, std::string&) { return schema; });
    return result.config ? make_plan(*result.config, kData).hash : all_messages(result);
  };
  EXPECT_EQ(hash(""), make_plan(good(grid("C = [1, 2]\n")), kData).hash);
  EXPECT_EQ(hash("[model_options]\nunit = \"one\"\n"), hash("")) << "as the resolved file writes it";
  EXPECT_NE(hash("[model_options]\nunit = \"two\"\n"), hash(""));
  EXPECT_NE(hash("unit = [\"one\", \"two\"]\n"), hash(""));
}

// The default of a younger parameter may change, but older runs keep their behaviour.
TEST(MakePlan, AYoungerParameterKeepsTheBehaviourOfOlderRuns) {
  std::vector<mk_param> younger(kSvcParams.begin(), kSvcParams.end());
  younger.push_back(
      {"unit", MK_PARAM_TEXT, MK_PARAM_YOUNGER, 0, 0, "\"two\"", "one|two", "a younger one", nullptr, 0, 1});
  const ModelSchema schema = model_schema(younger);
  const auto read = [&](const std::string& more, Origin origin) {
    return parse(
        grid("C = [1, 2]\n") + more, "svm.toml", {},
        [&](const std::string&, const std::vector<std::string>&, std::string&) { return schema; }, origin);
  };
  const auto hash = [&](const std::string& more, Origin origin) {
    return make_plan(read(more, origin).config.value(), kData).hash;
  };
  const std::string one = "[model_options]\nunit = \"one\"\n", two = "[model_options]\nunit = \"two\"\n";
  const std::string old = make_plan(good(grid("C = [1, 2]\n")), kData).hash;
  EXPECT_EQ(hash("", Origin::run), old);
  EXPECT_EQ(hash(one, Origin::experiment), old);
  EXPECT_EQ(hash(one, Origin::run), old);
  EXPECT_NE(hash("", Origin::experiment), old);
  EXPECT_EQ(hash("", Origin::experiment), hash(two, Origin::experiment));
  EXPECT_EQ(hash(two, Origin::run), hash(two, Origin::experiment));
  EXPECT_EQ(read("", Origin::run).config->options.at("unit"), Value(std::string("one")));
  EXPECT_EQ(read("", Origin::experiment).config->options.at("unit"), Value(std::string("two")));
}

TEST(MakePlan, OnlyARunMayLackFitsOnAllRows) {
  Config config = good(grid("C = [1, 2]\n"));
  const search::Plan whole = make_plan(config, kData);
  EXPECT_EQ(to_toml(config).find("whole"), std::string::npos);
  config.whole = false;
  const ParseResult read = parse(to_toml(config), "config.resolved.toml", {}, lookup, Origin::run);
  ASSERT_TRUE(read.config.has_value()) << all_messages(read);
  const search::Plan parts = make_plan(*read.config, kData);
  EXPECT_NE(parts.hash, whole.hash);
  EXPECT_EQ(parts.factor, 4U);
  EXPECT_EQ(parts.n_slots(), whole.n_fits());
  EXPECT_EQ(whole.n_slots(), whole.n_fits() + 1);
}

TEST(MakePlan, AYoungerParameterNeedsNoDefault) {
  std::vector<mk_param> younger(kSvcParams.begin(), kSvcParams.end());
  younger.push_back({"unit", MK_PARAM_TEXT, MK_PARAM_YOUNGER, 0, 0, "", "one|two", "a younger one", nullptr, 0, 0});
  const ModelSchema schema = model_schema(younger);
  const ParseResult result =
      parse(grid("C = [1, 2]\n") + "[model_options]\nunit = \"one\"\n", "svm.toml", {},
            [&](const std::string&, const std::vector<std::string>&, std::string&) { return schema; });
  EXPECT_TRUE(result.config.has_value()) << all_messages(result);
}

TEST(MakePlan, DependsOnTheContentOfFiles) {
  Config config = good(grid("C = [1, 2]\n"));
  const std::string without = make_plan(config, kData).hash;
  config.file_sums["a.safetensors"] = std::string(64, '1');
  const std::string one = make_plan(config, kData).hash;
  config.file_sums["a.safetensors"] = std::string(64, '2');
  EXPECT_EQ((std::set<std::string>{without, one, make_plan(config, kData).hash}.size()), 3U);
}

// Both the experiment and the resolved file may write a list of names as a list or as one text.
TEST(ModelOptions, AListIsKeptAsOneText) {
  std::vector<mk_param> params(kSvcParams.begin(), kSvcParams.end());
  params.push_back({"keep", MK_PARAM_TEXT, MK_PARAM_YOUNGER | MK_PARAM_LIST, 0, 0, "[]", "", "names", nullptr, 0, 0});
  const ModelSchema schema = model_schema(params);
  const auto read = [&](const std::string& text) {
    return parse(text, "svm.toml", {},
                 [&](const std::string&, const std::vector<std::string>&, std::string&) { return schema; });
  };
  const std::string start = grid("C = [1, 2]\n");
  const auto kept = [&](const std::string& more) {
    const ParseResult result = read(start + more);
    if (!result.config) return all_messages(result);
    const ParseResult again = read(to_toml(*result.config));
    EXPECT_TRUE(again.config) << all_messages(again);
    const std::string hash = again.config ? make_plan(*again.config, kData).hash : "";
    EXPECT_EQ(hash, make_plan(*result.config, kData).hash);
    return std::get<std::string>(result.config->options.at("keep"));
  };
  EXPECT_EQ(kept(""), "");
  EXPECT_EQ(kept("[model_options]\nkeep = []\n"), "");
  EXPECT_EQ(kept("[model_options]\nkeep = [\"a\", \"b.c\"]\n"), "a,b.c");
  EXPECT_EQ(kept("[model_options]\nkeep = \"a\"\n"), "a");
  EXPECT_EQ(make_plan(read(start + "[model_options]\nkeep = []\n").config.value(), kData).hash,
            make_plan(good(start), kData).hash)
      << "the default of a younger parameter";
  EXPECT_NE(kept("[model_options]\nkeep = [1]\n").find("keep must be a string, not an integer"), std::string::npos)
      << kept("[model_options]\nkeep = [1]\n");
  EXPECT_NE(kept("[model_options]\nkernel = [\"rbf\"]\n").find("kernel must be one value here"), std::string::npos);
}

TEST(MakePlan, RefusesTooManyCandidatesAndFits) {
  const auto fails = [](const Config& c, const char* word) {
    try {
      make_plan(c, kData);
      ADD_FAILURE() << "a plan was made";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), MK_INVALID_ARGUMENT);
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  };
  fails(good(grid("C = { log10 = [1, 2], n = 10000 }\ngamma = { log10 = [1, 2], n = 1001 }\n")), "10 million");
  fails(good(random_search("C = { uniform = [1, 2] }\n"), {"search.candidates=5000000", "validation.folds=1000"}),
        "2^32");
  Config c = good(grid("C = 1\n"));
  c.spaces.clear();
  fails(c, "nothing to search");
}

// ---- the files in configs/

Config shipped(const std::string& name) {
  return good(base::read_file(test::source_directory() + "/configs/" + name), {});
}

TEST(Shipped, ConfigsAreValid) {
  for (const char* name : {"quickstart.toml", "svc-grid-mnist.toml", "svc-kernels-digits.toml"}) {
    const Config c = shipped(name);
    EXPECT_EQ(c.name + ".toml", name);
    expect_round_trip(c);
  }
}

TEST(Shipped, TheMnistGridIsThePublishedOne) {
  const Config c = shipped("svc-grid-mnist.toml");
  const search::Plan plan = make_plan(c, kData);
  EXPECT_EQ(plan.params, (std::vector<std::string>{"C", "gamma"}));
  EXPECT_EQ(plan.n_fits(), 24U * 24U * 5U);
  EXPECT_EQ(std::get<double>(plan.candidates.front()[0]), 1e-3);
  EXPECT_EQ(std::get<double>(plan.candidates.front()[1]), 1e-6);
  EXPECT_EQ(std::get<double>(plan.candidates.back()[0]), 1e6);
  EXPECT_EQ(std::get<double>(plan.candidates.back()[1]), 1e-2);
  EXPECT_EQ(c.data.source, "mnist");
  EXPECT_EQ(c.data.limit, 0);
  EXPECT_EQ(c.data.standardize.kind, data::Standardize::Kind::fixed);
  EXPECT_EQ(c.data.standardize.mean, 127.5);
  EXPECT_EQ(c.data.standardize.scale, 73.61);
  EXPECT_FALSE(c.shuffle);
  EXPECT_FALSE(c.stratified);
  EXPECT_TRUE(c.options.at("multiclass") == Value(std::string("ovr")));
  EXPECT_TRUE(c.options.at("kernel") == Value(std::string("rbf")));
}

// ---- the schema

TEST(Schema, DescribesEveryKeyOfTheTable) {
  const json schema = json::parse(json_schema({{"svc", kSvc}, {"other", kOther}}));
  EXPECT_EQ(schema["$schema"], "http://json-schema.org/draft-04/schema#");
  EXPECT_EQ(schema["additionalProperties"], false);
  for (const Parameter& key : keys()) {
    const json* at = &schema;
    if (!key.table.empty()) at = &at->at("properties").at(key.table);
    if (key.has(kWritten)) {
      EXPECT_FALSE(at->at("properties").contains(key.name)) << "nobody is to write " << key.name;
      continue;
    }
    ASSERT_TRUE(at->at("properties").contains(key.name)) << key.name;
    EXPECT_EQ(at->at("properties").at(key.name).at("description"), key.doc);
    EXPECT_EQ(at->at("additionalProperties"), false);
  }
  EXPECT_EQ(schema["required"], (json{"name", "model", "data"}));
  EXPECT_EQ(schema["properties"]["model"]["enum"], (json{"other", "svc"}));
  EXPECT_EQ(schema["properties"]["data"]["properties"]["source"]["enum"][0], "digits");
}

TEST(Schema, DescribesTheParametersOfEachModel) {
  const json schema = json::parse(json_schema({{"svc", kSvc}, {"other", kOther}}));
  ASSERT_EQ(schema["anyOf"].size(), 2U);
  const json& svc = schema["anyOf"][1]["properties"];
  EXPECT_EQ(svc["model"]["enum"], json{"svc"});
  const json& options = svc["model_options"]["properties"];
  ASSERT_EQ(options.size(), kSvcParams.size());
  EXPECT_EQ(options["C"]["anyOf"][0]["minimum"], 0);
  EXPECT_EQ(options["C"]["anyOf"][0]["exclusiveMinimum"], true);
  EXPECT_EQ(options["C"]["description"], "penalty of a margin violation; above 0 and at most 1e+12; default 1.0");
  EXPECT_EQ(options["degree"]["anyOf"][0]["type"], "integer");
  EXPECT_EQ(options["kernel"]["anyOf"][0]["enum"], (json{"linear", "polynomial", "rbf", "sigmoid"}));
  EXPECT_EQ(svc["model_options"]["additionalProperties"], false);

  const auto tables = [&](const char* name) {
    std::set<std::string> names;
    for (const json& table : svc["search"]["properties"]["params"]["properties"][name]["anyOf"])
      if (table.contains("required")) names.insert(table["required"][0].get<std::string>());
    return names;
  };
  EXPECT_EQ(tables("C"), (std::set<std::string>{"log", "log10", "log2", "linear", "log_uniform", "log10_uniform",
                                                "uniform", "values"}));
  EXPECT_EQ(tables("degree"), (std::set<std::string>{"log", "log10", "log2", "linear", "int", "int_log", "values"}));
  EXPECT_EQ(tables("kernel"), std::set<std::string>{"values"});
}

TEST(Schema, IsValidWithoutModels) {
  const json schema = json::parse(json_schema({}));
  EXPECT_FALSE(schema.contains("anyOf"));
  EXPECT_TRUE(schema["properties"]["model"].contains("pattern"));
}

}  // namespace
}  // namespace mokume::config
