// Tests epsilon-SVR through the boundary: LIBSVM's errors, equality on all devices, scaled targets, saved models.
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "harness.hpp"

namespace mokume::svc_test {
namespace {

namespace fs = std::filesystem;

// Returns a smooth function of the inputs with noise, in units of `unit` around `centre`.
Blobs curve(int64_t rows, uint32_t folds, double unit = 1, double centre = 0) {
  Blobs blobs(rows, 4, 2, folds, 2.0);
  const sdk::Random noise(9, sdk::Purpose::digits, 0);
  for (int64_t r = 0; r < rows; ++r) {
    const float* const x = blobs.x.data() + r * 4;
    const double y = std::sin(2 * double{x[0]}) + double{x[1]} * double{x[2]} - 0.5 * double{x[3]} +
                     0.4 * (noise.uniform(static_cast<uint32_t>(r)) - 0.5);
    blobs.targets.push_back(static_cast<float>(centre + unit * y));
  }
  return blobs;
}

std::vector<Candidate> curve_candidates(const char* solver) {
  std::vector<Candidate> line;
  for (const double c : {0.01, 1.0, 30.0, 1e3}) {
    Candidate candidate;
    candidate.c = c;
    candidate.gamma = 0.2;
    candidate.epsilon = 0.15;
    candidate.solver = solver;
    line.push_back(candidate);
  }
  return line;
}

// A regression takes the same steps with either solver.
class SvrOnDevice : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(Devices, SvrOnDevice, testing::Values(kWays[0], kWays[1]), name_of_way);
class RowWeights : public SvrOnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, RowWeights, testing::ValuesIn(kWays), name_of_way);

void write_target_rows(const std::string& path, const Blobs& blobs, int32_t fold, bool inside) {
  std::ofstream out(path);
  out.precision(9);
  for (int64_t r = 0; r < blobs.rows; ++r) {
    if ((blobs.fold_of[static_cast<size_t>(r)] == fold) != inside) continue;
    out << blobs.targets[static_cast<size_t>(r)];
    for (int64_t f = 0; f < blobs.features; ++f)
      out << " " << f + 1 << ":" << blobs.x[static_cast<size_t>(r * blobs.features + f)];
    out << "\n";
  }
}

double libsvm_error(const std::string& base, const Candidate& k) {
  const std::map<std::string, int> kinds = {{"linear", 0}, {"polynomial", 1}, {"rbf", 2}, {"sigmoid", 3}};
  const std::string train = "svm-train -q -s 3 -t " + std::to_string(kinds.at(k.kernel)) + " -c " +
                            std::to_string(k.c) + " -g " + std::to_string(k.gamma) + " -r " + std::to_string(k.coef0) +
                            " -p " + std::to_string(k.epsilon) + " " + base + ".train " + base + ".model";
  const std::string test = "svm-predict " + base + ".test " + base + ".model " + base + ".out";
  FILE* pipe = popen((train + " && " + test).c_str(), "r");
  double error = -1;
  char line[256];
  while (std::fgets(&line[0], sizeof(line), pipe) != nullptr) std::sscanf(&line[0], "Mean squared error = %lf", &error);
  pclose(pipe);
  return error;
}

TEST_P(SvrOnDevice, HasTheErrorsOfLibsvm) {
  if (std::system("command -v svm-train >/dev/null") != 0) GTEST_SKIP() << "svm-train is missing: install libsvm-tools";
  World world(GetParam().backend);
  REQUIRE_DEVICE(world);
  const Blobs blobs = curve(500, 3);
  std::vector<Candidate> candidates = curve_candidates(GetParam().solver);
  for (const char* kernel : {"linear", "polynomial", "sigmoid"}) {
    candidates.push_back(candidates.front());
    candidates.back().kernel = kernel;
    candidates.back().c = 0.5;
    candidates.back().gamma = 0.05;
    candidates.back().coef0 = 0.5;
  }
  const Experiment experiment(blobs, candidates, 3);
  Session session(world, experiment);
  const Results results = session.fit(all_fits(candidates.size(), 3));
  const std::string base = (fs::temp_directory_path() / ("mokume-svr-" + std::to_string(getpid()))).string();
  for (int32_t fold = 0; fold < 3; ++fold) {
    write_target_rows(base + ".train", blobs, fold, false);
    write_target_rows(base + ".test", blobs, fold, true);
    for (uint32_t c = 0; c < candidates.size(); ++c) {
      const double expected = libsvm_error(base, candidates[c]);
      ASSERT_GT(expected, 0);
      EXPECT_NEAR(results.at({c, fold}).value, expected, 2e-3 * expected)
          << candidates[c].kernel << " C=" << candidates[c].c;
    }
  }
  for (const char* end : {".train", ".test", ".model", ".out"}) fs::remove(base + end);
}

// A fit with targets in their own unit, and with C, epsilon and tol to match, equals the fit of the scaled targets.
TEST_P(SvrOnDevice, MayScaleItsTargets) {
  World world(GetParam().backend);
  REQUIRE_DEVICE(world);
  const Blobs small = curve(300, 3), large = curve(300, 3, 3e4, 2e5);
  std::vector<Candidate> candidates = curve_candidates(GetParam().solver);
  for (Candidate& c : candidates) c.standardise_target = true;
  const Experiment a(small, candidates, 3), b(large, candidates, 3);
  Session of_small(world, a), of_large(world, b);
  const Results expected = of_small.fit(all_fits(candidates.size(), 3));
  const Results results = of_large.fit(all_fits(candidates.size(), 3));
  for (const auto& [key, result] : results) {
    const double scaled = result.value / (3e4 * 3e4);
    EXPECT_NEAR(scaled, expected.at(key).value, 3e-3 * scaled) << key.first;
  }
}

// The targets are of the order of 100,000 in their own unit, so the tolerance is below the resolution of floats.
TEST_P(SvrOnDevice, EndsAtTheResolutionOfFloats) {
  World world(GetParam().backend);
  REQUIRE_DEVICE(world);
  const Blobs blobs = curve(200, 3, 1e5, 2e5);
  std::vector<Candidate> candidates = curve_candidates("libsvm");
  for (Candidate& c : candidates) c.max_iterations = 200'000;
  const Experiment experiment(blobs, candidates, 3);
  Session session(world, experiment);
  for (const auto& [key, result] : session.fit(all_fits(candidates.size(), 3)))
    EXPECT_TRUE(result.status == MK_FIT_OK || result.status == MK_FIT_COPIED) << key.first << " " << result.note;
}

TEST_P(SvrOnDevice, ComputesKernelRowsOnTheFlyWithTheSameErrors) {
  const Blobs blobs = curve(900, 3);
  std::vector<Candidate> candidates = curve_candidates(GetParam().solver);
  candidates.resize(3);
  const Experiment experiment(blobs, candidates, 3);
  const uint64_t matrix = 900 * 912 * sizeof(float);
  Results expected;
  for (const uint64_t budget : {uint64_t{64} << 20, matrix / 2 + (1 << 20)}) {
    World world(GetParam().backend, 0, budget);
    REQUIRE_DEVICE(world);
    Session session(world, experiment);
    const Results results = session.fit(all_fits(candidates.size(), 3));
    if (expected.empty()) expected = results;
    for (const auto& [key, result] : results)
      EXPECT_NEAR(result.value, expected.at(key).value, 2e-3 * result.value) << budget;
    EXPECT_LE(world.device().peak_bytes(), budget);
  }
}

TEST_P(SvrOnDevice, CopiesSettledSolutions) {
  World world(GetParam().backend);
  REQUIRE_DEVICE(world);
  const Blobs blobs = curve(120, 3);
  std::vector<Candidate> candidates;
  for (const double c : {10.0, 1e4, 1e6, 1e8}) {
    candidates.push_back(curve_candidates(GetParam().solver).front());
    candidates.back().c = c;
    candidates.back().epsilon = 0.5;
    candidates.back().gamma = 2;
  }
  const Experiment experiment(blobs, candidates, 3);
  Session session(world, experiment);
  const Results chain = session.fit(all_fits(candidates.size(), 3));
  EXPECT_EQ(chain.at({3, 0}).status, MK_FIT_COPIED);
  for (const auto& [key, result] : chain) {
    const Results alone = session.fit({key});
    EXPECT_NEAR(alone.at(key).value, result.value, 1e-9 + 2e-3 * result.value) << key.first;
  }
}

std::vector<float> predict_numbers(World& world, const mk_fitted* fitted, const Blobs& blobs) {
  std::vector<float> said(static_cast<size_t>(blobs.rows));
  std::vector<int32_t> labels(said.size());
  EXPECT_EQ(world.model().scores_per_row(fitted), 1U);
  sdk::call(world.model().predict, world.model().self, fitted, world.device().services(), blobs.x.data(), blobs.rows,
            blobs.features, labels.data(), said.data());
  return said;
}

TEST_P(SvrOnDevice, SavesAModelThatSvmPredictReads) {
  World world(GetParam().backend);
  REQUIRE_DEVICE(world);
  const Blobs blobs = curve(300, 3, 10, 500);
  std::vector<Candidate> candidates = curve_candidates(GetParam().solver);
  for (Candidate& c : candidates) c.standardise_target = true;
  const Experiment experiment(blobs, candidates, 3);
  Session session(world, experiment);
  mk_fitted* fitted = session.refit(1);
  const std::string directory = (fs::temp_directory_path() / ("mokume-svr-model-" + std::to_string(getpid()))).string();
  fs::create_directories(directory);
  sdk::call(world.model().save, static_cast<const mk_fitted*>(fitted), directory.c_str());
  mk_fitted* loaded = nullptr;
  sdk::call(world.model().load, world.model().self, directory.c_str(), &loaded);
  const std::vector<float> ours = predict_numbers(world, fitted, blobs), again = predict_numbers(world, loaded, blobs);
  double error = 0;
  for (size_t r = 0; r < ours.size(); ++r) {
    EXPECT_NEAR(again[r], ours[r], 1e-3);
    error += std::fabs(double{ours[r]} - double{blobs.targets[r]}) / static_cast<double>(ours.size());
  }
  EXPECT_LT(error, 4) << "the targets deviate by 10, and epsilon is 0.15 of that";
  if (std::system("command -v svm-predict >/dev/null") == 0) {
    write_target_rows(directory + "/rows", blobs, -1, false);
    ASSERT_EQ(std::system(("svm-predict " + directory + "/rows " + directory + "/model.libsvm " + directory +
                           "/said >/dev/null")
                              .c_str()),
              0);
    std::ifstream said(directory + "/said");
    for (const float mine : ours) {
      double theirs = 0;
      said >> theirs;
      ASSERT_NEAR(theirs, mine, 2e-3);
    }
  }
  fs::remove_all(directory);
  world.model().fitted_destroy(fitted);
  world.model().fitted_destroy(loaded);
}

TEST(Svr, RefusesEpsilonForClasses) {
  World world("host");
  std::vector<Candidate> one(1);
  one.front().epsilon = 0.2;
  const Blobs blobs(60, 4, 3, 2);
  const Experiment experiment(blobs, one, 2);
  try {
    sdk::call(world.model().check, world.model().self, experiment.get());
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("set data.task to \"regression\""), std::string::npos) << e.what();
  }
}

