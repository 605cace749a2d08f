// Imports small ONNX graphs and checks the resulting layers. tests/cli/networks/import_test.cpp compares predictions.
#include "import/import.hpp"

#include <fstream>
#include <functional>

#include "import/formula.hpp"
#include "pictures.hpp"
#include "sdk/onnx.hpp"

namespace mokume::cnn_test {
namespace {

using sdk::onnx::Attributes;
using sdk::onnx::Graph;
using Floats = std::vector<float>;

// Imports a graph. Returns its [model_options], or the message of the error.
std::string imported(const std::function<void(Graph&)>& make) {
  const Scratch scratch;
  Graph graph("test");
  make(graph);
  const std::string path = scratch.str() + "/a.onnx";
  graph.write(path);
  std::string text;
  try {
    import_onnx(path, scratch.str(), [&](const mk_imported& got) { text = got.options; });
  } catch (const Error& e) {
    return std::string(e.what()).substr(path.size() + 2);
  }
  return text.substr(text.find('\n') + 1);
}

Graph::Shape images(int64_t channels, int64_t side) { return {Graph::kRows, channels, side, side}; }

// Adds a linear layer with this name, which reads rows of `inputs` numbers from `x`.
std::string linear_of(Graph& g, const std::string& x, const std::string& name, int64_t inputs, int64_t outputs,
                      const std::string& as = "") {
  const Floats weight(static_cast<size_t>(inputs * outputs), 0.5F);
  return g.add("Gemm", {x, g.constant(name + ".weight", {outputs, inputs}, weight)},
               Attributes().set("transB", int64_t{1}), as);
}

TEST(Import, FoldsConstantsIntoTheLayerBefore) {
  EXPECT_EQ(imported([](Graph& g) {
              const std::string x = g.input("x", sdk::onnx::kFloat, {Graph::kRows, 4});
              const std::string y = linear_of(g, x, "a", 4, 3);
              const std::string z = g.add("Add", {y, g.constant("c", {3}, Floats{1, 2, 3})});
              g.add("Mul",
                    {g.add("Div", {z, g.constant("d", {}, Floats{4})}), g.constant("e", {1, 3}, Floats{1, 2, 3})}, {},
                    "y");
              g.output("y", sdk::onnx::kFloat, {Graph::kRows, 3});
            }),
            "epochs = 0\nlayers = [\n  { name = \"flatten\", type = \"flatten\" },\n"
            "  { name = \"a\", type = \"linear\", out_features = 3 },\n]\n");
}

// mokume keeps channels innermost, so the columns of an identity restore the order of the file.
TEST(Import, PutsFlattenedImagesAtTheEndIntoTheOrderOfTheFile) {
  const auto ending = [](int64_t side, const std::function<void(Graph&, const std::string&)>& end, int64_t outputs) {
    return imported([&](Graph& g) {
      const std::string x = g.input("x", sdk::onnx::kFloat, images(2, side));
      end(g, g.add("Flatten", {g.add("Relu", {x})}));
      g.output("y", sdk::onnx::kFloat, {Graph::kRows, outputs});
    });
  };
  const auto relu = [](Graph& g, const std::string& x) { g.add("Relu", {x}, {}, "y"); };
  const std::string order = "type = \"linear\", out_features = 32, bias = false }";
  EXPECT_NE(ending(4, relu, 32).find(order), std::string::npos) << ending(4, relu, 32);
  EXPECT_EQ(ending(1, relu, 2).find("out_features"), std::string::npos) << "a single pixel has one order";
  const auto gemm = [](Graph& g, const std::string& x) { linear_of(g, x, "a", 32, 3, "y"); };
  EXPECT_EQ(ending(4, gemm, 3).find("out_features = 32"), std::string::npos) << "a linear layer reads any order";
  EXPECT_NE(ending(23, relu, 1058).find("up to 1024 can be put in order"), std::string::npos);
}

// Imports a function of rows of two numbers that a linear layer reads.
std::string imported_function(const std::function<std::string(Graph&, const std::string&)>& function) {
  return imported([&](Graph& g) {
    const std::string x = g.input("x", sdk::onnx::kFloat, {Graph::kRows, 2});
    linear_of(g, function(g, linear_of(g, x, "a", 2, 2)), "b", 2, 3, "y");
    g.output("y", sdk::onnx::kFloat, {Graph::kRows, 3});
  });
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Import, KeepsBendsFarFromZero) {
  const auto relus = [](const std::function<std::string(Graph&, const std::string&)>& function) {
    const std::string text = imported_function(function);
    EXPECT_NE(text.find("layers = ["), std::string::npos) << text;
    EXPECT_EQ(text.find("leaky_relu"), std::string::npos) << text;
    return count_of(text, "type = \"relu\"");
  };
  const auto number = [](Graph& g, float v) { return g.constant("c" + std::to_string(v), {}, Floats{v}); };
  for (const auto& [low, high] : {std::pair(0.0F, 20.0F), {0, 100}, {-100, 100}, {-20, 128}})
    EXPECT_EQ(relus([&, low = low, high = high](Graph& g, const std::string& x) {
                return g.add("Clip", {x, number(g, low), number(g, high)});
              }),
              2U)
        << low << " " << high;
  for (const float shift : {10.0F, -20.0F, 3000.0F})
    EXPECT_EQ(relus([&](Graph& g, const std::string& x) {
                return g.add("Relu", {g.add("Add", {x, number(g, shift)})});
              }),
              1U)
        << shift;
}

// Exporters write the same functions in many ways.
TEST(Import, MakesHardSigmoidsAndHardSwishesOfEverySpelling) {
  const auto number = [](Graph& g, float v) { return g.constant("c" + std::to_string(v), {}, Floats{v}); };
  const auto clipped = [=](Graph& g, const std::string& x) {
    return g.add("Clip", {g.add("Add", {x, number(g, 3)}), number(g, 0), number(g, 6)});
  };
  const auto hard_sigmoid = [](Graph& g, const std::string& x, float alpha) {
    return g.add("HardSigmoid", {x}, Attributes().set("alpha", alpha).set("beta", 0.5F));
  };
  const auto layer_of = [](const std::function<std::string(Graph&, const std::string&)>& function) {
    const std::string text = imported_function(function);
    EXPECT_EQ(text.find("relu"), std::string::npos) << text;
    EXPECT_EQ(text.find("multiply"), std::string::npos) << text;
    return count_of(text, "type = \"hard_sigmoid\"") == 1 ? "hard_sigmoid"
           : count_of(text, "type = \"hard_swish\"") == 1 ? "hard_swish"
                                                          : "";
  };
  EXPECT_STREQ(layer_of([&](Graph& g, const std::string& x) { return hard_sigmoid(g, x, 1.0F / 6); }), "hard_sigmoid");
  EXPECT_STREQ(layer_of([&](Graph& g, const std::string& x) { return hard_sigmoid(g, x, 0.05F); }), "hard_sigmoid");
  const std::string scaled =
      imported_function([&](Graph& g, const std::string& x) { return hard_sigmoid(g, x, 0.2F); });
  EXPECT_EQ(scaled.find("normalise"), std::string::npos) << "the layer before has the factor: " << scaled;
  EXPECT_STREQ(layer_of([&](Graph& g, const std::string& x) { return g.add("HardSwish", {x}); }), "hard_swish");
  EXPECT_STREQ(layer_of([&](Graph& g, const std::string& x) {
                 return g.add("Mul", {hard_sigmoid(g, x, 1.0F / 6), x});
               }),
               "hard_swish");
  EXPECT_STREQ(layer_of([&](Graph& g, const std::string& x) {
                 return g.add("Div", {g.add("Mul", {x, clipped(g, x)}), number(g, 6)});
               }),
               "hard_swish");
  EXPECT_STREQ(layer_of([&](Graph& g, const std::string& x) {
                 return g.add("Mul", {x, g.add("Div", {clipped(g, x), number(g, 6)})});
               }),
               "hard_swish");
}

TEST(Import, MultipliesImagesByFactorsOfTheirChannels) {
  // Multiplies an image of 3 x 4 x 4 by what `factor` makes of the mean of its channels.
  const auto scaled = [](const std::function<std::string(Graph&, const std::string&)>& factor) {
    return imported([&](Graph& g) {
      const std::string x = g.add("Relu", {g.input("x", sdk::onnx::kFloat, images(3, 4))});
      const std::string y = g.add("Mul", {factor(g, g.add("GlobalAveragePool", {x})), x});
      linear_of(g, g.add("Flatten", {y}), "a", 48, 2, "y");
      g.output("y", sdk::onnx::kFloat, {Graph::kRows, 2});
    });
  };
  const auto shape = [](Graph& g, const std::vector<int64_t>& numbers) {
    return g.constant("shape", {static_cast<int64_t>(numbers.size())}, numbers);
  };
  const auto product = [](const char* factor) {
    return "type = \"multiply\", inputs = [\"" + std::string(factor) + "\", \"relu\"] }";
  };
  const auto has_product = [&](const std::string& text, const char* factor) {
    EXPECT_NE(text.find(product(factor)), std::string::npos) << text;
  };
  has_product(scaled([](Graph& g, const std::string& x) { return g.add("Sigmoid", {x}); }), "sigmoid");
  // In classifiers by PyTorch, linear layers compute the factors.
  has_product(scaled([&](Graph& g, const std::string& x) {
                return g.add("Reshape", {g.add("Sigmoid", {g.add("Flatten", {x})}), shape(g, {0, 3, 1, 1})});
              }),
              "sigmoid");
  has_product(scaled([&](Graph& g, const std::string& x) {
                return g.add("Sigmoid", {g.add("Unsqueeze", {g.add("Flatten", {x}), shape(g, {3, 2})})});
              }),
              "sigmoid");
  const std::string other = scaled([&](Graph& g, const std::string& x) {
    return g.add("Conv", {x, g.constant("w", {1, 3, 1, 1}, Floats{1, 2, 3})});
  });
  EXPECT_NE(other.find("(Mul) multiplies layers of the shapes 1 x 1 x 1 and 3 x 4 x 4"), std::string::npos) << other;
  const std::string read = scaled([&](Graph& g, const std::string& x) {
    return g.add("Relu",
                 {g.add("GlobalAveragePool", {g.add("Reshape", {g.add("Flatten", {x}), shape(g, {0, 3, 1, 1})})})});
  });
  EXPECT_NE(read.find("(GlobalAveragePool) reads rows as images of one pixel"), std::string::npos) << read;
}

TEST(Import, ShufflesChannels) {
  const auto shuffled = [](const std::vector<int64_t>& split, const std::vector<int64_t>& order, bool joined) {
    return imported([&](Graph& g) {
      const std::string x = g.add("Relu", {g.input("x", sdk::onnx::kFloat, images(6, 2))});
      std::string y = g.add("Reshape", {x, g.constant("split", {5}, split)});
      if (!order.empty()) y = g.add("Transpose", {y}, Attributes().set("perm", order));
      if (joined) y = g.add("Reshape", {y, g.constant("joined", {4}, std::vector<int64_t>{0, -1, 2, 2})});
      linear_of(g, g.add("Flatten", {y}), "a", 24, 2, "y");
      g.output("y", sdk::onnx::kFloat, {Graph::kRows, 2});
    });
  };
  const std::string layer = "type = \"channel_shuffle\", groups = 2 }";
  EXPECT_NE(shuffled({0, 2, -1, 2, 2}, {0, 2, 1, 3, 4}, true).find(layer), std::string::npos);
  EXPECT_EQ(shuffled({0, 2, 3, 2, 2}, {}, true).find("channel_shuffle"), std::string::npos) << "nothing moves";
  const std::string kept = shuffled({0, 2, 3, 2, 2}, {0, 2, 1, 3, 4}, false);
  EXPECT_NE(kept.find("(Flatten) reads an image in groups of channels"), std::string::npos) << kept;
  const std::string other = shuffled({0, 2, 3, 2, 2}, {0, 2, 1, 4, 3}, true);
  EXPECT_NE(other.find("(Transpose) transposes what mokume keeps in one order"), std::string::npos) << other;
}

TEST(Import, RefusesToClipWhereSmallNumbersWouldLoseDigits) {
  const auto clip = [](const std::string& low, const std::string& high) {
    return imported_function([&](Graph& g, const std::string& x) {
      std::vector<std::string> inputs{x};
      for (const std::string& bound : {low, high})
        inputs.push_back(bound.empty() ? "" : g.constant("c" + bound, {}, Floats{std::stof(bound)}));
      return g.add("Clip", inputs);
    });
  };
  for (const auto& [low, high] :
       {std::pair("0", "3000"), {"0", "1e6"}, {"-65504", "65504"}, {"-1e9", "1e9"}, {"-3000", ""}, {"", "129"}})
    EXPECT_NE(clip(low, high).find("(Clip) has a bound beyond +-128"), std::string::npos) << clip(low, high);
  EXPECT_EQ(count_of(clip("0", "3.4e38"), "type = \"relu\""), 1U) << "no float32 is above the bound";
  EXPECT_EQ(count_of(clip("", "3.4e38"), "relu"), 0U);
}

TEST(Import, ConvertsConstantsAsCastDoes) {
  // A factor of 2 after a relu is a standard deviation of 1/2.
  const auto factor = [](int64_t type, const auto& numbers) {
    return imported_function([&](Graph& g, const std::string& x) {
      const std::string c = g.add("Cast", {g.constant("c", {}, numbers)}, Attributes().set("to", type));
      const std::string real = g.add("Cast", {c}, Attributes().set("to", int64_t{sdk::onnx::kFloat}));
      return g.add("Mul", {g.add("Relu", {x}), real});
    });
  };
  for (const int64_t type : {::onnx::TensorProto::INT64, ::onnx::TensorProto::INT32})
    EXPECT_NE(factor(type, Floats{2.7F}).find("std = 0.5 }"), std::string::npos) << factor(type, Floats{2.7F});
  const std::vector<int64_t> two{2};
  EXPECT_NE(factor(::onnx::TensorProto::DOUBLE, two).find("std = 0.5 }"), std::string::npos);
  EXPECT_NE(factor(::onnx::TensorProto::FLOAT, Floats{0.5F}).find("std = 2.0 }"), std::string::npos);
  EXPECT_EQ(factor(::onnx::TensorProto::BOOL, Floats{2.7F}).find("normalise"), std::string::npos) << "a factor of 1";
  const std::string refused = "(Cast) gives constants of a type that mokume does not read, or numbers out of its range";
  EXPECT_NE(factor(::onnx::TensorProto::FLOAT16, Floats{2.7F}).find(refused), std::string::npos);
  EXPECT_NE(factor(::onnx::TensorProto::INT32, Floats{3e9F}).find(refused), std::string::npos);
  EXPECT_NE(factor(::onnx::TensorProto::INT32, std::vector<int64_t>{int64_t{1} << 31}).find(refused),
            std::string::npos);
}

TEST(Import, RefusesToComputeWithWholeNumbersAndTheNumberOfRows) {
  const std::string divided = imported_function([](Graph& g, const std::string& x) {
    const std::string c = g.add("Div", {g.constant("c", {}, std::vector<int64_t>{7}), g.constant("d", {}, Floats{2})});
    return g.add("Mul", {x, c});
  });
  EXPECT_NE(divided.find("(Div) works on constants"), std::string::npos) << divided;
  const std::string rows = imported_function([](Graph& g, const std::string& x) {
    const std::string n = g.add("Gather", {g.add("Shape", {x}), g.constant("c", {}, std::vector<int64_t>{0})});
    return g.add("Div", {x, g.add("Cast", {n}, Attributes().set("to", int64_t{sdk::onnx::kFloat}))});
  });
  const std::string shape = imported_function([](Graph& g, const std::string& x) {
    const std::string n = g.add("Gather", {g.add("Shape", {x}), g.constant("c", {1}, std::vector<int64_t>{0})});
    const std::string small = g.add("Cast", {n}, Attributes().set("to", int64_t{::onnx::TensorProto::INT32}));
    const std::string rest = g.constant("d", {1}, std::vector<int64_t>{-1});
    const std::string whole = g.add("Concat", {small, rest}, Attributes().set("axis", int64_t{0}));
    return g.add("Reshape", {x, g.add("Cast", {whole}, Attributes().set("to", int64_t{sdk::onnx::kInt64}))});
  });
  EXPECT_NE(shape.find("layers = ["), std::string::npos) << shape;
  EXPECT_NE(rows.find("(Cast) converts the number of rows, which is not fixed"), std::string::npos) << rows;
}

// PyTorch exports the sizes of a reshape as nodes, if a program computes them from the shape of its input.
// As in GoogLeNet, a window of 7 x 7 looks at an image of 6 x 6.
TEST(Import, AMeanOverTheWholeImageNeedsNoPadding) {
  const auto read = [](int64_t kernel, const std::vector<int64_t>& pads, int64_t counts) {
    return imported([&](Graph& g) {
      const std::string x = g.input("x", sdk::onnx::kFloat, images(2, 6));
      const std::string mean = g.add("AveragePool", {g.add("Relu", {x})},
                                     sdk::onnx::Attributes()
                                         .set("kernel_shape", std::vector<int64_t>{kernel, kernel})
                                         .set("pads", pads)
                                         .set("count_include_pad", counts));
      linear_of(g, g.add("Flatten", {mean}), "a", 2, 3, "y");
      g.output("y", sdk::onnx::kFloat, {Graph::kRows, 3});
    });
  };
  const std::string whole = "type = \"adaptive_avg_pool2d\" }";
  EXPECT_NE(read(7, {0, 0, 1, 1}, 0).find(whole), std::string::npos) << read(7, {0, 0, 1, 1}, 0);
  EXPECT_NE(read(8, {1, 1, 1, 1}, 0).find(whole), std::string::npos);
  EXPECT_NE(read(7, {0, 0, 1, 1}, 1).find("has a window larger than its image"), std::string::npos);
  EXPECT_EQ(read(5, {0, 0, 0, 0}, 0).find("adaptive"), std::string::npos);
}

TEST(Import, ReadsLocalResponseNormalisation) {
  const std::string text = imported([](Graph& g) {
    const std::string x = g.input("x", sdk::onnx::kFloat, images(4, 3));
    const std::string y = g.add("LRN", {x}, sdk::onnx::Attributes().set("size", int64_t{5}).set("bias", 2.0F));
    linear_of(g, g.add("Flatten", {y}), "a", 36, 3, "y");
    g.output("y", sdk::onnx::kFloat, {Graph::kRows, 3});
  });
  EXPECT_NE(text.find("type = \"lrn\", size = 5, k = 2.0"), std::string::npos) << text;
}

TEST(Import, ComputesWithSizes) {
  const auto joined = [](const char* op, int64_t by, const std::vector<int64_t>& cut) {
    return imported([&](Graph& g) {
      auto number = [&, k = 0](const std::vector<int64_t>& numbers) mutable {
        return g.constant("c" + std::to_string(k++), {static_cast<int64_t>(numbers.size())}, numbers);
      };
      const std::string x = g.add("Relu", {g.input("x", sdk::onnx::kFloat, images(6, 2))});
      const std::string shape = g.add("Shape", {x});
      const std::string channels = g.add("Slice", {shape, number({cut[0]}), number({cut[1]}), number({0})});
      const std::string each = g.add(op, {channels, number({by})});
      const std::string split = g.add("Concat", {number({0}), number({by}), each, number({2}), number({2})},
                                      Attributes().set("axis", int64_t{0}));
      const std::string turned = g.add("Transpose", {g.add("Reshape", {x, split})},
                                       Attributes().set("perm", std::vector<int64_t>{0, 2, 1, 3, 4}));
      linear_of(g, g.add("Flatten", {g.add("Reshape", {turned, number({0, 6, 2, 2})})}), "a", 24, 2, "y");
      g.output("y", sdk::onnx::kFloat, {Graph::kRows, 2});
    });
  };
  const std::string layer = "type = \"channel_shuffle\", groups = 3 }";
  for (const std::vector<int64_t>& cut : {std::vector<int64_t>{1, 2}, {-3, -2}})
    EXPECT_NE(joined("Div", 3, cut).find(layer), std::string::npos) << joined("Div", 3, cut);
  EXPECT_NE(joined("Mul", 3, {1, 2}).find("(Reshape) reshapes a row to another number of elements"), std::string::npos);
  EXPECT_NE(joined("Div", 0, {1, 2}).find("(Div) works on constants"), std::string::npos);
  EXPECT_NE(joined("Div", 3, {0, 1}).find("(Div) works on constants"), std::string::npos) << "the number of rows";
  EXPECT_NE(joined("Div", 3, {1, 3}).find("(Div) works on constants"), std::string::npos) << "two sizes";
}

TEST(Import, AddsDimensionsWhereTheResultHasThem) {
  // Multiplies an image of three channels by a constant.
  const auto multiplied = [](const Graph::Shape& shape, const std::vector<int64_t>& axes) {
    return imported([&](Graph& g) {
      const std::string x = g.input("x", sdk::onnx::kFloat, images(3, 3));
      const std::string c = g.constant("c", shape, Floats{1, 2, 3});
      const std::string wide = g.add("Unsqueeze", {c, g.constant("axes", {static_cast<int64_t>(axes.size())}, axes)});
      linear_of(g, g.add("Flatten", {g.add("Mul", {g.add("Relu", {x}), wide})}), "a", 27, 2, "y");
      g.output("y", sdk::onnx::kFloat, {Graph::kRows, 2});
    });
  };
  for (const std::vector<int64_t>& axes : {std::vector<int64_t>{-2, -1}, {-1, -2}, {1, 2}, {2, 1}})
    EXPECT_NE(multiplied({3}, axes).find("type = \"batch_norm\""), std::string::npos) << multiplied({3}, axes);
  // The constant becomes 1 x 1 x 3 x 1, which has one number for each line of the image.
  for (const std::vector<int64_t>& axes : {std::vector<int64_t>{1, 0}, {0, 1}})
    EXPECT_NE(multiplied({3, 1}, axes).find("(Mul) has constants that are not one number for each channel"),
              std::string::npos)
        << multiplied({3, 1}, axes);
  for (const std::vector<int64_t>& axes : {std::vector<int64_t>{1, 1}, {1, -2}, {0, 3}, {-4, 0}})
    EXPECT_NE(multiplied({3}, axes).find("(Unsqueeze) adds a dimension twice or out of range"), std::string::npos)
        << multiplied({3}, axes);
}

TEST(Import, RefusesToRoundValues) {
  for (const auto& [type, refused] : {std::pair(sdk::onnx::kFloat, false), {sdk::onnx::kInt64, true}}) {
    const std::string text = imported([&, to = int64_t{type}](Graph& g) {
      const std::string x = g.input("x", sdk::onnx::kFloat, {Graph::kRows, 4});
      linear_of(g, g.add("Cast", {x}, Attributes().set("to", to)), "a", 4, 3, "y");
      g.output("y", sdk::onnx::kFloat, {Graph::kRows, 3});
    });
    EXPECT_EQ(text.find("(Cast) rounds its values") != std::string::npos, refused) << text;
  }
}

// A layer that another node also reads keeps its weights.
TEST(Import, AddsALayerForConstantsBehindABranch) {
  const std::string text = imported([](Graph& g) {
    const std::string x = g.input("x", sdk::onnx::kFloat, {Graph::kRows, 4});
    const std::string y = linear_of(g, x, "a", 4, 2);
    const std::string halves = g.add("Mul", {y, g.constant("c", {}, Floats{0.5F})});
    const std::string scaled = g.add("Mul", {y, g.constant("d", {2}, Floats{3, -1})});
    g.add("Concat", {g.add("Relu", {halves}), scaled}, Attributes().set("axis", int64_t{1}), "y");
    g.output("y", sdk::onnx::kFloat, {Graph::kRows, 4});
  });
  EXPECT_NE(text.find("freeze = [\"batch_norm\"]\n"), std::string::npos) << text;
  EXPECT_NE(text.find("type = \"linear\", out_features = 2, bias = false }"), std::string::npos) << text;
  EXPECT_NE(text.find("std = 2.0, inputs = [\"a\"] }"), std::string::npos) << text;
  EXPECT_NE(text.find("inputs = [\"relu\", \"batch_norm\"] }"), std::string::npos) << text;
}

TEST(Import, RecognisesActivationsByTheirValues) {
  using onnx::Formula;
  using Kind = Formula::Kind;
  const auto n = [](double v) { return Formula::number(v); };
  const auto type = [](const onnx::FormulaPtr& f) {
    const auto keys = onnx::as_activation(f);
    return keys ? keys->dump() : "";
  };
  const auto half = Formula::make(Kind::multiply, nullptr, n(0.5));
  const auto erf = Formula::make(Kind::erf, Formula::make(Kind::divide, nullptr, n(1.41421354)));
  EXPECT_EQ(type(Formula::make(Kind::multiply, half, Formula::make(Kind::add, n(1), erf))), R"({"type":"gelu"})");
  // silu is x / (1 + exp(-x)).
  const auto below = Formula::make(Kind::add, n(1), Formula::make(Kind::exp, Formula::make(Kind::negative, nullptr)));
  EXPECT_EQ(type(Formula::make(Kind::divide, nullptr, below)), R"({"type":"silu"})");
  EXPECT_EQ(type(Formula::make(Kind::leaky_relu, nullptr, nullptr, 0.1)),
            R"({"type":"leaky_relu","negative_slope":0.1})");
  EXPECT_EQ(type(Formula::make(Kind::multiply, nullptr, Formula::make(Kind::tanh, nullptr))), "");
  EXPECT_EQ(type(Formula::make(Kind::hard_sigmoid, half)), "") << "its slope is another one";
  const auto affine = onnx::as_affine(Formula::make(Kind::subtract, Formula::make(Kind::add, half, half), n(3)));
  ASSERT_TRUE(affine);
  EXPECT_EQ(affine->scale, 1);
  EXPECT_EQ(affine->shift, -3);
  EXPECT_FALSE(onnx::as_affine(Formula::make(Kind::power, nullptr, n(2))));
  // The second relu bends at 1e5.
  const auto above = Formula::make(Kind::relu, Formula::make(Kind::subtract, n(1e5), nullptr));
  EXPECT_FALSE(onnx::as_affine(above));
  const auto below_limit =
      Formula::make(Kind::relu, Formula::make(Kind::subtract, n(1e5), Formula::make(Kind::relu, nullptr)));
  EXPECT_EQ(type(Formula::make(Kind::subtract, n(1e5), below_limit)), "");
}

TEST(Import, RefusesOperatorsThatNoLayerComputes) {
  const auto refused = [](const std::function<void(Graph&)>& make, const std::string& message) {
    const std::string text = imported(make);
    EXPECT_NE(text.find(message), std::string::npos) << text;
  };
  const auto with = [](const Graph::Shape& input, const std::function<void(Graph&)>& nodes) {
    return [=](Graph& g) {
      g.input("x", sdk::onnx::kFloat, input);
      nodes(g);
      g.output("y", sdk::onnx::kFloat, {Graph::kRows, 2});
    };
  };
  refused(with({Graph::kRows, 4}, [](Graph& g) { linear_of(g, "x", "a", 5, 2, "y"); }),
          "(Gemm) has weights whose shape does not fit its input");
  refused(with(images(3, 4),
               [](Graph& g) {
                 g.add("BatchNormalization", {"x", "none"}, {}, "y");
               }),
          "reads 'none', which no node computes");
  refused(with(images(3, 4), [](Graph& g) { g.add("Relu", {"x"}, {}, "y"); }), "its output is images of 3 x 4 x 4");
  refused(with(images(3, Graph::kRows), [](Graph& g) { g.add("Relu", {"x"}, {}, "y"); }),
          "is not fixed or out of range");
  refused(with({Graph::kRows, 4, 4}, [](Graph& g) { g.add("Relu", {"x"}, {}, "y"); }),
          "must be rows x features or rows x channels x height x width");
  refused(with({Graph::kRows, 4},
               [](Graph& g) {
                 g.input("z", sdk::onnx::kFloat, {Graph::kRows, 4});
                 g.add("Add", {"x", "z"}, {}, "y");
               }),
          "it has 2 inputs, and a network has one");
  refused(with({Graph::kRows, 4},
               [](Graph& g) {
                 g.add("Sub", {linear_of(g, "x", "a", 4, 2), linear_of(g, "x", "b", 4, 2)}, {}, "y");
               }),
          "joins two layers, and mokume joins layers by Add, Mul and Concat only");
  refused(with({Graph::kRows, 4},
               [](Graph& g) { linear_of(g, g.add("LogSoftmax", {linear_of(g, "x", "a", 4, 2)}), "b", 2, 2, "y"); }),
          "(LogSoftmax) is not the last one of a classifier");
  refused(with({Graph::kRows, 4}, [](Graph& g) { g.add("Sigmoid", {linear_of(g, "x", "a", 4, 2)}, {}, "y"); }),
          "(Sigmoid) ends the network with 2 numbers between bounds, which are no scores of classes");
  refused(with({Graph::kRows, 4}, [](Graph& g) { g.add("Softmax", {linear_of(g, "x", "a", 4, 1)}, {}, "y"); }),
          "its output is the Softmax of a single number");
  refused(with({Graph::kRows, 4},
               [](Graph& g) {
                 g.add("Add", {linear_of(g, "x", "a", 4, 2), g.constant("c", {}, Floats{1})},
                       Attributes().set("broadcast", int64_t{1}), "y");
               }),
          "(Add) has the attribute broadcast, which mokume does not know");
  const auto padded = [&](const std::vector<int64_t>& pads, const char* reader) {
    return with(images(1, 6), [=](Graph& g) {
      const std::string x = g.add("Pad", {"x", g.constant("pads", {8}, pads)});
      g.add(reader, {x, g.constant("w", {2, 1, 6, 8}, Floats(96, 1))}, {}, "y");
    });
  };
  EXPECT_NE(imported(padded({0, 0, 0, 2, 0, 0, 0, 0}, "Conv")).find("padding_width = 2"), std::string::npos);
  refused(padded({0, 0, 0, 1, 0, 0, 0, -1}, "Conv"), "(Pad) pads dimensions other than height and width, or cuts them");
  refused(padded({0, 0, 0, 2, 0, 0, 0, 0}, "Sub"), "(Sub) reads an image that a Pad has enlarged");
}

// Returns the message of the error for a file of these bytes.
std::string refused_bytes(const std::string& bytes) {
  const Scratch scratch;
  const std::string path = scratch.str() + "/a.onnx";
  std::ofstream(path, std::ios::binary) << bytes;
  try {
    import_onnx(path, scratch.str(), [](const mk_imported&) {});
  } catch (const Error& e) {
    return std::string(e.what()).substr(path.size() + 2);
  }
  return "none";
}

TEST(Import, RefusesFilesThatExpandInMemoryOrNest) {
  // A node of two bytes takes 150 bytes in memory, so these 4 MiB would become 300 MiB.
  ::onnx::ModelProto many;
  for (int k = 0; k < 1 << 21; ++k) many.mutable_graph()->add_node();
  EXPECT_EQ(refused_bytes(many.SerializeAsString()), "it has more nodes, names and attributes than any network");
  ::onnx::ModelProto deep;
  ::onnx::GraphProto* graph = deep.mutable_graph();
  for (int k = 0; k < 100; ++k) graph = graph->add_node()->add_attribute()->mutable_g();
  EXPECT_EQ(refused_bytes(deep.SerializeAsString()),
            "it is not an ONNX file, or is truncated or damaged; export it again");
  // The file announces a list that is longer than the file.
  EXPECT_EQ(refused_bytes("\x3a\xff\xff\xff\xff\x07"),
            "it is not an ONNX file, or is truncated or damaged; export it again");
}

// A small file must not take memory or time without bounds.
TEST(Import, BoundsHostileGraphs) {
  // Forty joins of a shape with itself would yield 2^40 numbers.
  const std::string doubled = imported([](Graph& g) {
    g.input("x", sdk::onnx::kFloat, {Graph::kRows, 4});
    std::string shape = g.add("Shape", {"x"});
    for (int k = 0; k < 40; ++k) shape = g.add("Concat", {shape, shape}, Attributes().set("axis", int64_t{0}));
    g.add("Reshape", {linear_of(g, "x", "a", 4, 2), shape}, {}, "y");
    g.output("y", sdk::onnx::kFloat, {Graph::kRows, 2});
  });
  EXPECT_NE(doubled.find("joins constants that are no shape"), std::string::npos) << doubled;
  // A thousand layers share one weight.
  const std::string shared = imported([](Graph& g) {
    std::string x = g.input("x", sdk::onnx::kFloat, {Graph::kRows, 300});
    const std::string weight = g.constant("w", {300, 300}, Floats(90'000, 1));
    for (int k = 0; k < 1000; ++k)
      x = g.add("Gemm", {x, weight}, Attributes().set("transB", int64_t{1}), k == 999 ? "y" : "");
    g.output("y", sdk::onnx::kFloat, {Graph::kRows, 300});
  });
  EXPECT_NE(shared.find("its layers share weights"), std::string::npos) << shared;
  // A thousand nodes transpose one weight.
  const std::string copied = imported([](Graph& g) {
    const std::string x = g.input("x", sdk::onnx::kFloat, {Graph::kRows, 300});
    std::string weight = g.constant("w", {300, 300}, Floats(90'000, 1));
    for (int k = 0; k < 1000; ++k) weight = g.add("Transpose", {weight});
    g.add("MatMul", {x, weight}, {}, "y");
    g.output("y", sdk::onnx::kFloat, {Graph::kRows, 300});
  });
  EXPECT_NE(copied.find("(Transpose) computes far more constants than the file has"), std::string::npos) << copied;
}

}  // namespace
}  // namespace mokume::cnn_test
