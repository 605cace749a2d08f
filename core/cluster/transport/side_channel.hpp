// Frames that parts of a run send each other beside its messages, through the same transport: rank 0 to all, the others
// to rank 0. They begin with kMark, which no message does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mokume::cluster {

class SideChannel {
 public:
  static constexpr char kMark = '\1';
  static bool is_frame(std::string_view text) { return !text.empty() && text.front() == kMark; }

  // From any thread; leaves with the pump's next turn, which this brings about.
  void send(uint32_t to, std::string frame) { send(to, std::make_shared<const std::string>(std::move(frame))); }
  // The same frame to several.
  void send(uint32_t to, std::shared_ptr<const std::string> frame) {
    std::function<void()> ring;
    {
      const std::lock_guard lock(mutex_);
      outgoing_.emplace_back(to, std::move(frame));
      ring = ring_;
    }
    if (ring) ring();
  }

  // ---- the pump's side ----

  using Outgoing = std::vector<std::pair<uint32_t, std::shared_ptr<const std::string>>>;
  Outgoing take_outgoing() {
    const std::lock_guard lock(mutex_);
    return std::exchange(outgoing_, {});
  }
  // `ring`: empty once nobody pumps any more.
  void on_ring(std::function<void()> ring) {
    const std::lock_guard lock(mutex_);
    ring_ = std::move(ring);
  }

  // Set before the run by who uses the channel, called on the pump's thread; must be quick.
  // The frame's bytes are the callee's, as long as it holds the owner. An Error ends the run.
  std::function<void(uint32_t from, std::string_view frame, const std::shared_ptr<char>& owner)> received;
  std::function<void(uint32_t node)> lost;  // maybe more than once
  std::function<bool()> busy;               // this rank must go on pumping

 private:
  std::mutex mutex_;
  Outgoing outgoing_;
  std::function<void()> ring_;
};

}  // namespace mokume::cluster