// Regressions have more free rows than a working set holds.
TEST(Svr, TakesLibsvmStepsWithEitherSolver) {
  World host("host");
  const Blobs blobs = curve(300, 3);
  const Experiment a(blobs, curve_candidates("libsvm"), 3), b(blobs, curve_candidates("blocked"), 3);
  Session libsvm(host, a), blocked(host, b);
  EXPECT_EQ(blocked.fit(all_fits(4, 3)), libsvm.fit(all_fits(4, 3)));
}

// OpenCL with a work-item or a work-group per problem, and native code, take the same steps. A linear kernel of small
// integers has no roundings; each device rounds the sums of a validation differently.
TEST(SvrAcrossDevices, AllVariantsTakeTheSameSteps) {
  World host("host"), vector("opencl", 0, uint64_t{2} << 30, {{"svc.smo", "vector"}});
  World group("opencl", 0, uint64_t{2} << 30, {{"svc.smo", "group"}});
  REQUIRE_DEVICE(vector);
  Blobs blobs = curve(300, 3);
  for (float& x : blobs.x) x = std::round(4 * x);
  std::vector<Candidate> candidates;
  for (const double c : {1e-4, 0.01}) {
    candidates.push_back(curve_candidates("libsvm").front());
    candidates.back().kernel = "linear";
    candidates.back().c = c;
  }
  const Experiment experiment(blobs, candidates, 3);
  Session a(host, experiment), b(vector, experiment), c(group, experiment);
  const auto keys = all_fits(candidates.size(), 3);
  const Results expected = a.fit(keys), on_vector = b.fit(keys), on_group = c.fit(keys);
  for (const auto& [key, result] : expected) {
    EXPECT_EQ(on_vector.at(key).note, result.note);
    EXPECT_EQ(on_group.at(key).note, result.note);
    EXPECT_NEAR(on_vector.at(key).value, result.value, 1e-5 * result.value);
    EXPECT_EQ(on_group.at(key).value, on_vector.at(key).value);
  }
}

