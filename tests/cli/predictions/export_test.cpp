// `mokume export`: the graphs of both models. bench/peers/onnx_runtime.py compares their predictions with the
// program's.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

// The fields of an encoded message: by number, the bytes of each text or message, and the values of integers.
struct Fields {
  std::map<uint32_t, std::vector<std::string>> texts;
  std::map<uint32_t, std::vector<int64_t>> integers;

  explicit Fields(std::string_view bytes) {
    const auto byte = [&] {
      if (bytes.empty()) throw std::runtime_error("the message ends early");
      const auto value = static_cast<unsigned char>(bytes.front());
      bytes.remove_prefix(1);
      return value;
    };
    const auto varint = [&] {
      uint64_t value = 0;
      for (uint32_t shift = 0;; shift += 7) {
        const unsigned char part = byte();
        value |= uint64_t{part & 0x7fU} << shift;
        if (part < 0x80) return value;
      }
    };
    while (!bytes.empty()) {
      const uint64_t tag = varint();
      const auto field = static_cast<uint32_t>(tag >> 3);
      if ((tag & 7) == 0) {
        integers[field].push_back(static_cast<int64_t>(varint()));
        continue;
      }
      const uint64_t size = (tag & 7) == 5 ? 4 : varint();
      if ((tag & 7) != 2 && (tag & 7) != 5) throw std::runtime_error("an unknown wire type");
      if (size > bytes.size()) throw std::runtime_error("a field is longer than its message");
      texts[field].emplace_back(bytes.substr(0, size));
      bytes.remove_prefix(size);
    }
  }
  Fields at(uint32_t field, size_t k = 0) const { return Fields(texts.at(field).at(k)); }
};

struct Node {
  std::string op;
  std::map<std::string, Fields> attributes;
};

// The parts of a file that the tests look at.
struct Exported {
  std::vector<Node> nodes;
  std::vector<std::string> ops, inputs, outputs;
  std::map<std::string, std::vector<int64_t>> constants;  // their dimensions

  explicit Exported(const fs::path& path) {
    const Fields model(slurp(path));
    EXPECT_GE(model.integers.at(1).at(0), 8) << "the version of the format";
    EXPECT_GE(model.at(8, 0).integers.at(2).at(0), 17) << "the version of the operators";
    EXPECT_EQ(model.at(8, 1).texts.at(1).at(0), "ai.onnx.ml");
    const Fields graph = model.at(7);
    for (size_t k = 0; k < graph.texts.at(1).size(); ++k) {
      const Fields node = graph.at(1, k);
      Node& made = nodes.emplace_back();
      made.op = node.texts.at(4).at(0);
      ops.push_back(made.op);
      for (size_t a = 0; node.texts.count(5) > 0 && a < node.texts.at(5).size(); ++a)
        made.attributes.emplace(node.at(5, a).texts.at(1).at(0), node.at(5, a));
    }
    if (graph.texts.count(5) > 0)
      for (size_t k = 0; k < graph.texts.at(5).size(); ++k) {
        const Fields tensor = graph.at(5, k);
        constants[tensor.texts.at(8).at(0)] = tensor.integers.at(1);
      }
    for (size_t k = 0; k < graph.texts.at(11).size(); ++k) inputs.push_back(graph.at(11, k).texts.at(1).at(0));
    for (size_t k = 0; k < graph.texts.at(12).size(); ++k) outputs.push_back(graph.at(12, k).texts.at(1).at(0));
    std::sort(outputs.begin(), outputs.end());
  }
  const Node& node(const std::string& op) const {
    return *std::find_if(nodes.begin(), nodes.end(), [&](const Node& n) { return n.op == op; });
  }
};

using Names = std::vector<std::string>;

class Export : public testing::Test {
 protected:
  void train(const std::string& data, const std::string& more) {
    place_.write("e.toml", "name = \"e\"\nseed = 3\ndevices.use = \"host\"\nvalidation.folds = 0\ndata = { " + data +
                               " }\n" + more);
    const Ended ended = place_.mokume("run e.toml --fresh --out out" + std::to_string(++runs_));
    ASSERT_EQ(ended.code, 0) << ended.err;
    for (const auto& entry : fs::directory_iterator(place_.path() / ("out" + std::to_string(runs_)) / "e"))
      run_ = entry.path().string();
  }
  Exported exported() const {
    const Ended ended = place_.mokume("export " + run_ + " --onnx a.onnx");
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "a.onnx\n");
    return Exported(place_.path() / "a.onnx");
  }

  Place place_;
  int runs_ = 0;
  std::string run_;
};

