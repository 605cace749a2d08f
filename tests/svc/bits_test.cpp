// Tests that the solvers on an OpenCL device take the same steps as the host and end with the same bits. A linear
// kernel of small integers has no roundings but those to halves, so every difference comes from the solver, especially
// from its sums of two floats, which a compiler that fuses or reorders operations breaks. bench/gpu runs these tests on
// a GPU.
#include <cmath>

#include "harness.hpp"
#include "sdk/isa.hpp"

namespace mokume::svc_test {
namespace {

struct Task {
  const char* name;
  const char* solver;
  const char* multiclass;
  bool regression;
  const char* kind = "auto";
  const char* kernel_storage = "fp32";
};
constexpr Task kTasks[] = {{"steps_of_libsvm_ovr", "libsvm", "ovr", false},
                           {"steps_of_libsvm_ovo", "libsvm", "ovo", false},
                           {"blocked_ovr", "blocked", "ovr", false},
                           {"blocked_ovo", "blocked", "ovo", false},
                           {"regression", "libsvm", "ovr", true},
                           {"nu_svc_ovr", "libsvm", "ovr", false, "nu_svc"},
                           {"nu_svc_ovo", "libsvm", "ovo", false, "nu_svc"},
                           {"one_class", "libsvm", "ovo", false, "one_class"},
                           {"nu_svr", "libsvm", "ovr", true, "nu_svr"},
                           {"halves_of_libsvm", "libsvm", "ovo", false, "auto", "fp16"},
                           {"halves_of_blocked", "blocked", "ovr", false, "auto", "fp16"},
                           {"halves_of_regression", "libsvm", "ovr", true, "auto", "fp16"},
                           {"halves_of_nu_svc", "libsvm", "ovo", false, "nu_svc", "fp16"},
                           {"halves_of_nu_svr", "libsvm", "ovr", true, "nu_svr", "fp16"}};
void PrintTo(const Task& task, std::ostream* out) { *out << task.name; }

// Returns small integers with fractional targets. A regression's residuals have roundings; its kernel values have none.
Blobs integers(const Task& task) {
  const bool regression = task.regression;
  Blobs blobs(300, 6, task.kind == std::string("one_class") ? 2 : 3, 3, 3.0);
  for (float& x : blobs.x) x = std::round(4 * x);
  const sdk::Random noise(9, sdk::Purpose::digits, 0);
  for (int64_t r = 0; regression && r < blobs.rows; ++r)
    blobs.targets.push_back(
        static_cast<float>(double{blobs.x[static_cast<size_t>(6 * r)]} + noise.uniform(static_cast<uint32_t>(r))));
  return blobs;
}

std::vector<Candidate> candidates_of(const Task& task) {
  std::vector<Candidate> candidates;
  for (const double c : {1e-4, 0.01}) {
    candidates.emplace_back();
    candidates.back().kernel = "linear";
    candidates.back().c = c;
    candidates.back().solver = task.solver;
    candidates.back().multiclass = task.multiclass;
    candidates.back().epsilon = 0.15;
    candidates.back().kind = task.kind;
    candidates.back().kernel_storage = task.kernel_storage;
    candidates.back().nu = c == 0.01 ? 0.2 : 0.5;
    candidates.back().max_iterations = 1'000;
  }
  return candidates;
}

class SolverBits : public testing::TestWithParam<Task> {};
INSTANTIATE_TEST_SUITE_P(OpenClAndHost, SolverBits, testing::ValuesIn(kTasks),
                         [](const auto& i) { return i.param.name; });

TEST_P(SolverBits, AreTheHosts) {
  World host("host"), opencl("opencl");
  REQUIRE_DEVICE(opencl);
  const Blobs blobs = integers(GetParam());
  const std::vector<Candidate> candidates = candidates_of(GetParam());
  const Experiment experiment(blobs, candidates, 3);
  Session a(host, experiment), b(opencl, experiment);
  const auto keys = all_fits(candidates.size(), 3);
  const Results expected = a.fit(keys), found = b.fit(keys);
  for (const auto& [key, result] : expected) {
    EXPECT_EQ(found.at(key).note, result.note) << "the steps of candidate " << key.first << ", fold " << key.second;
    if (GetParam().regression)  // each device adds squares in a different order
      EXPECT_NEAR(found.at(key).value, result.value, 1e-5 * result.value);
    else if (GetParam().kind == std::string("auto"))
      EXPECT_EQ(found.at(key), result);
    else  // rows are on the boundary, where the order of a sum decides
      EXPECT_NEAR(static_cast<double>(found.at(key).errors), static_cast<double>(result.errors), 5);
  }
  for (uint32_t c = 0; c < candidates.size(); ++c) {
    mk_fitted *on_host = a.refit(c), *on_opencl = b.refit(c);
    EXPECT_EQ(saved(opencl, on_opencl), saved(host, on_host)) << "the model of candidate " << c;
    host.model().fitted_destroy(on_host);
    opencl.model().fitted_destroy(on_opencl);
  }
}

// Limits the loops to an instruction set until the end of a scope.
class Limited {
 public:
  explicit Limited(std::string_view isa) { setenv("MOKUME_ISA", std::string(isa).c_str(), 1); }
  ~Limited() { unsetenv("MOKUME_ISA"); }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;
};

TEST_P(SolverBits, AreThoseOfEveryInstructionSet) {
  World host("host");
  const Blobs blobs = integers(GetParam());
  const std::vector<Candidate> candidates = candidates_of(GetParam());
  const Experiment experiment(blobs, candidates, 3);
  const auto keys = all_fits(candidates.size(), 3);
  Results expected;
  for (const auto& [name, isa] : sdk::kIsas) {
    if (!sdk::offers(isa)) continue;
    const Limited limited(name);
    Session session(host, experiment);
    const Results found = session.fit(keys);
    if (expected.empty()) expected = found;
    EXPECT_EQ(found, expected) << name;
  }
}

}  // namespace
}  // namespace mokume::svc_test
