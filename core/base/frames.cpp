#include "base/frames.hpp"

#include <errno.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "sdk/error.hpp"

namespace mokume::base {
namespace {

// The buffer grows by this much as bytes arrive, so that a false length cannot cause a large allocation.
constexpr size_t kPiece = size_t{1} << 20;

void send_all(int socket, const char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t sent = ::send(socket, bytes, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0)
      throw Error(MK_DEVICE_ERROR, fmt::format("the other process cannot be reached ({})", strerror(errno)));
    bytes += sent;
    count -= static_cast<size_t>(sent);
  }
}

// Returns how many of `count` bytes arrived before the stream ended.
size_t receive_some(int socket, char* bytes, size_t count) {
  size_t have = 0;
  while (have < count) {
    const ssize_t got = ::recv(socket, bytes + have, count - have, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;  // a process that died with unread messages resets the connection
    have += static_cast<size_t>(got);
  }
  return have;
}

[[noreturn]] void torn() { throw Error(MK_DEVICE_ERROR, "the other process ended in the middle of a message"); }

}  // namespace

void send_frame(int socket, std::string_view text) {
  if (text.size() > kMaxFrameBytes)
    throw Error(MK_DEVICE_ERROR,
                fmt::format("a message of {} bytes between processes is longer than {}", text.size(), kMaxFrameBytes));
  const auto length = static_cast<uint32_t>(text.size());
  std::string frame(sizeof(length), '\0');
  std::memcpy(frame.data(), &length, sizeof(length));
  frame.append(text);
  send_all(socket, frame.data(), frame.size());
}

std::optional<std::string> receive_frame(int socket) {
  uint32_t length = 0;
  char head[sizeof(length)];
  const size_t have = receive_some(socket, &head[0], sizeof(length));
  if (have == 0) return std::nullopt;
  if (have < sizeof(length)) torn();
  std::memcpy(&length, &head[0], sizeof(length));
  if (length > kMaxFrameBytes)
    throw Error(MK_DEVICE_ERROR, fmt::format("the other process announced a message of {} bytes, but the limit is {}",
                                             length, kMaxFrameBytes));
  std::string text;
  while (text.size() < length) {
    const size_t at = text.size(), piece = std::min<size_t>(kPiece, length - at);
    text.resize(at + piece);
    if (receive_some(socket, text.data() + at, piece) < piece) torn();
  }
  return text;
}

bool frame_waits(int socket, std::chrono::milliseconds most) {
  pollfd wait{socket, POLLIN, 0};
  return poll(&wait, 1, static_cast<int>(most.count())) > 0;
}

}  // namespace mokume::base
