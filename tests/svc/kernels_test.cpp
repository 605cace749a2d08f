// Tests the kernels of distances, which LIBSVM lacks: their values, predictions, saved models and refusals.
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "harness.hpp"

namespace mokume::svc_test {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kFoldsHere = 3;
constexpr int64_t kFeatures = 21;  // not a multiple of the tile of the kernels

struct KernelOnBackend {
  const char* backend;
  const char* kernel;
};
void PrintTo(const KernelOnBackend& k, std::ostream* out) { *out << k.kernel << " on " << k.backend; }

class Distances : public testing::TestWithParam<KernelOnBackend> {};
INSTANTIATE_TEST_SUITE_P(Devices, Distances,
                         testing::Values(KernelOnBackend{"host", "laplacian"}, KernelOnBackend{"opencl", "laplacian"},
                                         KernelOnBackend{"host", "chi2"}, KernelOnBackend{"opencl", "chi2"}),
                         [](const auto& i) { return std::string(i.param.backend) + "_" + i.param.kernel; });

// Returns rows of which some inputs are 0 and none is negative.
Blobs frequencies(int64_t rows) {
  Blobs blobs(rows, kFeatures, 3, kFoldsHere, 1.0);
  for (float& x : blobs.x) x = std::max(0.0F, x);
  return blobs;
}

double kernel_of(const std::string& kernel, double gamma, const float* x, const float* y) {
  double distance = 0;
  for (int64_t f = 0; f < kFeatures; ++f) {
    const double a = double{x[f]}, b = double{y[f]};
    if (kernel == "laplacian")
      distance += std::fabs(a - b);
    else if (a + b > 0)
      distance += (a - b) * (a - b) / (a + b);
  }
  return std::exp(-gamma * distance);
}

// Returns rows whose inputs are kernel values.
Blobs matrix_of(const Blobs& blobs, const Candidate& candidate) {
  Blobs matrix = blobs;
  matrix.features = blobs.rows;
  matrix.x.clear();
  for (int64_t r = 0; r < blobs.rows; ++r)
    for (int64_t c = 0; c < blobs.rows; ++c)
      matrix.x.push_back(static_cast<float>(kernel_of(candidate.kernel, candidate.gamma, blobs.x.data() + r * kFeatures,
                                                      blobs.x.data() + c * kFeatures)));
  return matrix;
}

std::vector<Candidate> candidates_with(const char* kernel) {
  std::vector<Candidate> candidates;
  for (const double gamma : {0.02, 0.3})
    for (const char* solver : {"libsvm", "blocked"}) {
      candidates.emplace_back();
      candidates.back().kernel = kernel;
      candidates.back().gamma = gamma;
      candidates.back().c = 3;
      candidates.back().solver = solver;
    }
  return candidates;
}

struct Predicted {
  std::vector<int32_t> labels;
  std::vector<float> scores;
};

Predicted predicted(World& world, const mk_fitted* fitted, const Blobs& blobs) {
  const auto rows = static_cast<size_t>(blobs.rows);
  Predicted p{std::vector<int32_t>(rows), std::vector<float>(rows * world.model().scores_per_row(fitted))};
  sdk::call(world.model().predict, world.model().self, fitted, world.device().services(), blobs.x.data(), blobs.rows,
            blobs.features, p.labels.data(), p.scores.data());
  return p;
}

TEST_P(Distances, HaveTheErrorsOfGivenKernelValues) {
  World world(GetParam().backend);
  REQUIRE_DEVICE(world);
  const Blobs blobs = frequencies(300);
  const std::vector<Candidate> candidates = candidates_with(GetParam().kernel);
  const Experiment experiment(blobs, candidates, kFoldsHere);
  Session session(world, experiment);
  const Results results = session.fit(all_fits(candidates.size(), kFoldsHere));
  for (uint32_t c = 0; c < candidates.size(); ++c) {
    const Blobs matrix = matrix_of(blobs, candidates[c]);
    std::vector<Candidate> given = {candidates[c]};
    given[0].kernel = "precomputed";
    const Experiment other(matrix, given, kFoldsHere);
    Session of_values(world, other);
    const Results expected = of_values.fit(all_fits(1, kFoldsHere));
    for (int32_t fold = 0; fold < static_cast<int32_t>(kFoldsHere); ++fold)
      EXPECT_NEAR(results.at({c, fold}).value, expected.at({0, fold}).value, 1) << c << ", fold " << fold;
    mk_fitted *mine = session.refit(c), *theirs = of_values.refit(0);
    const Predicted a = predicted(world, mine, blobs), b = predicted(world, theirs, matrix);
    for (size_t k = 0; k < a.scores.size(); ++k) EXPECT_NEAR(a.scores[k], b.scores[k], 5e-3) << c;
    world.model().fitted_destroy(mine);
    world.model().fitted_destroy(theirs);
  }
}

// One experiment may search kernels of products and of distances, which share neither matrix.
TEST_P(Distances, TakeTurnsWithProducts) {
  World world(GetParam().backend);
  REQUIRE_DEVICE(world);
  const Blobs blobs = frequencies(240);
  std::vector<Candidate> candidates = candidates_with(GetParam().kernel);
  candidates[1].kernel = "rbf";
  candidates[3].kernel = "linear";
  const Experiment experiment(blobs, candidates, kFoldsHere);
  Session together(world, experiment);
  const Results results = together.fit(all_fits(candidates.size(), kFoldsHere));
  for (uint32_t c = 0; c < candidates.size(); ++c) {
    const Experiment one(blobs, {candidates[c]}, kFoldsHere);
    Session alone(world, one);
    for (const auto& [key, result] : alone.fit(all_fits(1, kFoldsHere)))
      EXPECT_EQ(results.at({c, key.second}), result) << candidates[c].kernel;
  }
}

TEST_P(Distances, AreComputedOnTheFlyWithTheSameErrors) {
  World large(GetParam().backend);
  REQUIRE_DEVICE(large);
  const Blobs blobs = frequencies(1200);
  std::vector<Candidate> candidates = {candidates_with(GetParam().kernel)[0]};
  candidates[0].multiclass = "ovo";
  const Experiment experiment(blobs, candidates, kFoldsHere);
  Session session(large, experiment);
  const Results expected = session.fit(all_fits(1, kFoldsHere));
  const uint64_t matrix = uint64_t{1200} * 1200 * sizeof(float);
  World small(GetParam().backend, 0, matrix / 2 + (2 << 20));
  Session other(small, experiment);
  const Results results = other.fit(all_fits(1, kFoldsHere));
  EXPECT_EQ(small.device().choices().at("svc.kernel"), "on_the_fly");
  EXPECT_EQ(results, expected) << "the sums have one order in every mode";
}

TEST_P(Distances, AreSavedInFilesOfTheirOwn) {
  World world(GetParam().backend);
  REQUIRE_DEVICE(world);
  const Blobs blobs = frequencies(120);
  const fs::path scratch = fs::temp_directory_path() / ("mokume-svc-kernels-" + std::to_string(getpid()));
  for (const char* multiclass : {"ovr", "ovo"}) {
    std::vector<Candidate> candidates = {candidates_with(GetParam().kernel)[0]};
    candidates[0].multiclass = multiclass;
    const Experiment experiment(blobs, candidates, kFoldsHere);
    Session session(world, experiment);
    mk_fitted* fitted = session.refit(0);
    fs::remove_all(scratch);
    fs::create_directories(scratch);
    sdk::call(world.model().save, static_cast<const mk_fitted*>(fitted), scratch.c_str());
    EXPECT_TRUE(fs::exists(scratch / (multiclass == std::string("ovo") ? "model.svm" : "class-2.svm")));
    mk_fitted* loaded = nullptr;
    sdk::call(world.model().load, world.model().self, scratch.c_str(), &loaded);
    const Predicted before = predicted(world, fitted, blobs), after = predicted(world, loaded, blobs);
    for (size_t k = 0; k < before.scores.size(); ++k) EXPECT_NEAR(after.scores[k], before.scores[k], 1e-4);
    try {
      sdk::call(world.model().export_onnx, static_cast<const mk_fitted*>(fitted), (scratch / "x.onnx").c_str());
      ADD_FAILURE() << "ONNX has no such kernel";
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), MK_UNSUPPORTED);
      EXPECT_NE(std::string(e.what()).find(GetParam().kernel), std::string::npos) << e.what();
    }
    world.model().fitted_destroy(fitted);
    world.model().fitted_destroy(loaded);
  }
  fs::remove_all(scratch);
}

