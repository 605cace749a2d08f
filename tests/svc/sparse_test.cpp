// Tests sparse rows: results equal to those of dense rows, equal bits on all devices, memory, and refusals.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <tuple>

#include "harness.hpp"
#include "sparse/sparse_rows.hpp"

namespace mokume::svc_test {
namespace {

using svc::SparseRows;

// Generates rows like those of a9a: 14 of `features` columns are not 0, and the class depends on some of them.
SparseRows few_of_many(int64_t rows, int64_t features, bool ones) {
  SparseRows made;
  for (int64_t r = 0; r < rows; ++r) {
    const sdk::Random random(11, sdk::Purpose::digits, static_cast<uint32_t>(r));
    std::vector<int32_t> columns;
    for (uint32_t k = 0; k < 14; ++k) {
      const bool of_class = k < 5;  // the classes, which alternate, share all columns but these
      const auto width = static_cast<uint32_t>(of_class ? features / 4 : features / 2);
      const auto from = static_cast<int32_t>(of_class ? features / 8 * (r % 2) : features / 2);
      columns.push_back(from + static_cast<int32_t>(random.below(k, width)));
    }
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    for (uint32_t k = 0; k < columns.size(); ++k)
      made.add(columns[k], ones ? 1.0F : static_cast<float>(random.uniform(100 + k) - 0.3));
    made.end_row();
  }
  return made;
}

// Returns rows whose inputs are `rows`, or none if they are too wide.
Blobs blobs_of(const SparseRows& rows, int64_t features, bool dense = true) {
  Blobs blobs(rows.rows(), 0, 2, 3);
  blobs.features = features;
  if (dense) blobs.x.assign(static_cast<size_t>(rows.rows() * features), 0.0F);
  for (int64_t r = 0; dense && r < rows.rows(); ++r) rows.expand(r, blobs.x.data() + r * features);
  return blobs;
}

std::vector<Candidate> sparse_candidates(std::initializer_list<const char*> kernels, const char* solver) {
  std::vector<Candidate> candidates;
  for (const char* const kernel : kernels)
    for (const double c : {0.1, 10.0}) {
      candidates.emplace_back();
      candidates.back().c = c;
      candidates.back().kernel = kernel;
      candidates.back().coef0 = 1;
      candidates.back().degree = 2;
      candidates.back().solver = solver;
    }
  return candidates;
}

struct SparseSaid {
  std::vector<int32_t> labels;
  std::vector<float> scores;
  bool operator==(const SparseSaid&) const = default;
};

SparseSaid predict_dense(World& world, const mk_fitted* fitted, const Blobs& blobs) {
  const auto n = static_cast<size_t>(blobs.rows);
  SparseSaid said{std::vector<int32_t>(n), std::vector<float>(n)};
  sdk::call(world.model().predict, world.model().self, fitted, world.device().services(), blobs.x.data(), blobs.rows,
            blobs.features, said.labels.data(), said.scores.data());
  return said;
}

SparseSaid predict_sparse(World& world, const mk_fitted* fitted, const mk_data& rows) {
  const auto n = static_cast<size_t>(rows.rows);
  SparseSaid said{std::vector<int32_t>(n), std::vector<float>(n)};
  sdk::call(world.model().predict_sparse, world.model().self, fitted, world.device().services(), &rows,
            said.labels.data(), said.scores.data());
  return said;
}

class SparseScratch {
 public:
  SparseScratch() {
    std::string name = testing::TempDir() + "mokume-sparse-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~SparseScratch() { std::filesystem::remove_all(path_); }
  SparseScratch(const SparseScratch&) = delete;
  SparseScratch& operator=(const SparseScratch&) = delete;
  std::string make(const std::string& name) const {
    std::filesystem::create_directory(path_ + "/" + name);
    return path_ + "/" + name;
  }

 private:
  std::string path_;
};

std::string saved_model(World& world, const mk_fitted* fitted, const std::string& directory) {
  sdk::call(world.model().save, fitted, directory.c_str());
  std::ostringstream text;
  text << std::ifstream(directory + "/model.libsvm").rdbuf();
  return text.str();
}

class SparseRowsOnDevice : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(Devices, SparseRowsOnDevice, testing::ValuesIn(kWays), name_of_way);

// Sums of ones have no roundings, so the fits take the same steps.
TEST_P(SparseRowsOnDevice, FitLikeDenseOnes) {
  World world(GetParam().backend);
  REQUIRE_DEVICE(world);
  const SparseRows rows = few_of_many(300, 123, true);
  const Blobs blobs = blobs_of(rows, 123);
  const auto candidates = sparse_candidates({"linear", "rbf", "polynomial"}, GetParam().solver);
  const Experiment dense(blobs, candidates, 3);
  Experiment sparse(blobs, candidates, 3);
  const mk_data view = rows.view(123);
  sparse.use_sparse(view);
  Session of_dense(world, dense), of_sparse(world, sparse);
  const Results expected = of_dense.fit(all_fits(candidates.size(), 3));
  EXPECT_EQ(of_sparse.fit(all_fits(candidates.size(), 3)), expected);
  EXPECT_LT(expected.at({3, 0}).errors, 30) << "the classes can be told apart";
}

TEST_P(SparseRowsOnDevice, RowsOnTheFlyGiveTheSameFits) {
  const SparseRows rows = few_of_many(400, 123, false);
  const Blobs blobs = blobs_of(rows, 123);
  const auto candidates = sparse_candidates({"linear", "rbf"}, GetParam().solver);
  Experiment experiment(blobs, candidates, 3);
  experiment.use_sparse(rows.view(123));
  std::vector<Results> results;
  for (const char* const mode : {"gram_kept", "in_place", "on_the_fly"}) {
    World world(GetParam().backend, 0, uint64_t{2} << 30, {{"svc.kernel", mode}});
    REQUIRE_DEVICE(world);
    Session session(world, experiment);
    results.push_back(session.fit(all_fits(candidates.size(), 3)));
  }
  EXPECT_EQ(results[1], results[0]);
  EXPECT_EQ(results[2], results[0]);
}

TEST_P(SparseRowsOnDevice, PredictLikeDenseRows) {
  World world(GetParam().backend);
  REQUIRE_DEVICE(world);
  const SparseRows rows = few_of_many(300, 123, false);
  const Blobs blobs = blobs_of(rows, 123);
  const auto candidates = sparse_candidates({"rbf", "linear"}, GetParam().solver);
  const Experiment dense(blobs, candidates, 0);
  Experiment sparse(blobs, candidates, 0);
  const mk_data view = rows.view(123);
  sparse.use_sparse(view);
  Session of_dense(world, dense), of_sparse(world, sparse);
  const SparseScratch scratch;
  for (uint32_t c = 0; c < candidates.size(); ++c) {
    mk_fitted *a = of_dense.refit(c), *b = of_sparse.refit(c), *loaded = nullptr;
    const SparseSaid expected = predict_dense(world, a, blobs), said = predict_sparse(world, b, view);
    EXPECT_EQ(predict_dense(world, b, blobs), said) << "the form of the rows to predict has no effect";
    EXPECT_EQ(predict_sparse(world, a, view), expected);
    for (size_t r = 0; r < said.scores.size(); ++r) EXPECT_NEAR(said.scores[r], expected.scores[r], 0.02F) << r;
    const std::string directory = scratch.make(std::to_string(c));
    saved_model(world, b, directory);
    sdk::call(world.model().load, world.model().self, directory.c_str(), &loaded);
    EXPECT_EQ(predict_sparse(world, loaded, view).labels, said.labels);
    for (mk_fitted* const one : {a, b, loaded}) world.model().fitted_destroy(one);
  }
}

// Every device adds the terms of a product in one order with fused operations.
TEST(SparseRows, HaveTheSameProductsOnAllDevices) {
  World host("host"), opencl("opencl");
  REQUIRE_DEVICE(opencl);
  const SparseRows rows = few_of_many(300, 123, false);
  const Blobs blobs = blobs_of(rows, 123);
  auto candidates = sparse_candidates({"linear"}, "libsvm");
  for (Candidate& c : candidates) c.tol = 1e-5;
  Experiment experiment(blobs, candidates, 0);
  experiment.use_sparse(rows.view(123));
  Session a(host, experiment), b(opencl, experiment);
  const SparseScratch scratch;
  for (uint32_t c = 0; c < candidates.size(); ++c) {
    mk_fitted *on_host = a.refit(c), *on_opencl = b.refit(c);
    EXPECT_EQ(saved_model(host, on_host, scratch.make("host" + std::to_string(c))),
              saved_model(opencl, on_opencl, scratch.make("opencl" + std::to_string(c))));
    host.model().fitted_destroy(on_host);
    opencl.model().fitted_destroy(on_opencl);
  }
}

TEST_P(SparseRowsOnDevice, TakeMemoryByTheirValues) {
  constexpr int64_t kMany = 2000, kWide = 50'000;
  constexpr uint64_t kMatrix = uint64_t{kMany} * kMany * sizeof(float);
  World world(GetParam().backend, 0, 2 * kMatrix + (uint64_t{16} << 20));
  REQUIRE_DEVICE(world);
  const SparseRows rows = few_of_many(kMany, kWide, false);
  const Blobs blobs = blobs_of(rows, kWide, false);
  auto candidates = sparse_candidates({"rbf"}, GetParam().solver);
  Experiment experiment(blobs, candidates, 3);
  const mk_data view = rows.view(kWide);
  experiment.use_sparse(view);
  Session session(world, experiment);
  const Results results = session.fit({{1, 0}});
  EXPECT_EQ(results.at({1, 0}).status, MK_FIT_OK);
  mk_fitted* fitted = session.refit(1);
  const SparseSaid said = predict_sparse(world, fitted, view);
  EXPECT_GT(std::count(said.labels.begin(), said.labels.end(), 1), 0);
  EXPECT_LT(world.device().peak_bytes(), 2 * kMatrix + (uint64_t{16} << 20)) << "dense rows take 400 MB";
  world.model().fitted_destroy(fitted);
}

TEST(SparseRows, RefuseKernelsOfDenseRows) {
  World world("host");
  const SparseRows rows = few_of_many(30, 30, false);
  const Blobs blobs = blobs_of(rows, 30);
  for (const auto& [kernel, words] :
       {std::pair{"laplacian", "compare dense rows"}, {"precomputed", "matrix is dense"}}) {
    Experiment experiment(blobs, sparse_candidates({kernel}, "libsvm"), 3);
    experiment.use_sparse(rows.view(30));
    try {
      sdk::call(world.model().check, world.model().self, experiment.get());
      ADD_FAILURE() << kernel << " is accepted";
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), MK_UNSUPPORTED);
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace mokume::svc_test
