// Tests rows that arrive in pieces through a pipe.
#include "data/csv_stream.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string_view>

#include "sdk/error.hpp"

namespace mokume::data {
namespace {

class Pipe {
 public:
  Pipe() {
    if (::pipe(ends_) != 0) throw Error(MK_INTERNAL, "no pipe");
  }
  ~Pipe() {
    end();
    ::close(ends_[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int read_end() const { return ends_[0]; }
  void write(std::string_view text) const {
    ASSERT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void end() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  int ends_[2] = {-1, -1};
};

// Returns the next piece, which the test has already written.
std::string next(CsvStream& stream, int64_t more_lines) {
  CsvPiece piece;
  if (!stream.next(piece)) return "the end";
  EXPECT_EQ(piece.more_lines, more_lines);
  return std::string(piece.text);
}

TEST(CsvStream, GivesRowsAsTheyArriveUnderTheirHeader) {
  Pipe pipe;
  CsvStream stream(pipe.read_end());
  pipe.write("\xef\xbb\xbf\n");  // a byte order mark in its own blank line
  pipe.write("a,b\n1,x\n2,y\n3,");
  EXPECT_EQ(next(stream, 1), "a,b\n1,x\n2,y\n");
  pipe.write("z\n\n");
  EXPECT_EQ(next(stream, 3), "a,b\n3,z\n\n");
  pipe.write("\"4\n5\",x\n6,y");
  EXPECT_EQ(next(stream, 5), "a,b\n\"4\n5\",x\n");
  pipe.end();
  EXPECT_EQ(next(stream, 7), "a,b\n6,y");
  EXPECT_EQ(next(stream, 0), "the end");
}

TEST(CsvStream, AHeaderMayHaveALineBreak) {
  Pipe pipe;
  CsvStream stream(pipe.read_end());
  pipe.write("\"a\n1\",b\n1,2\n");
  EXPECT_EQ(next(stream, 0), "\"a\n1\",b\n1,2\n");
  pipe.write("3,4\n");
  EXPECT_EQ(next(stream, 1), "\"a\n1\",b\n3,4\n");
}

TEST(CsvStream, DoesNotWaitForASecondRowWithoutAHeader) {
  Pipe pipe;
  CsvStream stream(pipe.read_end());
  pipe.write("1.5,2.5\n");
  EXPECT_EQ(next(stream, 0), "1.5,2.5\n");
  pipe.write("3,4\n");
  EXPECT_EQ(next(stream, 1), "3,4\n");
  pipe.end();
  EXPECT_EQ(next(stream, 0), "the end");
}

TEST(CsvStream, EndsWithoutRows) {
  for (const char* text : {"", "\n\n", " ", "\xef\xbb\xbf\n"}) {
    Pipe pipe;
    CsvStream stream(pipe.read_end());
    pipe.write(text);
    pipe.end();
    EXPECT_EQ(next(stream, 0), "the end") << text;
  }
}

TEST(CsvStream, RefusesCompressedTextAndWhatCannotBeRead) {
  Pipe pipe;
  CsvStream stream(pipe.read_end());
  pipe.write("\x1f\x8b\x08");
  CsvPiece piece;
  EXPECT_THROW(stream.next(piece), Error);
  CsvStream closed(-1);
  EXPECT_THROW(closed.next(piece), Error);
}

TEST(CsvStream, ExpectedNamesAreAHeader) {
  Pipe pipe;
  CsvExpected expected;
  expected.names = {"400", "450"};
  CsvStream stream(pipe.read_end(), expected);
  pipe.write("400,450\n2.5,0.5\n");
  CsvPiece piece;
  ASSERT_TRUE(stream.next(piece));
  EXPECT_TRUE(piece.format.header);
  pipe.write("3.5,0.5\n");
  ASSERT_TRUE(stream.next(piece));
  EXPECT_EQ(piece.text, "400,450\n3.5,0.5\n");
}

}  // namespace
}  // namespace mokume::data