TEST(Svr, RecordsNoFormOfAKernelWhereThereIsNoCompiler) {
  World host("host"), opencl("opencl");
  REQUIRE_DEVICE(opencl);
  const Blobs blobs = curve(60, 2);
  const Experiment experiment(blobs, curve_candidates("libsvm"), 2);
  for (World* world : {&host, &opencl}) {
    Session(*world, experiment).fit(all_fits(1, 2));
    EXPECT_EQ(world->device().choices().count("svc.smo"), world == &opencl ? 1U : 0U);
  }
}

TEST(Svr, RefusesWeightsOfClasses) {
  World world("host");
  std::vector<Candidate> one = curve_candidates("blocked");
  one.front().class_weight = "balanced";
  const Blobs blobs = curve(60, 2);
  const Experiment experiment(blobs, one, 2);
  try {
    sdk::call(world.model().check, world.model().self, experiment.get());
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("the targets are numbers"), std::string::npos) << e.what();
  }
}

// ---- weights of rows -----------------------------------------------------------------------------------------------

// Repeats each row as often as its weight says. The copies follow at the end.
Blobs repeated(const Blobs& weighted) {
  Blobs all = weighted;
  all.weights.clear();
  const auto drop = [&](size_t r) {
    const auto at = static_cast<std::ptrdiff_t>(r);
    all.x.erase(all.x.begin() + at * all.features, all.x.begin() + (at + 1) * all.features);
    all.labels.erase(all.labels.begin() + at);
    all.fold_of.erase(all.fold_of.begin() + at);
    if (!all.targets.empty()) all.targets.erase(all.targets.begin() + at);
    --all.rows;
  };
  for (size_t r = weighted.weights.size(); r-- > 0;) {
    if (weighted.weights[r] == 0) drop(r);
    for (int again = 1; again < static_cast<int>(weighted.weights[r]); ++again) {
      const auto x = weighted.x.begin() + static_cast<std::ptrdiff_t>(r) * all.features;
      all.x.insert(all.x.end(), x, x + all.features);
      all.labels.push_back(weighted.labels[r]);
      all.fold_of.push_back(weighted.fold_of[r]);
      if (!all.targets.empty()) all.targets.push_back(weighted.targets[r]);
      ++all.rows;
    }
  }
  return all;
}

