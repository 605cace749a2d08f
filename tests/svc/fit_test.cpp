// Tests fits through the boundary: LIBSVM's results, settled chains, budgets, resume, and equality on all devices.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

#include "harness.hpp"

namespace mokume::svc_test {
namespace {

std::vector<Candidate> line_of_c(double gamma, const char* multiclass = "ovr") {
  std::vector<Candidate> line;
  for (const double c : {0.01, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4, 1e5}) {
    Candidate candidate;
    candidate.c = c;
    candidate.gamma = gamma;
    candidate.multiclass = multiclass;
    line.push_back(candidate);
  }
  return line;
}

std::string shell(const std::string& command) {
  std::string out;
  FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
  char buffer[4096];
  while (const size_t n = fread(&buffer[0], 1, sizeof(buffer), pipe)) out.append(&buffer[0], n);
  return pclose(pipe) == 0 ? out : "";
}

bool have_libsvm() { return std::system("command -v svm-train >/dev/null && command -v svm-predict >/dev/null") == 0; }

void write_libsvm_rows(const std::string& path, const Blobs& blobs, const std::vector<std::string>& names, int32_t fold,
                       bool inside) {
  std::ofstream out(path);
  out.precision(9);
  for (int64_t r = 0; r < blobs.rows; ++r) {
    if (fold >= 0 && (blobs.fold_of[static_cast<size_t>(r)] == fold) != inside) continue;
    out << names[static_cast<size_t>(blobs.labels[static_cast<size_t>(r)])];
    for (int64_t f = 0; f < blobs.features; ++f)
      out << " " << f + 1 << ":" << blobs.x[static_cast<size_t>(r * blobs.features + f)];
    out << "\n";
  }
}

class SvcOnDevice : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override { default_solver = GetParam().solver; }
  void TearDown() override { default_solver = "libsvm"; }
  static const char* backend() { return GetParam().backend; }
};
INSTANTIATE_TEST_SUITE_P(Devices, SvcOnDevice, testing::ValuesIn(kWays), name_of_way);

TEST_P(SvcOnDevice, ClassesMayHaveWeights) {
  World world(backend());
  REQUIRE_DEVICE(world);
  const Blobs blobs(240, 4, 3, 3, 2.0);
  std::vector<Candidate> candidates(4);
  for (Candidate& c : candidates) c.multiclass = "ovo";
  candidates[0].c = 6;
  candidates[1].c = 2;
  candidates[1].class_weight = "1=3, 11=3,21=3";
  candidates[2].c = 6;
  candidates[2].class_weight = "balanced";  // the folds have equal numbers of rows of each class
  candidates[3].class_weight = "11=1000,1=0.001,21=0.001";
  const Experiment experiment(blobs, candidates, 3);
  Session session(world, experiment);
  const Results results = session.fit(all_fits(4, 3));
  for (int32_t fold = 0; fold < 3; ++fold) {
    EXPECT_EQ(results.at({1, fold}).errors, results.at({0, fold}).errors) << "C is multiplied";
    EXPECT_LE(std::abs(results.at({2, fold}).errors - results.at({0, fold}).errors), 1);
    EXPECT_GT(results.at({3, fold}).errors, 40) << "nearly all of 80 rows are given to one of three classes";
  }
}

TEST(Svc, RefusesWeightsThatItCannotUse) {
  World world("host");
  const Blobs blobs(60, 2, 3, 2);
  const auto refuses = [&](const char* text, const char* multiclass, const char* word) {
    std::vector<Candidate> one(1);
    one[0].class_weight = text;
    one[0].multiclass = multiclass;
    const Experiment experiment(blobs, one, 2);
    try {
      sdk::call(world.model().check, world.model().self, experiment.get());
      ADD_FAILURE() << text << " is accepted";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
  };
  refuses("balanced", "ovr", "multiclass = \"ovo\"");
  refuses("1", "ovo", "'1' is neither balanced nor NAME=WEIGHT");
  refuses("1=2,5=1", "ovo", "'5=1' names no class");
  refuses("1=0", "ovo", "above 0");
  refuses("1=nan", "ovo", "above 0");
  refuses("1=2,", "ovo", "'' is neither");
}

// The variance of the inputs differs between the training rows of the folds.
TEST_P(SvcOnDevice, GammaCanBeScaledByTheVarianceOfTheFoldsRows) {
  World world(backend());
  REQUIRE_DEVICE(world);
  const Blobs blobs(300, 5, 3, 3, 3.0);
  const auto scale = [&](int32_t fold) {
    double sum = 0, squares = 0, count = 0;
    for (int64_t r = 0; r < blobs.rows; ++r)
      for (int64_t f = 0; f < blobs.features && blobs.fold_of[static_cast<size_t>(r)] != fold; ++f, ++count) {
        const double x = double{blobs.x[static_cast<size_t>(r * blobs.features + f)]};
        sum += x;
        squares += x * x;
      }
    return 1 / (5 * (squares / count - sum / count * sum / count));
  };
  std::vector<Candidate> units(2);
  units[0].gamma = 4;
  units[0].gamma_unit = "scale";
  units[1].gamma = 2;
  units[1].gamma_unit = "auto";
  const Experiment relative(blobs, units, 3);
  Session session(world, relative);
  const Results results = session.fit(all_fits(2, 3));
  for (int32_t fold = 0; fold < 3; ++fold) {
    std::vector<Candidate> plain(2);
    plain[0].gamma = 4 * scale(fold);
    plain[1].gamma = 2.0 / 5;
    const Experiment absolute(blobs, plain, 3);
    Session other(world, absolute);
    const Results expected = other.fit({{0, fold}, {1, fold}});
    EXPECT_EQ(results.at({0, fold}).errors, expected.at({0, fold}).errors) << fold;
    EXPECT_EQ(results.at({1, fold}), expected.at({1, fold})) << fold;
  }
  EXPECT_NE(scale(0), scale(1));
}

TEST_P(SvcOnDevice, CountsTheSameErrorsAsLibsvm) {
  if (!have_libsvm()) GTEST_SKIP() << "svm-train is missing: install libsvm-tools";
  World world(backend());
  REQUIRE_DEVICE(world);
  const Blobs blobs(600, 6, 4, 3);
  std::vector<Candidate> candidates = line_of_c(0.15, "ovo");
  candidates.resize(5);
  for (const char* kernel : {"linear", "polynomial", "sigmoid"}) {
    Candidate c;
    c.kernel = kernel;
    c.multiclass = "ovo";
    c.gamma = 0.05;
    c.coef0 = 0.5;
    candidates.push_back(c);
  }
  const Experiment experiment(blobs, candidates, 3);
  Session session(world, experiment);
  const Results results = session.fit(all_fits(candidates.size(), 3));
  const std::string base =
      (std::filesystem::temp_directory_path() / ("mokume-libsvm-" + std::to_string(getpid()))).string();
  const std::map<std::string, int> kinds = {{"linear", 0}, {"polynomial", 1}, {"rbf", 2}, {"sigmoid", 3}};
  for (int32_t fold = 0; fold < 3; ++fold) {
    write_libsvm_rows(base + ".train", blobs, experiment.names(), fold, false);
    write_libsvm_rows(base + ".test", blobs, experiment.names(), fold, true);
    for (uint32_t c = 0; c < candidates.size(); ++c) {
      const Candidate& k = candidates[c];
      shell("svm-train -q -s 0 -t " + std::to_string(kinds.at(k.kernel)) + " -c " + std::to_string(k.c) + " -g " +
            std::to_string(k.gamma) + " -r " + std::to_string(k.coef0) + " -d 3 " + base + ".train " + base + ".model");
      const std::string said = shell("svm-predict " + base + ".test " + base + ".model " + base + ".out");
      const size_t open = said.find('('), slash = said.find('/');
      ASSERT_NE(open, std::string::npos) << said;
      const int right = std::stoi(said.substr(open + 1)), n = std::stoi(said.substr(slash + 1));
      EXPECT_EQ(results.at({c, fold}).n, n);
      EXPECT_NEAR(static_cast<double>(results.at({c, fold}).errors), n - right, 1) << k.kernel << " C=" << k.c;
    }
  }
  for (const char* end : {".train", ".test", ".model", ".out"}) std::filesystem::remove(base + end);
}

TEST_P(SvcOnDevice, CopiesSettledSolutionsCorrectly) {
  World world(backend());
  REQUIRE_DEVICE(world);
  const Blobs blobs(300, 5, 3, 3, 0.3);
  const auto candidates = line_of_c(0.1);
  const Experiment experiment(blobs, candidates, 3);
  Session session(world, experiment);
  const Results chain = session.fit(all_fits(candidates.size(), 3));
  int copied = 0;
  for (const auto& [key, result] : chain) {
    copied += result.status == MK_FIT_COPIED ? 1 : 0;
    // Runs the fit alone, without its chain.
    const Results alone = session.fit({key});
    EXPECT_EQ(alone.at(key).errors, result.errors) << key.first << " " << key.second;
  }
  EXPECT_GE(copied, 6);
  EXPECT_EQ(chain.at({0, 0}).status, MK_FIT_OK);
}

TEST_P(SvcOnDevice, SplitsAndResumesToTheSameBits) {
  World world(backend());
  REQUIRE_DEVICE(world);
  const Blobs blobs(300, 5, 3, 3, 0.7);
  const auto candidates = line_of_c(0.15);
  const Experiment experiment(blobs, candidates, 3);
  const std::vector<Key> keys = all_fits(candidates.size(), 3);
  Session whole(world, experiment);
  const Results expected = whole.fit(keys);

  Session split(world, experiment);
  Results by_fold;
  for (int32_t fold = 2; fold >= 0; --fold) {
    std::vector<Key> part;
    for (const Key& k : keys)
      if (k.second == fold) part.push_back(k);
    by_fold.merge(split.fit(part));
  }
  EXPECT_EQ(by_fold, expected);

  // Simulates a kill after each prefix of C: the remaining fits give the same results.
  for (uint32_t done_until = 1; done_until < candidates.size(); ++done_until) {
    std::map<Key, std::string> done;
    for (const auto& [key, result] : expected)
      if (key.first < done_until) done[key] = result.note;
    Session resumed(world, experiment);
    const Results rest = resumed.fit(keys, done);
    EXPECT_EQ(rest.size(), keys.size() - done.size());
    for (const auto& [key, result] : rest) EXPECT_EQ(result, expected.at(key)) << done_until;
  }
}

TEST_P(SvcOnDevice, KeepsToItsBudgetWithTheSameResults) {
  const Blobs blobs(900, 5, 3, 3, 0.7);
  auto candidates = line_of_c(0.15);
  candidates.resize(5);  // larger C would take long
  const Experiment experiment(blobs, candidates, 3);
  Results expected;
  const uint64_t matrix = 900 * 912 * sizeof(float);
  std::set<uint64_t> peaks;
  for (const uint64_t budget : {uint64_t{64} << 20, matrix + matrix / 2 + (1 << 20), matrix / 2 + (1 << 20)}) {
    World world(backend(), 0, budget);
    REQUIRE_DEVICE(world);
    {
      Session session(world, experiment);
      const Results results = session.fit(all_fits(candidates.size(), 3));
      if (expected.empty()) expected = results;
      for (const auto& [key, result] : results) {
        // The host's GEMM may round a row differently when it is computed alone; opencl's own kernels do not.
        EXPECT_NEAR(static_cast<double>(result.errors), static_cast<double>(expected.at(key).errors), 2) << budget;
        if (std::string(backend()) == "opencl") {
          EXPECT_EQ(result, expected.at(key)) << budget;
        }
      }
    }
    EXPECT_LE(world.device().peak_bytes(), budget);
    EXPECT_EQ(world.device().allocated_bytes(), 0U);
    peaks.insert(world.device().peak_bytes());
  }
  EXPECT_EQ(peaks.size(), 3U) << "each budget should lead to another way of storing the kernel";
}

TEST_P(SvcOnDevice, RefusesABudgetThatCannotWork) {
  World world(backend(), 0, 4096);
  REQUIRE_DEVICE(world);
  const Blobs blobs(300, 5, 3, 3);
  const Experiment experiment(blobs, line_of_c(0.5), 3);
  Session session(world, experiment);
  try {
    session.fit(all_fits(8, 3));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), MK_OUT_OF_MEMORY);
    EXPECT_NE(std::string(e.what()).find("budget"), std::string::npos) << e.what();
  }
}

