// Tests a node before and after the fits when the transport reports that a peer is gone.
#include <gtest/gtest.h>

#include "cluster/fixtures.hpp"
#include "cluster/handshake.hpp"

namespace mokume::cluster {
namespace {

// Imitates the transport of one of two nodes. The other node is silent, and gone from the start.
class AloneOfTwo {
 public:
  explicit AloneOfTwo(uint32_t rank) : rank_(rank) {
    table_.struct_size = sizeof(mk_transport);
    table_.abi_major = MK_ABI_MAJOR;
    table_.abi_minor = MK_ABI_MINOR;
    table_.self = this;
    table_.rank = [](void* self) { return static_cast<AloneOfTwo*>(self)->rank_; };
    table_.size = [](void*) { return 2u; };
    table_.send = [](void*, uint32_t, const void*, uint64_t, void (*)(void*), void*, mk_error*) -> int32_t {
      return MK_OK;
    };
    table_.poll = [](void*, uint32_t*, void**, uint64_t* bytes, mk_error*) -> int32_t {
      *bytes = 0;
      return MK_OK;
    };
    table_.flush = [](void*, uint32_t, mk_error*) -> int32_t { return MK_OK; };
    table_.lost = [](void* self, uint32_t peer) -> int32_t { return peer != static_cast<AloneOfTwo*>(self)->rank_; };
    table_.shutdown = [](void*) {};
  }
  const mk_transport* table() const { return &table_; }

 private:
  uint32_t rank_;
  mk_transport table_{};
};

// Returns the text of the Error that `body` throws, or "" if it throws none.
template <class Body>
std::string error_of(mk_status expected, Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), expected);
    return error.what();
  }
  return "";
}

TEST(LostPeer, EndsTheHandshake) {
  const std::atomic<bool> stop{false};
  const Hello hello{"0.1.0", "p", {}, {}};
  const Leader leader{"runs/x", {}};
  const AloneOfTwo zero(0), one(1);
  Transport first(zero.table()), second(one.table());
  EXPECT_EQ(error_of(MK_CANCELLED, [&] { handshake(first, hello, &leader, stop); }),
            "node 1 died before the first fit");
  EXPECT_EQ(error_of(MK_CANCELLED, [&] { handshake(second, hello, nullptr, stop); }),
            "node 0 died before the first fit");
}

TEST(LostPeer, IsNotWaitedForAtTheEnd) {
  const AloneOfTwo zero(0), one(1);
  Transport first(zero.table()), second(one.table());
  EXPECT_EQ(error_of(MK_CANCELLED, [&] { participate(first, [] {}); }), "");
  EXPECT_EQ(error_of(MK_CANCELLED, [&] { participate(second, [] {}); }), "node 0 died before the run was over");
  // participate() reports the first error, not the lost peer.
  EXPECT_EQ(error_of(MK_BAD_DATA, [&] { participate(second, [] { throw Error(MK_BAD_DATA, "no such file"); }); }),
            "no such file");
}

TEST(LostPeer, DoesNotExistOnATransportThatLosesNoPeer) {
  Transport alone(self_transport());
  alone.forget(0);
  EXPECT_FALSE(alone.lost(0));
  EXPECT_TRUE(alone.leave(0));
}

}  // namespace
}  // namespace mokume::cluster
