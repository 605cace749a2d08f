// Tests kernel_storage = "fp16" (ADR 63): kernel values are those of the nearest halves wherever a fit meets them.
#include <cmath>
#include <limits>

#include "harness.hpp"
#include "matrix/kernel_plan.hpp"

namespace mokume::svc_test {
namespace {

using svc::KernelMode;
using svc::KernelNeeds;
using svc::KernelPlan;
using svc::Storage;

constexpr uint32_t kFoldsOfHalves = 3;

// Returns the value of the nearest half; ties go to an even last digit. nearbyint() rounds in this way.
float nearest_half(float x) {
  if (x == 0) return x;
  const int digits = std::max(std::ilogb(x), -14) - 10;  // exponent of the last digit of a half
  return std::ldexp(std::nearbyint(std::ldexp(x, -digits)), digits);
}

// Replaces the inputs by the values of an RBF kernel times `scale`.
Blobs with_kernel_values(Blobs blobs, double scale) {
  const auto n = static_cast<size_t>(blobs.rows), d = static_cast<size_t>(blobs.features);
  std::vector<float> values;
  for (size_t r = 0; r < n; ++r)
    for (size_t c = 0; c < n; ++c) {
      double distance = 0;
      for (size_t f = 0; f < d; ++f) distance += std::pow(double{blobs.x[r * d + f]} - double{blobs.x[c * d + f]}, 2);
      values.push_back(static_cast<float>(scale * std::exp(-0.3 * distance)));
    }
  blobs.features = blobs.rows;
  blobs.x = values;
  return blobs;
}

Candidate halved(Candidate candidate) {
  candidate.kernel_storage = "fp16";
  return candidate;
}

Results fits_with(World& world, const Blobs& blobs, const std::vector<Candidate>& candidates) {
  const Experiment experiment(blobs, candidates, kFoldsOfHalves);
  Session session(world, experiment);
  return session.fit(all_fits(candidates.size(), kFoldsOfHalves));
}

class HalvesOnDevice : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override { default_solver = GetParam().solver; }
  void TearDown() override { default_solver = "libsvm"; }
};
INSTANTIATE_TEST_SUITE_P(Devices, HalvesOnDevice, testing::ValuesIn(kWays), name_of_way);

// Rounding the values in the data first must change nothing. Among values times 1e-6 are the smallest halves, multiples
// of 2^-24, and values that become 0.
TEST_P(HalvesOnDevice, AreTheNearestToTheKernelValues) {
  World world(GetParam().backend);
  REQUIRE_DEVICE(world);
  for (const double scale : {1.0, 60'000.0, 1e-6}) {
    const Blobs given = with_kernel_values(Blobs(210, 5, 3, kFoldsOfHalves, 2.0), scale);
    Blobs rounded = given;
    for (float& x : rounded.x) x = nearest_half(x);
    ASSERT_NE(rounded.x, given.x);
    Candidate candidate;
    candidate.kernel = "precomputed";
    candidate.c = 10 / scale;
    EXPECT_EQ(fits_with(world, given, {halved(candidate)}), fits_with(world, rounded, {candidate})) << scale;
  }
}

TEST_P(HalvesOnDevice, HardlyChangeTheErrors) {
  World world(GetParam().backend);
  REQUIRE_DEVICE(world);
  const Blobs blobs(540, 6, 2, kFoldsOfHalves);  // more rows than wait to become halves at a time
  std::vector<Candidate> floats, halves;
  for (const double gamma : {1e-4, 0.02, 0.3})  // the first kernel is close to 1 for all pairs of rows
    for (const double c : {1.0, 10.0}) {
      floats.emplace_back();
      floats.back().gamma = gamma;
      floats.back().c = c;
      halves.push_back(halved(floats.back()));
    }
  const Results expected = fits_with(world, blobs, floats), found = fits_with(world, blobs, halves);
  for (const auto& [key, result] : found) {
    EXPECT_EQ(result.status, MK_FIT_OK);
    EXPECT_NEAR(static_cast<double>(result.errors), static_cast<double>(expected.at(key).errors), 3)
        << "candidate " << key.first << ", fold " << key.second;
  }
}

// Also the rows that validate a fit are rounded, whether they are stored or computed when they are needed.
TEST_P(HalvesOnDevice, AreTheSameInEveryMode) {
  Blobs blobs(900, 5, 3, kFoldsOfHalves, 0.7);
  for (int64_t r = 0; std::string(GetParam().solver) == "libsvm" && r < blobs.rows; ++r)
    blobs.targets.push_back(blobs.x[static_cast<size_t>(5 * r)] * blobs.x[static_cast<size_t>(5 * r + 1)]);
  std::vector<Candidate> candidates(2);
  candidates[1].c = 30;
  for (Candidate& candidate : candidates) candidate = halved(candidate);
  const uint64_t matrix = 900 * 912 * sizeof(float), room = (uint64_t{1} << 20) + matrix / 2;
  std::set<uint64_t> peaks;
  Results expected;
  for (const uint64_t budget : {uint64_t{64} << 20, matrix / 2 + matrix / 4 + room, matrix / 4 + room}) {
    World world(GetParam().backend, 0, budget);
    REQUIRE_DEVICE(world);
    const Results found = fits_with(world, blobs, candidates);
    if (expected.empty()) expected = found;
    for (const auto& [key, result] : found) {
      EXPECT_NEAR(result.value, expected.at(key).value, blobs.targets.empty() ? 2 : 1e-3 * result.value) << budget;
      if (std::string(GetParam().backend) == "opencl") {
        EXPECT_EQ(result, expected.at(key)) << budget;
      }
    }
    EXPECT_LE(world.device().peak_bytes(), budget);
    peaks.insert(world.device().peak_bytes());
  }
  EXPECT_EQ(peaks.size(), 3U) << "each budget should lead to another way of storing the kernel";
}

std::string refusal(const Blobs& blobs, const std::vector<Candidate>& candidates) {
  World world("host");
  const Experiment experiment(blobs, candidates, 2);
  try {
    sdk::call(world.model().check, world.model().self, experiment.get());
  } catch (const Error& e) {
    return e.status() == MK_INVALID_ARGUMENT ? e.what() : "status " + std::to_string(e.status());
  }
  return "";
}

TEST(Halves, RefuseWhatTheyCannotHold) {
  Blobs blobs(60, 5, 3, 2);
  Candidate candidate = halved({});
  EXPECT_EQ(refusal(blobs, {candidate}), "");
  EXPECT_NE(refusal(blobs, {candidate, {}}).find("then it must be that of all"), std::string::npos);
  candidate.approximation = "nystrom";
  candidate.solver = "blocked";
  candidate.landmarks = 20;
  EXPECT_NE(refusal(blobs, {candidate}).find("features in place of kernel values"), std::string::npos);

  for (float& x : blobs.x) x *= 1e3F;
  for (const char* kernel : {"linear", "polynomial"}) {
    candidate = halved({});
    candidate.kernel = kernel;
    EXPECT_NE(refusal(blobs, {candidate}).find("but values of the kernel may reach"), std::string::npos)
        << refusal(blobs, {candidate});
    EXPECT_NE(refusal(blobs, {candidate}).find("scale the data"), std::string::npos);
    candidate.kernel_storage = "fp32";
    EXPECT_EQ(refusal(blobs, {candidate}), "");
  }
  candidate = halved({});
  EXPECT_EQ(refusal(blobs, {candidate}), "") << "an RBF kernel has values up to 1";
  Blobs values(60, 60, 3, 2);
  candidate.kernel = "precomputed";
  EXPECT_EQ(refusal(values, {candidate}), "");
  values.x.back() = -65'536;
  EXPECT_NE(refusal(values, {candidate}).find("may reach 6.55e+04"), std::string::npos);
}

// A fold's gamma may be larger than that of all rows, which `check` knows.
TEST(Halves, RefuseInAFitWhatTheCheckCannotSee) {
  World world("host");
  Blobs blobs(60, 5, 3, kFoldsOfHalves);
  for (float& x : blobs.x) x *= 1e3F;
  Candidate candidate = halved({});
  candidate.kernel = "linear";
  try {
    fits_with(world, blobs, {candidate});
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("up to 65504"), std::string::npos) << e.what();
  }
}

KernelNeeds needs_of(Storage storage, uint64_t budget) {
  return {10'000, 10'000, storage, 0, 0, 8, budget, std::numeric_limits<int64_t>::max()};
}

TEST(KernelPlan, HoldsTwiceAsManyRowsOfHalves) {
  const uint64_t row = 10'000 * sizeof(float);
  const KernelPlan floats = best_plan(needs_of(Storage::fp32, 1'016 * row), KernelMode::gram_kept);
  const KernelPlan halves = best_plan(needs_of(Storage::fp16, 1'016 * row), KernelMode::gram_kept);
  ASSERT_EQ(floats.mode, KernelMode::on_the_fly);
  ASSERT_EQ(halves.mode, KernelMode::on_the_fly);
  // Both have 16 rows of floats for the values that are computed at a time, and halves another 16 rows of halves.
  EXPECT_EQ(floats.cached_rows, 1'000);
  EXPECT_EQ(halves.cached_rows, 2 * 1'000 - 16);
  // Buffers also hold twice as many rows.
  KernelNeeds small = needs_of(Storage::fp32, 1'016 * row);
  small.max_buffer = 100 * row;
  EXPECT_EQ(plan_of(small, KernelMode::on_the_fly).panel_rows, 100);
  small.storage = Storage::fp16;
  EXPECT_EQ(plan_of(small, KernelMode::on_the_fly).panel_rows, 200);
}

TEST(KernelPlan, KeepsTheWholeMatrixInHalfTheMemory) {
  const uint64_t matrix = 10'000 * 10'000 * sizeof(float), staged = svc::kStagedRows * 10'000 * sizeof(float);
  const auto mode = [](Storage storage, uint64_t budget) {
    return best_plan(needs_of(storage, budget), KernelMode::gram_kept).mode;
  };
  EXPECT_EQ(mode(Storage::fp32, matrix), KernelMode::in_place);
  EXPECT_EQ(mode(Storage::fp32, matrix - 1), KernelMode::on_the_fly);
  EXPECT_EQ(mode(Storage::fp16, matrix / 2 + staged), KernelMode::in_place);
  EXPECT_EQ(mode(Storage::fp16, matrix / 2 + staged - 1), KernelMode::on_the_fly);
  EXPECT_EQ(mode(Storage::fp32, 2 * matrix), KernelMode::gram_kept);
  EXPECT_EQ(mode(Storage::fp16, matrix + matrix / 2 + staged), KernelMode::gram_kept);
}

// A row has one panel number for both matrices, so the panels of halves are as short as those of the Gram matrix.
TEST(KernelPlan, PanelsOfBothMatricesHaveTheSameRows) {
  KernelNeeds needs = needs_of(Storage::fp16, uint64_t{1} << 40);
  needs.max_buffer = 2'000 * 10'000 * sizeof(float);
  const KernelPlan kept = best_plan(needs, KernelMode::gram_kept);
  EXPECT_EQ(kept.mode, KernelMode::gram_kept);
  EXPECT_EQ(kept.panel_rows, 2'000);
  needs.max_buffer = 1'000 * 10'000 * sizeof(float);  // eight panels of floats are too few, but not eight of halves
  const KernelPlan in_place = best_plan(needs, KernelMode::gram_kept);
  EXPECT_EQ(in_place.mode, KernelMode::in_place);
  EXPECT_EQ(in_place.panel_rows, 2'000);
}

}  // namespace
}  // namespace mokume::svc_test
