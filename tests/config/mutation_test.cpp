// Tests that every typo of one character in a key is reported alone, at its place, with the intended key.
#include <set>
#include <string>

#include "base/text.hpp"
#include "config/support.hpp"

namespace mokume::config {
namespace {

struct Word {
  size_t at = 0;  // byte offset in the file
  size_t length = 0;
  uint32_t line = 0;
  uint32_t column = 0;
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Returns the keys, which are the words in front of '=' and in table headers.
std::vector<Word> words_of(const std::string& text) {
  std::vector<Word> words;
  uint32_t line = 1;
  size_t begin_of_line = 0;
  bool quoted = false;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\n') {
      ++line;
      begin_of_line = at + 1;
    }
    if (text[at] == '"') quoted = !quoted;
    if (quoted || !is_word(text[at]) || (at > 0 && is_word(text[at - 1]))) continue;
    size_t end = at;
    while (is_word(text[end])) ++end;
    const bool header = text[begin_of_line] == '[';
    if (!header && text.compare(end, 2, " =") != 0) continue;
    words.push_back({at, end - at, line, static_cast<uint32_t>(at - begin_of_line) + 1});
  }
  return words;
}

std::set<std::string> typos_of(const std::string& word) {
  std::set<std::string> typos;
  for (size_t i = 0; i <= word.size(); ++i) {
    for (const char c : {'a', 'q', 'Z', '_', '7'}) {
      typos.insert(word.substr(0, i) + c + word.substr(i));
      if (i < word.size()) typos.insert(word.substr(0, i) + c + word.substr(i + 1));
    }
    if (i < word.size() && word.size() > 1) typos.insert(word.substr(0, i) + word.substr(i + 1));
    if (i + 1 < word.size()) typos.insert(word.substr(0, i) + word[i + 1] + word[i] + word.substr(i + 2));
  }
  typos.erase(word);
  return typos;
}

TEST(Mutations, EveryTypoOfEveryKeyIsReportedAloneAtItsPlace) {
  const std::string text = golden("full.toml");
  good(text);
  size_t tried = 0, suggested = 0;
  std::set<std::string> keys;
  for (const Word& word : words_of(text)) {
    const std::string original = text.substr(word.at, word.length);
    keys.insert(original);
    for (const std::string& typo : typos_of(original)) {
      const std::string mutated = text.substr(0, word.at) + typo + text.substr(word.at + word.length);
      const ParseResult result = parse_text(mutated);
      ++tried;
      ASSERT_EQ(result.diagnostics.size(), 1U) << original << " -> " << typo << "\n" << all_messages(result, mutated);
      const Diagnostic& d = result.diagnostics[0];
      ASSERT_EQ(d.line, word.line) << render(d, mutated);
      ASSERT_EQ(d.column, word.column) << render(d, mutated);
      ASSERT_EQ(d.length, typo.size()) << render(d, mutated);
      ASSERT_EQ(d.message.find("unknown key '" + typo + "' "), 0U) << render(d, mutated);
      ASSERT_FALSE(d.note.empty());
      // One edit must be less than half of the word. For shorter words, the message lists the known keys.
      if (typo.size() < 3) {
        ASSERT_TRUE((d.note).find(original) != std::string::npos) << render(d, mutated);
        continue;
      }
      ++suggested;
      ASSERT_EQ(d.hint, "did you mean '" + original + "'?") << render(d, mutated);
    }
  }
  EXPECT_EQ(keys.size(), 48U);
  EXPECT_GT(tried, 200U);
  EXPECT_GT(suggested, tried * 8 / 10);
}

TEST(Mutations, KnownKeysInTheWrongTableNameTheRightTable) {
  const auto hint = [](const std::string& text) {
    const ParseResult result = parse_text(text);
    EXPECT_EQ(result.diagnostics.size(), 1U) << all_messages(result, text);
    return result.diagnostics.empty() ? "" : result.diagnostics[0].hint;
  };
  EXPECT_EQ(hint(minimal("seed = 1\n")), "'seed' belongs to the top level");
  EXPECT_EQ(hint("limit = 4\n" + minimal()), "'limit' belongs to [data]");
  EXPECT_EQ(hint(minimal("folds = 3\n")), "'folds' belongs to [validation]");
  EXPECT_EQ(hint("source = \"digits\"\nname = \"a\"\nmodel = \"svc\"\n[data]\n"), "'source' belongs to [data]")
      << "and it is not reported as missing";
  EXPECT_EQ(hint(grid("limit = 3\nC = 1\n")), "'limit' belongs to [data]");
  EXPECT_EQ(hint(minimal("gamma = 3\n")), "'gamma' belongs to [search.params] or [model_options]");
  EXPECT_EQ(hint(minimal("foldz = 3\n")), "did you mean 'folds' in [validation]?");
}

}  // namespace
}  // namespace mokume::config
