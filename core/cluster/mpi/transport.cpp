// Nodes as ranks of an MPI job. Point-to-point only, nothing blocks on a peer: sends are MPI_Isend from a buffer of
// their own, receives are matched probes and MPI_Imrecv. MPI_THREAD_FUNNELED is enough: one thread calls all of this.
//
// A rank may die. Its pending sends and receives then fail or never complete: both stay where they are, since MPI may
// still hold their buffers, and nobody waits for them. docs/adr/0012 says what Open MPI does.
#include "abi/transport.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "peers.hpp"
#include "sdk/plugin.hpp"
#include "watch.hpp"

namespace {

using mokume::Error;
using mokume::mpi::Clock;
using mokume::mpi::Peers;
using mokume::mpi::Watch;

enum Tag : int {
  k_message = 1,
  k_whereabouts = 2,  // of the sender: the first message between rank 0 and another
  k_farewell = 3,     // to rank 0, empty: nothing follows
  k_verdict = 4,      // from rank 0: k_everybody if nobody was lost
};
constexpr std::string_view k_everybody = "everybody", k_not_everybody = "not everybody";
constexpr int k_calls_per_look = 8;
constexpr std::chrono::milliseconds k_nap(1);
constexpr std::chrono::seconds k_meet(5);    // for the first messages to go out
constexpr std::chrono::seconds k_leave(30);  // for those who only shut down
constexpr std::chrono::seconds k_start_limit(120);
constexpr std::chrono::seconds k_call_limit(60);
constexpr const char* k_start_variable = "MOKUME_MPI_START_S";
constexpr int k_exit_run_again = 75;

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(MK_INTERNAL, std::string(call) + " failed: " + text);
}

// A message on its way out or in; MPI works on the buffer until the request completes.
struct Parcel {
  Parcel(int peer_rank, int its_tag, size_t bytes)
      : peer(peer_rank), tag(its_tag), size(bytes), buffer(std::make_unique_for_overwrite<char[]>(bytes)) {}

  std::string_view text() const { return {buffer.get(), size}; }

  int peer, tag;
  size_t size;
  std::unique_ptr<char[]> buffer;
  MPI_Request request = MPI_REQUEST_NULL;
};

class Mpi {
 public:
  // `stuck` is called, on a thread of its own, if MPI keeps a call that it should answer at once.
  explicit Mpi(const std::function<void()>& stuck)
      : rank_(own_rank()), size_(job_size()), peers_(size_), watch_(k_call_limit, stuck) {
    const std::string here = mokume::mpi::whereabouts();
    if (rank_ != 0) {
      post(0, k_whereabouts, here);
    } else {
      for (int to = 1; to < size_; ++to) post(to, k_whereabouts, here);
    }
    // Over TCP nothing moves between two calls of MPI, and the next one may come only when all data are loaded.
    const auto deadline = Clock::now() + k_meet;
    for (drop_sent(); !sending_.empty() && Clock::now() < deadline; drop_sent()) {
      progress();
      std::this_thread::sleep_for(k_nap);
    }
  }

  mk_transport table{};

  uint32_t rank() const { return static_cast<uint32_t>(rank_); }
  uint32_t size() const { return static_cast<uint32_t>(size_); }

  void send(uint32_t to, const void* message, uint64_t bytes) {
    if (to >= size() || to == rank()) throw Error(MK_INVALID_ARGUMENT, "there is no such other node to send to");
    if (bytes == 0 || bytes > std::numeric_limits<int>::max()) {
      throw Error(MK_INVALID_ARGUMENT, "a message must have between 1 byte and 2 GiB");
    }
    post(static_cast<int>(to), k_message, {static_cast<const char*>(message), bytes});
    drop_sent();
  }

  // The oldest complete message; of one peer they arrive in the order they were sent.
  bool poll(uint32_t* from, const void** message, uint64_t* bytes) {
    drop_sent();
    progress();
    while (std::optional<Parcel> parcel = take_arrived()) {
      if (parcel->tag != k_message) {
        take_own(*parcel);
        continue;
      }
      *from = static_cast<uint32_t>(parcel->peer);
      *bytes = parcel->size;
      delivered_ = std::move(parcel->buffer);
      *message = delivered_.get();
      return true;
    }
    peers_.look(Clock::now());
    return false;
  }

  void flush(Clock::duration timeout) {
    const auto deadline = Clock::now() + timeout;
    for (drop_sent(); unsent(); drop_sent()) {
      if (Clock::now() >= deadline) {
        for (const Parcel& parcel : sending_) peers_.forget(parcel.peer);
        return;
      }
      std::this_thread::sleep_for(k_nap);
      peers_.look(Clock::now());
    }
  }

  void forget(uint32_t peer) {
    if (peer < size() && peer != rank()) peers_.forget(static_cast<int>(peer));
  }

  bool lost(uint32_t peer) const { return peer < size() && peers_.lost(static_cast<int>(peer)); }

