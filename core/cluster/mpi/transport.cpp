// Nodes as ranks of an MPI job. Point-to-point only, nothing blocks on a peer: sends are MPI_Isend from a buffer of
// their own, receives are matched probes and MPI_Imrecv. MPI_THREAD_FUNNELED is enough: one thread calls all of this.
#include "abi/transport.h"

#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <limits>
#include <list>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "sdk/plugin.hpp"

namespace {

using mokume::Error;
using Clock = std::chrono::steady_clock;

constexpr int k_message = 1;   // tag
constexpr int k_farewell = 2;  // tag of the last message of a node, which is empty
constexpr std::chrono::milliseconds k_nap(1);
constexpr std::chrono::seconds k_farewell_wait(30);

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(MK_INTERNAL, std::string(call) + " failed: " + text);
}

// A message on its way out or in; MPI works on the buffer until the request completes.
struct Parcel {
  int peer = 0;
  int tag = 0;
  std::vector<char> bytes;
  MPI_Request request = MPI_REQUEST_NULL;

  bool complete() {
    int flag = 0;
    check(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
    return flag != 0;
  }
};

class Mpi {
 public:
  Mpi() {
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
  }

  mk_transport table{};

  uint32_t rank() const { return static_cast<uint32_t>(rank_); }
  uint32_t size() const { return static_cast<uint32_t>(size_); }

  void send(uint32_t to, const void* message, uint64_t bytes) {
    if (to >= size() || to == rank()) throw Error(MK_INVALID_ARGUMENT, "there is no such other node to send to");
    if (bytes == 0 || bytes > std::numeric_limits<int>::max()) {
      throw Error(MK_INVALID_ARGUMENT, "a message must have between 1 byte and 2 GiB");
    }
    const char* begin = static_cast<const char*>(message);
    post(static_cast<int>(to), k_message, {begin, begin + bytes});
    drop_sent();
  }

  // The oldest complete message; of one peer they arrive in the order they were sent.
  bool poll(uint32_t* from, const void** message, uint64_t* bytes) {
    drop_sent();
    accept();
    std::vector<char> blocked(arriving_.empty() ? 0 : size(), 0);
    for (auto at = arriving_.begin(); at != arriving_.end();) {
      char& held_up = blocked[static_cast<size_t>(at->peer)];
      if (held_up != 0 || !at->complete()) {
        held_up = 1;
        ++at;
        continue;
      }
      Parcel parcel = std::exchange(*at, {});
      at = arriving_.erase(at);
      if (parcel.tag == k_farewell) {
        ++farewells_;
        continue;
      }
      delivered_ = std::move(parcel.bytes);
      *from = static_cast<uint32_t>(parcel.peer);
      *message = delivered_.data();
      *bytes = delivered_.size();
      return true;
    }
    return false;
  }

  void flush(Clock::duration timeout) {
    const auto deadline = Clock::now() + timeout;
    for (drop_sent(); !sending_.empty(); drop_sent()) {
      if (Clock::now() >= deadline) {
        throw Error(MK_INTERNAL, std::to_string(sending_.size()) + " messages could not be delivered to other nodes");
      }
      std::this_thread::sleep_for(k_nap);
    }
  }

  // MPI_Finalize waits for every rank, spinning, and for ever if one is gone: it is called only once all have said
  // farewell. Until then this waits asleep. Without it the launcher sees an abnormal end and clears the job away.
  bool part() {
    for (int to = 0; to < size_; ++to) {
      if (to != rank_) post(to, k_farewell, {});
    }
    const auto deadline = Clock::now() + k_farewell_wait;
    uint32_t from = 0;
    const void* message = nullptr;
    uint64_t bytes = 0;
    while (farewells_ < size_ - 1 || !sending_.empty()) {
      if (poll(&from, &message, &bytes)) continue;  // nobody wants it any more
      if (Clock::now() >= deadline) return false;
      std::this_thread::sleep_for(k_nap);
    }
    return true;
  }

 private:
  void post(int to, int tag, std::vector<char> bytes) {
    Parcel& parcel = sending_.emplace_back(Parcel{to, tag, std::move(bytes), MPI_REQUEST_NULL});
    check(MPI_Isend(parcel.bytes.data(), static_cast<int>(parcel.bytes.size()), MPI_BYTE, to, tag, MPI_COMM_WORLD,
                    &parcel.request),
          "MPI_Isend");
  }

  void drop_sent() {
    sending_.remove_if([](Parcel& parcel) { return parcel.complete(); });
  }

  // Starts to receive everything that has been announced.
  void accept() {
    while (true) {
      int flag = 0;
      MPI_Message handle = MPI_MESSAGE_NULL;
      MPI_Status status;
      check(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &handle, &status), "MPI_Improbe");
      if (flag == 0) return;
      int bytes = 0;
      check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
      Parcel& parcel = arriving_.emplace_back(Parcel{status.MPI_SOURCE, status.MPI_TAG, {}, MPI_REQUEST_NULL});
      parcel.bytes.resize(static_cast<size_t>(bytes));
      check(MPI_Imrecv(parcel.bytes.data(), bytes, MPI_BYTE, &handle, &parcel.request), "MPI_Imrecv");
    }
  }

  int rank_ = 0, size_ = 1;
  std::list<Parcel> sending_;  // a list: MPI holds on to the requests' buffers
  std::list<Parcel> arriving_;
  std::vector<char> delivered_;  // what poll() gave out last
  int farewells_ = 0;
};

void initialize() {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized != 0) throw Error(MK_INTERNAL, "MPI was started in this process before");
  // With more ranks than cores, Open MPI gives its core away at every poll that finds nothing. Our pump sleeps between
  // polls; yielding as well costs a time slice for each message where the machine is busy. A user's setting stays.
  setenv("OMPI_MCA_mpi_yield_when_idle", "0", 0);
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
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
  table.shutdown = [](void* self) {
    const std::unique_ptr<Mpi> mpi(&of(self));
    bool together = false;
    try {
      together = mpi->part();
    } catch (const std::exception&) {
      // Left to the launcher.
    }
    if (together) MPI_Finalize();
  };
  return table;
}

int32_t start(const mk_host*, const void** table, mk_error* error) {
  return mokume::sdk::guard(error, [&] {
    initialize();
    auto mpi = std::make_unique<Mpi>();
    mpi->table = make_table();
    mpi->table.self = mpi.get();
    *table = &mpi.release()->table;  // shutdown() deletes it
  });
}

}  // namespace

MOKUME_PLUGIN(MK_PLUGIN_TRANSPORT, "mpi", "nodes as ranks of an MPI job", start)