TEST_F(Export, EveryLayerOfANetworkIsAnOperator) {
  train("source = \"digits\", limit = 100, standardize = { mean = 0, scale = 255 }", R"(model = "cnn"
[model_options]
epochs = 1
layers = [{ type = "normalise", mean = 0.1, std = 0.3 }, { type = "conv2d", out_channels = 4, kernel_size = 5 },
  { type = "relu" }, { type = "max_pool2d", kernel_size = 2 }, { type = "adaptive_avg_pool2d", output_size = 5 },
  { type = "dropout", p = 0.2 }, { type = "adaptive_avg_pool2d", output_size = 1 }, { type = "flatten" },
  { type = "linear", out_features = 10, bias = false }, { type = "log_softmax" }]
)");
  const Exported file = exported();
  EXPECT_EQ(file.ops,
            (Names{"Cast", "Sub", "Div", "Cast", "Reshape", "Transpose", "Sub", "Mul", "Conv", "Relu", "MaxPool",
                   "MatMul", "MatMul", "AveragePool", "Flatten", "Gemm", "ArgMax", "LabelEncoder", "Softmax"}));
  EXPECT_EQ(file.inputs, Names{"rows"});
  EXPECT_EQ(file.outputs, (Names{"label", "probabilities"}));
  EXPECT_EQ(file.constants.at("1.weight"), (std::vector<int64_t>{4, 1, 5, 5}));
  EXPECT_EQ(file.constants.at("8.weight"), (std::vector<int64_t>{10, 4}));
  EXPECT_EQ(file.node("LabelEncoder").attributes.at("values_strings").texts.at(9).size(), 10U);
  EXPECT_EQ(file.node("MaxPool").attributes.at("strides").integers.at(8), (std::vector<int64_t>{2, 2}));
}

TEST_F(Export, WindowsOfEveryKindHaveTheirAttributes) {
  train("source = \"digits\", limit = 100, standardize = { mean = 0, scale = 255 }", R"(model = "cnn"
[model_options]
epochs = 1
layers = [{ type = "conv2d", out_channels = 4, kernel_size = 4, kernel_width = 3, same = true },
  { type = "conv2d", out_channels = 8, kernel_size = 3, groups = 4, dilation = 2, padding = 2, padding_width = 1 },
  { type = "conv_transpose2d", out_channels = 4, kernel_size = 3, stride = 2, padding = 1, output_padding = 1, groups = 2 },
  { type = "max_pool2d", kernel_size = 3, stride = 2, ceil_mode = true },
  { type = "avg_pool2d", kernel_size = 3, kernel_width = 2, padding = 1, padding_width = 0, count_include_pad = false },
  { type = "flatten" }, { type = "linear", out_features = 10 }]
)");
  const Exported file = exported();
  using Numbers = std::vector<int64_t>;
  const auto numbers = [&](const std::string& op, const char* name) {
    return file.node(op).attributes.at(name).integers.at(8);
  };
  EXPECT_EQ(numbers("Conv", "kernel_shape"), (Numbers{4, 3}));
  EXPECT_EQ(numbers("Conv", "pads"), (Numbers{1, 1, 2, 1}));
  const auto second = std::find_if(file.nodes.begin(), file.nodes.end(),
                                   [](const Node& n) { return n.op == "Conv" && n.attributes.count("group") == 1; });
  ASSERT_NE(second, file.nodes.end());
  EXPECT_EQ(second->attributes.at("group").integers.at(3), Numbers{4});
  EXPECT_EQ(second->attributes.at("dilations").integers.at(8), (Numbers{2, 2}));
  EXPECT_EQ(second->attributes.at("pads").integers.at(8), (Numbers{2, 1, 2, 1}));
  EXPECT_EQ(file.constants.at("1.weight"), (Numbers{8, 1, 3, 3}));
  EXPECT_EQ(numbers("ConvTranspose", "output_padding"), (Numbers{1, 1}));
  EXPECT_EQ(file.constants.at("2.weight"), (Numbers{8, 2, 3, 3}));
  EXPECT_EQ(file.constants.at("2.bias"), Numbers{4});
  EXPECT_EQ(numbers("MaxPool", "pads"), (Numbers{0, 0, 1, 1}));
  EXPECT_EQ(numbers("AveragePool", "strides"), (Numbers{3, 2}));
  EXPECT_EQ(file.node("AveragePool").attributes.at("count_include_pad").integers.at(3), Numbers{0});
}

TEST_F(Export, PaddingAndUnequalCellsGatherPixels) {
  train("source = \"digits\", limit = 100, standardize = { mean = 0, scale = 255 }", R"(model = "cnn"
[model_options]
epochs = 1
layers = [{ type = "conv2d", out_channels = 4, kernel_size = 3, padding = 1, padding_mode = "reflect" },
  { type = "softmax" }, { type = "adaptive_max_pool2d", output_size = 5 },
  { type = "adaptive_max_pool2d", output_size = 1 }, { type = "flatten" }, { type = "linear", out_features = 10 },
  { type = "softmax" }]
)");
  const Exported file = exported();
  EXPECT_EQ(file.ops,
            (Names{"Cast", "Sub", "Div", "Cast", "Reshape", "Transpose", "Gather", "Gather", "Conv", "Softmax",
                   "Gather", "Gather", "MaxPool", "MaxPool", "Flatten", "Gemm", "ArgMax", "LabelEncoder", "Softmax"}))
      << "the last layer is the Softmax that every classifier has";
  EXPECT_EQ(file.constants.at("0.rows"), std::vector<int64_t>{30});
  EXPECT_EQ(file.constants.at("2.columns"), std::vector<int64_t>{35}) << "five cells of up to seven pixels";
  EXPECT_EQ(file.node("MaxPool").attributes.at("strides").integers.at(8), (std::vector<int64_t>{7, 7}));
}