TEST_P(SvcOnDevice, MarksACappedFit) {
  World world(backend());
  REQUIRE_DEVICE(world);
  const Blobs blobs(900, 5, 2, 3);
  std::vector<Candidate> candidates(1);
  candidates[0].c = 1e5;
  candidates[0].gamma = 0.01;
  candidates[0].max_iterations = 600;
  const Experiment experiment(blobs, candidates, 3);
  Session session(world, experiment);
  EXPECT_EQ(session.fit({{0, 0}}).at({0, 0}).status, MK_FIT_CAPPED);
}

TEST_P(SvcOnDevice, FailsAFitWhoseKernelOverflows) {
  World world(backend());
  REQUIRE_DEVICE(world);
  Blobs blobs(90, 5, 3, 3);
  for (float& x : blobs.x) x *= 1e6F;
  std::vector<Candidate> candidates(2);
  candidates[0].kernel = "polynomial";
  candidates[0].gamma = 1;
  candidates[0].degree = 20;
  candidates[1].gamma = 1e-12;
  const Experiment experiment(blobs, candidates, 3);
  Session session(world, experiment);
  const Results results = session.fit(all_fits(2, 3));
  EXPECT_EQ(results.at({0, 0}).status, MK_FIT_FAILED);
  EXPECT_NE(results.at({0, 0}).note.find("overflow"), std::string::npos);
  EXPECT_EQ(results.at({1, 0}).status, MK_FIT_OK);
}

