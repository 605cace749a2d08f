// Tests that the blocked solver hands problems with poor rounds over to LIBSVM's steps.
#include <tuple>

#include "harness.hpp"

namespace mokume::svc_test {
namespace {

// Far more multipliers are free here than fit into a working set. A round counts as at least 1,000 steps, so rounds
// alone would reach the limit. Given kernel values have no roundings, so all devices take the same steps. GPUs hand
// problems over only if numerics are strict.
TEST(SvcAcrossDevices, ProblemsWithManyFreeRowsAreHandedOver) {
  const Blobs blobs = kernel_values(Blobs(3000, 20, 2, 3, 6.0), 0.004);
  std::vector<Candidate> candidates(2);
  for (Candidate& c : candidates) {
    c.kernel = "precomputed";
    c.c = 1000;
    c.solver = &c == candidates.data() ? "blocked" : "libsvm";
    c.max_iterations = 100'000;
  }
  const Experiment experiment(blobs, candidates, 3);
  Results expected;
  for (const auto& [backend, form, numerics] :
       {std::tuple("host", "vector", "fast"), std::tuple("opencl", "vector", "fast"),
        std::tuple("opencl", "group", "strict")}) {
    SCOPED_TRACE(std::string(backend) + ", " + form + ", " + numerics);
    World world(backend, 0, uint64_t{2} << 30, {{"svc.blocked", form}, {"svc.smo", form}, {"numerics", numerics}});
    REQUIRE_DEVICE(world);
    Session session(world, experiment);
    const Results results = session.fit({{0, 0}, {1, 0}});
    const Result &blocked = results.at({0, 0}), &libsvm = results.at({1, 0});
    EXPECT_EQ(blocked.status, MK_FIT_OK) << blocked.note;
    EXPECT_EQ(libsvm.status, MK_FIT_OK) << libsvm.note;
    EXPECT_NEAR(static_cast<double>(blocked.errors), static_cast<double>(libsvm.errors), 3);
    if (expected.empty()) expected = results;
    EXPECT_EQ(results, expected);
  }
}

}  // namespace
}  // namespace mokume::svc_test
