// Tests machines on features of landmarks: with all rows as landmarks they equal exact machines, their bits depend on
// nothing but their parameters and rows, and files, budgets and refusals.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "harness.hpp"

namespace mokume::svc_test {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kThirds = 3;
constexpr int64_t kRowsHere = 240;

Candidate on_landmarks(int64_t landmarks) {
  Candidate candidate;
  candidate.approximation = "nystrom";
  candidate.landmarks = landmarks;
  candidate.solver = "blocked";
  candidate.gamma = 0.2;
  candidate.c = 4;
  return candidate;
}

// Returns the decision values of a refit for its own rows.
std::vector<float> scores_of_refit(World& world, const Blobs& blobs, const Candidate& candidate) {
  const Experiment experiment(blobs, {candidate}, kThirds);
  Session session(world, experiment);
  mk_fitted* fitted = session.refit(0);
  std::vector<int32_t> labels(static_cast<size_t>(blobs.rows));
  std::vector<float> scores(static_cast<size_t>(blobs.rows) * world.model().scores_per_row(fitted));
  sdk::call(world.model().predict, world.model().self, fitted, world.device().services(), blobs.x.data(), blobs.rows,
            blobs.features, labels.data(), scores.data());
  world.model().fitted_destroy(fitted);
  return scores;
}

Results fits_of(World& world, const Blobs& blobs, const std::vector<Candidate>& candidates) {
  const Experiment experiment(blobs, candidates, kThirds);
  Session session(world, experiment);
  return session.fit(all_fits(candidates.size(), kThirds));
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double most = a.size() == b.size() ? 0 : INFINITY;
  for (size_t k = 0; k < std::min(a.size(), b.size()); ++k)
    most = std::max(most, std::fabs(double{a[k]} - double{b[k]}));
  return most;
}

Blobs with_numbers(Blobs blobs) {
  for (int64_t r = 0; r < blobs.rows; ++r)
    blobs.targets.push_back(std::sin(2 * blobs.x[static_cast<size_t>(r * blobs.features)]) +
                            0.3F * blobs.x[static_cast<size_t>(r * blobs.features + 1)]);
  return blobs;
}

struct OnLandmarks {
  const char* backend;
  const char* kernel;
  const char* multiclass;
  int32_t classes;  // 0 for a regression
};
void PrintTo(const OnLandmarks& m, std::ostream* out) {
  *out << m.backend << "_" << m.kernel << "_" << m.multiclass << "_" << m.classes;
}

std::vector<OnLandmarks> all_machines() {
  std::vector<OnLandmarks> list;
  for (const char* backend : {"host", "opencl"}) {
    for (const char* kernel : {"rbf", "polynomial", "laplacian", "chi2", "linear"})
      list.push_back({backend, kernel, "ovr", 2});
    for (const char* multiclass : {"ovr", "ovo"}) list.push_back({backend, "rbf", multiclass, 4});
    list.push_back({backend, "rbf", "ovr", 0});
  }
  return list;
}

class NystromMachine : public testing::TestWithParam<OnLandmarks> {
 protected:
  static Blobs rows() {
    Blobs blobs(kRowsHere, 5, std::max(2, GetParam().classes), kThirds);
    if (std::string(GetParam().kernel) == "chi2")
      for (float& x : blobs.x) x = std::fabs(x);
    return GetParam().classes == 0 ? with_numbers(blobs) : blobs;
  }
  static Candidate candidate(int64_t landmarks) {
    Candidate candidate = on_landmarks(landmarks);
    candidate.kernel = GetParam().kernel;
    candidate.multiclass = GetParam().multiclass;
    candidate.coef0 = 1;
    candidate.tol = 1e-4;
    return candidate;
  }
};
INSTANTIATE_TEST_SUITE_P(All, NystromMachine, testing::ValuesIn(all_machines()),
                         [](const auto& i) { return testing::PrintToString(i.param); });

TEST_P(NystromMachine, WithAllRowsAsLandmarksIsTheExactMachine) {
  World world(GetParam().backend);
  REQUIRE_DEVICE(world);
  const Blobs blobs = rows();
  Candidate exact = candidate(1000);
  exact.approximation = "none";
  exact.solver = "libsvm";
  const std::vector<float> wanted = scores_of_refit(world, blobs, exact);
  const std::vector<float> scores = scores_of_refit(world, blobs, candidate(kRowsHere));
  EXPECT_LT(largest_difference(scores, wanted), 0.01);

  const Results all = fits_of(world, blobs, {exact, candidate(kRowsHere * 2 / 3)});
  for (int32_t fold = 0; fold < int32_t{kThirds}; ++fold) {
    const Result &right = all.at({0, fold}), &result = all.at({1, fold});
    EXPECT_EQ(result.status, MK_FIT_OK) << result.note;
    EXPECT_EQ(result.n, right.n);
    EXPECT_NEAR(result.value, right.value, GetParam().classes == 0 ? 1e-3 : 1.5);
  }
}

TEST_P(NystromMachine, IsTheSameAfterSavingAndLoading) {
  World world(GetParam().backend);
  REQUIRE_DEVICE(world);
  const fs::path directory = fs::temp_directory_path() / ("mokume-nystrom-" + std::to_string(getpid()));
  fs::create_directories(directory);
  const Blobs blobs = rows();
  const Experiment experiment(blobs, {candidate(50)}, kThirds);
  Session session(world, experiment);
  mk_fitted* fitted = session.refit(0);
  sdk::call(world.model().save, static_cast<const mk_fitted*>(fitted), directory.c_str());
  mk_fitted* loaded = nullptr;
  sdk::call(world.model().load, world.model().self, directory.c_str(), &loaded);
  std::vector<std::vector<float>> scores;
  for (const mk_fitted* model : {fitted, loaded}) {
    std::vector<int32_t> labels(static_cast<size_t>(blobs.rows));
    scores.emplace_back(static_cast<size_t>(blobs.rows) * world.model().scores_per_row(model));
    sdk::call(world.model().predict, world.model().self, model, world.device().services(), blobs.x.data(), blobs.rows,
              blobs.features, labels.data(), scores.back().data());
  }
  EXPECT_LT(largest_difference(scores[0], scores[1]), 1e-3);
  const bool pairs = GetParam().classes == 4 && std::string(GetParam().multiclass) == "ovo";
  EXPECT_EQ(fs::exists(directory / "pair-5.libsvm"), pairs);
  mk_error error{};
  const bool exports = world.model().export_onnx(fitted, (directory / "model.onnx").c_str(), &error) == MK_OK;
  const std::string kernel = GetParam().kernel;
  EXPECT_EQ(exports, !pairs && kernel != "laplacian" && kernel != "chi2");
  for (mk_fitted* model : {fitted, loaded}) world.model().fitted_destroy(model);
  fs::remove_all(directory);
}

// Tests few rows, because PoCL takes long for the work-groups of a card that it poses as (tests/gpu).
class NystromOnCards : public testing::TestWithParam<int32_t> {};
INSTANTIATE_TEST_SUITE_P(All, NystromOnCards, testing::Values(0, 3),
                         [](const auto& i) { return "classes_" + std::to_string(i.param); });

TEST_P(NystromOnCards, HostAndOpenclAgree) {
  World host("host"), opencl("opencl");
  REQUIRE_DEVICE(opencl);
  Blobs blobs(60, 5, 3, kThirds);
  if (GetParam() == 0) blobs = with_numbers(blobs);
  Candidate candidate = on_landmarks(1000);  // more than there are, so each work-item has the weights of many
  candidate.c = 1;
  const std::vector<float> scores = scores_of_refit(host, blobs, candidate);
  EXPECT_LT(largest_difference(scores, scores_of_refit(opencl, blobs, candidate)), 0.01);
}

TEST(Nystrom, BothVariantsOnOpenclGiveTheSameBits) {
  World vector("opencl", 0, uint64_t{2} << 30, {{"svc.ascent", "vector"}});
  World group("opencl", 0, uint64_t{2} << 30, {{"svc.ascent", "group"}});
  REQUIRE_DEVICE(group);
  const Blobs blobs(kRowsHere, 5, 4, kThirds);
  for (const int64_t landmarks : {50, 150})
    EXPECT_EQ(scores_of_refit(vector, blobs, on_landmarks(landmarks)),
              scores_of_refit(group, blobs, on_landmarks(landmarks)))
        << landmarks;
  const Blobs numbers = with_numbers(blobs);
  EXPECT_EQ(scores_of_refit(vector, numbers, on_landmarks(150)), scores_of_refit(group, numbers, on_landmarks(150)));
}

std::vector<Candidate> small_grid() {
  std::vector<Candidate> candidates;
  for (const double gamma : {0.05, 0.4})
    for (const double c : {0.1, 1.0, 100.0}) {
      candidates.push_back(on_landmarks(60));
      candidates.back().gamma = gamma;
      candidates.back().c = c;
    }
  return candidates;
}

TEST(Nystrom, AFitDependsNeitherOnOtherFitsNorOnTheBudgetNorOnAResume) {
  for (const char* backend : {"host", "opencl"}) {
    World world(backend);
    if (!world.present()) continue;
    const Blobs blobs(kRowsHere, 5, 4, kThirds);
    const std::vector<Candidate> candidates = small_grid();
    const Results together = fits_of(world, blobs, candidates);
    ASSERT_EQ(together.size(), candidates.size() * kThirds);
    const Experiment experiment(blobs, candidates, kThirds);
    std::map<Key, std::string> done;
    for (const auto& [key, result] : together) {
      Session alone(world, experiment);
      EXPECT_EQ(alone.fit({key}).at(key), result) << backend << " candidate " << key.first << " fold " << key.second;
      if (key.first % 2 == 0) done[key] = result.note;
    }
    Session resumed(world, experiment);
    for (const auto& [key, result] : resumed.fit(all_fits(candidates.size(), kThirds), done)) {
      EXPECT_EQ(done.count(key), 0U);
      EXPECT_EQ(result, together.at(key));
    }
    World small(backend, 0, uint64_t{300} << 10);
    EXPECT_EQ(fits_of(small, blobs, candidates), together) << backend;
  }
}

// Describes the device of a test as one whose largest buffer holds the features of 512 rows.
mk_device_info small_buffers;

TEST(Nystrom, FeaturesLieInAsManyBuffersAsTheDeviceNeeds) {
  for (const char* backend : {"host", "opencl"}) {
    World world(backend);
    if (!world.present()) continue;
    const Blobs blobs(1300, 5, 3, kThirds);
    const Candidate candidate = on_landmarks(60);
    const Results whole = fits_of(world, blobs, {candidate});
    mk_device_services services = *world.device().services();
    small_buffers = *services.info(services.self);
    small_buffers.max_buffer_bytes = 512 * 128 * sizeof(float);
    services.info = [](void*) -> const mk_device_info* { return &small_buffers; };
    const Experiment experiment(blobs, {candidate}, kThirds);
    Session session(world, experiment, &services);
    for (const auto& [key, result] : session.fit(all_fits(1, kThirds))) {
      EXPECT_EQ(result.status, MK_FIT_OK);
      EXPECT_NEAR(result.value, whole.at(key).value, 1.5) << backend << " fold " << key.second;
    }
  }
}

TEST(Nystrom, MixesWithExactFits) {
  World world("host");
  const Blobs blobs(kRowsHere, 5, 3, kThirds);
  Candidate exact;
  exact.gamma = 0.2;
  Candidate approximate = on_landmarks(160);
  approximate.c = 1;
  const Results both = fits_of(world, blobs, {exact, approximate, exact});
  EXPECT_EQ(both.size(), 3 * kThirds);
  for (int32_t fold = 0; fold < int32_t{kThirds}; ++fold) EXPECT_EQ(both.at({0, fold}), both.at({2, fold}));
}

// Returns the rows of a two-class refit that its manifest lists.
std::string landmarks_of(const Blobs& blobs, const Candidate& candidate) {
  World world("host");
  const fs::path directory = fs::temp_directory_path() / ("mokume-landmarks-" + std::to_string(getpid()));
  fs::create_directories(directory);
  const Experiment experiment(blobs, {candidate}, kThirds);
  Session session(world, experiment);
  mk_fitted* fitted = session.refit(0);
  sdk::call(world.model().save, static_cast<const mk_fitted*>(fitted), directory.c_str());
  world.model().fitted_destroy(fitted);
  std::ostringstream text;
  text << std::ifstream(directory / "manifest.json").rdbuf();
  fs::remove_all(directory);
  const size_t at = text.str().find("\"training_rows\": [");
  return text.str().substr(at, text.str().find(']', at) - at);
}

TEST(Nystrom, TheSeedDrawsTheLandmarks) {
  const Blobs blobs(kRowsHere, 5, 2, kThirds);
  Candidate candidate = on_landmarks(20);
  const std::string first = landmarks_of(blobs, candidate);
  EXPECT_EQ(std::count(first.begin(), first.end(), ','), 19);
  EXPECT_EQ(landmarks_of(blobs, candidate), first);
  candidate.landmark_seed = 1;
  EXPECT_NE(landmarks_of(blobs, candidate), first);
}

TEST(Nystrom, DropsLandmarksThatOthersExplain) {
  Blobs blobs(kRowsHere, 5, 2, kThirds);
  for (int64_t r = 20; r < kRowsHere; ++r)
    std::copy_n(&blobs.x[static_cast<size_t>(r % 20) * 5], 5, &blobs.x[static_cast<size_t>(r) * 5]);
  const std::string kept = landmarks_of(blobs, on_landmarks(200));
  EXPECT_EQ(std::count(kept.begin(), kept.end(), ','), 19);
}

TEST(Nystrom, WeighsRowsAndClasses) {
  World world("host");
  Blobs blobs(kRowsHere, 5, 2, kThirds);
  Candidate exact;
  exact.gamma = 0.2;
  exact.tol = 1e-4;
  exact.class_weight = "1=3";
  Candidate approximate = on_landmarks(kRowsHere);
  approximate.c = 1;
  approximate.tol = 1e-4;
  approximate.class_weight = exact.class_weight;
  for (int64_t r = 0; r < kRowsHere; ++r) blobs.weights.push_back(0.5F * static_cast<float>(r % 4));
  EXPECT_LT(largest_difference(scores_of_refit(world, blobs, approximate), scores_of_refit(world, blobs, exact)), 0.01);
}

TEST(Nystrom, IsCappedAfterTheMostMoves) {
  World world("host");
  Candidate candidate = on_landmarks(100);
  candidate.max_iterations = 5;
  const Results results = fits_of(world, Blobs(kRowsHere, 5, 2, kThirds), {candidate});
  EXPECT_EQ(results.at({0, 0}).status, MK_FIT_CAPPED);
}

template <class Run>
std::string why_refused(Run&& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Nystrom, SaysHowMuchMemoryItNeeds) {
  World world("host", 0, uint64_t{1} << 20);
  const std::string why =
      why_refused([&] { fits_of(world, Blobs(kRowsHere * 10, 5, 2, kThirds), {on_landmarks(400)}); });
  EXPECT_NE(why.find("MiB for 2400 rows and 400 landmarks, but "), std::string::npos) << why;
  EXPECT_NE(why.find("raise [devices] memory, or lower landmarks"), std::string::npos) << why;
}

TEST(Nystrom, RefusesWhatHasNoMeaning) {
  World world("host");
  const Blobs blobs(kRowsHere, 5, 2, kThirds);
  const auto refuses = [&](const char* words, const auto& change) {
    Candidate candidate = on_landmarks(50);
    change(candidate);
    const Experiment experiment(blobs, {candidate}, kThirds);
    const std::string why = why_refused([&] { sdk::call(world.model().check, world.model().self, experiment.get()); });
    EXPECT_NE(why.find(words), std::string::npos) << words << ": " << why;
  };
  refuses("landmarks is 161, but a fit trains on only 160 rows", [](Candidate& c) { c.landmarks = 161; });
  refuses("has a solver of its own", [](Candidate& c) { c.solver = "libsvm"; });
  refuses("has a solver of its own", [](Candidate& c) { c.tighten = true; });
  refuses("the kernel sigmoid is not positive definite", [](Candidate& c) { c.kernel = "sigmoid"; });
  refuses("a negative coef0 is not positive definite", [](Candidate& c) {
    c.kernel = "polynomial";
    c.coef0 = -1;
  });
  refuses("no machines with nu", [](Candidate& c) {
    c.kind = "nu_svc";
    c.c = 1;
  });
  refuses("landmarks and landmark_seed have no effect", [](Candidate& c) { c.approximation = "none"; });
  const Experiment good(blobs, {on_landmarks(160)}, kThirds);
  EXPECT_EQ(why_refused([&] { sdk::call(world.model().check, world.model().self, good.get()); }), "");
}

}  // namespace
}  // namespace mokume::svc_test
