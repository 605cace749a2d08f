// Tests the graphs that `mokume export` writes for both models. bench/peers/onnx_runtime.py compares their predictions
// with those of the program.
#include <gtest/gtest.h>
#include <onnx.pb.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

using Numbers = std::vector<int64_t>;

// Holds the parts of a file that the tests look at.
struct Exported {
  onnx::ModelProto model;
  std::vector<std::string> ops, inputs, outputs;
  std::map<std::string, Numbers> constants;  // dimensions of each constant

  explicit Exported(const fs::path& path) {
    EXPECT_TRUE(model.ParseFromString(slurp(path)));
    EXPECT_GE(model.ir_version(), 8);
    EXPECT_GE(model.opset_import(0).version(), 17);
    EXPECT_EQ(model.opset_import(1).domain(), "ai.onnx.ml");
    for (const onnx::NodeProto& node : model.graph().node()) ops.push_back(node.op_type());
    for (const onnx::TensorProto& tensor : model.graph().initializer())
      constants[tensor.name()].assign(tensor.dims().begin(), tensor.dims().end());
    for (const onnx::ValueInfoProto& input : model.graph().input()) inputs.push_back(input.name());
    for (const onnx::ValueInfoProto& output : model.graph().output()) outputs.push_back(output.name());
    std::sort(outputs.begin(), outputs.end());
  }
  // Returns an attribute of the k-th node with this operator.
  const onnx::AttributeProto& attribute(const std::string& op, const std::string& name, int k = 0) const {
    for (const onnx::NodeProto& node : model.graph().node())
      if (node.op_type() == op && k-- == 0)
        for (const onnx::AttributeProto& found : node.attribute())
          if (found.name() == name) return found;
    throw std::runtime_error("no " + op + " has the attribute " + name);
  }
  Numbers numbers(const std::string& op, const std::string& name, int k = 0) const {
    const auto& all = attribute(op, name, k).ints();
    return {all.begin(), all.end()};
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
  EXPECT_EQ(file.attribute("LabelEncoder", "values_strings").strings_size(), 10);
  EXPECT_EQ(file.numbers("MaxPool", "strides"), (Numbers{2, 2}));
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
  EXPECT_EQ(file.numbers("Conv", "kernel_shape"), (Numbers{4, 3}));
  EXPECT_EQ(file.numbers("Conv", "pads"), (Numbers{1, 1, 2, 1}));
  EXPECT_EQ(file.attribute("Conv", "group", 1).i(), 4);
  EXPECT_EQ(file.numbers("Conv", "dilations", 1), (Numbers{2, 2}));
  EXPECT_EQ(file.numbers("Conv", "pads", 1), (Numbers{2, 1, 2, 1}));
  EXPECT_EQ(file.constants.at("1.weight"), (Numbers{8, 1, 3, 3}));
  EXPECT_EQ(file.numbers("ConvTranspose", "output_padding"), (Numbers{1, 1}));
  EXPECT_EQ(file.constants.at("2.weight"), (Numbers{8, 2, 3, 3}));
  EXPECT_EQ(file.constants.at("2.bias"), Numbers{4});
  EXPECT_EQ(file.numbers("MaxPool", "pads"), (Numbers{0, 0, 1, 1}));
  EXPECT_EQ(file.numbers("AveragePool", "strides"), (Numbers{3, 2}));
  EXPECT_EQ(file.attribute("AveragePool", "count_include_pad").i(), 0);
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
  EXPECT_EQ(file.numbers("MaxPool", "strides"), (Numbers{7, 7}));
}

// The rows and their mirror images go through the network at once.
TEST_F(Export, ProductsShufflesAndMirrorImagesAreOperators) {
  train("source = \"digits\", limit = 100", R"(model = "cnn"
[model_options]
epochs = 1
test_time_augmentation = "horizontal_flip"
layers = [{ type = "conv2d", out_channels = 4, kernel_size = 3, stride = 3 }, { name = "x", type = "hard_swish" },
  { type = "adaptive_avg_pool2d" }, { type = "flatten" }, { type = "linear", out_features = 4 },
  { name = "gate", type = "hard_sigmoid" }, { type = "multiply", inputs = ["x", "gate"] },
  { type = "channel_shuffle", groups = 2 }, { type = "flatten" }, { type = "linear", out_features = 10 }]
)");
  const Exported file = exported();
  EXPECT_EQ(file.ops, (Names{"Reshape", "Transpose",   "Gather",    "Concat",       "Conv",        "HardSigmoid",
                             "Mul",     "AveragePool", "Flatten",   "Gemm",         "HardSigmoid", "Reshape",
                             "Mul",     "Reshape",     "Transpose", "Reshape",      "Flatten",     "Gemm",
                             "Reshape", "ReduceMean",  "ArgMax",    "LabelEncoder", "Softmax"}));
  EXPECT_EQ(file.numbers("ReduceMean", "axes"), Numbers{0});
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

// The training rows all have the label 1, and the exported classes are still -1 and 1.
TEST_F(Export, AOneClassMachineIsARegressorWithTwoClasses) {
  place_.write("normal", "1 1:1 2:1\n1 1:1.1 2:0.9\n1 1:0.9 2:1\n1 1:1 2:1.2\n1 1:0.8 2:1.1\n1 1:1 2:0.8\n");
  place_.write("both", "1 1:1 2:1\n-1 1:5 2:-5\n");
  train("source = \"libsvm\", path = \"./normal\", test = \"./both\", task = \"one_class\"",
        "model = \"svc\"\nmodel_options = { kind = \"one_class\", nu = 0.3, gamma = 1 }\n");
  const Exported file = exported();
  EXPECT_EQ(file.ops, (Names{"SVMRegressor", "Neg", "Concat", "ArgMax", "LabelEncoder"}));
  EXPECT_EQ(file.outputs, (Names{"decisions", "label"}));
  const auto& labels = file.attribute("LabelEncoder", "values_strings").strings();
  EXPECT_EQ(Names(labels.begin(), labels.end()), (Names{"-1", "1"}));
  const Ended predicted = place_.mokume("predict " + run_ + " --data libsvm:both");
  EXPECT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_EQ(predicted.out.rfind("row,predicted,label,decision_-1_vs_1\n0,1,1,-", 0), 0U) << predicted.out;
  EXPECT_NE(predicted.out.find("\n1,-1,-1,"), std::string::npos) << predicted.out;
}

constexpr const char* kThreeClasses = "a,b,kind\n0,0,ant\n0,1,ant\n5,5,\"b, 2\"\n5,6,\"b, 2\"\n9,0,cat\n9,1,cat\n";

TEST_F(Export, SvcIsAClassifierOrARegressorForEachClass) {
  place_.write("t.csv", kThreeClasses);
  const std::string csv = "source = \"csv\", path = \"./t.csv\", standardize = \"features\"";
  train(csv, "model = \"svc\"\nmodel_options.multiclass = \"ovo\"\n");
  const Exported pairs = exported();
  EXPECT_EQ(pairs.ops, (Names{"Cast", "Sub", "Div", "Cast", "SVMClassifier"}));
  EXPECT_EQ(pairs.outputs, (Names{"decisions", "label"}));
  const auto& labels = pairs.attribute("SVMClassifier", "classlabels_strings").strings();
  EXPECT_EQ(Names(labels.begin(), labels.end()), (Names{"ant", "b, 2", "cat"}));
  EXPECT_EQ(pairs.attribute("SVMClassifier", "rho").floats_size(), 3);
  EXPECT_EQ(pairs.attribute("SVMClassifier", "kernel_type").s(), "RBF");
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
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.err.find("cannot write 'no/such.onnx"), std::string::npos) << ended.err;
  train("source = \"csv\", path = \"./t.csv\"",
        "model = \"mean\"\nplugins.directories = [\"" + test_library() + "\"]\n");
  const Ended mean = place_.mokume("export --plugins " + test::shell_word(test_library()) + " " + run_);
  EXPECT_EQ(mean.code, 4);
  EXPECT_NE(mean.err.find("the model mean has no ONNX form"), std::string::npos) << mean.err;
}

}  // namespace
}  // namespace mokume::cli_test