// A few kernel values overflow among many that do not. The solver meets each of them in turn, and none may lead it out
// of its rows.
TEST_P(SvcOnDevice, FailsAFitIfSomeKernelValuesOverflow) {
  World world(backend());
  REQUIRE_DEVICE(world);
  for (const float huge : {1e19F, 3e19F, 1e25F, 1e38F}) {
    Blobs blobs(90, 5, 3, 3);
    for (const size_t r : {3U, 40U, 41U, 77U}) blobs.x[r * 5 + r % 5] = r % 2 == 0 ? huge : -huge;
    std::vector<Candidate> candidates(2);
    candidates[0].kernel = "linear";
    candidates[1].kernel = "linear";
    candidates[1].c = 1e6;
    for (Candidate& c : candidates) c.max_iterations = 200'000;
    const Experiment experiment(blobs, candidates, 3);
    Session session(world, experiment);
    for (const auto& [key, result] : session.fit(all_fits(2, 3)))
      EXPECT_TRUE(result.status != MK_FIT_FAILED || result.note.find("overflow") != std::string::npos);
  }
}

TEST_P(SvcOnDevice, LearnsEvenIfAFoldLacksAClass) {
  World world(backend());
  REQUIRE_DEVICE(world);
  Blobs blobs(90, 5, 3, 3);
  for (int64_t r = 0; r < 90; ++r)  // class 2 occurs only in fold 0
    if (blobs.labels[static_cast<size_t>(r)] == 2) blobs.labels[static_cast<size_t>(r)] = r < 30 ? 2 : 0;
  const std::vector<Candidate> candidates(1);
  const Experiment experiment(blobs, candidates, 3);
  Session session(world, experiment);
  const Results results = session.fit(all_fits(1, 3));
  EXPECT_GE(results.at({0, 0}).errors, 10);  // the ten rows of class 2 cannot be predicted
  EXPECT_EQ(results.at({0, 1}).status, MK_FIT_OK);
}

