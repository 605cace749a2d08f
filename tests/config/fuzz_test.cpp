// Tests that, on any bytes, parse() and render_all() return and give either a config or a reason.
#include <string>

#include "config/support.hpp"
#include "sdk/philox.hpp"

namespace mokume::config {
namespace {

constexpr const char* kSeedFile = R"(name = "a"
model = "svc"
seed = "123456789012345678901234567890"
[data]
source = "csv"
path = "ä/\u00e9.csv"
standardize = { mean = 1.5e3, scale = 0x2 }
[search]
method = "grid"
[search.params]
C = { log10 = [-3, 6], n = 24 }
gamma = [1e-3, 2_000.5,
  inf]
kernel.x.y = '''multi
line'''
[[model_options.z]]
when = 1979-05-27T07:32:00Z # comment
[devices]
use = ["host"]
)";

constexpr const char* kFormsFile = R"(name = "a"
model = "net"
data = { source = "digits" }
[search]
method = "random"
candidates = 3
[search.params]
width = { int = [1, 9] }
rate = [1e-3, 1]
[model_options]
epochs = "$width"
optimizer = { type = "sgd", lr = "$rate" }
[[model_options.layers]]
type = "conv2d"
out_channels = "$width"
kernel_size = 3
[[model_options.layers]]
type = "dropout"
p = 0.25
)";

class Draws {
 public:
  explicit Draws(uint32_t run) : random_(99, sdk::Purpose::search, run) {}
  uint64_t below(uint64_t bound) { return random_.below(next_++, bound); }

 private:
  sdk::Random random_;
  uint32_t next_ = 0;
};

void expect_an_answer(const std::string& text, const std::vector<std::string>& sets = {}) {
  const ParseResult result = parse_text(text, sets);
  ASSERT_NE(result.config.has_value(), !result.diagnostics.empty());
  const std::string shown = render_all(result.diagnostics, text, sets);
  ASSERT_EQ(shown.empty(), result.config.has_value());
  ASSERT_EQ(shown.find('\x1b'), std::string::npos);
  for (size_t i = 1; i < result.diagnostics.size(); ++i) {
    const Diagnostic& a = result.diagnostics[i - 1];
    const Diagnostic& b = result.diagnostics[i];
    ASSERT_LE(std::tie(a.set, a.line, a.column), std::tie(b.set, b.line, b.column));
  }
}

TEST(Fuzz, RandomBytesGiveAConfigOrAReason) {
  for (uint32_t run = 0; run < 1000; ++run) {
    Draws draws(run);
    std::string text(draws.below(200), '\0');
    for (char& c : text) c = static_cast<char>(draws.below(256));
    expect_an_answer(text, {text});
  }
}

TEST(Fuzz, RandomTokensGiveAConfigOrAReason) {
  const std::string tokens[] = {"name",  "search", "params",     "C",       "data",  ".",  "=", "[",
                                "]",     "{",      "}",          ",",       "\n",    "\"", "'", "1",
                                "-",     "e9",     "nan",        "true",    "\"x\"", " ",  "#", "n",
                                "log10", "0x",     "1979-05-27", "\\u0000", "[["};
  for (uint32_t run = 0; run < 2000; ++run) {
    Draws draws(run + 10'000);
    std::string text;
    for (uint64_t i = draws.below(40); i > 0; --i) text += tokens[draws.below(std::size(tokens))];
    expect_an_answer(text, {"search.params." + text});
  }
}

void damage(const std::string& original) {
  for (uint32_t run = 0; run < 2000; ++run) {
    Draws draws(run + 20'000);
    std::string text = original;
    for (uint64_t edits = 1 + draws.below(4); edits > 0 && !text.empty(); --edits) {
      const size_t at = draws.below(text.size());
      switch (draws.below(4)) {
        case 0:
          text[at] = static_cast<char>(draws.below(256));
          break;
        case 1:
          text.erase(at, draws.below(20));
          break;
        case 2:
          text.insert(at, text.substr(draws.below(text.size()), draws.below(30)));
          break;
        default:
          text.insert(at, 1, "[]{}=.,\"'#\n"[draws.below(11)]);
      }
    }
    expect_an_answer(text);
  }
  for (size_t end = 0; end <= original.size(); ++end) expect_an_answer(original.substr(0, end));
}

TEST(Fuzz, DamagedFilesGiveAConfigOrAReason) {
  damage(kSeedFile);
  good(kFormsFile);
  damage(kFormsFile);
}

// Large files take little time, because nothing is quadratic in the number of mistakes or values.
TEST(Fuzz, LargeFilesAreReadCompletely) {
  std::string keys;
  for (int i = 0; i < 5000; ++i) keys += "k" + std::to_string(i) + " = 1\n";
  const ParseResult result = parse_text(keys);
  EXPECT_EQ(result.diagnostics.size(), 5000U);
  EXPECT_GT(render_all(result.diagnostics, keys, {}).size(), keys.size());

  std::string list = "C = [1";
  for (int i = 2; i <= 100'000; ++i) list += "," + std::to_string(i);
  EXPECT_EQ(good(grid(list + "]\n")).spaces[0].values.size(), 100'000U);
  EXPECT_EQ(parse_text(grid(list + ",0.5]\n")).diagnostics.size(), 1U);
}

}  // namespace
}  // namespace mokume::config
