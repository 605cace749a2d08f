// Tests how products are divided among the work-groups of a card with 132 cores.
#include "gemm/tiles.hpp"

#include <gtest/gtest.h>

namespace mokume::opencl {
namespace {

constexpr int64_t kCores = 132;

struct Shape {
  const char* name;
  int64_t m, n, k;
};

class Products : public testing::TestWithParam<Shape> {};

TEST_P(Products, WasteAtMostAQuarter) {
  const auto [name, m, n, k] = GetParam();
  const Division d = divide_product(kTiles, kCores, m, n, k);
  EXPECT_GE(d.used(m, n), 0.75) << d.tile->bm << " x " << d.tile->bn;
}

// Training at batch 128: forward, by weight, and by input.
INSTANTIATE_TEST_SUITE_P(
    Published, Products,
    testing::Values(Shape{"guide_conv1", 128 * 676, 32, 9}, Shape{"guide_conv2", 128 * 576, 64, 288},
                    Shape{"guide_conv2_by_weight", 288, 64, 128 * 576},
                    Shape{"guide_conv2_by_input", 128 * 676, 32, 576}, Shape{"guide_linear", 128, 128, 9216},
                    Shape{"guide_linear_by_weight", 9216, 128, 128}, Shape{"guide_linear_by_input", 128, 9216, 128},
                    Shape{"lightning_conv1", 128 * 784, 32, 9}, Shape{"resnet_16", 128 * 1024, 16, 144},
                    Shape{"resnet_32", 128 * 256, 32, 288}, Shape{"resnet_64", 128 * 64, 64, 576},
                    Shape{"resnet_64_by_weight", 576, 64, 128 * 64}, Shape{"gram_of_mnist", 60000, 1024, 784}),
    [](const auto& shape) { return shape.param.name; });

TEST(Tiles, FewOutputsOfManyTermsAreSplit) {
  EXPECT_TRUE(divide_product(kTiles, kCores, 128, 128, 9216).partial);
  EXPECT_FALSE(divide_product(kTiles, kCores, 128, 128, 256).partial) << "one block of terms";
  EXPECT_FALSE(divide_product(kTiles, kCores, 4096, 4096, 4096).partial) << "the card is busy without";
}

TEST(Tiles, SumsThatExceedTheWorkspaceAreStillSplit) {
  EXPECT_TRUE(divide_product(kTiles, kCores, 512, 512, 65536).partial);
}

TEST(Tiles, BlocksOfAnyLengthAreWorkGroupsOfTheirOwn) {
  EXPECT_TRUE(divide_product(kTiles, kCores, 4096, 4096, 4096, 1000).partial);
  EXPECT_FALSE(divide_product(kTiles, kCores, 128, 128, 9216, 9216).partial) << "one block";
}

TEST(Tiles, ShortSidesGetNarrowTiles) {
  EXPECT_EQ(divide_product(kTiles, kCores, 128, 10, 128).tile->bn, 16);
  EXPECT_EQ(divide_product(kTiles, kCores, 10, 227, 1152).tile->bm, 16);
}

}  // namespace
}  // namespace mokume::opencl