// OpenCL with a work-item or a work-group per problem, and native code, take the same steps for the same kernel matrix.
// A linear kernel of small integers has no roundings.
TEST(SvcAcrossDevices, VariantsOfTheBlockedSolverTakeTheSameSteps) {
  World host("host"), vector("opencl", 0, uint64_t{2} << 30, {{"svc.blocked", "vector"}});
  World group("opencl", 0, uint64_t{2} << 30, {{"svc.blocked", "group"}});
  REQUIRE_DEVICE(vector);
  Blobs blobs(300, 6, 3, 3, 3.0);
  for (float& x : blobs.x) x = std::round(4 * x);
  std::vector<Candidate> candidates;
  for (const char* multiclass : {"ovr", "ovo"})
    for (const double c : {1e-4, 0.01}) {
      candidates.emplace_back();
      candidates.back().kernel = "linear";
      candidates.back().c = c;
      candidates.back().multiclass = multiclass;
      candidates.back().solver = "blocked";
      candidates.back().max_iterations = 1'000;
    }
  const Experiment experiment(blobs, candidates, 3);
  Session a(host, experiment), b(vector, experiment), c(group, experiment);
  const auto keys = all_fits(candidates.size(), 3);
  const Results expected = a.fit(keys);
  EXPECT_EQ(b.fit(keys), expected);
  EXPECT_EQ(c.fit(keys), expected);
}