// A weight counts like copies of the row, and 0 like its absence.
TEST_P(RowWeights, CountLikeCopiesOfARow) {
  World world(GetParam().backend);
  REQUIRE_DEVICE(world);
  for (const bool regression : {false, true}) {
    Blobs weighted = curve(150, 3);
    if (!regression) weighted.targets.clear();
    for (int64_t r = 0; r < weighted.rows; ++r) weighted.weights.push_back(static_cast<float>(r * 7 % 4));
    std::vector<Candidate> candidates(1);
    candidates[0].c = 0.3;
    candidates[0].tol = 1e-5;
    candidates[0].solver = GetParam().solver;
    const Blobs plain = repeated(weighted);
    const Experiment a(weighted, candidates, 3), b(plain, candidates, 3);
    Session with_weights(world, a), with_copies(world, b);
    mk_fitted* const one = with_weights.refit(0);
    mk_fitted* const other = with_copies.refit(0);
    const std::vector<float> mine = predict_numbers(world, one, weighted),
                             expected = predict_numbers(world, other, weighted);
    for (size_t r = 0; r < mine.size(); ++r) EXPECT_NEAR(mine[r], expected[r], 2e-4) << regression;
    world.model().fitted_destroy(one);
    world.model().fitted_destroy(other);
  }
}

}  // namespace
}  // namespace mokume::svc_test
