#include "data/csv_stream.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/text.hpp"
#include "data/csv_format.hpp"
#include "data/csv_rows.hpp"
#include "data/input.hpp"

namespace mokume::data {
namespace {

constexpr std::string_view kGzip = "\x1f\x8b", kByteOrderMark = "\xef\xbb\xbf";

// Returns the size of the first row, with the comments before it and its line break.
size_t first_row(std::string_view text, const CsvFormat& format) {
  const std::string path = kStandardInput;
  CsvRows rows(path, text, format);
  std::vector<std::string_view> cells;
  rows.next(cells);
  return text.size() - rows.rest().size();
}

}  // namespace

void CsvStream::fill() {
  constexpr size_t kAtOnce = size_t{1} << 16;
  const size_t before = waiting_.size();
  if (before - complete_ > kMostRowBytes)
    bad_data(kStandardInput, "line " + std::to_string(lines_ + 1),
             "has more than " + base::human_bytes(kMostRowBytes) + "; end each row with a line break");
  waiting_.resize(before + kAtOnce);
  ssize_t got = 0;
  do {
    got = ::read(fd_, waiting_.data() + before, kAtOnce);
  } while (got < 0 && errno == EINTR);
  waiting_.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
  if (got < 0) bad_data(kStandardInput, "", "cannot be read: " + std::generic_category().message(errno));
  ended_ = got == 0;
  if (first_ && waiting_.starts_with(kGzip))
    bad_data(kStandardInput, "", "is compressed; send it through gunzip, or leave --stream out");
}

size_t CsvStream::complete_rows() {
  for (; looked_at_ < waiting_.size(); ++looked_at_) {
    const char c = waiting_[looked_at_];
    if (c == '"') quoted_ = !quoted_;
    if (c == '\n' && !quoted_) complete_ = looked_at_ + 1;
  }
  return ended_ ? waiting_.size() : complete_;
}

std::string CsvStream::take(size_t bytes) {
  std::string taken = waiting_.substr(0, bytes);
  waiting_.erase(0, bytes);
  looked_at_ -= bytes;
  complete_ -= std::min(complete_, bytes);
  return taken;
}

bool CsvStream::next(CsvPiece& piece) {
  const auto blank = [](std::string_view rows) { return rows.find_first_not_of(" \t\r\n") == std::string_view::npos; };
  for (;;) {
    const size_t bytes = complete_rows();
    if (bytes == 0 && !ended_) {
      fill();
      continue;
    }
    if (bytes == 0) return false;
    std::string rows = take(bytes);
    const int64_t before = lines_;
    lines_ += std::count(rows.begin(), rows.end(), '\n');
    if (first_ && text_.empty() && rows.starts_with(kByteOrderMark)) rows.erase(0, kByteOrderMark.size());
    if (blank(rows)) continue;
    if (!first_) {
      text_ = header_ + rows;
      piece = {text_, before - std::count(header_.begin(), header_.end(), '\n'), format_};
      return true;
    }
    if (text_.empty()) {
      const size_t begin = rows.find_first_not_of("\r\n");
      start_ = before + std::count(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
      rows.erase(0, begin);
    }
    text_ += rows;
    format_ = detect_csv(kStandardInput, text_, expected_);
    const bool header = format_.header;
    const size_t end = first_row(text_, format_);
    if (header && !ended_ && blank(text_.substr(end))) continue;  // waits for a row below the header
    first_ = false;
    if (header) header_ = text_.substr(0, end);
    piece = {text_, start_, format_};
    return true;
  }
}

}  // namespace mokume::data