  // MPI_Finalize waits for every rank, spinning, and for ever if one is gone: it is called only once all have said
  // farewell. Until then this waits asleep. Without it the launcher sees an abnormal end.
  bool leave(Clock::duration timeout) noexcept {
    if (left_) return *left_;
    left_ = false;
    const auto deadline = Clock::now() + timeout;
    try {
      if (!(rank_ == 0 ? see_off(deadline) : say_farewell(deadline))) return false;
    } catch (const std::exception&) {
      return false;  // left to the launcher
    }
    MPI_Finalize();
    left_ = true;
    return true;
  }

 private:
  static int own_rank() {
    int rank = 0;
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    return rank;
  }
  static int job_size() {
    int size = 1;
    check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
    return size;
  }

  // A failure of MPI is that of the peer it was to reach.
  void post(int to, int tag, std::string_view text) {
    if (peers_.lost(to)) return;
    progress();
    Parcel& parcel = sending_.emplace_back(to, tag, text.size());
    std::copy(text.begin(), text.end(), parcel.buffer.get());
    if (MPI_Isend(parcel.buffer.get(), static_cast<int>(parcel.size), MPI_BYTE, to, tag, MPI_COMM_WORLD,
                  &parcel.request) != MPI_SUCCESS) {
      peers_.fail(to);
    }
  }

  bool complete(Parcel& parcel) {
    int flag = 0;
    if (MPI_Test(&parcel.request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS) return flag != 0;
    peers_.fail(parcel.peer);
    return false;
  }

  void drop_sent() {
    const Watch::Call call(watch_);
    sending_.remove_if([this](Parcel& parcel) { return complete(parcel); });
  }

  // Whether anything is still to go to somebody who is there.
  bool unsent() const {
    for (const Parcel& parcel : sending_) {
      if (!peers_.lost(parcel.peer)) return true;
    }
    return false;
  }

  // Open MPI looks at its sockets in every eighth of its calls only. It must do so before a message is sent: where it
  // learns of a peer's end by a write that fails, it may never come out of a later call (docs/adr/0012).
  void progress() {
    const Watch::Call call(watch_);
    for (int i = 0; i < k_calls_per_look; ++i) accept();
  }

  // Starts to receive everything that has been announced.
  void accept() {
    while (true) {
      int flag = 0;
      MPI_Message handle = MPI_MESSAGE_NULL;
      MPI_Status status;
      // A failure here names nobody. Whoever it was falls silent, and is lost by that.
      if (MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &handle, &status) != MPI_SUCCESS) return;
      if (flag == 0) return;
      int bytes = 0;
      check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
      Parcel& parcel = arriving_.emplace_back(status.MPI_SOURCE, status.MPI_TAG, static_cast<size_t>(bytes));
      if (MPI_Imrecv(parcel.buffer.get(), bytes, MPI_BYTE, &handle, &parcel.request) != MPI_SUCCESS) {
        peers_.fail(parcel.peer);
      }
    }
  }

  // The first of each peer's messages may be taken once it is complete.
  std::optional<Parcel> take_arrived() {
    std::vector<char> held_up(arriving_.empty() ? 0 : size(), 0);
    for (auto at = arriving_.begin(); at != arriving_.end(); ++at) {
      char& behind = held_up[static_cast<size_t>(at->peer)];
      if (behind == 0 && at->request != MPI_REQUEST_NULL && complete(*at)) {
        Parcel parcel = std::move(*at);
        arriving_.erase(at);
        peers_.heard(parcel.peer, Clock::now());
        return parcel;
      }
      behind = 1;
    }
    return std::nullopt;
  }

  void take_own(const Parcel& parcel) {
    if (parcel.tag == k_whereabouts) {
      peers_.introduce(parcel.peer, std::string(parcel.text()));
    } else if (parcel.tag == k_farewell) {
      peers_.part(parcel.peer);
    } else if (parcel.tag == k_verdict) {
      verdict_ = parcel.text() == k_everybody;
    }
  }

  // Until `done()` or the deadline; what others still have to say nobody wants any more.
  template <class Done>
  void wait(Clock::time_point deadline, Done&& done) {
    uint32_t from = 0;
    const void* message = nullptr;
    uint64_t bytes = 0;
    while (!done() && Clock::now() < deadline) {
      if (!poll(&from, &message, &bytes)) std::this_thread::sleep_for(k_nap);
    }
  }

  // Rank 0: waits for the farewells of all who are there, and tells them whether that was everybody.
  bool see_off(Clock::time_point deadline) {
    const auto missing = [&] {
      for (int peer = 1; peer < size_; ++peer) {
        if (!peers_.parted(peer) && !peers_.lost(peer)) return true;
      }
      return false;
    };
    wait(deadline, [&] { return !missing(); });
    for (int peer = 1; peer < size_; ++peer) {
      if (!peers_.parted(peer)) peers_.forget(peer);
    }
    const bool everybody = !peers_.any_lost();
    for (int peer = 1; peer < size_; ++peer) post(peer, k_verdict, everybody ? k_everybody : k_not_everybody);
    flush(std::max<Clock::duration>(deadline - Clock::now(), std::chrono::seconds(1)));
    return everybody && !peers_.any_lost();
  }

