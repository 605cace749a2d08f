#include "data/spec.hpp"

#include "support.hpp"

namespace mokume::data {
namespace {

TEST(Spec, ATaskBelongsToTablesOfUnknownTargets) {
  EXPECT_EQ(parse_spec("csv:a.csv,task=regression").task, "regression");
  expect_error(MK_INVALID_ARGUMENT, {"data.task", "regresion"}, [] { parse_spec("csv:a.csv,task=regresion"); });
  expect_error(MK_INVALID_ARGUMENT, {"data.task", "csv, libsvm and npy"}, [] { parse_spec("digits,task=regression"); });
}

using Names = std::vector<std::string>;

TEST(Spec, ReadsSourceAndPath) {
  EXPECT_EQ(parse_spec("digits").source, "digits");
  const DataSpec spec = parse_spec(" libsvm:dir/a:b.txt");
  EXPECT_EQ(spec.source, "libsvm");
  EXPECT_EQ(spec.path, "dir/a:b.txt");
  EXPECT_EQ(parse_spec("csv,path=x.csv").path, "x.csv");
  EXPECT_EQ(parse_spec("csv:\"a,b.csv\"").path, "a,b.csv");
}

TEST(Spec, ReadsEveryKey) {
  const DataSpec spec = parse_spec(
      "csv:a.csv,test=b.csv, target = the price ,categorical=[town, \"street, number\"],missing=drop,limit=500,"
      "standardize={ mean = 127.5, scale = 73.61 }");
  EXPECT_EQ(spec.test, "b.csv");
  EXPECT_EQ(spec.target, "the price");
  EXPECT_EQ(spec.categorical, (Names{"town", "street, number"}));
  EXPECT_EQ(spec.missing, Missing::drop);
  EXPECT_EQ(spec.limit, 500);
  EXPECT_EQ(spec.standardize.kind, Standardize::Kind::fixed);
  EXPECT_EQ(spec.standardize.mean, 127.5);
  EXPECT_EQ(spec.standardize.scale, 73.61);
  EXPECT_EQ(parse_spec("csv:a,categorical=town").categorical, Names{"town"});
  EXPECT_EQ(parse_spec("csv:a,missing=mean").missing, Missing::mean);
  EXPECT_EQ(parse_spec("digits,standardize=features").standardize.kind, Standardize::Kind::features);
  EXPECT_EQ(parse_spec("digits,standardize={mean=1,scale=2}").standardize.scale, 2);
  EXPECT_EQ(parse_spec("digits,standardize=\"none\"").standardize.kind, Standardize::Kind::none);
}

TEST(Spec, TakesMissingKeysFromASpecOfTheSameKind) {
  const DataSpec run = parse_spec("csv:a.csv,target=price,categorical=[town],missing=mean,limit=7,test=t.csv");
  const DataSpec rows = parse_spec("csv:b.csv", &run);
  EXPECT_EQ(rows.path, "b.csv");
  EXPECT_EQ(rows.target, "price");
  EXPECT_EQ(rows.categorical, Names{"town"});
  EXPECT_EQ(rows.missing, Missing::mean);
  EXPECT_EQ(rows.limit, 0);
  EXPECT_EQ(rows.test, "");
  const DataSpec other = parse_spec("csv:b.csv,missing=error,categorical=[],target=y", &run);
  EXPECT_EQ(other.missing, Missing::error);
  EXPECT_TRUE(other.categorical.empty());
  EXPECT_EQ(other.target, "y");
  EXPECT_TRUE(parse_spec("libsvm:b", &run).categorical.empty()) << "another kind";
}

TEST(Spec, RefusesUnknownSourcesAndKeys) {
  const struct {
    const char* text;
    Names words;
  } cases[] = {
      {"", {"known source", "digits, friedman, mnist, idx, libsvm, csv"}},
      {"minst", {"'minst'", "did you mean 'mnist'?"}},
      {"numpy:a.npy", {"'numpy:a.npy'", "known source"}},
      {"npy:a.npy,layout=hwc", {"'layout=hwc'", "layout=nchw"}},
      {"npy:a.npy,test_labels=y.npy", {"data.test_labels", "data.test"}},
      {"csv:a.csv,labels=y.npy", {"data.labels", "npy only"}},
      {"csv", {"csv", "data.path"}},
      {"csv:", {"'csv:'", "no path"}},
      {"digits:a", {"data.path", "remove"}},
      {"digits,", {"''", "key=value"}},
      {"digits,limit", {"'limit'", "key=value"}},
      {"digits,limit=", {"'limit='", "key=value"}},
      {"digits,limt=5", {"'limt=5'", "did you mean 'limit'?"}},
      {"digits,limit=5x", {"'limit=5x'", "limit=N"}},
      {"digits,limit=0", {"'limit=0'", "at least 1"}},
      {"digits,limit=99999999999999999999", {"limit=N"}},
      {"digits,limit=1,limit=2", {"'limit=2'", "twice"}},
      {"csv:a,path=b", {"'path=b'", "second path"}},
      {"csv:a,missing=maybe", {"'missing=maybe'", "missing=drop"}},
      {"libsvm:a,target=y", {"data.target", "csv only"}},
      {"idx:a,missing=drop", {"data.missing", "csv only"}},
      {"digits,standardize=yes", {"'standardize=yes'", "none, features or {"}},
      {"digits,standardize={ mean = 1 }", {"standardize", "{ mean = M, scale = S }"}},
      {"digits,standardize={ mean = 1, scale = 2, x = 3 }", {"standardize"}},
      {"digits,standardize={ mean = 1, scale = 0 }", {"data.standardize", "above 0"}},
      {"digits,standardize={ mean = 1, scale = nan }", {"data.standardize", "above 0"}},
      {"digits,standardize={ mean = inf, scale = 1 }", {"data.standardize", "finite"}},
      {"digits,standardize={mean=1,scale=2}\nw=1", {"standardize"}},
      {"csv:a,categorical=[b", {"do not match"}},
      {"-", {"nothing says in which format", "csv:-"}},
      {"idx:-", {"standard input", "csv and libsvm only"}},
      {"csv:a,test=-", {"data.test"}},
      {"csv:\"a", {"no closing \""}},
  };
  for (const auto& c : cases) expect_error(MK_INVALID_ARGUMENT, c.words, [&] { parse_spec(c.text); });
}

TEST(Spec, StandardInputAloneHasTheFormatOfTheRun) {
  DataSpec like;
  like.source = "csv";
  like.path = "a.csv";
  like.target = "y";
  const DataSpec spec = parse_spec("-,limit=3", &like);
  EXPECT_EQ(spec.source, "csv");
  EXPECT_EQ(spec.path, "-");
  EXPECT_EQ(spec.target, "y");
  EXPECT_EQ(spec.limit, 3);
  EXPECT_EQ(parse_spec("libsvm:-", &like).path, "-");
  like.source = "digits";
  expect_error(MK_INVALID_ARGUMENT, {"nothing says in which format"}, [&] { parse_spec("-", &like); });
}

}  // namespace
}  // namespace mokume::data
