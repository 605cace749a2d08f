#include "cluster/transport/transport.hpp"

#include <cstdlib>
#include <utility>

#include "abi/plugin.h"
#include "sdk/error.hpp"

namespace mokume::cluster {

namespace {

using WhenDone = std::function<void(uint64_t)>;

void run_done(void* context, uint64_t count) {
  const std::unique_ptr<WhenDone> done(static_cast<WhenDone*>(context));
  (*done)(count);
}

}  // namespace

bool mpi_launched() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

const mk_transport* self_transport() {
  static constexpr mk_transport kSelf = {
      sizeof(mk_transport),
      MK_ABI_MAJOR,
      MK_ABI_MINOR,
      nullptr,
      [](void*) { return 0u; },
      [](void*) { return 1u; },
      [](void*, uint32_t, const void*, uint64_t, void (*release)(void*), void* context, mk_error* error) -> int32_t {
        if (release != nullptr) release(context);
        return sdk::fail(error, MK_INVALID_ARGUMENT, "there is no other node to send to");
      },
      [](void*, uint32_t*, void**, uint64_t* bytes, mk_error*) -> int32_t {
        *bytes = 0;
        return MK_OK;
      },
      [](void*) {},
      nullptr,
      nullptr,
      [](void*, uint32_t, mk_error*) -> int32_t { return MK_OK; },
      nullptr,
      nullptr,
      nullptr,
      [](void*) {},
      nullptr,
      nullptr,
      nullptr,
  };
  return &kSelf;
}

void Transport::send(uint32_t to, const std::string& message) {
  sdk::call(table_->send, table_->self, to, static_cast<const void*>(message.data()), uint64_t{message.size()}, nullptr,
            nullptr);
}

void Transport::send(uint32_t to, std::shared_ptr<const std::string> message) {
  using Kept = std::shared_ptr<const std::string>;
  const std::string& text = *message;
  void (*const release)(void*) = [](void* kept) { delete static_cast<Kept*>(kept); };
  sdk::call(table_->send, table_->self, to, static_cast<const void*>(text.data()), uint64_t{text.size()}, release,
            static_cast<void*>(new Kept(std::move(message))));
}

void Transport::give(uint32_t to, uint32_t tag, std::span<const float> floats, std::function<void(uint64_t)> done) {
  sdk::call(table_->give, table_->self, to, tag, floats.data(), uint64_t{floats.size()}, run_done,
            static_cast<void*>(new WhenDone(std::move(done))));
}

void Transport::take(uint32_t from, uint32_t tag, std::span<float> floats, std::function<void(uint64_t)> done) {
  sdk::call(table_->take, table_->self, from, tag, floats.data(), uint64_t{floats.size()}, run_done,
            static_cast<void*>(new WhenDone(std::move(done))));
}

std::optional<Transport::Received> Transport::poll() {
  uint32_t from = 0;
  void* message = nullptr;
  uint64_t bytes = 0;
  sdk::call(table_->poll, table_->self, &from, &message, &bytes);
  if (bytes == 0) return std::nullopt;
  const std::shared_ptr<char> owner(static_cast<char*>(message), table_->release);
  if (from >= size()) throw Error(MK_INTERNAL, "the transport names a sender that does not exist");
  return Received{from, {owner.get(), bytes}, owner};
}

void Transport::wait(std::chrono::microseconds at_most) {
  if (table_->wait != nullptr) return sdk::call(table_->wait, table_->self, static_cast<uint32_t>(at_most.count()));
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, at_most, [this] { return woken_; });
  woken_ = false;
}

void Transport::wake() {
  if (table_->wake != nullptr) return table_->wake(table_->self);
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(woken_, true)) return;
  }
  changed_.notify_one();
}

void Transport::flush(uint32_t timeout_ms) { sdk::call(table_->flush, table_->self, timeout_ms); }

void Transport::forget(uint32_t peer) {
  if (table_->forget != nullptr) table_->forget(table_->self, peer);
}

bool Transport::lost(uint32_t peer) const { return table_->lost != nullptr && table_->lost(table_->self, peer) != 0; }

bool Transport::regroup(uint32_t timeout_ms) {
  if (table_->regroup == nullptr || rank() == 0) return false;
  number_ = rank();
  sdk::call(table_->regroup, table_->self, timeout_ms);
  absent_.assign(size(), false);
  for (uint32_t node = 1; node < size(); ++node) absent_[node] = rank() == 0 && lost(node);
  return true;
}

bool Transport::leave(uint32_t timeout_ms) {
  return table_->leave == nullptr || table_->leave(table_->self, timeout_ms) != 0;
}

}  // namespace mokume::cluster