// A matrix of kernel values as data gives the same fits and the same model as the kernel function.
TEST_P(SvcOnDevice, KernelValuesMayBeGiven) {
  World world(backend());
  REQUIRE_DEVICE(world);
  const Blobs blobs(210, 5, 3, 3, 2.0);
  const Blobs given = kernel_values(blobs, 0.3);
  std::vector<Candidate> functions = line_of_c(0.3), matrices = line_of_c(0.3);
  functions.resize(5);
  matrices.resize(5);
  for (Candidate& c : matrices) c.kernel = "precomputed";
  const Experiment a(blobs, functions, 3), b(given, matrices, 3);
  Session by_function(world, a), by_matrix(world, b);
  const Results expected = by_function.fit(all_fits(5, 3)), results = by_matrix.fit(all_fits(5, 3));
  for (const auto& [key, result] : results)
    EXPECT_NEAR(static_cast<double>(result.errors), static_cast<double>(expected.at(key).errors), 1) << key.first;
  const auto predicted = [&](mk_fitted* fitted, const Blobs& rows) {
    std::vector<int32_t> labels(static_cast<size_t>(rows.rows));
    sdk::call(world.model().predict, world.model().self, static_cast<const mk_fitted*>(fitted),
              world.device().services(), rows.x.data(), rows.rows, rows.features, labels.data(),
              static_cast<float*>(nullptr));
    world.model().fitted_destroy(fitted);
    return labels;
  };
  EXPECT_EQ(predicted(by_matrix.refit(2), given), predicted(by_function.refit(2), blobs));
}

TEST(Svc, RefusesKernelValuesThatCannotBe) {
  World world("host");
  const auto refuses = [&](const Blobs& blobs, const std::vector<Candidate>& candidates, const char* words) {
    const Experiment experiment(blobs, candidates, 2);
    try {
      sdk::call(world.model().check, world.model().self, experiment.get());
      ADD_FAILURE() << words;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
    }
  };
  std::vector<Candidate> candidates(2);
  candidates[1].kernel = "precomputed";
  refuses(Blobs(60, 60, 3, 2), candidates, "the kernel is precomputed for only some candidates");
  candidates[0].kernel = "precomputed";
  refuses(Blobs(60, 59, 3, 2), candidates, "59 columns and 60 training rows");
}

