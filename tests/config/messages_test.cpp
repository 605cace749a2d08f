// Tests that a user gets one message for each mistake, and that the message names the place.
#include <string>

#include "config/support.hpp"

namespace mokume::config {
namespace {

std::string shown(const std::string& text, const std::vector<std::string>& sets = {}) {
  return all_messages(parse_text(text, sets), text, sets);
}

TEST(Messages, AnUnknownParameterNamesTheNearestOne) {
  EXPECT_EQ(shown(grid("gama = { log10 = [-3, 6], n = 24 }\n")),
            R"(error: unknown key 'gama' in [search.params]
 --> svm.toml:8:1
  |
8 | gama = { log10 = [-3, 6], n = 24 }
  | ^^^^ did you mean 'gamma'?
  = svc takes: C, gamma, kernel, degree, coef0, multiclass, tol, max_iterations
)");
}

TEST(Messages, AllMistakesAreListedInOnePassSortedByPlace) {
  const std::string text = R"(name = "a/b"
model = "svc"
sed = 1
folds = 3

[data]
seed = 4
source = "digit"
limit = 0

[validation]
stratified = "yes"

[search]
method = "grid"
[search.params]
kernel = ["rfb", "linear", "linear"]
degree = [1, 2.5, 99]
C = 0
	coef0 = { uniform = [0, 1] }
)";
  EXPECT_EQ(shown(text, {"data.lmit=5", "validation.folds=1"}),
            R"(error: name may contain only letters, digits, '.', '_' and '-'
 --> svm.toml:1:8
  |
1 | name = "a/b"
  |        ^^^^^

error: unknown key 'sed' at the top level
 --> svm.toml:3:1
  |
3 | sed = 1
  | ^^^ did you mean 'seed'?
  = the top level takes: name, model, seed, data, validation, bagging, search, random, model_options, devices, plugins, output

error: unknown key 'folds' at the top level
 --> svm.toml:4:1
  |
4 | folds = 3
  | ^^^^^ 'folds' belongs to [validation]
  = the top level takes: name, model, seed, data, validation, bagging, search, random, model_options, devices, plugins, output

error: unknown key 'seed' in [data]
 --> svm.toml:7:1
  |
7 | seed = 4
  | ^^^^ 'seed' belongs to the top level
  = [data] takes: source, path, test, labels, test_labels, layout, target, categorical, ignore, weight, task, storage, missing, size, channels, limit, standardize, within

error: unknown data.source 'digit'
 --> svm.toml:8:10
  |
8 | source = "digit"
  |          ^^^^^^^ did you mean 'digits'?
  = data.source is one of: digits, friedman, mnist, idx, libsvm, csv, npy, images

error: data.limit must be at least 1, not 0
 --> svm.toml:9:9
  |
9 | limit = 0
  |         ^

error: validation.stratified must be true or false, not a string
  --> svm.toml:12:14
   |
12 | stratified = "yes"
   |              ^^^^^

error: unknown kernel 'rfb'
  --> svm.toml:17:11
   |
17 | kernel = ["rfb", "linear", "linear"]
   |           ^^^^^ did you mean 'rbf'?
   = kernel is one of: linear, polynomial, rbf, sigmoid

error: kernel lists linear twice
  --> svm.toml:17:28
   |
17 | kernel = ["rfb", "linear", "linear"]
   |                            ^^^^^^^^

error: degree must be an integer, not a real number
  --> svm.toml:18:14
   |
18 | degree = [1, 2.5, 99]
   |              ^^^

error: degree must be from 0 to 64, not 99
  --> svm.toml:18:19
   |
18 | degree = [1, 2.5, 99]
   |                   ^^

error: C must be above 0 and at most 1e+12, not 0
  --> svm.toml:19:5
   |
19 | C = 0
   |     ^

error: coef0 is a distribution, but method is "grid"
  --> svm.toml:20:12
   |
20 | 	coef0 = { uniform = [0, 1] }
   | 	          ^^^^^^^ use log or linear with n, or method = "random"

error: unknown key 'lmit' in [data]
 --> --set argument 1, column 6
  |
  | data.lmit=5
  |      ^^^^ did you mean 'limit'?
  = [data] takes: source, path, test, labels, test_labels, layout, target, categorical, ignore, weight, task, storage, missing, size, channels, limit, standardize, within

error: validation.folds must be from 2 to 1000, not 1
 --> --set argument 2, column 18
  |
  | validation.folds=1
  |                  ^
)");
}

TEST(Messages, NumbersThatAreTooLargeNameTheCure) {
  const std::string integer = shown(grid("C = 99999999999999999999\n"));
  EXPECT_NE(integer.find("a seed may be longer: write it as a string, in quotes"), std::string::npos) << integer;
  const std::string real = shown(grid("C = 1e400\n"));
  EXPECT_NE(real.find("numbers go up to 1.797e308"), std::string::npos) << real;
}

TEST(Messages, ConflictNamesBothPlaces) {
  EXPECT_EQ(shown(grid("C = [1, 2]\n[model_options]\nC = 3\n")),
            R"(error: 'C' is in both [model_options] and [search.params]
  --> svm.toml:10:1
   |
10 | C = 3
   | ^ keep one of the two
   = it is searched at svm.toml:8:1
)");
  EXPECT_NE(shown(grid("C = [1, 2]\n"), {"model_options.C=3"}).find("it is searched at svm.toml:8:1"),
            std::string::npos);
}

TEST(Messages, AReplayRequiresTheSettingsOfTheStudy) {
  const std::string head = "name = \"s\"\nmodel = \"svc\"\nrandom.compat = \"numpy\"\ndata.source = \"digits\"\n";
  EXPECT_NE(shown(head).find("compat = \"numpy\" replays bagging with random search and folds"), std::string::npos)
      << shown(head);
  const std::string bag = head +
                          "bagging.bootstraps = 2\nvalidation = { folds = 3, MORE }\n[search]\n"
                          "method = \"random\"\ncandidates = 2\nparams.C = { uniform = [1, 2] }\n";
  const auto with = [&](const char* more) {
    std::string text = bag;
    return shown(text.replace(text.find("MORE"), 4, more));
  };
  EXPECT_EQ(with("shuffle = false"), "");
  EXPECT_NE(with("shuffle = true").find("remove validation.shuffle"), std::string::npos) << with("shuffle = true");
  EXPECT_NE(with("stratified = true").find("remove validation.stratified"), std::string::npos)
      << with("stratified = true");
}

TEST(Messages, ASyntaxErrorIsReportedAlone) {
  EXPECT_EQ(shown("nme = 1\nmodel = svc\n", {"foo"}), R"(error: this is not a value
 --> svm.toml:2:9
  |
2 | model = svc
  |         ^^^ strings need quotes: "svc"
)");
  EXPECT_EQ(shown("a = 1\na = 2\n"), R"(error: syntax error
 --> svm.toml:2:5
  |
2 | a = 2
  |     ^
  = toml++ says: Error while parsing key-value pair: cannot redefine existing integer 'a'
)");
}

// The sentence and the hint come from the text of the file, not from the words of the library that reads it.
TEST(Messages, FaultyValuesHaveSentencesOfOurOwn) {
  const auto says = [](const std::string& text, const std::string& message, const std::string& word,
                       const std::string& hint) {
    const Diagnostic found = parse_text(text).diagnostics.at(0);
    EXPECT_EQ(found.message, message) << text;
    const size_t line = text.rfind('\n', text.find(word)) + 1;
    EXPECT_EQ(found.column, text.find(word) - line + 1) << text;
    EXPECT_EQ(found.length, message == "syntax error" ? 1 : word.size()) << text;
    EXPECT_EQ(found.hint, hint) << text;
  };
  const std::string bare = "this is not a value", large = "this integer does not fit into 64 bits";
  const std::string seed = "a seed may be longer: write it as a string, in quotes";
  says("a = svc", bare, "svc", "strings need quotes: \"svc\"");
  says("a = ~/data # x", bare, "~/data", "strings need quotes: \"~/data\"");
  says("a = [1, red]\n", bare, "red", "strings need quotes: \"red\"");
  says("a = [\n  1,\n  red\n]\n", bare, "red", "strings need quotes: \"red\"");
  says("a = { k = red }\n", bare, "red", "strings need quotes: \"red\"");
  says("a = True", bare, "True", "write it in lower case");
  says("a = 99999999999999999999", large, "99999999999999999999", seed);
  says("a = -9_999_999_999_999_999_999 # x", large, "-9_999_999_999_999_999_999", seed);
  says("a = [1, +99999999999999999999]", large, "+99999999999999999999", seed);
  says("a = 1e400 # x", "this number is too large", "1e400", "numbers go up to 1.797e308");
  says("a = -1e400", "this number is too large", "-1e400", "numbers go up to 1.797e308");
  says("a = 5 kg", "syntax error", "kg", "");
  says("[a b]\n", "syntax error", "b", "");
  says("key value = 1", "syntax error", "value", "");
  says("a = { b = 1, c }", "syntax error", "}", "");
}

TEST(Messages, MissingKeysAreNamed) {
  EXPECT_EQ(shown("[data]\r\nlimit = 1\r\n"), R"(error: 'name' is missing at the top level
  --> svm.toml
   = add name = "..."
   = name of the experiment and of its directory under the output directory

error: 'model' is missing at the top level
  --> svm.toml
   = add model = "..."
   = model plugin that fits the candidates, e.g. svc

error: 'source' is missing in [data]
 --> svm.toml:1:2
  |
1 | [data]
  |  ^^^^ add source = "..."
  = kind of data: digits and friedman are built in, mnist is looked up by name
)");
}

TEST(Messages, CaretsCountCharactersNotBytes) {
  EXPECT_EQ(shown("name = \"ä\xE2\x82\xAC\"\nmodel = \"svc\"\n[data]\nsource = \"digits\"\n"),
            "error: name may contain only letters, digits, '.', '_' and '-'\n --> svm.toml:1:8\n  |\n"
            "1 | name = \"ä\xE2\x82\xAC\"\n  |        ^^^^\n");
}

TEST(Messages, LongLinesAreCutAroundThePlace) {
  const std::string text = grid("C = [" + std::string(500, ' ') + "1, 2, -7]" + std::string(500, ' ') + "\n");
  const std::string block = shown(text);
  EXPECT_LT(block.size(), 500U) << block;
  const size_t caret = block.find('^');
  const size_t line = block.rfind("8 | ", caret);
  ASSERT_NE(caret, std::string::npos);
  const size_t column = caret - block.rfind('\n', caret) - 1;
  EXPECT_EQ(block.substr(line + column, 2), "-7") << block;
}

TEST(Messages, ControlCharactersNeverReachTheTerminal) {
  for (const std::string& text : {std::string("x = 1 # \x1b[31m\n"), std::string("\"\\u001b[31m\" = 1\n"),
                                  grid("kernel = \"\\u001b[2J\"\n"), std::string("a = \"\xff\x1b\"\n")}) {
    const std::string block = shown(text);
    EXPECT_FALSE(block.empty());
    EXPECT_EQ(block.find('\x1b'), std::string::npos) << text;
    EXPECT_EQ(block.find('\xff'), std::string::npos) << text;
  }
}

// ---- one mistake each, with its place and a word of its message

struct Case {
  const char* text;
  uint32_t line, column, length;
  const char* word;
};

void expect_only(const std::string& text, const Case& c) {
  const ParseResult result = parse_text(text);
  EXPECT_FALSE(result.config);
  ASSERT_EQ(result.diagnostics.size(), 1U) << text << all_messages(result, text);
  const Diagnostic& d = result.diagnostics[0];
  EXPECT_EQ(d.line, c.line) << render(d, text);
  EXPECT_EQ(d.column, c.column) << render(d, text);
  EXPECT_EQ(d.length, c.length) << render(d, text);
  EXPECT_NE((d.message + d.hint).find(c.word), std::string::npos) << render(d, text);
}

TEST(Messages, EachBadSettingHasOneMessage) {
  const Case cases[] = {
      {"name = \".a\"", 1, 8, 4, "begin with '.'"},
      {"name = \"\"", 1, 8, 2, "empty"},
      {"name = 3", 1, 8, 1, "a string"},
      {"name = \"a\\nb\"", 1, 8, 6, "control characters"},
      {"model = \"svd\"", 1, 9, 5, "there are: net, other, svc"},
      {"model = \"../svc\"", 1, 9, 8, "letters"},
      {"seed = -1", 1, 8, 2, "negative"},
      {"seed = 1.5", 1, 8, 3, "an integer"},
      {"seed = \"12a\"", 1, 8, 5, "a string of decimal digits"},
      {"seed = \"\"", 1, 8, 2, "a string of decimal digits"},
      {"data.limit = 0", 1, 14, 1, "at least 1"},
      {"data.limit = \"5\"", 1, 14, 3, "an integer, not a string"},
      {"data.limit = \"99999999999999999999\"", 1, 14, 22, "an integer of 64 bits"},
      {"data.limit = 1979-05-27", 1, 14, 10, "a date"},
      {"data.target = \"y\"", 1, 6, 6, "no meaning for source \"digits\""},
      {"data.categorical = [\"y\"]", 1, 6, 11, "no meaning"},
      {"data.missing = \"drop\"", 1, 6, 7, "no meaning"},
      {"data.path = \"x\"", 1, 6, 4, "no meaning"},
      {"data.source = \"csv\"", 1, 15, 5, "needs data.path"},
      {"data.source = \"idx\"", 1, 15, 5, "needs data.path"},
      {"data.source = \"npy\"\ndata.path = \"x\"", 1, 15, 5, "needs data.labels"},
      {"data.labels = \"x\"", 1, 6, 6, "no meaning for source \"digits\""},
      {"data.source = \"npy\"\ndata.path = \"x\"\ndata.labels = \"y\"\ndata.layout = \"hwc\"", 4, 15, 5, "nhwc"},
      {"data.size = 8", 1, 6, 4, "no meaning for source \"digits\""},
      {"data.source = \"images\"\ndata.path = \"x\"\ndata.channels = 2", 3, 17, 1, "1 or 3 channels"},
      {"data.standardize = \"feature\"", 1, 20, 9, "'features'"},
      {"data.standardize = { mean = 1 }", 1, 20, 12, "needs 'scale'"},
      {"data.standardize = { mean = 1, scale = 0 }", 1, 40, 1, "above 0"},
      {"data.standardize = { mean = nan, scale = 1 }", 1, 29, 3, "finite"},
      {"data.standardize = { mean = inf, scale = 1 }", 1, 29, 3, "finite"},
      {"data.standardize = { mean = \"1\", scale = 1 }", 1, 29, 3, "a number"},
      {"data.standardize = { mean = 1, scal = 1 }", 1, 32, 4, "did you mean 'scale'?"},
      {"data.standardize = true", 1, 20, 4, "a string or a table"},
      {"validation = 3", 1, 1, 10, "a table"},
      {"validation.folds = 1", 1, 20, 1, "from 2 to 1000"},
      {"validation.folds = 1001", 1, 20, 4, "from 2 to 1000"},
      {"validation.folds = -3", 1, 20, 2, "from 2 to 1000"},
      {"validation.share = 0", 1, 20, 1, "above 0 and below 1, not 0"},
      {"validation.share = 1.0", 1, 20, 3, "above 0 and below 1"},
      {"validation.share = nan", 1, 20, 3, "finite"},
      {"validation.share = \"15 %\"", 1, 20, 6, "a number, not a string"},
      {"validation.file = \"f\"\nvalidation.shuffle = true", 2, 12, 7, "leave no choice to validation.shuffle"},
      {"validation.file = \"f\"\nvalidation.stratified = true", 2, 12, 10, "leave no choice"},
      {"validation.file = \"f\"\nvalidation.repeats = 2", 2, 12, 7, "leave no choice"},
      {"validation.file = \"f\"\nvalidation.folds = 0", 1, 12, 4, "without folds there is nothing to read"},
      {"validation.file = \"f\"\nvalidation.share = 0.2", 1, 12, 4, "no meaning with validation.share"},
      {"validation.share = 0.2\nvalidation.folds = 5", 2, 12, 5, "folds has no meaning with validation.share"},
      {"validation.share = 0.2\nvalidation.shuffle = true", 2, 12, 7, "no meaning with"},
      {"validation.shuffle = 1", 1, 22, 1, "true or false"},
      {"search.method = \"gird\"", 1, 17, 6, "did you mean 'grid'?"},
      {"search.factor = 3", 1, 8, 6, "factor has no meaning without rungs"},
      {"search.rungs = 11", 1, 16, 2, "from 1 to 10"},
      {"search.rungs = 3", 1, 8, 5, "without a search there is nothing to halve"},
      {"search.method = \"grid\"\nsearch.params.C = [1, 2]\nsearch.rungs = 3\nvalidation.repeats = 2", 3, 8, 5,
       "rungs cannot be combined with repeats"},
      {"search.whole = false", 1, 8, 5, "whole is for runs of `mokume curve`"},
      {"search.at_once = 3", 1, 8, 7, "at_once has no meaning without trials"},
      {"search.trials = 0", 1, 17, 1, "from 1 to 1000"},
      {"search.trials = 3", 1, 8, 6, "without a search there is nothing to choose"},
      {"search.method = \"grid\"\nsearch.params.C = [1, 2]\nsearch.rungs = 3\nsearch.trials = 2", 4, 8, 6,
       "rungs and trials cannot be combined"},
      {"search.method = \"random\"\nsearch.params.C = [1, 2]\nsearch.trials = 2", 1, 17, 8, "candidates"},
      {"search.method = \"grid\"", 1, 17, 6, "[search.params]"},
      {"search.candidates = 3\nsearch.method = \"none\"", 1, 8, 10, "use it with method \"random\""},
      {"search.method = \"none\"\nsearch.params.C = 1", 2, 8, 6, "no meaning with method \"none\""},
      {"search.params.C = [1]", 1, 8, 6, "method = \"grid\""},
      {"search.method = \"random\"\nsearch.params.C = [1]", 1, 17, 8, "candidates"},
      {"search.method = \"random\"\nsearch.candidates = 0\nsearch.params.C = [1]", 2, 21, 1, "from 1 to 10000000"},
      {"validation.folds = 0\nsearch.method = \"grid\"\nsearch.params.C = [1]", 1, 20, 1, "must not be 0"},
      {"devices.use = \"\"", 1, 15, 2, "empty"},
      {"devices.use = []", 1, 15, 2, "empty"},
      {"devices.use = [\"host\", 3]", 1, 24, 1, "a string"},
      {"devices.memory = \"4 apples\"", 1, 18, 10, "not a size"},
      {"devices.memory = -4", 1, 18, 2, "from 1 byte"},
      {"plugins.directories = [\"/a\", \"b/c\"]", 1, 30, 5, "absolute"},
      {"plugins.directories = [\"/a\", \"/a\"]", 1, 30, 4, "twice"},
      {"output.directory = \"\"", 1, 20, 2, "empty"},
      {"model_options.tol = 2", 1, 21, 1, "at most 1"},
      {"model_options.kernel = \"RBF\"", 1, 24, 5, "did you mean 'rbf'?"},
      {"model_options.gamma = [1]", 1, 23, 3, "one value"},
      {"model_options.degree = 3.0", 1, 24, 3, "an integer"},
      {"model_options.seed = 3", 1, 15, 4, "belongs to the top level"},
      {"boosting.rounds = 3", 1, 1, 8, "unknown key 'boosting'"},
  };
  for (const Case& c : cases) {
    const std::string line = std::string(c.text) + "\n";
    std::string text = line;
    if (line.find("name") != 0) text += "name = \"a\"\n";
    if (line.find("model =") != 0) text += "model = \"svc\"\n";
    if (line.find("data.source") != 0) text += "data.source = \"digits\"\n";
    expect_only(text, c);
  }
}

TEST(Messages, EachBadSearchedParameterHasOneMessage) {
  const Case cases[] = {
      {"C = { log10 = [-3, 6], n = 0 }", 8, 28, 1, "from 2"},
      {"C = { log10 = [-3, 6], n = 1 }", 8, 28, 1, "from 2"},
      {"C = { log10 = [-3, 6], n = 9000000000000000000 }", 8, 28, 19, "from 2 to 100000"},
      {"C = { log10 = [-3, 6], n = 2.0 }", 8, 28, 3, "an integer"},
      {"C = { log10 = [-3, 6] }", 8, 7, 5, "needs n"},
      {"C = { n = 3 }", 8, 5, 9, "does not define its values"},
      {"C = {}", 8, 5, 2, "does not define its values"},
      {"C = { log10 = [-3, 6], linear = [1, 2], n = 2 }", 8, 24, 6, "both 'log10' and 'linear'"},
      {"C = { log10 = [-3], n = 2 }", 8, 15, 4, "two ends"},
      {"C = { log10 = 3, n = 2 }", 8, 15, 1, "two ends"},
      {"C = { log10 = [\"a\", 2], n = 2 }", 8, 15, 8, "two ends"},
      {"C = { log10 = [6, -3], n = 2 }", 8, 15, 7, "below the last"},
      {"C = { log10 = [1, 1], n = 2 }", 8, 15, 6, "below the last"},
      {"C = { log10 = [nan, 1], n = 2 }", 8, 16, 3, "finite"},
      {"C = { log10 = [1, inf], n = 2 }", 8, 19, 3, "finite"},
      {"C = { log10 = [1, 400], n = 2 }", 8, 19, 3, "at most 1e+12"},
      {"C = { linear = [0, 1], n = 2 }", 8, 17, 1, "above 0"},
      {"C = { linear = [1, 1.0000000000000002], n = 5 }", 8, 16, 23, "too close"},
      {"C = { lin = [0, 1], n = 2 }", 8, 7, 3, "unknown key 'lin'"},
      {"C = [1, 2, 1.0]", 8, 12, 3, "lists 1 twice"},
      {"C = []", 8, 5, 2, "empty list"},
      {"C = [1, nan]", 8, 9, 3, "finite"},
      {"C = [1, \"2\"]", 8, 9, 3, "a number, not a string"},
      {"C = [[1]]", 8, 6, 3, "a number, not a list"},
      {"C = true", 8, 5, 4, "a number"},
      {"degree = { linear = [1, 4], n = 3 }", 8, 21, 6, "this makes 2.5"},
      {"degree = { log10 = [0, 2], n = 3 }", 8, 24, 1, "from 0 to 64, not 100"},
      {"kernel = { linear = [1, 2], n = 2 }", 8, 12, 6, "list its values"},
      {"kernel = [\"rbf\", 3]", 8, 18, 1, "a string"},
      {"tol = [1e-3, 1e-3]", 8, 14, 4, "twice"},
      {"C = { log = [0, 1], n = 3 }", 8, 13, 6, "use log10 if they are exponents of 10"},
  };
  for (const Case& c : cases) expect_only(grid(std::string(c.text) + "\n"), c);
}

TEST(Messages, EachBadDistributionHasOneMessage) {
  const Case cases[] = {
      {"C = { uniform = [1, 2], n = 3 }", 9, 25, 1, "leave it out"},
      {"C = { int = [1, 2] }", 9, 7, 3, "uniform"},
      {"degree = { uniform = [1, 2] }", 9, 12, 7, "use int"},
      {"degree = { int = [1, 2.5] }", 9, 22, 3, "an end of degree must be an integer"},
      {"degree = { int = [3, 2] }", 9, 18, 6, "below the last"},
      {"degree = { int = [2, 65] }", 9, 22, 2, "from 0 to 64"},
      {"degree = { int_log = [0, 9] }", 9, 23, 1, "begins at 1 at least"},
      {"C = { int_log = [1, 9] }", 9, 7, 7, "uniform"},
      {"degree = { int = [2, 9], step = 0.5 }", 9, 33, 3, "the step of degree must be an integer"},
      {"degree = { int = [2, 9], step = 8 }", 9, 33, 1, "at most 7"},
      {"C = { uniform = [1, 9], step = 0 }", 9, 32, 1, "the step of C"},
      {"C = { log10_uniform = [-5, 1], step = 2 }", 9, 32, 4, "step is for uniform and int"},
      {"C = { log10_uniform = [-5, 13] }", 9, 28, 2, "at most 1e+12"},
      {"C = { log_uniform = [-4, -1] }", 9, 21, 8, "use log10_uniform if they are exponents of 10"},
      {"C = { log_uniform = [1e-4, 1e13] }", 9, 28, 4, "at most 1e+12"},
      {"C = { log10_unifrom = [-5, 1] }", 9, 7, 13, "did you mean 'log10_uniform'?"},
      {"kernel = { uniform = [0, 1] }", 9, 12, 7, "list its values"},
  };
  for (const Case& c : cases) expect_only(random_search(std::string(c.text) + "\n"), c);
}

TEST(Messages, EachBadConditionHasOneMessage) {
  const std::string kernels = "kernel = [\"rbf\", \"linear\"]\n";
  const Case cases[] = {
      {"gamma = { values = [1, 2], when = { kernel = \"rbv\" } }", 9, 46, 5, "its values are rbf, linear"},
      {"gamma = { values = [1, 2], when = { degree = 2 } }", 9, 37, 6, "list 'degree' earlier"},
      {"gamma = { values = [1, 2], when = { gamma = 2 } }", 9, 37, 5, "not searched before it"},
      {"gamma = { values = [1, 2], when = \"rbf\" }", 9, 35, 5, "names no parameter"},
      {"gamma = { values = [1, 2], when = {} }", 9, 35, 2, "names no parameter"},
      {"gamma = { values = [1, 2], when = { kernel = [] } }", 9, 46, 2, "list at least one value"},
      {"gamma = { values = [1, 2], otherwise = 3 }", 9, 28, 9, "'otherwise' without 'when'"},
      {"gamma = { values = [1, 2], when = { kernel = \"rbf\" }, otherwise = -1 }", 9, 67, 2, "above 0"},
      {"gamma = { values = 1, when = { kernel = \"rbf\" } }", 9, 20, 1, "is not a list"},
      {"gamma = { values = [1, 2], n = 2 }", 9, 28, 1, "both 'values' and 'n'"},
      {"gamma = { when = { kernel = \"rbf\" } }", 9, 9, 29, "does not define its values"},
  };
  for (const Case& c : cases) expect_only(grid(kernels + c.text + "\n"), c);
  const Case drawn = {"degree = { int = [2, 5], when = { C = 1 } }", 10, 35, 1, "is drawn from a distribution"};
  expect_only(random_search("C = { uniform = [0.5, 2] }\n" + std::string(drawn.text) + "\n"), drawn);
}

TEST(Messages, EachBadSetArgumentHasOneMessage) {
  const auto only = [](const std::string& set, uint32_t column, const std::string& word) {
    const ParseResult result = parse_text(grid("C = [1, 2]\n"), {"seed=1", set});
    EXPECT_FALSE(result.config);
    ASSERT_EQ(result.diagnostics.size(), 1U) << all_messages(result);
    const Diagnostic& d = result.diagnostics[0];
    EXPECT_EQ(d.file, "--set argument 2");
    EXPECT_EQ(d.set, 2U);
    EXPECT_EQ(d.line, 1U);
    EXPECT_EQ(d.column, column) << render(d, set);
    EXPECT_NE((d.message + d.hint).find(word), std::string::npos) << render(d, set);
  };
  only("search.params.C.n=8", 17, "cannot set 'n' inside 'search.params.C': that is a list, not a table");
  only("name.x=8", 6, "that is a string");
  only("foo", 1, "key=value");
  only("=3", 1, "key=value");
  only("a..b=3", 1, "key=value");
  only("[data]=3", 1, "key=value");
  only("seed=", 5, "missing");
  only("seed=   ", 5, "missing");
  only("data.limit=[1", 14, "syntax error");
  only("devices.use='a", 13, "this string is not closed");
  only("data.limit=five", 12, "an integer, not a string");
  only("data.limti=5", 6, "did you mean 'limit'?");
  only("dta.limit=5", 1, "did you mean 'data'?");
  only("search.params.gamma.n=5", 15, "");
  only(std::string("seed=\"\0\"", 8), 7, "NUL");
  only("seed=\"\xC0\x80\"", 7, "UTF-8");
  only("search.params.C={ log10 = [1, 2], n = 0 }", 39, "from 2");
}

TEST(Messages, BytesThatAreNotTextGiveOneClearError) {
  const auto only = [](const std::string& text, uint32_t line, uint32_t column, const char* word) {
    const ParseResult result = parse_text(text);
    ASSERT_EQ(result.diagnostics.size(), 1U);
    EXPECT_EQ(result.diagnostics[0].line, line);
    EXPECT_EQ(result.diagnostics[0].column, column);
    EXPECT_NE(result.diagnostics[0].message.find(word), std::string::npos) << result.diagnostics[0].message;
  };
  only(std::string("a = 1\nb = \"x\0\"", 14), 2, 7, "NUL");
  only("# \xE4\n", 1, 3, "0xE4");
  only("# \xC3\xA4\xED\xA0\x80\n", 1, 4, "0xED");  // a surrogate
  only("# \xF4\x90\x80\x80\n", 1, 3, "0xF4");      // above U+10FFFF
  only("# \xC0\xAF\n", 1, 3, "0xC0");              // overlong
  only("# \xE2\x82", 1, 3, "0xE2");                // cut off
  only(std::string((1U << 20) + 1, '#'), 0, 0, "1 MiB");
}

TEST(Messages, DeepNestingIsRefused) {
  std::string dotted_key = "a";
  for (int i = 0; i < 200'000; ++i) dotted_key += ".a";
  for (const std::string& text : {dotted_key + " = 1\n", "[" + dotted_key + "]\n", "x = {" + dotted_key + " = 1}\n",
                                  "x = \"#\"\n\"'\"." + dotted_key + " = 1\n"}) {
    const ParseResult result = parse_text(text);
    ASSERT_EQ(result.diagnostics.size(), 1U);
    EXPECT_NE(result.diagnostics[0].message.find("nested too deeply"), std::string::npos);
  }
  EXPECT_EQ(parse_text("x = " + std::string(100'000, '[')).diagnostics.size(), 1U);
  // Dots in numbers, strings and comments add no nesting.
  std::string list = "C = [1.5";
  for (int i = 2; i < 500; ++i) list += ", " + std::to_string(i) + ".5";
  const std::string dots(300, '.');
  good("# " + dots + "\n" + grid(list + "]\n[output]\ndirectory = \"" + dots + "\" # " + dots + "\n"));
}

// Users may know the names of other programs.
TEST(Messages, NamesOfOtherProgramsAreTranslated) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[model_options]\nmax_iter = 1000\n", "write max_iterations (svc) or epochs (cnn)"},
      {"[model_options]\nkernel = \"poly\"\n", "write \"polynomial\""},
      {"[model_options]\ngamma = \"scale\"\n", "write gamma = 1 and gamma_unit = \"scale\""},
      {"[model_options]\nprobability = true\n", "write calibrate = true in [validation]"},
      {"random_state = 3\n", "write seed at the top of the file"},
      {"[validation]\ncv = 5\n", "write folds in [validation]"},
      {"[search.params]\nkernel = [\"poly\", \"rbf\"]\n", "write \"polynomial\""}};
  for (const auto& [lines, advice] : cases) {
    const std::string text = "name = \"e\"\nmodel = \"svc\"\n" + lines;
    const std::string said = shown(text, {});
    EXPECT_NE(said.find(advice), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace mokume::config