TEST(Chi2, RefusesNegativeInputs) {
  World world("host");
  Blobs blobs = frequencies(60);
  const Experiment good(blobs, {candidates_with("chi2")[0]}, kFoldsHere);
  Session session(world, good);
  mk_fitted* fitted = session.refit(0);
  blobs.x[static_cast<size_t>(7 * kFeatures + 2)] = -0.5F;
  const auto refusal = [](const auto& run) -> std::string {
    try {
      run();
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), MK_BAD_DATA);
      return e.what();
    }
    return "";
  };
  const Experiment bad(blobs, {candidates_with("chi2")[0]}, kFoldsHere);
  EXPECT_EQ(
      refusal([&] { sdk::call(world.model().check, world.model().self, bad.get()); }),
      "the kernel chi2 compares frequencies, but feature 3 of training row 8 is negative: choose another kernel, or "
      "set data.standardize to \"none\"");
  const Blobs frequent = frequencies(60);
  Experiment tested(frequent, {candidates_with("chi2")[0]}, kFoldsHere);
  tested.use_test(blobs);
  EXPECT_NE(refusal([&] {
              sdk::call(world.model().check, world.model().self, tested.get());
            }).find("feature 3 of test row 8 is negative"),
            std::string::npos);
  EXPECT_NE(refusal([&] { predicted(world, fitted, blobs); }).find("feature 3 of row 8 is negative"),
            std::string::npos);
  world.model().fitted_destroy(fitted);
  const Experiment other(blobs, {candidates_with("laplacian")[0]}, kFoldsHere);
  EXPECT_EQ(refusal([&] { sdk::call(world.model().check, world.model().self, other.get()); }), "");
}

}  // namespace
}  // namespace mokume::svc_test
