// Reads the wire format of Protocol Buffers from untrusted bytes, one message at a time.
// https://protobuf.dev/programming-guides/encoding
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "sdk/error.hpp"

namespace mokume::cnn::onnx {

// The fields of one message, in the order of the file. They point into its bytes. Every failure is an
// Error(MK_BAD_DATA).
class Fields {
 public:
  explicit Fields(std::string_view message) : rest_(message) {}

  // Moves to the next field; false at the end of the message.
  bool next() {
    if (rest_.empty()) return false;
    const uint64_t tag = varint();
    number_ = static_cast<uint32_t>(tag >> 3);
    wire_ = static_cast<uint32_t>(tag & 7);
    if (number_ == 0 || tag >> 35 != 0) damaged();
    if (wire_ == kVarint)
      value_ = varint();
    else if (wire_ == kFixed64)
      text_ = take(8);
    else if (wire_ == kBytes)
      text_ = take(varint());
    else if (wire_ == kFixed32)
      text_ = take(4);
    else
      damaged();  // groups, which nobody writes any more
    return true;
  }
  uint32_t number() const { return number_; }

  int64_t integer() const { return expect(kVarint), static_cast<int64_t>(value_); }
  float real() const { return expect(kFixed32), number_of<float>(text_); }
  std::string_view text() const { return expect(kBytes), text_; }

  // Calls take(number) for each element of a repeated field, which may be packed or not.
  template <class Take>
  void integers(const Take& take) const {
    if (wire_ != kBytes) return take(integer());
    for (Fields packed(text_); !packed.rest_.empty();) take(static_cast<int64_t>(packed.varint()));
  }
  template <class Number, class Take>
  void reals(const Take& take) const {
    if (wire_ != kBytes) expect(sizeof(Number) == 4 ? kFixed32 : kFixed64);
    if (text_.size() % sizeof(Number) != 0) damaged();
    for (size_t at = 0; at < text_.size(); at += sizeof(Number)) take(number_of<Number>(text_.substr(at)));
  }

  // The number in the first bytes, little endian as the machines that mokume runs on.
  template <class Number>
  static Number number_of(std::string_view bytes) {
    Number number;
    std::memcpy(&number, bytes.data(), sizeof(number));
    return number;
  }

  [[noreturn]] static void damaged() {
    throw Error(MK_BAD_DATA, "it is not an ONNX file, or is truncated or damaged; export it again");
  }

 private:
  static constexpr uint32_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;

  void expect(uint32_t wire) const {
    if (wire_ != wire) damaged();
  }
  std::string_view take(uint64_t bytes) {
    if (bytes > rest_.size()) damaged();
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      value |= uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    damaged();
  }

  std::string_view rest_, text_;
  uint32_t number_ = 0, wire_ = 0;
  uint64_t value_ = 0;
};

}  // namespace mokume::cnn::onnx