  // The others. Rank 0 may be gone, or find that somebody else is.
  bool say_farewell(Clock::time_point deadline) {
    post(0, k_farewell, "");
    wait(deadline, [&] { return verdict_.has_value() || peers_.lost(0); });
    return verdict_.value_or(false);
  }

  const int rank_, size_;
  Peers peers_;
  std::list<Parcel> sending_;  // a list: MPI holds on to the requests' buffers
  std::list<Parcel> arriving_;
  std::unique_ptr<char[]> delivered_;  // what poll() gave out last
  std::optional<bool> verdict_;        // of rank 0 on this parting
  std::optional<bool> left_;           // what leave() found
  Watch watch_;
};

std::chrono::seconds start_limit() {
  const char* text = std::getenv(k_start_variable);
  const long seconds = text == nullptr ? 0 : std::strtol(text, nullptr, 10);
  return seconds > 0 ? std::chrono::seconds(seconds) : k_start_limit;
}

// Without the usual end: some thread is inside MPI and does not come back.
void end(const mokume::sdk::Host& host, const std::string& why) {
  host.log(MK_LOG_ERROR, "mpi", why);
  std::fflush(nullptr);
  _exit(k_exit_run_again);
}

void initialize(const mk_host* host) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized != 0) throw Error(MK_INTERNAL, "MPI was started in this process before");
  // With more ranks than cores, Open MPI gives its core away at every poll that finds nothing. Our pump sleeps between
  // polls; yielding as well costs a time slice for each message where the machine is busy. A user's setting stays.
  setenv("OMPI_MCA_mpi_yield_when_idle", "0", 0);
  // Open MPI writes to the socket of a rank that has died, which by default ends the writer.
  std::signal(SIGPIPE, SIG_IGN);
  int provided = MPI_THREAD_SINGLE;
  {
    // It waits for all ranks, for ever if one dies before it is through. Nothing has been begun by then.
    const std::chrono::seconds limit = start_limit();
    Watch watch(limit, [=] {
      end(mokume::sdk::Host(host),
          "MPI has not started within " + std::to_string(limit.count()) +
              " s: a rank has died or cannot be reached; run the same command again, or with a larger " +
              k_start_variable + " where starting takes longer");
    });
    const Watch::Call call(watch);
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  }
  for (const MPI_Comm communicator : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  }
  if (provided < MPI_THREAD_FUNNELED) {
    throw Error(MK_UNSUPPORTED,
                "this MPI does not allow other threads in the process (MPI_THREAD_FUNNELED); use one "
                "that does, or start without mpirun");
  }
}

Mpi& of(void* self) { return *static_cast<Mpi*>(self); }

mk_transport make_table() {
  mk_transport table{};
  table.struct_size = sizeof(mk_transport);
  table.abi_major = MK_ABI_MAJOR;
  table.abi_minor = MK_ABI_MINOR;
  table.rank = [](void* self) { return of(self).rank(); };
  table.size = [](void* self) { return of(self).size(); };
  table.send = [](void* self, uint32_t to, const void* message, uint64_t bytes, mk_error* error) {
    return mokume::sdk::guard(error, [&] { of(self).send(to, message, bytes); });
  };
  table.poll = [](void* self, uint32_t* from, const void** message, uint64_t* bytes, mk_error* error) {
    return mokume::sdk::guard(error, [&] {
      if (!of(self).poll(from, message, bytes)) *bytes = 0;
    });
  };
  table.flush = [](void* self, uint32_t timeout_ms, mk_error* error) {
    return mokume::sdk::guard(error, [&] { of(self).flush(std::chrono::milliseconds(timeout_ms)); });
  };
  table.forget = [](void* self, uint32_t peer) { of(self).forget(peer); };
  table.lost = [](void* self, uint32_t peer) { return of(self).lost(peer) ? 1 : 0; };
  table.leave = [](void* self, uint32_t timeout_ms) {
    return of(self).leave(std::chrono::milliseconds(timeout_ms)) ? 1 : 0;
  };
  table.shutdown = [](void* self) {
    std::unique_ptr<Mpi> mpi(&of(self));
    // If somebody was lost, MPI may still hold buffers of messages that will never leave.
    if (!mpi->leave(k_leave)) mpi.release();
  };
  return table;
}

int32_t start(const mk_host* host, const void** table, mk_error* error) {
  return mokume::sdk::guard(error, [&] {
    initialize(host);
    auto mpi = std::make_unique<Mpi>([=] {
      end(mokume::sdk::Host(host),
          "MPI does not come back from a call, probably because a rank has died; mokume resume goes on where this run "
          "ends");
    });
    mpi->table = make_table();
    mpi->table.self = mpi.get();
    *table = &mpi.release()->table;  // shutdown() deletes it
  });
}

}  // namespace

MOKUME_PLUGIN(MK_PLUGIN_TRANSPORT, "mpi", "nodes as ranks of an MPI job", start)
