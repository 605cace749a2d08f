#include "node/profile_files.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sdk/error.hpp"
#include "support/scratch.hpp"

namespace mokume::node {
namespace {

TEST(ProfileFiles, ReadBackWhatANodeWrote) {
  const test::Scratch scratch;
  std::filesystem::create_directory(scratch / "logs");
  const std::string directory = scratch.path();
  ProfileFile file(directory, 1, 2);
  file.keep(1, "opencl:0", "Card <&>", {{"forward", "gemm 2x3x4", 7, 3.0, 6e9, 3e9}});
  const std::vector<results::DeviceProfile> back = read_profiles(directory);
  ASSERT_EQ(back.size(), 1U) << "the other device did nothing";
  EXPECT_EQ(back[0].node, 1U);
  EXPECT_EQ(back[0].name, "Card <&>");
  ASSERT_EQ(back[0].rows.size(), 1U);
  EXPECT_EQ(back[0].rows[0].flops, 6e9);
  remove_profiles(directory);
  EXPECT_TRUE(read_profiles(directory).empty());
}

TEST(ProfileFiles, RefuseDamagedOnes) {
  const test::Scratch scratch;
  std::filesystem::create_directory(scratch / "logs");
  for (const char* bad : {"", "[]", "{\"node\":0}", "{\"node\":0,\"devices\":[{\"id\":1}]}",
                          "{\"node\":0,\"devices\":[{\"id\":\"a\",\"name\":\"b\",\"rows\":[{\"phase\":\"p\",\"what\":"
                          "\"w\",\"calls\":1,\"seconds\":-1,\"flops\":0,\"bytes\":0}]}]}"}) {
    std::ofstream(scratch / "logs/profile-0000.json") << bad;
    EXPECT_THROW(read_profiles(scratch.path()), Error) << bad;
  }
}

}  // namespace
}  // namespace mokume::node