// For small C, the tolerance does not determine the classes, so either solver takes LIBSVM's steps.
TEST(SvcSolvers, CountTheSameErrorsInIllDeterminedFits) {
  World world("host");
  const Blobs blobs(600, 6, 4, 3);
  std::vector<Candidate> candidates(4);
  candidates[0].c = candidates[1].c = 1e-4;
  candidates[2].c = candidates[3].c = 1.0;
  candidates[1].solver = candidates[3].solver = "blocked";
  const Experiment experiment(blobs, candidates, 3);
  Session session(world, experiment);
  const Results results = session.fit(all_fits(4, 3));
  for (int32_t fold = 0; fold < 3; ++fold) {
    EXPECT_NE(results.at({1, fold}).note.find("unsure="), std::string::npos);
    EXPECT_EQ(results.at({1, fold}), results.at({0, fold})) << "handed over";
    EXPECT_NEAR(static_cast<double>(results.at({3, fold}).errors), static_cast<double>(results.at({2, fold}).errors),
                1);
    EXPECT_NE(results.at({3, fold}).note, results.at({2, fold}).note) << "other steps";
  }
}

// A smaller tolerance determines the classes of most rows.
TEST(SvcSolvers, SolveIllDeterminedFitsAgain) {
  World world("host");
  const Blobs blobs(600, 6, 4, 3);
  for (const char* solver : {"libsvm", "blocked"}) {
    std::vector<Candidate> candidates(3);
    for (Candidate& c : candidates) {
      c.c = 1e-4;
      c.solver = solver;
    }
    candidates[1].tighten = true;
    candidates[2].tol = 1e-4;
    const Experiment experiment(blobs, candidates, 3);
    Session session(world, experiment);
    const Results results = session.fit(all_fits(3, 3));
    const auto unsure = [&](uint32_t candidate, int32_t fold) {
      const std::string& note = results.at({candidate, fold}).note;
      const size_t at = note.find("unsure=");
      return at == std::string::npos ? 0 : std::stoi(note.substr(at + 7));
    };
    for (int32_t fold = 0; fold < 3; ++fold) {
      EXPECT_GT(unsure(0, fold), 200 / 50) << solver;
      EXPECT_LE(unsure(1, fold), 200 / 50) << solver;
      if (unsure(2, fold) <= 200 / 50) {
        EXPECT_EQ(results.at({1, fold}).errors, results.at({2, fold}).errors) << "a tenth is enough";
      }
    }
  }
}

// `tighten` does not change a tolerance below its own minimum.
TEST(SvcSolvers, NeverLoosenATolerance) {
  World world("host");
  const Blobs blobs(600, 6, 4, 3);
  std::vector<Candidate> candidates(1);
  candidates[0].c = 1e-7;
  candidates[0].tol = 1e-7;
  const Experiment plain(blobs, candidates, 3);
  candidates[0].tighten = true;
  const Experiment tightened(blobs, candidates, 3);
  Session a(world, plain), b(world, tightened);
  EXPECT_EQ(b.fit(all_fits(1, 3)), a.fit(all_fits(1, 3)));
}

// For kernels that are narrower than with gamma = "scale", either solver takes LIBSVM's steps.
TEST(SvcSolvers, TakeTheSameStepsWhereTheKernelIsNarrow) {
  World world("host");
  const Blobs blobs(600, 6, 2, 3);
  std::vector<Candidate> candidates(4);
  for (Candidate& c : candidates) c.gamma_unit = "scale";
  candidates[0].gamma = candidates[1].gamma = 1.5;
  candidates[2].gamma = candidates[3].gamma = 0.5;
  candidates[1].solver = candidates[3].solver = "blocked";
  const Experiment experiment(blobs, candidates, 3);
  Session session(world, experiment);
  const Results results = session.fit(all_fits(4, 3));
  for (int32_t fold = 0; fold < 3; ++fold) {
    EXPECT_EQ(results.at({1, fold}), results.at({0, fold})) << "narrow";
    EXPECT_NE(results.at({3, fold}).note, results.at({2, fold}).note) << "wide";
  }
}

TEST(SvcAcrossDevices, HostAndOpenClAgree) {
  World host("host"), opencl("opencl");
  REQUIRE_DEVICE(opencl);
  const Blobs blobs(500, 6, 4, 5);
  auto candidates = line_of_c(0.2);
  for (const Candidate& c : line_of_c(0.2, "ovo")) candidates.push_back(c);
  const Experiment experiment(blobs, candidates, 5);
  Session a(host, experiment), b(opencl, experiment);
  const Results on_host = a.fit(all_fits(candidates.size(), 5)), on_opencl = b.fit(all_fits(candidates.size(), 5));
  for (const auto& [key, result] : on_host)
    EXPECT_NEAR(static_cast<double>(result.errors), static_cast<double>(on_opencl.at(key).errors), 2);
}

