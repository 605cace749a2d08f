// Runs nodes as ranks of an MPI job. MPI starts the ranks, tells them each other's addresses, and ends them. Messages
// travel over separate connections (links.hpp), because MPI does not survive a peer that dies in the middle of a
// message (docs/adr/0019). Between start and end, MPI carries only the floats of fabric.hpp. MPI_THREAD_FUNNELED is
// enough, because one thread makes all calls.
#include "abi/transport.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "fabric.hpp"
#include "links.hpp"
#include "sdk/plugin.hpp"
#include "sdk/variable.hpp"
#include "watchdog.hpp"

namespace {

using mokume::Error;
using mokume::mpi::check;
using mokume::mpi::Clock;
using mokume::mpi::Fabric;
using mokume::mpi::Links;
using mokume::mpi::Watchdog;
using Kind = Links::Kind;

constexpr std::string_view kEverybody = "everybody", kNotEverybody = "not everybody";
constexpr std::chrono::seconds kLeave(30);  // for ranks that only shut down
constexpr double kStartLimitS = 120;
constexpr std::chrono::seconds kConnect(5);  // lower limit
constexpr std::chrono::seconds kNotice(10);  // after an error of MPI, for the links to report a death
constexpr std::chrono::milliseconds kPause(20), kNap(1);
constexpr int kLooks = 20;                  // at the fabric, for each look at the links, which takes longer
constexpr std::chrono::seconds kStuck(60);  // for a call of MPI that only starts or tests something
constexpr const char* kStartVariable = "MOKUME_MPI_START_S";
constexpr const char* kNetworkVariable = "MOKUME_MPI_NETWORK";
constexpr int kExitRunAgain = 75;
constexpr size_t kRendezvousBytes = 4096;

int own_rank() {
  int rank = 0;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  return rank;
}

int job_size() {
  int size = 1;
  check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  return size;
}

bool all_on_this_host() {
  MPI_Comm host = MPI_COMM_NULL;
  check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host), "MPI_Comm_split_type");
  int here = 0, everywhere = 0;
  check(MPI_Comm_size(host, &here), "MPI_Comm_size");
  check(MPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce");
  MPI_Comm_free(&host);
  return everywhere == job_size();
}

