#include "node/models.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "sdk/error.hpp"

namespace mokume::node {
namespace {

namespace fs = std::filesystem;

// Plans two candidates in two folds and one bootstrap, whose refit is fit 4.
class AdoptModels : public ::testing::Test {
 protected:
  AdoptModels() {
    std::string name = ::testing::TempDir() + "mokume-refit-XXXXXX";
    directory_ = mkdtemp(name.data());
    plan_.candidates.resize(2);
    plan_.folds = 2;
  }
  ~AdoptModels() override { fs::remove_all(directory_); }

  journal::FitRecord record(uint32_t attempt) const {
    journal::FitRecord made;
    made.fit = plan_.refit_slot(0);
    made.refit = 1;
    made.attempt = attempt;
    return made;
  }
  void make(const std::string& name) const { fs::create_directories(directory_ + "/models/" + name); }
  bool has(const std::string& name) const { return fs::exists(directory_ + "/models/" + name); }
  void adopt(const journal::Contents& contents) const { adopt_models(directory_, plan_, contents); }

  std::string directory_;
  search::Plan plan_;
};

TEST_F(AdoptModels, RenamesTheModelThatCountsAndRemovesTheOthers) {
  make("attempt-4-1");
  make("attempt-4-2/this");
  make("attempt-4-3.new");
  journal::Contents contents;
  contents.refits = {record(2)};
  contents.repeats = {record(1)};
  adopt(contents);
  EXPECT_TRUE(has("best/this"));
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_ + "/models"), {}), 1);
  adopt(contents);
  EXPECT_TRUE(has("best/this")) << "it has its name already";
}

TEST_F(AdoptModels, RefusesAMissingModel) {
  make("attempt-4-2.new");
  journal::Contents contents;
  contents.refits = {record(2)};
  EXPECT_THROW(adopt(contents), Error) << "half a model is none";
}

}  // namespace
}  // namespace mokume::node
