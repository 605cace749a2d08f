// What `mokume init` prints.
#include <fmt/format.h>

#include "config/config.hpp"
#include "config/tagged_table.hpp"
#include "config/value.hpp"

namespace mokume::config {
namespace {

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

// "dropout rate; from 0 to 1", "kernel function: linear, rbf".
std::string meaning(const mk_param& param) {
  std::string text = text_of(param.doc);
  const auto choices = choices_of(param.choices);
  if (!choices.empty()) text += (text.empty() ? "" : ": ") + join(choices);
  return text;
}

// "name = default  # what it means"; without a default a comment, to be filled in.
std::string line(const mk_param& param, const std::string& indent) {
  const std::string fallback = text_of(param.fallback);
  const std::string start = indent + (fallback.empty() && indent.empty() ? "# " : "");
  const std::string doc = meaning(param);
  return fmt::format("{}{:<14} = {:<10}{}{}\n", start, param.name, fallback, doc.empty() ? "" : " # ", doc);
}

std::string inline_form(const mk_form& form) {
  std::string text = fmt::format("{{ type = \"{}\"", form.name);
  for (uint32_t p = 0; p < form.n_params; ++p) {
    const std::string fallback = text_of(form.params[p].fallback);
    text += fmt::format(", {} = {}", form.params[p].name, fallback.empty() ? "..." : fallback);
  }
  return text + " }";
}

// What a form may be, as comments that can be copied.
std::string forms_of(const mk_param& param) {
  const bool list = param.type == MK_PARAM_FORMS;
  std::string text = fmt::format("\n# {} {}:\n", param.name, list ? "is a list of such tables" : "is one of");
  for (uint32_t f = 0; f < param.n_forms; ++f) {
    const mk_form& form = param.forms[f];
    const std::string doc = text_of(form.doc);
    const std::string start =
        list ? fmt::format("[[model_options.{}]]", param.name) : fmt::format("{} = {}", param.name, inline_form(form));
    text += "# " + start + (doc.empty() ? "" : "  # " + doc) + '\n';
    if (list) text += fmt::format("# type = \"{}\"\n", form.name);
    for (uint32_t p = 0; p < form.n_params; ++p)
      text += list ? line(form.params[p], "# ")
                   : fmt::format("#   {:<14} {}\n", form.params[p].name, meaning(form.params[p]));
  }
  return text;
}

// What a search would look like, with the first number among the parameters.
std::string search_example(const ModelSchema& schema) {
  for (uint32_t p = 0; p < schema.n_params; ++p) {
    const mk_param& param = schema.params[p];
    if (param.type == MK_PARAM_REAL) return fmt::format("{} = {{ log10 = [-1, 3], n = 5 }}", param.name);
    if (param.type == MK_PARAM_INTEGER) return fmt::format("{} = [1, 2]", param.name);
  }
  return "lr = [0.1, 0.01]";
}

}  // namespace

std::string starter_toml(const std::string& model, const ModelSchema& schema) {
  std::string text = fmt::format(R"(# mokume run FILE. Every key: `mokume schema`.
name  = "my-{0}"
model = "{0}"
seed  = 1

[data]
source = "digits"            # digits | friedman | mnist | idx | libsvm | csv
standardize = "features"     # or {{ mean = 127.5, scale = 73.61 }}, or "none"

[validation]
folds = 5                    # or share = 0.15: that share of the rows, drawn once

[search]
method = "none"             # grid: add [search.params], e.g. {1}

[devices]
use = "all"                 # every GPU and one CPU device; see `mokume devices`

[model_options]
)",
                                 model, search_example(schema));
  for (uint32_t p = 0; p < schema.n_params; ++p) text += line(schema.params[p], "");
  for (uint32_t p = 0; p < schema.n_params; ++p)
    if (is_form(schema.params[p])) text += forms_of(schema.params[p]);
  return text;
}

}  // namespace mokume::config
