// Tests that every key of a good experiment file reaches the Config.
#include <cmath>
#include <string>

#include "base/files.hpp"
#include "config/space.hpp"
#include "config/support.hpp"
#include "sdk/error.hpp"

namespace mokume::config {
namespace {

using search::Space;
using search::Value;

std::vector<double> reals(const Space& space) {
  std::vector<double> result;
  for (const Value& value : space.values) result.push_back(std::get<double>(value));
  return result;
}

TEST(Parse, AMinimalFileHasDefaults) {
  const Config c = good(minimal());
  EXPECT_EQ(c.name, "a");
  EXPECT_EQ(c.model, "svc");
  EXPECT_EQ(c.seed_text, "0");
  EXPECT_EQ(c.seed, 0U);
  EXPECT_EQ(c.folds, 5U);
  EXPECT_TRUE(c.shuffle);
  EXPECT_TRUE(c.stratified);
  EXPECT_EQ(c.method, "none");
  EXPECT_TRUE(c.spaces.empty());
  EXPECT_EQ(c.devices, "all");
  EXPECT_EQ(c.output, "runs");
  EXPECT_EQ(c.memory_bytes, 0U);
  EXPECT_EQ(c.data.standardize.kind, data::Standardize::Kind::none);
  ASSERT_EQ(c.options.size(), 8U);
  EXPECT_TRUE(c.options.at("C") == Value(1.0));
  EXPECT_TRUE(c.options.at("tol") == Value(1e-3));
  EXPECT_TRUE(c.options.at("degree") == Value(int64_t{3}));
  EXPECT_TRUE(c.options.at("kernel") == Value(std::string("rbf")));
  EXPECT_TRUE(c.options.at("max_iterations") == Value(int64_t{10'000'000}));
}

TEST(Parse, EveryKeyReachesTheConfig) {
  const Config c = good(golden("full.toml"));
  EXPECT_EQ(c.name, "full.name_1-2");
  EXPECT_EQ(c.seed_text, "000123456789012345678901234567890");
  EXPECT_EQ(c.data.source, "csv");
  EXPECT_EQ(c.data.path, "a b/\xC3\xA9 \"q\".csv");
  EXPECT_EQ(c.data.test, "t.csv");
  EXPECT_EQ(c.data.target, "the label");
  EXPECT_EQ(c.data.categorical, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(c.data.missing, data::Missing::mean);
  EXPECT_EQ(c.data.limit, 9);
  EXPECT_EQ(c.data.standardize.kind, data::Standardize::Kind::fixed);
  EXPECT_EQ(c.data.standardize.mean, 127.5);
  EXPECT_EQ(c.data.standardize.scale, 3);
  EXPECT_EQ(c.folds, 3U);
  EXPECT_TRUE(c.shuffle);
  EXPECT_TRUE(c.stratified);
  EXPECT_EQ(c.bootstraps, 4U);
  EXPECT_EQ(c.method, "random");
  EXPECT_EQ(c.n_candidates, 12U);
  EXPECT_EQ(c.select, "loss");
  ASSERT_EQ(c.spaces.size(), 5U);
  EXPECT_EQ(c.spaces[0].name, "gamma");
  EXPECT_EQ(c.spaces[0].kind, Space::Kind::log10_uniform);
  EXPECT_EQ(c.spaces[0].low, -5);
  EXPECT_EQ(c.spaces[0].high, -1);
  EXPECT_EQ(c.spaces[1].kind, Space::Kind::real_uniform);
  EXPECT_EQ(c.spaces[1].low, 0.5);
  EXPECT_EQ(c.spaces[2].kind, Space::Kind::integer_uniform);
  EXPECT_EQ(c.spaces[2].high, 10);
  EXPECT_EQ(c.spaces[3].kind, Space::Kind::list);
  EXPECT_TRUE(c.spaces[3].values == (std::vector<Value>{std::string("rbf"), std::string("linear")}));
  EXPECT_EQ(c.options.size(), 3U) << "searched parameters are no options";
  EXPECT_TRUE(c.options.at("coef0") == Value(-1.0)) << "an integer is a real number where one is wanted";
  EXPECT_TRUE(c.options.at("multiclass") == Value(std::string("ovo")));
  EXPECT_EQ(c.devices, "opencl:gpu,host");
  EXPECT_EQ(c.memory_bytes, uint64_t{4} << 30);
  EXPECT_EQ(c.isolation, "process");
  EXPECT_TRUE(c.team);
  EXPECT_EQ(c.repeat_splits, "runs/a");
  EXPECT_EQ(c.plugin_directories, (std::vector<std::string>{"/opt/p", "/q"}));
  EXPECT_EQ(c.output, "out/runs");
}

// log and log_uniform have values as their ends, and the other names have exponents.
TEST(Parse, LogarithmsHaveValuesAsTheirEnds) {
  const Config list = good(grid("C = { log = [1e-4, 0.3], n = 3 }\ngamma = { log = [0.001, 10], n = 5 }\n"));
  ASSERT_EQ(list.spaces.size(), 2U);
  const auto expect_values = [](const Space& space, const std::vector<double>& expected) {
    ASSERT_EQ(space.values.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_DOUBLE_EQ(std::get<double>(space.values[i]), expected[i]) << space.name << " " << i;
  };
  expect_values(list.spaces[0], {1e-4, std::sqrt(3e-5), 0.3});
  expect_values(list.spaces[1], {0.001, 0.01, 0.1, 1, 10});
  const Config drawn = good(random_search("C = { log_uniform = [1e-4, 0.1] }\n"));
  const Config same = good(random_search("C = { log10_uniform = [-4, -1] }\n"));
  EXPECT_EQ(drawn.spaces, same.spaces);
  EXPECT_EQ(doubt_about(drawn.spaces[0]), "");
  const Config doubtful = good(random_search("C = { log10_uniform = [1e-4, 0.1] }\n"));
  EXPECT_EQ(doubt_about(doubtful.spaces[0]),
            "'log10_uniform' of C draws from 10^1e-04 = 1.00023 to 10^0.1 = 1.25893; for values from 1e-04 to 0.1, "
            "write log_uniform = [1e-04, 0.1]");
}

// The exponents are those of numpy.linspace(-3, 6, 24) and numpy.linspace(-6, -2, 24), and the values are 10**x.
TEST(Parse, Log10ListsMatchNumpy) {
  const Config c = good(grid("C = { log10 = [-3, 6], n = 24 }\ngamma = { log10 = [-6, -2], n = 24 }\n"));
  ASSERT_EQ(c.spaces.size(), 2U);
  const std::vector<double> values = reals(c.spaces[0]);
  ASSERT_EQ(values.size(), 24U);
  EXPECT_EQ(values.front(), 0.001);
  EXPECT_EQ(values.back(), 1e6);
  for (int i = 0; i < 23; ++i) EXPECT_EQ(values[static_cast<size_t>(i)], std::pow(10.0, -3 + i * (9.0 / 23)));
  EXPECT_NEAR(std::log10(reals(c.spaces[1])[19]), -2.695652, 1e-6) << "the row that was published";
  EXPECT_EQ(reals(c.spaces[1]).back(), 0.01);
}

TEST(Parse, OtherListsKeepTheOrderOfTheFile) {
  const Config c =
      good(grid("gamma = { linear = [0.25, 1], n = 4 }\ndegree = { linear = [1, 5], n = 3 }\n"
                "C = { log2 = [-1, 2], n = 4 }\nkernel = \"linear\"\ncoef0 = [1, -0.5]\n"));
  ASSERT_EQ(c.spaces.size(), 5U);
  EXPECT_EQ(c.spaces[0].name, "gamma");
  EXPECT_EQ(reals(c.spaces[0]), (std::vector<double>{0.25, 0.5, 0.75, 1}));
  EXPECT_TRUE(c.spaces[1].values == (std::vector<Value>{int64_t{1}, int64_t{3}, int64_t{5}}));
  EXPECT_EQ(reals(c.spaces[2]), (std::vector<double>{0.5, 1, 2, 4}));
  EXPECT_TRUE(c.spaces[3].values == (std::vector<Value>{std::string("linear")})) << "one value is a list of one";
  EXPECT_EQ(reals(c.spaces[4]), (std::vector<double>{1, -0.5}));
}

TEST(Parse, SeedsMayHaveAnyLength) {
  EXPECT_EQ(good("seed = 9223372036854775807\n" + minimal()).seed, uint64_t{9223372036854775807});
  EXPECT_EQ(good("seed = \"18446744073709551615\"\n" + minimal()).seed, UINT64_MAX);
  const std::string longer = "169514335042358758700408908237337905507";
  const uint64_t hashed = std::stoull(base::sha256(longer).substr(0, 16), nullptr, 16);
  EXPECT_EQ(good("seed = \"" + longer + "\"\n" + minimal()).seed, hashed);
  EXPECT_EQ(good("seed = \"000" + longer + "\"\n" + minimal()).seed, hashed);
  EXPECT_EQ(good("seed = \"000" + longer + "\"\n" + minimal()).seed_text, "000" + longer);
  EXPECT_EQ(good("seed = \"18446744073709551616\"\n" + minimal()).seed,
            std::stoull(base::sha256("18446744073709551616").substr(0, 16), nullptr, 16));
  EXPECT_EQ(good("seed = \"007\"\n" + minimal()).seed, 7U);
}

TEST(Parse, FoldsMayBeZeroWithoutASearch) {
  EXPECT_EQ(good(minimal("[validation]\nfolds = 0\n")).folds, 0U);
  EXPECT_EQ(good(minimal("[validation]\nfolds = 1000\n[search]\nmethod = \"none\"\n")).folds, 1000U);
}

TEST(Parse, AModelMayHaveEveryKindOfParameter) {
  const std::string text = experiment("other", "[model_options]\nrate = 0.5\n");
  const Config c = good(text);
  EXPECT_TRUE(c.options.at("bias") == Value(true));
  EXPECT_TRUE(c.options.at("label") == Value(std::string("a \"quoted\" text")));
  EXPECT_TRUE(good(text + "bias = false\n").options.at("bias") == Value(false));
  EXPECT_FALSE(parse_text(experiment("other")).config) << "rate has no default";
}

// ---- --set

TEST(Set, ReplacesAddsAndReachesInside) {
  const std::string text = grid("C = { log10 = [-3, 6], n = 24 }\n");
  EXPECT_EQ(good(text, {"data.limit=5000"}).data.limit, 5000);
  EXPECT_EQ(good(text, {"search.params.C.n=8"}).spaces[0].values.size(), 8U);
  EXPECT_EQ(good(text, {"search.params.C=[1, 2]"}).spaces[0].values.size(), 2U);
  EXPECT_EQ(good(text, {"search.params={gamma=[0.5]}"}).spaces[0].name, "gamma") << "tables are replaced whole";
  EXPECT_EQ(good(text, {"search.params={gamma=[0.5]}"}).spaces.size(), 1U);
  EXPECT_EQ(good(text, {"search.params.gamma=0.5"}).spaces[1].name, "gamma") << "new ones come last";
  EXPECT_EQ(good(text, {"seed=1", "seed=2"}).seed, 2U) << "the last one wins";
  EXPECT_EQ(good(text, {"validation.folds = 3 "}).folds, 3U);
}

TEST(Set, ABareWordIsAString) {
  EXPECT_EQ(good(minimal(), {"devices.use=pocl,rusticl,host"}).devices, "pocl,rusticl,host");
  EXPECT_EQ(good(minimal(), {"devices.use=opencl:0"}).devices, "opencl:0");
  EXPECT_EQ(good(minimal(), {"devices.memory=512MiB"}).memory_bytes, uint64_t{512} << 20);
  EXPECT_EQ(good(minimal(), {"output.directory=/x y/z"}).output, "/x y/z");
  EXPECT_EQ(good(minimal(), {"output.directory=\"q\""}).output, "q");
  EXPECT_TRUE(good(minimal(), {"model_options.kernel=linear"}).options.at("kernel") == Value(std::string("linear")));
  EXPECT_EQ(good(minimal(), {"seed=169514335042358758700408908237337905507"}).seed_text,
            "169514335042358758700408908237337905507");
  EXPECT_FALSE(parse_text(minimal(), {"data.limit=5o00"}).config) << "a text is no number";
}

TEST(Set, CannotSmuggleInASecondKey) {
  const ParseResult result = parse_text(minimal(), {"seed=1\nmodel=\"other\""});
  ASSERT_EQ(result.diagnostics.size(), 1U);
  EXPECT_EQ(result.diagnostics[0].file, "--set argument 1");
}

TEST(Parse, TheLookupSeesThePluginDirectories) {
  std::vector<std::string> seen;
  const auto spy = [&](const std::string&, const std::vector<std::string>& directories, std::string&) {
    seen = directories;
    return std::optional(kSvc);
  };
  EXPECT_TRUE(parse(minimal("[plugins]\ndirectories = [\"/opt/x\"]\n"), "f", {}, spy).config);
  EXPECT_EQ(seen, (std::vector<std::string>{"/opt/x"}));
}

TEST(Parse, ALookupThatThrowsIsADiagnostic) {
  const auto broken = [](const std::string&, const std::vector<std::string>&,
                         std::string&) -> std::optional<ModelSchema> {
    throw Error(MK_DEVICE_ERROR, "the library is broken");
  };
  const ParseResult result = parse(minimal(), "f", {}, broken);
  ASSERT_EQ(result.diagnostics.size(), 1U);
  EXPECT_EQ(result.diagnostics[0].message, "the library is broken");
  EXPECT_EQ(result.diagnostics[0].line, 2U);
}

TEST(Parse, AShareIsOneFold) {
  EXPECT_EQ(good(minimal()).share, 0);
  const Config c = good(minimal("[validation]\nshare = 0.15\nstratified = true\n"));
  EXPECT_EQ(c.share, 0.15);
  EXPECT_EQ(c.folds, 1U);
  EXPECT_TRUE(c.stratified);
  EXPECT_EQ(make_plan(c, "d").n_fits(), 1U);
  EXPECT_NE(make_plan(c, "d").hash, make_plan(good(minimal("[validation]\nshare = 0.16\n")), "d").hash);
  EXPECT_EQ(good(minimal("[validation]\nfolds = 0\n")).folds, 0U);
  EXPECT_EQ(make_plan(good(minimal("[validation]\nfolds = 0\n")), "d").n_fits(), 0U);
}

}  // namespace
}  // namespace mokume::config
