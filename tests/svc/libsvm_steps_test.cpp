// Compares LIBSVM's own svm-train with the solver in cases in which the tolerance allows many solutions: docs/adr/0007.
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "harness.hpp"
#include "libsvm_file.hpp"

namespace mokume::svc_test {
namespace {

namespace fs = std::filesystem;

class SvcSteps : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, SvcSteps, testing::Values("host", "opencl"));

// Writes rows in the order in which svm-train groups them: the rest (label 0) before the class (label 1).
void write_rows(const std::string& path, const Blobs& blobs, int32_t positive) {
  std::ofstream out(path);
  out.precision(9);
  for (const bool of_class : {false, true}) {
    for (int64_t r = 0; r < blobs.rows; ++r) {
      if ((blobs.labels[static_cast<size_t>(r)] == positive) != of_class) continue;
      out << (of_class ? 1 : 0);
      for (int64_t f = 0; f < blobs.features; ++f)
        out << " " << f + 1 << ":" << blobs.x[static_cast<size_t>(r * blobs.features + f)];
      out << "\n";
    }
  }
}

TEST_P(SvcSteps, ReachTheModelOfSvmTrain) {
  if (std::system("command -v svm-train >/dev/null") != 0) GTEST_SKIP() << "svm-train is missing: install libsvm-tools";
  World world(GetParam());
  if (!world.present()) GTEST_SKIP() << "no OpenCL device: install pocl-opencl-icd";
  const Blobs blobs(600, 5, 3, 3);
  std::vector<Candidate> candidates(3);
  const double difference[] = {1e-5, 1e-5, 2e-3};
  candidates[0].c = 0.005, candidates[0].gamma = 1e-5;  // nearly every row could be a support vector
  candidates[1].c = 0.5, candidates[1].gamma = 1e-3;
  candidates[2].c = 20, candidates[2].gamma = 0.05;  // well determined, but far too long for identical steps
  const Experiment experiment(blobs, candidates, 3);
  Session session(world, experiment);
  const fs::path scratch = fs::temp_directory_path() / ("mokume-svc-steps-" + std::to_string(getpid()));
  for (uint32_t k = 0; k < candidates.size(); ++k) {
    fs::remove_all(scratch);
    fs::create_directories(scratch);
    mk_fitted* fitted = session.refit(k);
    sdk::call(world.model().save, static_cast<const mk_fitted*>(fitted), scratch.string().c_str());
    world.model().fitted_destroy(fitted);
    for (int32_t positive = 0; positive < 3; ++positive) {
      write_rows(scratch / "rows", blobs, positive);
      const std::string theirs = scratch / "theirs", ours = scratch / ("class-" + std::to_string(positive) + ".libsvm");
      ASSERT_EQ(std::system(("svm-train -q -g " + std::to_string(candidates[k].gamma) + " -c " +
                             std::to_string(candidates[k].c) + " " + (scratch / "rows").string() + " " + theirs)
                                .c_str()),
                0);
      const svc::LibsvmModel a = svc::read_libsvm(theirs, blobs.features), b = svc::read_libsvm(ours, blobs.features);
      // LIBSVM's positive class is the rest and ours is the class, so the same hyperplane has the opposite sign.
      EXPECT_NEAR(a.rho.at(0), -b.rho.at(0), difference[k]) << "candidate " << k << ", class " << positive;
    }
  }
  fs::remove_all(scratch);
}

}  // namespace
}  // namespace mokume::svc_test
