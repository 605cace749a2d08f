// Tests `mokume data fetch` with mirrors on this machine.
#include <gtest/gtest.h>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

constexpr const char* kFirst = "train-images-idx3-ubyte.gz";

class Fetch : public testing::Test {
 protected:
  Ended fetch(const std::string& mirror) const {
    return place_.shell("XDG_CACHE_HOME=$PWD/cache " + Place::program() + " data fetch mnist --from file://" + mirror);
  }
  fs::path cache() const { return place_.path() / "cache/mokume/mnist"; }

  Place place_;
};

TEST_F(Fetch, AFailureNamesTheFileAndLeavesNothing) {
  const Ended none = fetch((place_.path() / "nowhere").string());
  EXPECT_EQ(none.code, 3);
  EXPECT_NE(none.err.find(std::string("nowhere/") + kFirst), std::string::npos) << none.err;
  EXPECT_NE(none.err.find("--from URL"), std::string::npos) << none.err;
  EXPECT_FALSE(fs::exists(cache()));

  fs::create_directories(place_.path() / "mirror");
  place_.write(std::string("mirror/") + kFirst, "not the file");
  const Ended wrong = fetch((place_.path() / "mirror").string());
  EXPECT_EQ(wrong.code, 3);
  EXPECT_NE(wrong.err.find("wrong SHA-256"), std::string::npos) << wrong.err;
  EXPECT_FALSE(fs::exists(cache()));
}

TEST_F(Fetch, ContinuesATransferThatWasCut) {
  const char* data = std::getenv("MOKUME_DATA");
  const fs::path mirror = fs::path(data != nullptr ? data : "/nonexistent") / "mnist";
  if (!fs::exists(mirror / kFirst)) GTEST_SKIP() << "MNIST is not in $MOKUME_DATA";
  fs::create_directories(cache());
  const std::string whole = slurp(mirror / kFirst);
  place_.write(std::string("cache/mokume/mnist/") + kFirst + ".part", whole.substr(0, whole.size() / 2));
  const std::string labels = "train-labels-idx1-ubyte.gz";
  place_.write("cache/mokume/mnist/" + labels + ".part", "the beginning of something else");
  const Ended fetched = fetch(mirror.string());
  ASSERT_EQ(fetched.code, 0) << fetched.err;
  EXPECT_EQ(slurp(cache() / kFirst), whole);
  EXPECT_EQ(slurp(cache() / labels), slurp(mirror / labels)) << "a part of another file is not continued";
  for (const auto& entry : fs::directory_iterator(cache())) EXPECT_NE(entry.path().extension(), ".part");
  EXPECT_NE(fetch(mirror.string()).err.find("already present"), std::string::npos);
}

}  // namespace
}  // namespace mokume::cli_test
