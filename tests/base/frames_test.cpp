#include "base/frames.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "sdk/error.hpp"

namespace mokume::base {
namespace {

using namespace std::chrono_literals;

class Frames : public testing::Test {
 protected:
  Frames() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, &ends_[0]), 0); }
  ~Frames() override {
    for (const int end : ends_)
      if (end >= 0) close(end);
  }
  void close_first() { close(std::exchange(ends_[0], -1)); }
  // Sends bytes that send_frame() would never send.
  void send_raw(const void* bytes, size_t count) {
    EXPECT_EQ(send(ends_[0], bytes, count, 0), static_cast<ssize_t>(count));
  }
  std::string refusal() {
    try {
      receive_frame(ends_[1]);
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), MK_DEVICE_ERROR);
      return e.what();
    }
    return "";
  }

  int ends_[2];
};

TEST_F(Frames, ArriveUnchangedFollowedByTheEnd) {
  // The text exceeds every socket buffer, so it arrives in pieces while the sender waits.
  std::string large(5'000'000, 'x');
  large[large.size() / 2] = '\0';
  std::thread sender([&] {
    for (const std::string& text : {std::string("one"), std::string(), large}) send_frame(ends_[0], text);
    close_first();
  });
  EXPECT_EQ(receive_frame(ends_[1]), "one");
  EXPECT_EQ(receive_frame(ends_[1]), "");
  EXPECT_TRUE(receive_frame(ends_[1]) == large);
  EXPECT_FALSE(receive_frame(ends_[1]).has_value());
  sender.join();
}

TEST_F(Frames, ReportWhetherOneIsWaiting) {
  EXPECT_FALSE(frame_waits(ends_[1], 0ms));
  send_frame(ends_[0], "x");
  EXPECT_TRUE(frame_waits(ends_[1], 0ms));
  EXPECT_EQ(receive_frame(ends_[1]), "x");
  close_first();
  EXPECT_TRUE(frame_waits(ends_[1], 0ms));
}

TEST_F(Frames, RefuseTextsThatAreTooLongOrTorn) {
  const uint32_t too_long = kMaxFrameBytes + 1;
  send_raw(&too_long, sizeof(too_long));
  EXPECT_NE(refusal().find("536870913 bytes"), std::string::npos);
  const uint32_t eight = 8;
  send_raw(&eight, sizeof(eight));
  send_raw("half", 4);
  close_first();
  EXPECT_NE(refusal().find("in the middle of a message"), std::string::npos);
}

TEST_F(Frames, RefuseATornLength) {
  send_raw("\x01\x02", 2);
  close_first();
  EXPECT_NE(refusal().find("in the middle of a message"), std::string::npos);
}

TEST_F(Frames, CannotBeSentToAClosedSocket) {
  close_first();
  EXPECT_THROW(send_frame(ends_[1], "x"), Error);  // does not raise SIGPIPE either
}

}  // namespace
}  // namespace mokume::base
