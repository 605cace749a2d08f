// Tests that strict numerics give the same results, models, predictions and probabilities on all devices: the host with
// every instruction set, and OpenCL with the kernels of CPUs and with those of GPUs.
#include <cmath>
#include <cstring>

#include "harness.hpp"
#include "sdk/isa.hpp"
#include "sparse/sparse_rows.hpp"

namespace mokume::svc_test {
namespace {

constexpr uint32_t kStrictFolds = 3;

// Limits the loops to an instruction set until the end of a scope, unless `isa` is "".
class LimitedTo {
 public:
  explicit LimitedTo(const std::string& isa) {
    if (!isa.empty()) setenv("MOKUME_ISA", isa.c_str(), 1);
  }
  ~LimitedTo() { unsetenv("MOKUME_ISA"); }
  LimitedTo(const LimitedTo&) = delete;
  LimitedTo& operator=(const LimitedTo&) = delete;
};

// Names a device and its kernels. A small budget leaves room for some rows of the kernel matrix only.
struct Form {
  std::string name, backend, isa;
  device::Choices choices;
  bool small = false;
};

std::vector<Form> forms() {
  std::vector<Form> all;
  for (const auto& [name, isa] : sdk::kIsas)
    if (sdk::offers(isa)) all.push_back({"host with " + std::string(name), "host", std::string(name), {}});
  all.push_back({"host with a small budget", "host", "", {}, true});
  all.push_back({"opencl with the kernels of CPUs", "opencl", "", {}});
  const device::Choices gpu{
      {"svc.blocked", "group"}, {"svc.smo", "group"}, {"svc.ascent", "group"}, {"map", "scalar"}, {"gemm", "tile"}};
  all.push_back({"opencl with the kernels of GPUs", "opencl", "", gpu});
  all.push_back({"opencl with the kernels of GPUs and a small budget", "opencl", "", gpu, true});
  return all;
}

// Describes data and candidates.
struct Work {
  const char* name;
  Blobs blobs;
  std::vector<Candidate> candidates;
  bool sparse = false;
  uint64_t small_budget = uint64_t{1} << 20;
};

Blobs regression(Blobs blobs) {
  const sdk::Random noise(9, sdk::Purpose::digits, 0);
  for (int64_t r = 0; r < blobs.rows; ++r) {
    const float* const x = blobs.x.data() + r * blobs.features;
    blobs.targets.push_back(x[0] + 0.3F * x[1] * x[2] +
                            static_cast<float>(0.2 * noise.uniform(static_cast<uint32_t>(r))));
  }
  return blobs;
}

Blobs positive(Blobs blobs) {
  for (float& x : blobs.x) x = std::fabs(x);
  return blobs;
}

// Two values of C, or of nu where it takes their place, for each kernel.
std::vector<Candidate> candidates_with(std::initializer_list<const char*> kernels,
                                       const std::function<void(Candidate&)>& set) {
  std::vector<Candidate> all;
  for (const char* const kernel : kernels)
    for (const double c : {0.3, 20.0}) {
      Candidate candidate;
      candidate.kernel = kernel;
      candidate.gamma = 0.07;
      candidate.coef0 = 0.5;
      candidate.degree = 3;
      candidate.c = c;
      candidate.nu = c > 1 ? 0.1 : 0.3;
      set(candidate);
      all.push_back(candidate);
    }
  return all;
}

void blocked(Candidate& c) { c.solver = "blocked"; }

std::vector<Work> works() {
  std::vector<Work> all;
  all.push_back({"two_classes", Blobs(201, 7, 2, kStrictFolds),
                 candidates_with({"rbf", "linear", "polynomial", "sigmoid"}, blocked)});
  all.push_back(
      {"steps_of_libsvm", Blobs(201, 7, 2, kStrictFolds), candidates_with({"rbf", "polynomial"}, [](Candidate&) {})});
  all.push_back({"one_vs_rest", Blobs(210, 9, 4, kStrictFolds), candidates_with({"rbf", "linear"}, blocked)});
  all.push_back({"one_vs_one", Blobs(210, 9, 4, kStrictFolds), candidates_with({"rbf", "polynomial"}, [](Candidate& c) {
                   c.solver = "blocked";
                   c.multiclass = "ovo";
                   c.class_weight = "balanced";
                 })});
  all.push_back(
      {"distances", positive(Blobs(190, 21, 3, kStrictFolds)), candidates_with({"laplacian", "chi2"}, blocked)});
  all.push_back({"halves", Blobs(201, 7, 3, kStrictFolds), candidates_with({"rbf"}, [](Candidate& c) {
                   c.solver = "blocked";
                   c.kernel_storage = "fp16";
                 })});
  all.push_back(
      {"numbers", regression(Blobs(203, 6, 3, kStrictFolds)), candidates_with({"rbf", "linear"}, [](Candidate& c) {
         c.epsilon = 0.05;
         c.standardise_target = true;
         c.gamma_unit = "scale";
         c.gamma = 0.5;
       })});
  for (const char* const kind : {"nu_svc", "one_class"})
    all.push_back({kind, Blobs(199, 6, 2, kStrictFolds), candidates_with({"rbf", "linear"}, [kind](Candidate& c) {
                     c.kind = kind;
                     c.multiclass = "ovo";
                   })});
  for (Work& work : all)
    if (work.name == std::string("one_class")) work.blobs.names = {"1", "-1"};
  all.push_back({"nu_svr", regression(Blobs(199, 6, 2, kStrictFolds)),
                 candidates_with({"rbf"}, [](Candidate& c) { c.kind = "nu_svr"; })});
  const auto landmarks = [](Candidate& c) {
    c.solver = "blocked";
    c.approximation = "nystrom";
    c.landmarks = 40;
    c.c = c.c > 1 ? 3 : 0.3;
    c.tol = 0.01;
  };
  all.push_back({"landmarks", Blobs(150, 6, 3, kStrictFolds), candidates_with({"rbf", "polynomial"}, landmarks)});
  all.push_back(
      {"landmarks_of_numbers", regression(Blobs(150, 6, 3, kStrictFolds)), candidates_with({"rbf"}, landmarks)});
  all.push_back(
      {"sparse_rows", positive(Blobs(202, 40, 3, kStrictFolds)), candidates_with({"rbf", "linear"}, blocked), true});
  for (float& x : all.back().blobs.x) x = x < 1 ? 0 : x;
  // Far more multipliers are free than fit into a working set.
  all.push_back({"poor_rounds", Blobs(1600, 20, 2, kStrictFolds, 6.0),
                 candidates_with({"rbf"},
                                 [](Candidate& c) {
                                   c.solver = "blocked";
                                   c.gamma = 0.004;
                                   c.c = c.c > 1 ? 1000 : 10;
                                 }),
                 false, uint64_t{12} << 20});
  return all;
}

template <class T>
void append_bits(std::string& to, const std::vector<T>& values) {
  to.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// Holds all that a user gets, each part as text or bits.
using Outcome = std::map<std::string, std::string>;

// Adds the predictions of a model for its training rows, and probabilities that are calibrated on these.
void add_predictions(Outcome& to, const std::string& which, World& world, mk_fitted* fitted, const Work& work) {
  const mk_model& model = world.model();
  const size_t each = model.scores_per_row(fitted);
  const auto n = static_cast<size_t>(work.blobs.rows);
  std::vector<int32_t> labels(n);
  std::vector<float> scores(n * each);
  sdk::call(model.predict, model.self, static_cast<const mk_fitted*>(fitted), world.device().services(),
            work.blobs.x.data(), work.blobs.rows, work.blobs.features, labels.data(), scores.data());
  append_bits(to["scores of " + which], scores);
  if (!work.blobs.targets.empty()) return;
  append_bits(to["classes of " + which], labels);
  if (work.candidates.front().kind != std::string("auto")) return;
  const auto classes = static_cast<int32_t>(work.blobs.names.size());
  const int32_t kind = model.score_kind(fitted);
  const mk_validated rows{
      work.blobs.labels.data(), labels.data(), scores.data(), static_cast<uint32_t>(each), kind, nullptr, nullptr};
  std::vector<mk_sigmoid> sigmoids(each);
  sdk::call(model.calibrate, model.self, &rows, work.blobs.rows, classes, sigmoids.data());
  std::vector<double> probabilities(n * static_cast<size_t>(classes));
  sdk::call(model.probabilities, model.self, static_cast<const mk_sigmoid*>(sigmoids.data()),
            static_cast<uint32_t>(each), kind, static_cast<const float*>(scores.data()), work.blobs.rows, classes,
            probabilities.data());
  append_bits(to["probabilities of " + which], probabilities);
}

Outcome outcome_of(World& world, const Work& work) {
  Experiment experiment(work.blobs, work.candidates, kStrictFolds);
  svc::SparseRows sparse;
  for (int64_t r = 0; work.sparse && r < work.blobs.rows; ++r)
    sparse.append_dense(work.blobs.x.data() + r * work.blobs.features, work.blobs.features);
  if (work.sparse) experiment.use_sparse(sparse.view(work.blobs.features));
  Outcome outcome;
  std::vector<mk_fitted*> models;
  {
    Session session(world, experiment);
    for (const auto& [key, result] : session.fit(all_fits(work.candidates.size(), kStrictFolds))) {
      char value[40];
      std::snprintf(&value[0], sizeof(value), "%a", result.value);
      outcome["fit " + std::to_string(key.first) + "-" + std::to_string(key.second)] =
          std::to_string(result.status) + ", " + result.note + ", value " + &value[0];
    }
    for (uint32_t c = 0; c < work.candidates.size(); ++c) models.push_back(session.refit(c));
  }
  for (size_t c = 0; c < models.size(); ++c) {
    const std::string which = "candidate " + std::to_string(c);
    outcome["model of " + which] = saved(world, models[c]);
    add_predictions(outcome, which, world, models[c], work);
    world.model().fitted_destroy(models[c]);
  }
  return outcome;
}

class StrictNumerics : public testing::TestWithParam<Work> {};
void PrintTo(const Work& work, std::ostream* out) { *out << work.name; }
INSTANTIATE_TEST_SUITE_P(HostAndOpenCl, StrictNumerics, testing::ValuesIn(works()),
                         [](const auto& i) { return i.param.name; });

TEST_P(StrictNumerics, GiveOneAnswer) {
  const Work& work = GetParam();
  Outcome expected;
  for (const Form& form : forms()) {
    SCOPED_TRACE(form.name);
    const LimitedTo limited(form.isa);
    device::Choices choices = form.choices;
    choices.emplace("numerics", "strict");
    World world(form.backend, 0, form.small ? work.small_budget : uint64_t{2} << 30, choices);
    if (!world.present()) continue;
    const Outcome found = outcome_of(world, work);
    if (expected.empty()) expected = found;
    ASSERT_EQ(found.size(), expected.size());
    for (const auto& [what, bits] : expected) {
      const bool readable = what.compare(0, 3, "fit") == 0;
      EXPECT_TRUE(found.at(what) == bits) << what << (readable ? ": " + found.at(what) + ", not " + bits : "");
    }
  }
}

}  // namespace
}  // namespace mokume::svc_test
