// Defines expectations about texts that show both texts in their message.
#pragma once

#include <gtest/gtest.h>

#define EXPECT_HAS(text, word) EXPECT_NE((text).find(word), std::string::npos) << (word) << " in: " << (text)
#define EXPECT_HAS_NOT(text, word) EXPECT_EQ((text).find(word), std::string::npos) << (word) << " in: " << (text)