TEST_F(Export, EveryActivationIsAFewOperators) {
  train("source = \"friedman\", limit = 200", R"(model = "cnn"
[model_options]
epochs = 1
layers = [{ type = "linear", out_features = 4 }, { type = "leaky_relu", negative_slope = 0.2 }, { type = "gelu" },
  { type = "gelu", approximate = "tanh" }, { type = "silu" }, { type = "tanh" }, { type = "sigmoid" },
  { type = "linear", out_features = 1 }]
)");
  const Exported file = exported();
  EXPECT_EQ(file.ops,
            (Names{"Gemm", "PRelu", "Mul", "Erf", "Mul",     "Add", "Mul",  "Mul",     "Mul",  "Add", "Mul", "Mul",
                   "Tanh", "Mul",   "Add", "Mul", "Sigmoid", "Mul", "Tanh", "Sigmoid", "Gemm", "Mul", "Add"}));
  EXPECT_EQ(file.constants.at("1.slope"), std::vector<int64_t>{1});
}

TEST_F(Export, ARegressionGivesNumbersOnTheScaleOfTheTargets) {
  train("source = \"friedman\", limit = 200", R"(model = "cnn"
[model_options]
epochs = 1
layers = [{ type = "normalise", per_feature = true }, { type = "linear", out_features = 1 }]
)");
  const Exported file = exported();
  EXPECT_EQ(file.ops, (Names{"Sub", "Mul", "Gemm", "Mul", "Add"}));
  EXPECT_EQ(file.outputs, Names{"predicted"});
  EXPECT_EQ(file.constants.at("0.mean"), std::vector<int64_t>{4777});
}

constexpr const char* kThreeClasses = "a,b,kind\n0,0,ant\n0,1,ant\n5,5,\"b, 2\"\n5,6,\"b, 2\"\n9,0,cat\n9,1,cat\n";

TEST_F(Export, SvcIsAClassifierOrARegressorForEachClass) {
  place_.write("t.csv", kThreeClasses);
  const std::string csv = "source = \"csv\", path = \"./t.csv\", standardize = \"features\"";
  train(csv, "model = \"svc\"\nmodel_options.multiclass = \"ovo\"\n");
  const Exported pairs = exported();
  EXPECT_EQ(pairs.ops, (Names{"Cast", "Sub", "Div", "Cast", "SVMClassifier"}));
  EXPECT_EQ(pairs.outputs, (Names{"decisions", "label"}));
  const auto& attributes = pairs.node("SVMClassifier").attributes;
  EXPECT_EQ(attributes.at("classlabels_strings").texts.at(9), (Names{"ant", "b, 2", "cat"}));
  EXPECT_EQ(attributes.at("rho").texts.at(7).size(), 3U);
  EXPECT_EQ(attributes.at("kernel_type").texts.at(4).at(0), "RBF");
  train(csv, "model = \"svc\"\nmodel_options.multiclass = \"ovr\"\n");
  EXPECT_EQ(exported().ops, (Names{"Cast", "Sub", "Div", "Cast", "SVMRegressor", "SVMRegressor", "SVMRegressor",
                                   "Concat", "ArgMax", "LabelEncoder"}));
}

TEST_F(Export, EveryMemberOfAnEnsembleGetsAFile) {
  place_.write("t.csv", kThreeClasses);
  train("source = \"csv\", path = \"./t.csv\"", "model = \"svc\"\nbagging.bootstraps = 2\n");
  const Ended ended = place_.mokume("export " + run_);
  EXPECT_EQ(ended.out, "e-000.onnx\ne-001.onnx\n") << ended.err;
  EXPECT_EQ(Exported(place_.path() / "e-001.onnx").outputs, (Names{"decisions", "label"}));
}

TEST_F(Export, WhatCannotBeExportedIsReportedInASentence) {
  place_.write("t.csv", kThreeClasses);
  train("source = \"csv\", path = \"./t.csv\"", "model = \"svc\"\n");
  const Ended ended = place_.mokume("export " + run_ + " --onnx no/such.onnx");
  EXPECT_EQ(ended.code, 75);
  EXPECT_NE(ended.err.find("cannot write no/such.onnx"), std::string::npos) << ended.err;
  train("source = \"csv\", path = \"./t.csv\"",
        "model = \"mean\"\nplugins.directories = [\"" + test_library() + "\"]\n");
  const Ended mean = place_.mokume("export --plugins " + test::shell_word(test_library()) + " " + run_);
  EXPECT_EQ(mean.code, 4);
  EXPECT_NE(mean.err.find("the model mean has no ONNX form"), std::string::npos) << mean.err;
}

}  // namespace
}  // namespace mokume::cli_test