// Returns the number that `text` holds, or -1.
int number_in(std::string_view text) {
  int number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Exits without the usual cleanup, because a thread of this process or of another rank is stuck inside MPI.
void end(const mokume::sdk::Host& host, const std::string& why) {
  host.log(MK_LOG_ERROR, "mpi", why);
  std::fflush(nullptr);
  _exit(kExitRunAgain);
}

class Mpi {
 public:
  // Makes all collective calls but those of Fabric::drain(), which is safe because all ranks have just returned from
  // MPI_Init_thread.
  Mpi(Clock::time_point deadline, const mokume::sdk::Host& host)
      : number_(own_rank()),
        size_(job_size()),
        links_(number_, size_),
        fabric_(
            MPI_COMM_WORLD, [this] { links_.wake(); }, kStuck,
            [host] {
              end(host, "a call of MPI does not return, because a rank has died: run the same command again");
            }),
        gone_(static_cast<size_t>(size_)),
        told_(static_cast<size_t>(size_)),
        shut_down_(static_cast<size_t>(size_)) {
    exchange_addresses(all_on_this_host(), host);
    if (number_ == 0) {
      links_.accept_all(deadline);
    } else {
      links_.connect(rendezvous_[0], deadline);
    }
  }

  mk_transport table{};

  uint32_t rank() const { return static_cast<uint32_t>(links_.rank()); }
  uint32_t size() const { return static_cast<uint32_t>(size_); }

  void send(uint32_t to, const void* message, uint64_t bytes, std::shared_ptr<const void> owner) {
    if (to >= size() || to == rank()) throw Error(MK_INVALID_ARGUMENT, "there is no such node to send to");
    if (bytes == 0 || bytes > std::numeric_limits<int32_t>::max()) {
      throw Error(MK_INVALID_ARGUMENT, "a message must have between 1 byte and 2 GiB");
    }
    links_.send(static_cast<int>(to), Kind::message, {static_cast<const char*>(message), bytes}, std::move(owner));
  }

  // Returns the next message, and handles the transport's own messages.
  std::optional<Links::Arrived> poll() {
    while (auto arrived = links_.poll()) {
      tell_of_losses(arrived->from);
      if (arrived->kind == Kind::message && arrived->size > 0) return arrived;
      if (arrived->kind == Kind::shutdown) shut_down_[static_cast<size_t>(arrived->from)] = true;
      if (arrived->kind == Kind::rank_lost) hear_of_loss({arrived->bytes.get(), arrived->size});
      if (arrived->kind == Kind::shutdown_reply) {
        everybody_ = std::string_view(arrived->bytes.get(), arrived->size) == kEverybody;
      }
    }
    notice_losses();
    return std::nullopt;
  }

  // Only calls of MPI move floats. So the thread does not sleep while they are on their way, except ever longer, up to
  // a millisecond, if nothing arrives.
  void wait(Clock::duration at_most) {
    if (!fabric_.busy()) return links_.wait(at_most);
    try {
      for (int look = 0; look < kLooks && fabric_.busy(); ++look) fabric_.progress();
    } catch (const Error& e) {
      broken_ = {e.what(), Clock::now()};
      fabric_.close();
    }
    std::this_thread::yield();
    links_.wait(fabric_.idle() < kPause ? Clock::duration::zero() : std::min<Clock::duration>(at_most, kNap));
  }
  void wake() { links_.wake(); }
  void flush(Clock::duration timeout) { links_.flush(Clock::now() + timeout); }
  void forget(uint32_t peer) { links_.forget(static_cast<int>(peer)); }
  bool lost(uint32_t peer) const { return links_.lost(static_cast<int>(peer)); }
  Fabric& fabric() { return fabric_; }

  // The first remaining rank leads, and every other rank finds it by trying the ranks below itself in order. A rank
  // that is busy or frozen is passed over after `timeout`.
  void regroup(Clock::duration timeout) {
    end_use_of_mpi();
    std::fill(told_.begin(), told_.end(), 0);
    for (int next = leader_ + 1; next < number_; ++next) {
      leader_ = next;
      const std::string& rendezvous = rendezvous_[static_cast<size_t>(next)];
      if (rendezvous.empty() || gone_[static_cast<size_t>(next)]) continue;
      if (links_.follow(rendezvous, Clock::now() + timeout)) return;
    }
    leader_ = number_;
    links_.lead(gone_, Clock::now() + timeout);
  }

  // MPI_Finalize spins until every rank calls it, and forever if one is gone. This function sleeps until all ranks have
  // sent a shutdown message, and then calls it. Without MPI_Finalize, the launcher sees an abnormal exit.
  bool leave(Clock::duration timeout) noexcept {
    if (left_) return *left_;
    left_ = false;
    const auto deadline = Clock::now() + timeout;
    try {
      if (!(rank() == 0 ? await_shutdowns(deadline) : report_shutdown(deadline))) return false;
    } catch (const std::exception&) {
      return false;  // the launcher cleans up
    }
    try {
      fabric_.drain();
    } catch (const std::exception&) {
      return false;
    }
    MPI_Finalize();
    left_ = true;
    return true;
  }

 private:
  // Tells all ranks how to connect to each of them, because each may become rank 0. Only rank 0 must have an address.
  void exchange_addresses(bool one_host, const mokume::sdk::Host& host) {
    std::array<char, kRendezvousBytes> own{};
    std::exception_ptr failure;
    try {
      const char* network = std::getenv(kNetworkVariable);
      const std::string text = links_.listen(one_host, network == nullptr ? "" : network);
      if (text.size() >= own.size())
        throw Error(MK_INTERNAL, std::string("this host has too many addresses; name a network: ") + kNetworkVariable);
      std::copy(text.begin(), text.end(), own.begin());
    } catch (const std::exception& e) {
      failure = std::current_exception();
      if (number_ != 0)
        host.log(MK_LOG_WARNING, "mpi", std::string("this rank cannot take over from rank 0: ") + e.what());
    }
    std::vector<char> all(own.size() * static_cast<size_t>(size_));
    const int bytes = static_cast<int>(own.size());
    check(MPI_Allgather(own.data(), bytes, MPI_CHAR, all.data(), bytes, MPI_CHAR, MPI_COMM_WORLD), "MPI_Allgather");
    if (failure && number_ == 0) std::rethrow_exception(failure);
    for (size_t at = 0; at < all.size(); at += own.size()) rendezvous_.emplace_back(&all[at]);
  }

  // Ends the use of MPI on all ranks once one is lost. If MPI reports an error, that is usually the reason; otherwise,
  // the error ends this rank.
  void notice_losses() {
    for (int peer = 0; peer < size_; ++peer)
      if (links_.lost(peer)) note_loss(peer == 0 ? leader_ : peer, links_.closed(peer));
    if (broken_ && !any_lost_ && Clock::now() - broken_->second > kNotice)
      throw Error(MK_INTERNAL, std::exchange(broken_, std::nullopt)->first);
  }

  // `gone` means that the rank has ended. One that is only silent may return, and regroup() then waits for it.
  void note_loss(int lost, bool gone) {
    const bool known = any_lost_ && (!gone || gone_[static_cast<size_t>(lost)]);
    if (known) return;
    if (gone) gone_[static_cast<size_t>(lost)] = true;
    end_use_of_mpi();
    losses_.push_back(gone ? std::to_string(lost) : "");
    for (int peer = 1; peer < size_; ++peer) tell_of_losses(peer);
  }

  void hear_of_loss(std::string_view text) {
    end_use_of_mpi();
    const int number = number_in(text);
    if (number >= 0 && number < size_) gone_[static_cast<size_t>(number)] = true;
  }

  void end_use_of_mpi() {
    any_lost_ = true;
    fabric_.close();
  }

  // Also tells a rank that was lost for a while, once it returns.
  void tell_of_losses(int peer) {
    if (rank() != 0 || peer == 0 || links_.lost(peer)) return;
    for (size_t& told = told_[static_cast<size_t>(peer)]; told < losses_.size(); ++told)
      links_.send(peer, Kind::rank_lost, losses_[told]);
  }

  template <class Done>
  void drain_until(Clock::time_point deadline, Done&& done) {
    while (true) {
      while (poll()) {
      }
      const auto now = Clock::now();
      if (done() || now >= deadline) return;
      wait(deadline - now);  // another rank may wait for floats of this one
    }
  }

  // Waits on rank 0 for the shutdown messages of all ranks that are not lost, and replies whether no rank is lost.
  bool await_shutdowns(Clock::time_point deadline) {
    const auto missing = [&](int peer) { return !shut_down_[static_cast<size_t>(peer)] && !links_.lost(peer); };
    const auto any = [&](auto&& is) {
      for (int peer = 1; peer < size_; ++peer)
        if (is(peer)) return true;
      return false;
    };
    drain_until(deadline, [&] { return !any(missing); });
    for (int peer = 1; peer < size_; ++peer) {
      if (missing(peer)) links_.forget(peer);
    }
    const auto gone = [&](int peer) { return links_.lost(peer); };
    const bool everybody = !any(gone);
    for (int peer = 1; peer < size_; ++peer)
      links_.send(peer, Kind::shutdown_reply, everybody ? kEverybody : kNotEverybody);
    links_.flush(std::max(deadline, Clock::now() + std::chrono::seconds(1)));
    return everybody && !any(gone);
  }

  // Sends this rank's shutdown message to rank 0. Returns false if rank 0 is lost or replies that a rank is.
  bool report_shutdown(Clock::time_point deadline) {
    links_.send(0, Kind::shutdown, "");
    drain_until(deadline, [&] { return everybody_.has_value() || links_.lost(0); });
    return everybody_.value_or(false);
  }

  const int number_, size_;  // number_ is the rank at the start
  int leader_ = 0;           // number of the rank that is rank 0 now
  Links links_;
  Fabric fabric_;
  std::vector<std::string> rendezvous_;  // "" for a rank that cannot listen
  bool any_lost_ = false;
  std::vector<bool> gone_;                                           // ranks that have ended
  std::vector<std::string> losses_;                                  // texts of the messages rank_lost, in order
  std::vector<size_t> told_;                                         // number of them that each rank has got
  std::optional<std::pair<std::string, Clock::time_point>> broken_;  // error of MPI
  std::vector<bool> shut_down_;                                      // ranks that sent a shutdown message
  std::optional<bool> everybody_;                                    // rank 0's reply
  std::optional<bool> left_;                                         // result of leave()
};

void initialize() {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized != 0) throw Error(MK_INTERNAL, "MPI was already started in this process");
  // Open MPI may write to the socket of a dead rank, which by default kills the writer.
  std::signal(SIGPIPE, SIG_IGN);
  // Over TCP, Open MPI by default waits for the receiver before it sends more than 64 KB, which costs a third of the
  // bandwidth of 1 Gbit/s with slices of sums. Copying what arrives too early takes less time.
  for (const char* limit :
       {"OMPI_MCA_btl_tcp_eager_limit", "OMPI_MCA_btl_tcp_rndv_eager_limit", "OMPI_MCA_btl_tcp_max_send_size"})
    setenv(limit, "262144", 0);
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
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
  table.send = [](void* self, uint32_t to, const void* message, uint64_t bytes, void (*release)(void*), void* context,
                  mk_error* error) {
    return mokume::sdk::guard(error, [&] {
      std::shared_ptr<const void> owner;
      if (release != nullptr) owner = std::shared_ptr<const void>(context, [=](const void*) { release(context); });
      of(self).send(to, message, bytes, std::move(owner));
    });
  };
  table.poll = [](void* self, uint32_t* from, void** message, uint64_t* bytes, mk_error* error) {
    return mokume::sdk::guard(error, [&] {
      *bytes = 0;
      auto arrived = of(self).poll();
      if (!arrived) return;
      *from = static_cast<uint32_t>(arrived->from);
      *bytes = arrived->size;
      *message = arrived->bytes.release();
    });
  };
  table.release = [](void* message) { delete[] static_cast<char*>(message); };
  table.wait = [](void* self, uint32_t timeout_us, mk_error* error) {
    return mokume::sdk::guard(error, [&] { of(self).wait(std::chrono::microseconds(timeout_us)); });
  };
  table.wake = [](void* self) { of(self).wake(); };
  table.flush = [](void* self, uint32_t timeout_ms, mk_error* error) {
    return mokume::sdk::guard(error, [&] { of(self).flush(std::chrono::milliseconds(timeout_ms)); });
  };
  table.forget = [](void* self, uint32_t peer) { of(self).forget(peer); };
  table.lost = [](void* self, uint32_t peer) { return of(self).lost(peer) ? 1 : 0; };
  table.leave = [](void* self, uint32_t timeout_ms) {
    return of(self).leave(std::chrono::milliseconds(timeout_ms)) ? 1 : 0;
  };
  table.give = [](void* self, uint32_t to, uint32_t tag, const float* values, uint64_t count,
                  void (*done)(void*, uint64_t), void* context, mk_error* error) {
    return mokume::sdk::guard(error, [&] {
      of(self).fabric().give(static_cast<int>(to), static_cast<int>(tag), values, count, done, context);
    });
  };
  table.take = [](void* self, uint32_t from, uint32_t tag, float* values, uint64_t most, void (*done)(void*, uint64_t),
                  void* context, mk_error* error) {
    return mokume::sdk::guard(error, [&] {
      of(self).fabric().take(static_cast<int>(from), static_cast<int>(tag), values, most, done, context);
    });
  };
  table.regroup = [](void* self, uint32_t timeout_ms, mk_error* error) {
    return mokume::sdk::guard(error, [&] { of(self).regroup(std::chrono::milliseconds(timeout_ms)); });
  };
  table.shutdown = [](void* self) {
    const std::unique_ptr<Mpi> mpi(&of(self));
    mpi->leave(kLeave);
  };
  return table;
}

