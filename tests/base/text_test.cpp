#include "base/text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace mokume::base {
namespace {

TEST(Shortest, ReadsBackAndIsShort) {
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(0.1F), "0.1");
  EXPECT_EQ(shortest(1.0), "1");
  EXPECT_EQ(shortest(-0.0), "-0");
  EXPECT_EQ(shortest(1.0 / 3), "0.3333333333333333");
  for (const double value : {1e300, 5e-324, 0.1 + 0.2, -123456.789, 1e22, 9007199254740993.0})
    EXPECT_EQ(std::strtod(shortest(value).c_str(), nullptr), value);
}

TEST(Shortest, NamesNonFiniteValues) {
  EXPECT_EQ(shortest(std::nan("")), "nan");
  EXPECT_EQ(shortest(-std::nan("")), "nan");
  EXPECT_EQ(shortest(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(shortest(-std::numeric_limits<float>::infinity()), "-inf");
}

TEST(Closest, FindsTheLikelyWord) {
  const std::vector<std::string> keys = {"folds", "shuffle", "stratified", "C", "gamma"};
  EXPECT_EQ(closest("flods", keys), "folds");  // a swap is one edit
  EXPECT_EQ(closest("Shufle", keys), "shuffle");
  EXPECT_EQ(closest("gama", keys), "gamma");
  EXPECT_EQ(closest("GAMMA", keys), "gamma");
}

TEST(Closest, RefusesDistantWords) {
  const std::vector<std::string> keys = {"folds", "C", "to"};
  EXPECT_EQ(closest("fo", keys), "");  // three edits
  EXPECT_EQ(closest("k", keys), "");   // one edit is more than half of a one-letter word
  EXPECT_EQ(closest("ta", keys), "");  // one edit is not less than half of a two-letter word
  EXPECT_EQ(closest("faldz", keys), "folds");
  EXPECT_EQ(closest("xaldz", keys), "");
  EXPECT_EQ(closest("", keys), "");
}

TEST(Closest, ReturnsTheFirstOfEqualMatches) { EXPECT_EQ(closest("abcx", {"abcd", "abce"}), "abcd"); }

TEST(HumanBytes, PrintsOneDecimal) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1024), "1.0 KiB");
  EXPECT_EQ(human_bytes(uint64_t{19} << 30), "19.0 GiB");
  EXPECT_EQ(human_bytes((uint64_t{1} << 20) - 1), "1.0 MiB");  // does not print "1024.0 KiB"
  EXPECT_EQ(human_bytes(std::numeric_limits<uint64_t>::max()), "16.0 EiB");
}

TEST(HumanSeconds, PrintsAtMostTwoUnits) {
  EXPECT_EQ(human_seconds(0.42), "0.4 s");
  EXPECT_EQ(human_seconds(9.97), "10 s");
  EXPECT_EQ(human_seconds(42), "42 s");
  EXPECT_EQ(human_seconds(59.7), "1 min 00 s");
  EXPECT_EQ(human_seconds(190), "3 min 10 s");
  EXPECT_EQ(human_seconds(2 * 3600 + 5 * 60), "2 h 05 min");
  EXPECT_EQ(human_seconds(3 * 86400 + 4 * 3600), "3 d 04 h");
  EXPECT_EQ(human_seconds(std::nan("")), "unknown");
  EXPECT_EQ(human_seconds(std::numeric_limits<double>::infinity()), "unknown");
  EXPECT_EQ(human_seconds(-1), "unknown");
}

TEST(ParseDuration, AcceptsEveryUnit) {
  EXPECT_EQ(parse_duration("11h30m"), 11 * 3600 + 30 * 60);
  EXPECT_EQ(parse_duration("90s"), 90);
  EXPECT_EQ(parse_duration("45m"), 45 * 60);
  EXPECT_EQ(parse_duration("2d"), 2 * 86400);
  EXPECT_EQ(parse_duration(" 1.5h "), 5400);
  EXPECT_EQ(parse_duration("1d 2h 3m 4s"), 86400 + 7200 + 180 + 4);
}

TEST(ParseDuration, RefusesInvalidText) {
  for (const char* text :
       {"", " ", "90", "h", "-5s", "1m1h", "1h1h", "5 parsecs", "1e3s", "infs", "nans", "5s!", "0x5s"})
    EXPECT_FALSE(parse_duration(text)) << text;
  EXPECT_FALSE(parse_duration(std::string(400, '9') + "s"));
}

TEST(ParseBytes, AcceptsEveryUnit) {
  EXPECT_EQ(parse_bytes("4096"), 4096U);
  EXPECT_EQ(parse_bytes("17 B"), 17U);
  EXPECT_EQ(parse_bytes("512 MiB"), uint64_t{512} << 20);
  EXPECT_EQ(parse_bytes("2GiB"), uint64_t{2} << 30);
  EXPECT_EQ(parse_bytes("2gib"), uint64_t{2} << 30);
  EXPECT_EQ(parse_bytes("1.5 GB"), 1500000000U);
  EXPECT_EQ(parse_bytes("1kB"), 1000U);
  EXPECT_EQ(parse_bytes("18446744073709551615"), std::numeric_limits<uint64_t>::max());
}

TEST(ParseBytes, RefusesInvalidText) {
  for (const char* text : {"", "-1", "1.5", "12 parsecs", "1 iB", "GiB", "1 GiBs", "inf B", "nan B", "16 EiB", "1e3 B",
                           "18446744073709551616", "2 G"})
    EXPECT_FALSE(parse_bytes(text)) << text;
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a,,b,", ','), (std::vector<std::string>{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), (std::vector<std::string>{""}));
}

TEST(Trim, RemovesSpaceFromBothEnds) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim("  "), "");
}

TEST(Text, ControlCharactersAndInvalidBytesAreReplaced) {
  EXPECT_EQ(without_controls("plain, caf\xc3\xa9 \xf0\x9f\x98\x80"), "plain, caf\xc3\xa9 \xf0\x9f\x98\x80");
  EXPECT_EQ(without_controls("\x1b[2J\x07\x7f\n\t"), "?[2J????");
  EXPECT_EQ(without_controls("a\n\tb\r", "\n\t"), "a\n\tb?");
  EXPECT_EQ(without_controls("\xc2\x9b"
                             "1m \xc2\xa0"),
            "?1m \xc2\xa0")
      << "C1 controls";
  EXPECT_EQ(without_controls("\xff\xc3 \xed\xa0\x80 \xc0\x80"), "?? ??? ??");
  EXPECT_EQ(without_controls(std::string_view("a\0b", 3)), "a?b");
}

}  // namespace
}  // namespace mokume::base
