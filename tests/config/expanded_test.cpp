// Tests the lists that the model makes from the tables of the file.
#include "config/expanded.hpp"

#include "config/resolved.hpp"
#include "config/support.hpp"

namespace mokume::config {
namespace {

std::string network(const std::string& options) { return experiment("net", "[model_options]\n" + options); }

const std::string kPairs = "[model_options.pairs.good]\ntype = \"dropout\"\np = 0.25\n";

TEST(Expanded, TheModelMakesTheList) {
  const Config c =
      good(network("layers = [{ type = \"relu\", name = \"first\" }, { type = \"twice\", of = \"good\" }]\n" + kPairs));
  EXPECT_EQ(json_of(c.tagged.at("layers")).dump(), R"([{"type":"relu","name":"first"},{"type":"dropout","p":0.25},)"
                                                   R"({"type":"dropout","p":0.25,"name":"second"}])");
  EXPECT_EQ(good(to_toml(c)).tagged.at("layers"), c.tagged.at("layers"));
}

TEST(Expanded, ValuesKeepTheirPlaceInTheFile) {
  const std::string text = network(
      "layers = [{ type = \"twice\", of = \"bad\" }]\n[model_options.pairs.bad]\ntype = \"dropout\"\n"
      "p = 1.25\nq = 2024-01-01\n");
  const ParseResult result = parse_text(text);
  ASSERT_EQ(result.diagnostics.size(), 4U) << all_messages(result, text);
  const auto at = [&](size_t i) { return std::pair(result.diagnostics[i].line, result.diagnostics[i].column); };
  EXPECT_EQ(at(0), std::pair(9U, 5U));
  EXPECT_EQ(at(2), std::pair(10U, 1U));
  EXPECT_EQ(result.diagnostics[0].message, "p must be at least 0 and at most 1, not 1.25");
  EXPECT_EQ(result.diagnostics[3].message, "unknown key 'q' in layers[1] (dropout)");
}

TEST(Expanded, ProblemsOfTheModelAreShown) {
  const std::string text = network("layers = [{ type = \"twice\", of = \"goot\" }]\n" + kPairs);
  const ParseResult result = parse_text(text);
  ASSERT_EQ(result.diagnostics.size(), 1U) << all_messages(result, text);
  const Diagnostic& problem = result.diagnostics[0];
  EXPECT_EQ(problem.message, "there is no such pair");
  EXPECT_EQ(problem.hint, "did you mean 'good'?");
  EXPECT_EQ(problem.note, "the list is at svm.toml:6:10");
  EXPECT_EQ(problem.line, 6U);
  EXPECT_EQ(problem.column, 29U);
}

TEST(Expanded, AnInvalidAnswerIsAnErrorOfTheModel) {
  for (const char* answer : {"", "{}", "[]", R"({"value": {"at": 99}})", R"({"value": {"list": []}})",
                             R"({"problems": [{"at": "x"}]})", R"({"value": {"at": 0, "table": [["a"]]}})"}) {
    static const char* given;
    given = answer;
    Parameter layers = *find(kNet, "layers");
    layers.expand = [](const char*, const char*, void* taker, void (*take)(void*, const char*), mk_error*) -> int32_t {
      take(taker, given);
      return MK_OK;
    };
    Diagnostics diagnostics("x.toml");
    EXPECT_THROW(expanded(layers, Node(), nullptr, Origin::experiment, diagnostics), Error) << answer;
  }
}

}  // namespace
}  // namespace mokume::config