TEST(SvcBundles, CoverEveryFitOnceAndNeverCutAlongC) {
  World world("host");
  const Blobs blobs(100, 3, 3, 5);
  auto candidates = line_of_c(0.1);
  for (const Candidate& c : line_of_c(0.2)) candidates.push_back(c);
  const Experiment experiment(blobs, candidates, 5);
  for (const uint32_t parts : {1U, 2U, 5U, 7U, 100U}) {
    struct Context {
      std::map<Key, int> bundle_of;
      int bundles = 0;
    } context;
    const mk_bundle_sink sink{&context, [](void* self, const mk_bundle* b, mk_error*) -> int32_t {
                                auto& c = *static_cast<Context*>(self);
                                for (uint32_t k = 0; k < b->n_fits; ++k)
                                  if (!c.bundle_of.insert({{b->fits[k].candidate, b->fits[k].fold}, c.bundles}).second)
                                    return MK_INTERNAL;
                                ++c.bundles;
                                return MK_OK;
                              }};
    sdk::call(world.model().bundle, world.model().self, experiment.get(), parts, &sink);
    EXPECT_EQ(context.bundle_of.size(), candidates.size() * 5);
    EXPECT_GE(context.bundles, static_cast<int>(std::min(parts, 10U)));
    for (uint32_t c = 0; c < candidates.size(); ++c)
      for (int32_t f = 0; f < 5; ++f) EXPECT_EQ(context.bundle_of.at({c, f}), context.bundle_of.at({c / 8 * 8, f}));
  }
}

// The fits of a divided bundle run in the order of the chain.
TEST(SvcBundles, FollowCWhateverTheOrderOfThePlan) {
  World world("host");
  const Blobs blobs(100, 3, 3, 5);
  auto candidates = line_of_c(0.1);
  std::reverse(candidates.begin(), candidates.end());
  const Experiment experiment(blobs, candidates, 5);
  std::vector<uint32_t> order;
  const mk_bundle_sink sink{&order, [](void* self, const mk_bundle* b, mk_error*) -> int32_t {
                              for (uint32_t k = 0; k < b->n_fits; ++k)
                                if (b->fits[k].fold == 0)
                                  static_cast<std::vector<uint32_t>*>(self)->push_back(b->fits[k].candidate);
                              return MK_OK;
                            }};
  sdk::call(world.model().bundle, world.model().self, experiment.get(), 5, &sink);
  std::vector<uint32_t> along_c(candidates.size());
  std::iota(along_c.rbegin(), along_c.rend(), 0U);
  EXPECT_EQ(order, along_c);
}

// Wide kernels take many steps, and narrow kernels have many support vectors; kernels in between finish soonest.
TEST(SvcBundles, AreExpectedToTakeLongestAtBothEndsOfGamma) {
  World world("host");
  const Blobs blobs(100, 3, 3, 5);
  std::vector<Candidate> candidates;
  for (const double gamma : {1e-5, 1e-3, 0.1, 1e2})
    for (const Candidate& c : line_of_c(gamma)) candidates.push_back(c);
  const Experiment experiment(blobs, candidates, 5);
  std::vector<double> costs;
  const mk_bundle_sink sink{&costs, [](void* self, const mk_bundle* b, mk_error*) -> int32_t {
                              static_cast<std::vector<double>*>(self)->push_back(b->cost / b->n_fits);
                              return MK_OK;
                            }};
  sdk::call(world.model().bundle, world.model().self, experiment.get(), 1, &sink);
  ASSERT_EQ(costs.size(), 4U);
  EXPECT_GT(costs[0], costs[1]);
  EXPECT_GT(costs[1], costs[2]);
  EXPECT_GT(costs[3], costs[2]);
}

}  // namespace
}  // namespace mokume::svc_test
