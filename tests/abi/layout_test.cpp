// Compiles the checks of layout.h as C++20; layout.c compiles them as C11.
#include "layout.h"

#include <gtest/gtest.h>

#include "abi/abi_hash.h"
#include "abi/op.h"

namespace {

// Compiled libraries contain these numbers, so each number keeps its meaning as long as the ABI exists.
TEST(Layout, BoundaryConstantsKeepTheirValues) {
  EXPECT_EQ(MK_OK, 0);
  EXPECT_EQ(MK_CANCELLED, 7);
  EXPECT_EQ(MK_STORAGE, 8);
  EXPECT_EQ(MK_OP_FILL, 1);
  EXPECT_EQ(MK_OP_GATHER_ROWS, 5);
  EXPECT_EQ(MK_PLUGIN_TRANSPORT, 3);
  EXPECT_STREQ(MK_PLUGIN_QUERY_SYMBOL, "mokume_plugin_query_v1");
}

TEST(Layout, TheHeaderHashIsGenerated) { EXPECT_NE(MK_ABI_HASH, 0U); }

}  // namespace
