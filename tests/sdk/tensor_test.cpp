#include "sdk/tensor.hpp"

#include <gtest/gtest.h>

#include <string>

namespace mokume::sdk {
namespace {

// Returns the message of the error that `body` throws. Fails without an error, or with another status.
template <class Body>
std::string refusal(mk_status status, Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status);
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

TEST(Tensor, BuildersFillTheView) {
  const mk_tensor dense = matrix(nullptr, 3, 5);
  EXPECT_EQ(dense.row_stride, 5);
  EXPECT_EQ(dense.dtype, MK_F32);
  const mk_tensor strided = matrix(nullptr, 3, 5, 8, 2, MK_I32);
  EXPECT_EQ(strided.row_stride, 8);
  EXPECT_EQ(strided.offset, 2);
  EXPECT_EQ(strided.dtype, MK_I32);
  const mk_tensor line = vector(nullptr, 7, 4);
  EXPECT_EQ(line.rows, 1);
  EXPECT_EQ(line.columns, 7);
  EXPECT_EQ(line.offset, 4);
}

TEST(Tensor, ExtentEndsAfterTheLastElement) {
  EXPECT_EQ(extent(matrix(nullptr, 3, 5)), 15);
  EXPECT_EQ(extent(matrix(nullptr, 3, 5, 8, 2)), 2 + 16 + 5);  // no gap after the last row
  EXPECT_EQ(extent(matrix(nullptr, 1, 5, 100, 2)), 7);
  EXPECT_EQ(extent(matrix(nullptr, 0, 5, 8, 2)), 2);
  EXPECT_EQ(extent(matrix(nullptr, 3, 0, 8, 2)), 2);
}

TEST(Tensor, CheckViewNamesTheMistake) {
  const auto text = [](mk_tensor t) {
    return refusal(MK_INVALID_ARGUMENT, [&] { check_view("gemm", "a", t, MK_F32); });
  };
  EXPECT_NE(text(matrix(nullptr, 2, 2, 2, 0, MK_I32)).find("gemm: a has the wrong element type"), std::string::npos);
  EXPECT_NE(text(matrix(nullptr, -1, 2)).find("negative"), std::string::npos);
  EXPECT_NE(text(matrix(nullptr, 2, -2, 2)).find("negative"), std::string::npos);
  EXPECT_NE(text(matrix(nullptr, 2, 2, 2, -1)).find("negative"), std::string::npos);
  EXPECT_NE(text(matrix(nullptr, 2, 3, 2)).find("overlapping rows"), std::string::npos);
  EXPECT_NE(text(matrix(nullptr, int64_t{1} << 40, 2, int64_t{1} << 40)).find("too large"), std::string::npos);
  EXPECT_NE(text(matrix(nullptr, 1, INT64_MAX)).find("too large"), std::string::npos);
  EXPECT_NE(text(vector(nullptr, 1, INT64_MAX)).find("too large"), std::string::npos);
}

TEST(Tensor, CheckViewAcceptsUnusualViews) {
  for (const mk_tensor& t : {matrix(nullptr, 0, 0), matrix(nullptr, 1, 5, 2), matrix(nullptr, 5, 0, 3),
                             matrix(nullptr, 1 << 20, 1 << 20), vector(nullptr, 1, int64_t{1} << 48)})
    EXPECT_NO_THROW(check_view("gemm", "a", t, MK_F32)) << shape(t);
}

// If check_view accepts a view, its extent has not overflowed.
TEST(Tensor, ExtentsOfCheckedViewsDoNotOverflow) {
  const int64_t sizes[] = {0, 1, 2, 1000, int64_t{1} << 24, int64_t{1} << 48, INT64_MAX / 2, INT64_MAX};
  for (const int64_t rows : sizes)
    for (const int64_t columns : sizes)
      for (const int64_t stride : sizes)
        for (const int64_t offset : sizes) {
          const mk_tensor t{nullptr, offset, rows, columns, stride, MK_F32, 0};
          try {
            check_view("op", "x", t, MK_F32);
          } catch (const Error&) {
            continue;
          }
          EXPECT_GE(extent(t), offset);
          EXPECT_LE(extent(t), int64_t{1} << 50);
        }
}

TEST(Guard, TurnsExceptionsIntoStatusAndText) {
  mk_error error{};
  EXPECT_EQ(guard(&error, [] {}), MK_OK);
  EXPECT_EQ(guard(&error, [] { throw Error(MK_BAD_DATA, "the file is cut"); }), MK_BAD_DATA);
  EXPECT_EQ(error.code, MK_BAD_DATA);
  EXPECT_STREQ(error.text, "the file is cut");
  EXPECT_EQ(guard(&error, [] { throw std::bad_alloc(); }), MK_OUT_OF_MEMORY);
  EXPECT_EQ(guard(&error, [] { throw std::runtime_error("odd"); }), MK_INTERNAL);
  EXPECT_STREQ(error.text, "odd");
  EXPECT_EQ(guard(&error, [] { throw 5; }), MK_INTERNAL);
  EXPECT_EQ(guard(nullptr, [] { throw Error(MK_CANCELLED, "no one listens"); }), MK_CANCELLED);
}

TEST(Guard, CutsLongTexts) {
  mk_error error{};
  guard(&error, [] { throw Error(MK_INTERNAL, std::string(5000, 'x')); });
  EXPECT_EQ(std::string(error.text), std::string(sizeof error.text - 1, 'x'));
}

int32_t half(int value, int* result, mk_error* error) {
  return guard(error, [&] {
    if (value % 2 != 0) throw Error(MK_INVALID_ARGUMENT, "odd");
    *result = value / 2;
  });
}

TEST(Guard, CallTurnsStatusBackIntoAnException) {
  int result = 0;
  call(half, 8, &result);
  EXPECT_EQ(result, 4);
  EXPECT_EQ(refusal(MK_INVALID_ARGUMENT, [&] { call(half, 7, &result); }), "odd");
  EXPECT_EQ(result, 4);
}

}  // namespace
}  // namespace mokume::sdk
