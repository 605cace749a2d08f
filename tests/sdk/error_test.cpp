// Tests the place that threw an error, in C++ and across the boundary.
#include "sdk/error.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace mokume {
namespace {

template <class Body>
Error error_of(Body body) {
  try {
    body();
  } catch (const Error& e) {
    return e;
  }
  return {MK_OK, "nothing was thrown", ""};
}

TEST(ErrorPlace, IsTheLineThatThrew) {
  const int line = __LINE__ + 1;
  const Error error = error_of([] { throw Error(MK_BAD_DATA, "a sentence"); });
  EXPECT_STREQ(error.what(), "a sentence");
  EXPECT_EQ(error.thrown_at(), "tests/sdk/error_test.cpp:" + std::to_string(line));
}

TEST(ErrorPlace, CrossesTheBoundaryAfterTheMessage) {
  const Error inside(MK_DEVICE_ERROR, "a sentence");
  mk_error crossed{MK_OK, {}};
  EXPECT_EQ(sdk::guard(&crossed, [&] { throw inside; }), MK_DEVICE_ERROR);
  EXPECT_STREQ(&crossed.text[0], "a sentence");
  const Error outside = error_of([&] { sdk::check(crossed.code, crossed); });
  EXPECT_STREQ(outside.what(), "a sentence");
  EXPECT_EQ(outside.thrown_at(), inside.thrown_at());
}

TEST(ErrorPlace, GivesWayToALongMessage) {
  constexpr size_t kRoom = sizeof(mk_error::text) - 1;
  const std::string place = "a.cpp:1";
  for (const size_t spare : {size_t{0}, size_t{1}, place.size() + 1, place.size() + 2, place.size() + 3}) {
    mk_error crossed{MK_OK, {}};
    const std::string text(kRoom - spare, 'x');
    sdk::fail(&crossed, MK_INTERNAL, text, place);
    const Error outside = error_of([&] { sdk::check(MK_INTERNAL, crossed); });
    EXPECT_EQ(outside.what(), text);
    EXPECT_EQ(outside.thrown_at(), spare >= place.size() + 2 ? place : "") << spare;
  }
}

TEST(ErrorPlace, IsEmptyIfALibraryDoesNotTellIt) {
  mk_error used{MK_OK, {}};
  sdk::fail(&used, MK_INTERNAL, "short", "a.cpp:1");
  sdk::fail(&used, MK_INTERNAL, "s");  // the earlier place does not show through
  EXPECT_EQ(error_of([&] { sdk::check(MK_INTERNAL, used); }).thrown_at(), "");

  mk_error of_c;  // a C library may write into a buffer with any content
  std::memset(&of_c.text[0], 'y', sizeof(of_c.text));
  std::memcpy(&of_c.text[0], "a sentence", 11);
  const Error error = error_of([&] { sdk::check(MK_INTERNAL, of_c); });
  EXPECT_STREQ(error.what(), "a sentence");
  EXPECT_EQ(error.thrown_at(), "");
}

}  // namespace
}  // namespace mokume
