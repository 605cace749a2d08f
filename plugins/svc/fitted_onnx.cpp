// Writes a fitted model as an ONNX file, whose operators for support vector machines follow LIBSVM.
#include <algorithm>

#include "fitted.hpp"
#include "sdk/onnx.hpp"

namespace mokume::svc {
namespace {

using namespace sdk::onnx;

constexpr const char* kKernelTypes[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};

template <class From>
std::vector<float> floats(const std::vector<From>& values) {
  return {values.begin(), values.end()};
}

// Returns the vectors as the operators take them.
std::vector<float> dense(const LibsvmModel& m) {
  constexpr int64_t kMost = int64_t{1} << 29;  // an ONNX file has at most 2 GiB
  if (m.vectors.rows() * m.features >= kMost)
    throw Error(MK_UNSUPPORTED,
                "ONNX stores the zeros of support vectors, and those of this model take more than the "
                "2 GiB of an ONNX file: train it with fewer features");
  std::vector<float> all(static_cast<size_t>(m.vectors.rows() * m.features), 0.0F);
  for (int64_t v = 0; v < m.vectors.rows(); ++v) m.vectors.expand(v, all.data() + v * m.features);
  return all;
}

// Returns the attributes that both operators have. Negates rho, because ONNX adds it and LIBSVM subtracts it.
Attributes support_vectors(const LibsvmModel& m) {
  const ops::KernelFunction& k = m.kernel;
  std::vector<float> added;
  for (const double rho : m.rho) added.push_back(static_cast<float>(-rho));
  return Attributes()
      .set("kernel_type", kKernelTypes[static_cast<int>(k.kind)])
      .set("kernel_params",
           std::vector<float>{static_cast<float>(k.gamma), static_cast<float>(k.coef0), static_cast<float>(k.degree)})
      .set("support_vectors", dense(m))
      .set("coefficients", floats(m.coefficients))
      .set("rho", added)
      .set("post_transform", "NONE");
}

// Adds a vector with weight 0 to a model without support vectors, which both operators would take for a linear model.
LibsvmModel with_a_vector(LibsvmModel m) {
  if (m.n_vectors() > 0) return m;
  m.vectors.end_row();
  m.coefficients.assign(static_cast<size_t>(m.coefficient_rows()), 0.0);
  m.vectors_per_class[0] = 1;
  return m;
}

void add_classifier(Graph& graph, const std::string& x, const LibsvmModel& m, const std::vector<std::string>& classes) {
  const bool two = classes.size() == 2;
  graph.add_node("SVMClassifier", {x},
                 support_vectors(m).set("classlabels_strings", classes).set("vectors_per_class", m.vectors_per_class),
                 {"label", two ? "both_sides" : "decisions"}, kMl);
  graph.output("label", kString, {Graph::kRows});
  // For two classes, ONNX Runtime returns a decision value for each; the second column belongs to the first class.
  if (two)
    graph.add("Gather", {"both_sides", graph.constant("second", {1}, std::vector<int64_t>{1})},
              Attributes().set("axis", int64_t{1}), "decisions");
  graph.output("decisions", kFloat, {Graph::kRows, static_cast<int64_t>(m.rho.size())});
}

// Classifies by the decision value of an SVMRegressor, because an SVMClassifier needs vectors of both classes.
void add_one_class(Graph& graph, const std::string& x, const Fitted& f) {
  const LibsvmModel m = with_a_vector(unlabelled_model(f));
  const std::string accepts =
      graph.add("SVMRegressor", {x}, support_vectors(m).set("n_supports", m.n_vectors()), "", kMl);
  graph.add("Neg", {accepts}, {}, "decisions");
  graph.label_of_largest(graph.add("Concat", {"decisions", accepts}, Attributes().set("axis", int64_t{1})),
                         f.class_names);
  graph.output("decisions", kFloat, {Graph::kRows, 1});
}

void add_regressors(Graph& graph, const std::string& x, const Fitted& f) {
  std::vector<std::string> decisions;
  for (int64_t k = 0; k < f.problems(); ++k) {
    const LibsvmModel m = with_a_vector(binary_model(f, k, {1, -1}));
    decisions.push_back(graph.add("SVMRegressor", {x}, support_vectors(m).set("n_supports", m.n_vectors()), "", kMl));
  }
  graph.add("Concat", decisions, Attributes().set("axis", int64_t{1}), "decisions");
  graph.label_of_largest("decisions", f.class_names);
  graph.output("decisions", kFloat, {Graph::kRows, f.problems()});
}

}  // namespace

void Fitted::export_onnx(const std::string& path) const {
  if (settings.kernel.pairs != Pairs::products)
    throw Error(MK_UNSUPPORTED, std::string("ONNX has no support vector machine with the kernel ") +
                                    kernel_name(settings.kernel) + ": train a model with another kernel");
  if (settings.approximates && classes() > 2 && settings.multiclass == Multiclass::one_vs_one)
    throw Error(MK_UNSUPPORTED,
                "ONNX's classifiers by pairs have no vectors that all pairs share, as nystrom's landmarks are: train a "
                "model with multiclass = \"ovr\"");
  Graph graph("mokume svc");
  const std::string x = graph.scaled(graph.input("rows", kFloat, {Graph::kRows, features}), mean, scale);
  if (regression()) {
    const LibsvmModel m = with_a_vector(unlabelled_model(*this));
    graph.add("SVMRegressor", {x}, support_vectors(m).set("n_supports", m.n_vectors()), "predicted", kMl);
    graph.output("predicted", kFloat, {Graph::kRows, 1});
  } else if (one_class())
    add_one_class(graph, x, *this);
  else if (classes() > 2 && settings.multiclass == Multiclass::one_vs_rest)
    add_regressors(graph, x, *this);
  else
    add_classifier(graph, x,
                   with_a_vector(classes() == 2 ? binary_model(*this, 0, {1, -1})
                                                : pairs_model(*this, std::vector<int64_t>(class_names.size()))),
                   class_names);
  graph.write(path);
}

}  // namespace mokume::svc
