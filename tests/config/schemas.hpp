// Defines the parameters of three made-up models, for tests that read experiment files.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/parameter.hpp"
#include "sdk/error.hpp"

namespace mokume::config {

inline constexpr std::array<mk_param, 8> kSvcParams = {{
    {"C", MK_PARAM_REAL, MK_PARAM_EXCLUSIVE_MIN, 0, 1e12, "1.0", "", "penalty of a margin violation", nullptr, 0, 0},
    {"gamma", MK_PARAM_REAL, MK_PARAM_EXCLUSIVE_MIN, 0, 1e6, "0.001", "", "width of the kernel", nullptr, 0, 0},
    {"kernel", MK_PARAM_TEXT, 0, 0, 0, "\"rbf\"", "linear|polynomial|rbf|sigmoid", "kernel function", nullptr, 0, 0},
    {"degree", MK_PARAM_INTEGER, 0, 0, 64, "3", "", "exponent of the polynomial kernel", nullptr, 0, 0},
    {"coef0", MK_PARAM_REAL, 0, -1e6, 1e6, "0.0", "", "constant of the kernel", nullptr, 0, 0},
    {"multiclass", MK_PARAM_TEXT, 0, 0, 0, "\"ovr\"", "ovr|ovo", "one-vs-rest or one-vs-one", nullptr, 0, 0},
    {"tol", MK_PARAM_REAL, MK_PARAM_EXCLUSIVE_MIN, 0, 1, "1e-3", "", "stopping tolerance", nullptr, 0, 0},
    {"max_iterations", MK_PARAM_INTEGER, 0, 1, 1e12, "10000000", "", "cap of a binary problem", nullptr, 0, 0},
}};

// The second model has parameters of every kind, one of them without a default.
inline constexpr std::array<mk_param, 4> kOtherParams = {{
    {"rate", MK_PARAM_REAL, 0, -1, 1, "", "", "no default", nullptr, 0, 0},
    {"bias", MK_PARAM_BOOL, 0, 0, 0, "true", "", "a flag", nullptr, 0, 0},
    {"label", MK_PARAM_TEXT, 0, 0, 0, "\"a \\\"quoted\\\" text\"", "", "any text", nullptr, 0, 0},
    {"depth", MK_PARAM_INTEGER, 0, -5, 5, "0", nullptr, nullptr, nullptr, 0, 0},
}};

// The third model has tagged tables, like a network.
inline constexpr std::array<mk_param, 3> kSgdParams = {{
    {"lr", MK_PARAM_REAL, MK_PARAM_EXCLUSIVE_MIN, 0, 10, "0.01", "", "learning rate", nullptr, 0, 0},
    {"nesterov", MK_PARAM_BOOL, 0, 0, 0, "false", "", "look ahead", nullptr, 0, 0},
    {"damp", MK_PARAM_REAL, MK_PARAM_YOUNGER, 0, 1, "0.0", "", "share of the step", nullptr, 0, 0},
}};
inline constexpr std::array<mk_param, 1> kAdadeltaParams = {{
    {"lr", MK_PARAM_REAL, MK_PARAM_EXCLUSIVE_MIN, 0, 10, "1.0", "", "learning rate", nullptr, 0, 0},
}};
inline constexpr std::array<mk_form, 2> kOptimizers = {{
    {"sgd", "gradient descent", kSgdParams.data(), kSgdParams.size(), 0},
    {"adadelta", "Zeiler's", kAdadeltaParams.data(), kAdadeltaParams.size(), 0},
}};
inline constexpr mk_param kName = {
    "name", MK_PARAM_TEXT, MK_PARAM_YOUNGER | MK_PARAM_COMMON, 0, 0, "\"\"", "", "what others call it", nullptr, 0, 0};
inline constexpr std::array<mk_param, 4> kConvParams = {{
    {"out_channels", MK_PARAM_INTEGER, 0, 1, 4096, "", "", "number of filters", nullptr, 0, 0},
    {"kernel_size", MK_PARAM_INTEGER, 0, 1, 99, "", "", "edge of the window", nullptr, 0, 0},
    {"padding_mode", MK_PARAM_TEXT, 0, 0, 0, "\"zeros\"", "zeros|reflect", "what is around", nullptr, 0, 0},
    kName,
}};
inline constexpr std::array<mk_param, 2> kDropoutParams = {{
    {"p", MK_PARAM_REAL, 0, 0, 1, "0.5", "", "share of zeros", nullptr, 0, 0},
    kName,
}};
inline constexpr std::array<mk_param, 1> kReluParams = {{kName}};
inline constexpr std::array<mk_param, 1> kTwiceParams = {{
    {"of", MK_PARAM_TEXT, 0, 0, 0, "", "", "a table of pairs", nullptr, 0, 0},
}};
inline constexpr std::array<mk_form, 4> kLayers = {{
    {"conv2d", "convolution", kConvParams.data(), kConvParams.size(), 0},
    {"dropout", "zeros at random", kDropoutParams.data(), kDropoutParams.size(), 0},
    {"relu", nullptr, kReluParams.data(), kReluParams.size(), 0},
    {"twice", "a table of [model_options.pairs], twice", kTwiceParams.data(), kTwiceParams.size(), MK_FORM_EXPANDED},
}};

// Replaces each { type = "twice", of = "NAME" } with two copies of pairs.NAME and names the second copy "second".
inline int32_t expand_twice(const char* list, const char* options, void* taker,
                            void (*take)(void* taker, const char* answer), mk_error* error) {
  return sdk::guard(error, [&] {
    const auto find = [](const nlohmann::json& table, const std::string& key) {
      for (const auto& entry : table.at("table"))
        if (entry[0] == key) return entry[1];
      return nlohmann::json();
    };
    const auto text_of = [](const nlohmann::json& node) {
      return node.is_object() ? node.value("text", "") : std::string();
    };
    const auto root = nlohmann::json::parse(options);
    const nlohmann::json from = find(root, list), pairs = find(root, "pairs");
    nlohmann::json answer = {{"value", {{"at", from["at"]}, {"list", nlohmann::json::array()}}}};
    nlohmann::json& all = answer["value"]["list"];
    for (const nlohmann::json& layer : from["list"]) {
      all.push_back(layer);
      if (!layer.contains("table") || text_of(find(layer, "type")) != "twice") continue;
      const std::string name = text_of(find(layer, "of"));
      const nlohmann::json pair = pairs.is_object() && pairs.contains("table") ? find(pairs, name) : nlohmann::json();
      if (!pair.is_object() || !pair.contains("table")) {
        answer = {{"problems",
                   {{{"at", layer["at"]},
                     {"key", "of"},
                     {"message", "there is no such pair"},
                     {"word", name},
                     {"known", {"good"}},
                     {"note", "the list is at "},
                     {"place", from["at"]}}}}};
        break;
      }
      all.back() = pair;
      all.push_back(pair);
      all.back()["table"].push_back({"name", {{"at", pair["at"]}, {"text", "second"}}});
    }
    take(taker, answer.dump().c_str());
  });
}
inline constexpr std::array<mk_param, 4> kNetParams = {{
    {"epochs", MK_PARAM_INTEGER, 0, 1, 1000, "10", "", "passes over the data", nullptr, 0, 0},
    {"momentum", MK_PARAM_REAL, 0, 0, 1, "0.0", "", "of the optimizer", nullptr, 0, 0},
    {"optimizer", MK_PARAM_FORM, 0, 0, 0, "{ type = \"adadelta\" }", "", "how steps are made", kOptimizers.data(),
     kOptimizers.size(), 0},
    {"layers", MK_PARAM_FORMS, MK_PARAM_EXPANDED, 0, 0, "", "pairs", "from input to output", kLayers.data(),
     kLayers.size(), 0},
}};

inline const ModelSchema kNet = model_schema(kNetParams, expand_twice);
inline const ModelSchema kSvc = model_schema(kSvcParams);
inline const ModelSchema kOther = model_schema(kOtherParams);

inline std::optional<ModelSchema> lookup(const std::string& model, const std::vector<std::string>&, std::string& why) {
  if (model == "svc") return kSvc;
  if (model == "other") return kOther;
  if (model == "net") return kNet;
  why = "no model '" + model + "' in the plugin directories; there are: net, other, svc";
  return std::nullopt;
}

}  // namespace mokume::config
