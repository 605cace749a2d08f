// Defines targets for the experiment file and the command line.
#include "config/parse.hpp"
#include "config/resolved.hpp"
#include "config/schemas.hpp"
#include "data/spec.hpp"
#include "fuzz.hpp"

namespace mokume::fuzz {
namespace {

using config::Origin;
using config::ParseResult;

ParseResult parsed(std::string_view text, const std::vector<std::string>& sets, Origin origin) {
  const std::string file(text);
  ParseResult result = config::parse(file, "fuzz.toml", sets, config::lookup, origin);
  require(result.config.has_value() == result.diagnostics.empty(), "neither a config nor a reason, or both");
  const std::string shown = config::render_all(result.diagnostics, file, sets);
  require(shown.empty() == result.config.has_value(), "a reason that is not shown");
  require(shown.find('\x1b') == std::string::npos, "an escape sequence reaches the terminal");
  return result;
}

void check_round_trip(const ParseResult& first, Origin origin) {
  if (!first.config) return;
  const std::string text = config::to_toml(*first.config);
  const ParseResult second = parsed(text, {}, origin);
  require(second.config.has_value(),
          "the resolved file is refused:\n" + text + config::render_all(second.diagnostics, text, {}));
  require(config::to_toml(*second.config) == text, "the resolved file reads back as another one:\n" + text);
  require(config::canonical_json(*second.config) == config::canonical_json(*first.config), "another plan:\n" + text);
}

FUZZ_TARGET(toml) { check_round_trip(parsed(bytes, {}, Origin::experiment), Origin::experiment); }

// Reads the file of a run, whose missing keys have the values of earlier versions.
FUZZ_TARGET(resolved) { check_round_trip(parsed(bytes, {}, Origin::run), Origin::experiment); }

FUZZ_TARGET(set_argument) {
  constexpr const char* kFile =
      "name = \"a\"\nmodel = \"net\"\n[data]\nsource = \"digits\"\n[search]\nmethod = \"grid\"\n[search.params]\n"
      "momentum = [0.1, 0.2]\n[[model_options.layers]]\ntype = \"relu\"\n";
  check_round_trip(parsed(kFile, {std::string(bytes)}, Origin::experiment), Origin::experiment);
}

FUZZ_TARGET(data_spec) {
  accepts([&] {
    const data::DataSpec spec = data::parse_spec(bytes);
    data::check_spec(spec);
    data::parse_spec(bytes, &spec);
  });
}

}  // namespace
}  // namespace mokume::fuzz
