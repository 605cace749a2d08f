#include "node/out_of_fold.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "sdk/error.hpp"

namespace mokume::node {
namespace {

namespace fs = std::filesystem;

class OutOfFoldFiles : public testing::Test {
 protected:
  OutOfFoldFiles() {
    std::string name = testing::TempDir() + "mokume-validated-XXXXXX";
    run_ = mkdtemp(name.data());
  }
  ~OutOfFoldFiles() override { fs::remove_all(run_); }

  std::map<uint32_t, Predicted> read(const std::map<uint32_t, size_t>& wanted) const {
    return read_out_of_fold(run_, wanted, [](uint32_t, const Predicted&) { return true; });
  }
  fs::path file() const { return fs::path(run_) / "validated/best"; }

  std::string run_;
};

TEST_F(OutOfFoldFiles, GiveBackClassesAndNumbers) {
  const std::map<uint32_t, Predicted> kept = {{3, {0, 1, 255}}, {5, {256, 0}}, {7, {-1.5F, 1e30F}}, {9, {}}};
  keep_out_of_fold(run_, kept);
  EXPECT_EQ(read({{3, 3}, {5, 2}, {7, 2}, {9, 0}}), kept);
  EXPECT_EQ(read({{3, 2}, {5, 2}}).size(), 1U) << "another number of rows";
  const auto refuse = [](uint32_t fit, const Predicted&) { return fit != 3; };
  EXPECT_TRUE(read_out_of_fold(run_, {{3, 3}}, refuse).empty());
  keep_out_of_fold(run_, {});
  EXPECT_FALSE(fs::exists(file().parent_path()));
}

TEST_F(OutOfFoldFiles, EndAtATornOrDamagedRecord) {
  keep_out_of_fold(run_, {{1, {0, 1}}, {2, {1, 1}}});
  const auto size = fs::file_size(file());
  for (uintmax_t cut = 0; cut < size; ++cut) {
    keep_out_of_fold(run_, {{1, {0, 1}}, {2, {1, 1}}});
    fs::resize_file(file(), cut);
    const auto found = read({{1, 2}, {2, 2}});
    EXPECT_EQ(found.contains(1), cut >= size / 2) << cut;
    EXPECT_FALSE(found.contains(2)) << cut;
  }
  for (uintmax_t at = 0; at < size / 2; ++at) {
    keep_out_of_fold(run_, {{1, {0, 1}}, {2, {1, 1}}});
    std::fstream damaged(file(), std::ios::in | std::ios::out | std::ios::binary);
    damaged.seekp(static_cast<std::streamoff>(at));
    damaged.put('\x7f');
    damaged.close();
    const auto found = read({{1, 2}, {2, 2}});
    if (found.contains(1)) {
      EXPECT_EQ(found.at(1), (Predicted{0, 1})) << at;
    }
  }
}

TEST_F(OutOfFoldFiles, AreNotReadThroughALink) {
  fs::create_directory(fs::path(run_) / "elsewhere");
  fs::create_directory_symlink(fs::path(run_) / "elsewhere", fs::path(run_) / "validated");
  EXPECT_THROW(read({{1, 1}}), Error);
}

}  // namespace
}  // namespace mokume::node