int32_t start(const mk_host* host, const void** table, mk_error* error) {
  return mokume::sdk::guard(error, [&] {
    // Starting waits for all ranks. Inside MPI, it waits forever if a rank dies first. Nothing else has begun yet, so
    // the process can exit safely.
    const std::chrono::seconds limit(
        std::llround(std::ceil(mokume::sdk::seconds_variable(kStartVariable, kStartLimitS))));
    Watchdog watchdog(limit, [=] {
      end(mokume::sdk::Host(host),
          "MPI has not started within " + std::to_string(limit.count()) +
              " s: a rank has died or cannot be reached; run the same command again, or with a larger " +
              kStartVariable + " if starting takes longer");
    });
    const Watchdog::Call call(watchdog);
    const auto begin = Clock::now();
    initialize();
    // The deadline is earlier than the watchdog's, whose message is less specific.
    const auto deadline = std::max<Clock::time_point>(begin + limit * 9 / 10, Clock::now() + kConnect);
    std::unique_ptr<Mpi> mpi;
    try {
      mpi = std::make_unique<Mpi>(deadline, mokume::sdk::Host(host));
    } catch (const Error& e) {
      if (e.status() == MK_CANCELLED) end(mokume::sdk::Host(host), e.what());
      throw;
    }
    mpi->table = make_table();
    mpi->table.self = mpi.get();
    *table = &mpi.release()->table;  // shutdown() deletes it
  });
}

}  // namespace

MOKUME_PLUGIN(MK_PLUGIN_TRANSPORT, MOKUME_MPI_NAME, "nodes as ranks of an MPI job", start)
