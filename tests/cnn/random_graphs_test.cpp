// Imports random ONNX graphs (bench/peers/onnx_graphs.py). Each must answer as ONNX Runtime does, or be refused by the
// name of what mokume lacks. The file says which of the two, so that the importer does not refuse more over time.
// MOKUME_ONNX_GRAPHS names a file with other graphs.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "import/graph.hpp"
#include "import/import.hpp"
#include "pictures.hpp"
#include "saved/start.hpp"

namespace mokume::cnn_test {
namespace {

constexpr double kTolerance = 1e-5;

struct Case {
  std::string name, bytes, ends, order, outcome;
  int64_t rows;
  std::vector<float> expected;
};

std::vector<Case> cases_in(const std::string& path) {
  ::onnx::ModelProto file;
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(file.ParseFromIstream(&in)) << path;
  std::vector<Case> all;
  for (const onnx::Node& node : file.graph().node()) {
    const auto& y = onnx::find(node, "y")->floats();
    all.push_back({node.name(),
                   onnx::text(node, "model", ""),
                   onnx::text(node, "ends", ""),
                   onnx::text(node, "order", ""),
                   onnx::text(node, "outcome", ""),
                   onnx::integer(node, "rows", 0),
                   {y.begin(), y.end()}});
  }
  return all;
}

// Returns the numbers in [-2, 2) of rows_of() in bench/peers/onnx_graphs.py.
std::vector<float> rows_of(size_t count) {
  std::vector<float> x(count);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t h = i * 2654435761U;
    h = (h ^ (h >> 15U)) * 2246822519U;
    h ^= h >> 13U;
    x[i] = static_cast<float>(h >> 8U) / static_cast<float>(1 << 22) - 2;
  }
  return x;
}

// Moves the channels of images inside, as data.layout = "nchw" does.
std::vector<float> with_channels_last(const std::vector<float>& x, const Shape& s) {
  std::vector<float> turned;
  const int64_t pixels = s.height * s.width, rows = static_cast<int64_t>(x.size()) / s.elements();
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t p = 0; p < pixels; ++p)
      for (int64_t c = 0; c < s.channels; ++c)
        turned.push_back(x[static_cast<size_t>((r * s.channels + c) * pixels + p)]);
  return turned;
}

std::vector<float> log_softmax(const std::vector<float>& outputs, int64_t count) {
  std::vector<float> logs;
  for (auto row = outputs.begin(); row != outputs.end(); row += count) {
    const double most = *std::max_element(row, row + count);
    double sum = 0;
    for (auto at = row; at != row + count; ++at) sum += std::exp(double{*at} - most);
    for (auto at = row; at != row + count; ++at) logs.push_back(static_cast<float>(double{*at} - most - std::log(sum)));
  }
  return logs;
}

// Imports the graph and returns the network's answers. Throws Error if mokume refuses the graph.
std::vector<float> answers(World& world, const Case& test) {
  const Scratch scratch;
  const std::string path = scratch.str() + "/a.onnx", weights = scratch.str() + "/weights.safetensors";
  std::ofstream(path, std::ios::binary) << test.bytes;
  import_onnx(path, scratch.str(), [](const mk_imported&) {});
  onnx::Graph graph(onnx::Model::read(path));
  const onnx::Builder& builder = graph.builder();
  const bool classes = test.ends != "plain";
  Settings settings;
  settings.layers = builder.description().dump();
  settings.loss = classes ? Loss::cross_entropy : Loss::mse;
  const Network network = make_network(settings, builder.input(), graph.outputs());
  std::ifstream in(weights, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  const Start start(weights, bytes, network);
  const sdk::Device device = world.device();
  Engine engine(device, network, test.rows, false);
  start.write(engine.parameters());
  if (start.has_moments()) engine.set_moments(start.moments().feature_mean, start.moments().feature_deviation);
  std::vector<float> x = rows_of(static_cast<size_t>(test.rows * builder.input().elements()));
  if (test.order != "nhwc" && !builder.input().flat) x = with_channels_last(x, builder.input());
  if (!builder.scales_features())
    for (float& v : x) v = static_cast<float>((double{v} - builder.mean()) / builder.scale());
  engine.write_input(x.data(), test.rows);
  std::vector<float> y(static_cast<size_t>(test.rows * graph.outputs()));
  engine.read(engine.predict(test.rows), y.data());
  if (classes) y = log_softmax(y, graph.outputs());
  if (test.ends == "Softmax")
    for (float& v : y) v = std::exp(v);
  return y;
}

// Returns whether the message names an operator of the graph, or its input or output.
bool names_what_is_lacking(const Case& test, const std::string& message) {
  ::onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(test.bytes));
  bool named = message.find("its output") != std::string::npos || message.find("the input") != std::string::npos;
  for (const onnx::Node& node : model.graph().node())
    named = named || message.find("(" + node.op_type() + ")") != std::string::npos;
  return named;
}

// Returns the largest difference, relative to the largest expected value if that exceeds 1.
double difference(const std::vector<float>& is, const std::vector<float>& expected) {
  if (is.size() != expected.size()) return HUGE_VAL;
  double scale = 1, most = 0;
  for (size_t i = 0; i < is.size(); ++i) {
    scale = std::max(scale, std::fabs(double{expected[i]}));
    most = std::max(most, std::fabs(double{is[i]} - double{expected[i]}));
  }
  return most / scale;
}

TEST(OnnxGraphs, AnswerAsOnnxRuntimeDoesOrAreRefusedByName) {
  const char* given = std::getenv("MOKUME_ONNX_GRAPHS");
  const std::vector<Case> all =
      cases_in(given != nullptr ? given : test::source_directory() + "/tests/cnn/data/graphs.onnx");
  World world("host");
  size_t equal = 0;
  const auto check_outcome = [&](const Case& test, const std::string& outcome) {
    const bool unknown = test.outcome.empty() && given != nullptr;
    EXPECT_TRUE(unknown || outcome == test.outcome) << "graph " << test.name << " is " << outcome;
  };
  for (const Case& test : all) {
    const std::string name = "graph " + test.name;
    try {
      const double off = difference(answers(world, test), test.expected);
      EXPECT_LE(off, kTolerance) << name;
      check_outcome(test, "equal");
      equal += off <= kTolerance ? 1 : 0;
      if (given != nullptr) std::cout << name << ": a difference of " << off << "\n";
    } catch (const Error& e) {
      EXPECT_TRUE(names_what_is_lacking(test, e.what())) << name << ": " << e.what();
      check_outcome(test, "refused");
      if (given != nullptr) std::cout << name << ": refused: " << e.what() << "\n";
    }
  }
  std::cout << equal << " of " << all.size() << " graphs are equal\n";
  EXPECT_GE(5 * equal, 2 * all.size()) << "two of five graphs have only what docs/howto/import.md lists";
}

}  // namespace
}  // namespace mokume::cnn_test
