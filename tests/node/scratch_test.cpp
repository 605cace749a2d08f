#include "node/scratch.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace mokume::node {
namespace {

namespace fs = std::filesystem;

class ScratchTest : public ::testing::Test {
 protected:
  ScratchTest() {
    std::string name = ::testing::TempDir() + "mokume-scratch-XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~ScratchTest() override { fs::remove_all(directory_); }

  static void fill(const std::string& path) {
    fs::create_directories(path + "/deep");
    std::ofstream(path + "/deep/state.safetensors") << "x";
  }

  std::string directory_;
};

TEST_F(ScratchTest, EveryFitHasItsOwnPlaceAndNothingIsCreated) {
  const Scratch scratch(directory_);
  EXPECT_EQ(scratch.fit(123), directory_ + "/scratch/fit-000123");
  EXPECT_EQ(scratch.fit(4294967295u), directory_ + "/scratch/fit-4294967295");
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(ScratchTest, RemovesOneFitOrAll) {
  const Scratch scratch(directory_);
  fill(scratch.fit(1));
  fill(scratch.fit(2));
  scratch.remove_fit(1);
  scratch.remove_fit(7);  // was never created
  EXPECT_FALSE(fs::exists(scratch.fit(1)));
  EXPECT_TRUE(fs::exists(scratch.fit(2) + "/deep/state.safetensors"));
  scratch.remove_all();
  EXPECT_TRUE(fs::is_empty(directory_));
  scratch.remove_all();
}

TEST_F(ScratchTest, ALinkIsRemovedAndNotFollowed) {
  const Scratch scratch(directory_);
  fill(directory_ + "/kept");
  fs::create_directories(directory_ + "/scratch");
  fs::create_directory_symlink(directory_ + "/kept", scratch.fit(3));
  scratch.remove_fit(3);
  EXPECT_FALSE(fs::exists(fs::symlink_status(scratch.fit(3))));
  EXPECT_TRUE(fs::exists(directory_ + "/kept/deep/state.safetensors"));
}

}  // namespace
}  // namespace mokume::node
