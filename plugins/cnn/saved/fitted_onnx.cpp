// Writes a trained network as an ONNX file.
#include "layers/export.hpp"
#include "saved/fitted.hpp"

namespace mokume::cnn {
namespace {

using namespace sdk::onnx;

std::string add_parameter(Graph& graph, const Parameter& p, const std::vector<float>& all) {
  std::vector<float> values(p.size());
  to_torch(p, all, 0, p.outputs, values.data());
  return graph.constant(p.name, p.torch_shape(), values);
}

// Transposes rows from channels innermost to channels first, which operators expect.
std::string add_image(Graph& graph, const std::string& x, const Shape& shape) {
  if (shape.flat) return x;
  const std::vector<int64_t> image{Graph::kRows, shape.height, shape.width, shape.channels};
  const std::string shaped = graph.add("Reshape", {x, graph.constant("image", {4}, image)});
  return graph.add("Transpose", {shaped}, Attributes().set("perm", std::vector<int64_t>{0, 3, 1, 2}));
}

// Appends the mirror images to the rows of a batch.
std::string with_mirror_images(Graph& graph, const std::string& x, const Shape& image) {
  std::vector<int64_t> columns;
  for (int64_t c = image.width; c-- > 0;) columns.push_back(c);
  const std::string mirrored = graph.add("Gather", {x, graph.constant("mirrored_columns", {image.width}, columns)},
                                         Attributes().set("axis", int64_t{3}));
  return graph.add("Concat", {x, mirrored}, Attributes().set("axis", int64_t{0}));
}

// Returns the mean of the first half of the rows and the second one.
std::string mean_of_halves(Graph& graph, const std::string& x, int64_t outputs) {
  const std::string halves =
      graph.add("Reshape", {x, graph.constant("halves", {3}, std::vector<int64_t>{2, Graph::kRows, outputs})});
  return graph.add("ReduceMean", {halves},
                   Attributes().set("axes", std::vector<int64_t>{0}).set("keepdims", int64_t{0}));
}

void add_number(Graph& graph, const std::string& x, const Moments& moments) {
  const auto number = [&](const char* name, double value) {
    return graph.constant(name, {1}, std::vector<float>{static_cast<float>(value)});
  };
  const std::string product = graph.add("Mul", {x, number("target_deviation", moments.target_deviation)});
  graph.add("Add", {product, number("target_mean", moments.target_mean)}, {}, "predicted");
  graph.output("predicted", kFloat, {Graph::kRows, 1});
}

}  // namespace

void Fitted::export_onnx(const std::string& path) const {
  if (uint64_t(network.n_parameters) * sizeof(float) > kMaxBytes)
    throw Error(MK_UNSUPPORTED, "the network takes more than 2 GiB, which an ONNX file cannot hold");
  Graph graph("mokume cnn");
  const std::string rows = graph.input("rows", kFloat, {Graph::kRows, network.input.elements()});
  std::string x = add_image(graph, graph.scaled(rows, mean, scale), network.input);
  if (settings.mirrors) x = with_mirror_images(graph, x, network.input);
  Export to{graph, [&](int p) { return add_parameter(graph, network.parameters[p], parameters); }, moments.feature_mean,
            moments.feature_deviation};
  std::vector<std::string> outputs;  // indexed by layer
  for (const auto& layer : network.layers) {
    std::vector<std::string> xs;
    for (const int i : layer->inputs) xs.push_back(i < 0 ? x : outputs[size_t(i)]);
    outputs.push_back(layer->join_onnx(to, xs));
  }
  x = settings.mirrors ? mean_of_halves(graph, outputs.back(), network.outputs()) : outputs.back();
  if (!classifies()) {
    add_number(graph, x, moments);
  } else {
    graph.label_of_largest(x, class_names);
    graph.add("Softmax", {x}, Attributes().set("axis", int64_t{1}), "probabilities");
    graph.output("probabilities", kFloat, {Graph::kRows, network.outputs()});
  }
  graph.write(path);
}

}  // namespace mokume::cnn
