// Tests refit, predict, save and load. LIBSVM's own svm-predict reads the saved files.
#include <unistd.h>

#include <array>
#include <cmath>
#include <fstream>
#include <sstream>

#include "harness.hpp"
#include "libsvm_file.hpp"

namespace mokume::svc_test {
namespace {

namespace fs = std::filesystem;

class Scratch {
 public:
  Scratch() : path_(fs::temp_directory_path() / ("mokume-svc-model-" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Scratch() { fs::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string str() const { return path_.string(); }

 private:
  fs::path path_;
};

struct Prediction {
  std::vector<int32_t> labels;
  std::vector<float> scores;
  uint32_t per_row = 0;
};

Prediction predict(World& world, const mk_fitted* fitted, const Blobs& blobs) {
  Prediction p;
  p.per_row = world.model().scores_per_row(fitted);
  p.labels.resize(static_cast<size_t>(blobs.rows));
  p.scores.resize(static_cast<size_t>(blobs.rows) * p.per_row);
  sdk::call(world.model().predict, world.model().self, fitted, world.device().services(), blobs.x.data(), blobs.rows,
            blobs.features, p.labels.data(), p.scores.data());
  return p;
}

class SvcModel : public testing::TestWithParam<std::tuple<const char*, const char*, const char*, int>> {};
INSTANTIATE_TEST_SUITE_P(All, SvcModel,
                         testing::Combine(testing::Values("host", "opencl"),
                                          testing::Values("rbf", "linear", "polynomial", "sigmoid"),
                                          testing::Values("ovr", "ovo"), testing::Values(2, 4)),
                         [](const auto& i) {
                           return std::string(std::get<0>(i.param)) + "_" + std::get<1>(i.param) + "_" +
                                  std::get<2>(i.param) + "_" + std::to_string(std::get<3>(i.param));
                         });

TEST_P(SvcModel, SavesFilesThatSvmPredictReadsAndLoadsThemUnchanged) {
  const auto [backend, kernel, multiclass, classes] = GetParam();
  World world(backend);
  if (!world.present()) GTEST_SKIP() << "no OpenCL device: install pocl-opencl-icd";
  const Blobs blobs(240, 5, classes, 3);
  std::vector<Candidate> candidates(1);
  candidates[0].kernel = kernel;
  candidates[0].gamma = 0.1;
  candidates[0].coef0 = 0.25;
  candidates[0].c = 4;
  candidates[0].multiclass = multiclass;
  const Experiment experiment(blobs, candidates, 3);
  Session session(world, experiment);
  mk_fitted* fitted = session.refit(0);
  const Scratch scratch;
  sdk::call(world.model().save, static_cast<const mk_fitted*>(fitted), scratch.str().c_str());
  const Prediction ours = predict(world, fitted, blobs);

  mk_fitted* loaded = nullptr;
  sdk::call(world.model().load, world.model().self, scratch.str().c_str(), &loaded);
  const Prediction again = predict(world, loaded, blobs);
  EXPECT_EQ(again.per_row, ours.per_row);
  for (size_t k = 0; k < ours.scores.size(); ++k) EXPECT_NEAR(again.scores[k], ours.scores[k], 2e-3);

  if (std::system("command -v svm-predict >/dev/null") == 0) {
    const bool one_file = classes == 2 || std::string(multiclass) == "ovo";
    for (uint32_t file = 0; file < (one_file ? 1U : ours.per_row); ++file) {
      std::ofstream rows(scratch / "rows");
      rows.precision(9);
      for (int64_t r = 0; r < blobs.rows; ++r) {
        rows << 0;
        for (int64_t f = 0; f < blobs.features; ++f)
          rows << " " << f + 1 << ":" << blobs.x[static_cast<size_t>(r * blobs.features + f)];
        rows << "\n";
      }
      rows.close();
      const std::string model = one_file ? "model.libsvm" : "class-" + std::to_string(file) + ".libsvm";
      ASSERT_EQ(std::system(("svm-predict " + (scratch / "rows") + " " + (scratch / model) + " " + (scratch / "out") +
                             " >/dev/null")
                                .c_str()),
                0);
      std::ifstream out(scratch / "out");
      int compared = 0;
      for (int64_t r = 0; r < blobs.rows; ++r) {
        int label = 0;
        out >> label;
        bool sure = true;
        for (uint32_t k = 0; k < ours.per_row; ++k)
          sure = sure && std::fabs(ours.scores[static_cast<size_t>(r) * ours.per_row + k]) > 1e-4F;
        if (!sure) continue;
        ++compared;
        const int expected = one_file ? 10 * ours.labels[static_cast<size_t>(r)] + 1
                                      : (ours.scores[static_cast<size_t>(r) * ours.per_row + file] > 0 ? 1 : -1);
        ASSERT_EQ(label, expected) << "row " << r;
      }
      EXPECT_GT(compared, 200);
    }
  }
  world.model().fitted_destroy(fitted);
  world.model().fitted_destroy(loaded);
}

class LargeModel : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, LargeModel, testing::Values("ovr", "ovo"));

TEST_P(LargeModel, KeepsItsNumbersInAFileThatCountsOnlyBesideItsTexts) {
  World world("host");
  const Blobs blobs(300, 400, 4, 3);
  std::vector<Candidate> candidates(1);
  candidates[0].gamma = 0.002;
  candidates[0].c = 4;
  candidates[0].multiclass = GetParam();
  const Experiment experiment(blobs, candidates, 3);
  Session session(world, experiment);
  mk_fitted* fitted = session.refit(0);
  const Scratch scratch;
  sdk::call(world.model().save, static_cast<const mk_fitted*>(fitted), scratch.str().c_str());
  world.model().fitted_destroy(fitted);
  const auto scores = [&] {
    mk_fitted* loaded = nullptr;
    sdk::call(world.model().load, world.model().self, scratch.str().c_str(), &loaded);
    const Prediction said = predict(world, loaded, blobs);
    world.model().fitted_destroy(loaded);
    return said.scores;
  };
  const auto sum = [&] {
    ASSERT_EQ(std::system(
                  ("cd " + scratch.str() + " && rm -f SHA256SUMS && sha256sum * >SUMS && mv SUMS SHA256SUMS").c_str()),
              0);
  };
  const std::string text = scratch / (std::string(GetParam()) == "ovr" ? "class-0.libsvm" : "model.libsvm");
  const std::string vectors = scratch / "vectors.safetensors";
  ASSERT_TRUE(fs::exists(vectors));
  const std::vector<float> from_text = scores();  // nothing vouches for the file without SHA256SUMS
  sum();
  EXPECT_EQ(scores(), from_text) << "both have the same bits";

  std::ifstream in(text);
  std::string header, whole((std::istreambuf_iterator<char>(in)), {});
  in.close();
  header = whole.substr(0, whole.find("SV\n") + 3);
  std::ofstream(text) << header << "no vectors\n";
  EXPECT_EQ(scores(), from_text) << "the texts are not read; the program compares them with SHA256SUMS";
  sum();
  EXPECT_THROW(scores(), Error) << "SHA256SUMS lists another text, so the file no longer counts";

  std::ofstream(text) << whole;
  sum();
  fs::resize_file(vectors, fs::file_size(vectors) - 4);
  EXPECT_THROW(scores(), Error);
  std::ofstream(vectors) << "garbage";
  EXPECT_THROW(scores(), Error);
  fs::remove(vectors);
  EXPECT_EQ(scores(), from_text);
}

// The rounding errors of a row that is far larger than every support vector change the sign of its decision value.
TEST(Prediction, OfALargeRowIsDecidedInDoublePrecision) {
  World world("host");
  const Scratch scratch;
  std::ofstream(scratch / "manifest.json")
      << R"({"format": "mokume-svc", "version": 1, "multiclass": "ovo", "classes": ["a", "b"], "features": 4, "C": 1,)"
      << R"( "scaling": {"mean": [], "scale": []}})";
  std::ofstream(scratch / "model.libsvm") << "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 0\n"
                                          << "label 0 1\nnr_sv 1 0\nSV\n1 1:1 2:1 3:1 4:1\n";
  mk_fitted* fitted = nullptr;
  sdk::call(world.model().load, world.model().self, scratch.str().c_str(), &fitted);
  const float x[] = {1e8F, 3, -1e8F, -1};
  int32_t label = -1;
  float score = 0;
  sdk::call(world.model().predict, world.model().self, static_cast<const mk_fitted*>(fitted), world.device().services(),
            &x[0], int64_t{1}, int64_t{4}, &label, &score);
  world.model().fitted_destroy(fitted);
  EXPECT_EQ(label, 0);
  EXPECT_EQ(score, 2);
}

TEST(LibsvmFile, RoundTripsAndRefusesBrokenFiles) {
  const Scratch scratch;
  svc::LibsvmModel m;
  m.kernel.kind = ops::KernelKind::polynomial;
  m.kernel.gamma = 0.1;
  m.kernel.coef0 = -0.5;
  m.kernel.degree = 4;
  m.labels = {3, -7};
  m.vectors_per_class = {2, 1};
  m.rho = {0.1234567890123};
  m.coefficients = {1.5, 0.25, -1.75};
  m.features = 3;
  for (const auto& row : {std::array{1.0F, 0.0F, 2.0F}, {0.1F, -3.0F, 0.0F}, {0.0F, 0.0F, 7.0F}})
    m.vectors.append_dense(row.data(), 3);
  const std::string path = scratch / "m";
  svc::write_libsvm(path, m);
  const svc::LibsvmModel r = svc::read_libsvm(path, 3);
  EXPECT_EQ(r.labels, m.labels);
  EXPECT_EQ(r.vectors, m.vectors);
  EXPECT_EQ(r.coefficients, m.coefficients);
  EXPECT_EQ(r.rho, m.rho);
  EXPECT_EQ(r.kernel.degree, 4);
  EXPECT_EQ(r.kernel.coef0, -0.5);

  std::ifstream in(path);
  std::stringstream all;
  all << in.rdbuf();
  const std::string good = all.str();
  const std::pair<const char*, const char*> broken[] = {
      {"c_svc", "mu_svc"},
      {"c_svc", "nu_svr"},
      {"polynomial", "precomputed"},
      {"polynomial", "cubic"},
      {"degree 4", "degree 400"},
      {"nr_class 2", "nr_class 99999999"},
      {"total_sv 3", "total_sv 9"},
      {"nr_sv 2 1", "nr_sv 2 -1"},
      {"nr_sv 2 1", "nr_sv 2000000000000 1"},
      {"rho 0", "rho nan 0"},
      {"3:7", "4:7"},
      {"1:1", "1:x"},
      {"label 3 -7", "label 3"},
      {"SV\n", "SX\n"},
      {"1.5", "inf"},
      {"2:-3", "1:-3"},
  };
  for (const auto& [from, to] : broken) {
    std::string text = good;
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, std::string(from).size(), to);
    std::ofstream(path) << text;
    try {
      svc::read_libsvm(path, 3);
      ADD_FAILURE() << to << " was taken";
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), MK_BAD_DATA);
      EXPECT_NE(std::string(e.what()).find(path), std::string::npos) << e.what();
    }
  }
  // The reader rejects a declared size before it allocates memory.
  const auto refusal = [&](const std::string& text, int64_t features) {
    std::ofstream(path) << text;
    try {
      svc::read_libsvm(path, features);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string bomb =
      "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2147483647\nrho 0\nlabel 1 -1\nnr_sv 2147483646 "
      "1\nSV\n1 1:1\n";
  EXPECT_NE(refusal(bomb, 1).find("total_sv is 2147483647, more than a file of 110 bytes can hold"), std::string::npos)
      << refusal(bomb, 1);
  std::string wide = "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 60\nrho 0\nlabel 1 -1\nnr_sv 59 1\nSV\n";
  for (int v = 0; v < 60; ++v) wide += "1 1:1\n";
  EXPECT_NE(refusal(wide, 1 << 24).find("60 vectors of 16777216 features take 4026531840 bytes, more than a file of"),
            std::string::npos)
      << refusal(wide, 1 << 24);
  EXPECT_EQ(refusal(wide, 1 << 16), "") << "sparse vectors are allowed";
  for (size_t cut = 0; cut + 12 < good.size(); cut += 7) {
    std::ofstream(path) << good.substr(0, cut);
    EXPECT_THROW(svc::read_libsvm(path, 3), Error) << cut;
  }
}

}  // namespace
}  // namespace mokume::svc_test
