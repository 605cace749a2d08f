// Moves floats between any two ranks over MPI, which knows the fabric of a cluster: shared memory, InfiniBand, TCP.
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "watchdog.hpp"

namespace mokume::mpi {

// Throws Error(MK_INTERNAL) with MPI's own words unless `code`, which `call` returned, is MPI_SUCCESS.
void check(int code, const char* call);

// Only the thread that started MPI calls progress() and drain(); any thread calls give() and take().
// MPI_THREAD_FUNNELED is therefore enough. MPI is called only while floats are on their way.
class Fabric {
 public:
  using Done = void (*)(void* context, uint64_t count);

  // Collective. `wake` makes the thread call progress() soon. `late` runs on another thread once a call of MPI has not
  // returned for `limit`, as may happen if a rank has died (docs/adr/0019).
  Fabric(MPI_Comm communicator, std::function<void()> wake, std::chrono::milliseconds limit,
         std::function<void()> late);
  ~Fabric();  // MPI_Finalize frees the communicator
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  // Send or receive, as abi/transport.h describes. The floats must stay valid until done(context, count).
  void give(int to, int tag, const float* values, uint64_t count, Done done, void* context);
  void take(int from, int tag, float* values, uint64_t most, Done done, void* context);

  // Starts what was asked for, and completes what has arrived or left.
  void progress();
  // Returns whether anything is on its way, or was until shortly before: libraries may still hold a message that they
  // call sent, and need calls to pass it on.
  bool busy() const { return busy_; }
  // Returns the time since the last request or completion.
  std::chrono::steady_clock::duration idle() const { return std::chrono::steady_clock::now() - active_at_; }

  // Ends all calls of MPI, because a rank is lost: MPI may abort the process or never return if it touches a connection
  // to a dead rank. What is on its way never completes, and its memory stays reserved, because a rank that is alive may
  // still write to it.
  void close();

  // Collective: brings to an end what is still on its way after a team broke up, so that MPI_Finalize returns. No rank
  // may give or take any more, and none may be gone.
  void drain();

 private:
  struct Request {
    bool gives;
    int peer, tag;
    float* values;
    uint64_t count;
    Done done;
    void* context;
  };

  static std::vector<Request>& kept();
  void ask(const Request& request);
  void begin(const Request& request);
  void complete();

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int size_ = 0;
  const std::function<void()> wake_;
  std::unique_ptr<Watchdog> watchdog_;
  std::mutex mutex_;
  std::vector<Request> asked_;  // needs the lock
  bool closed_ = false;         // needs the lock
  std::atomic<bool> busy_ = false;
  // The requests of MPI, and what belongs to each.
  std::vector<MPI_Request> active_;
  std::vector<Request> requests_;
  std::chrono::steady_clock::time_point active_at_;
  std::vector<int> places_;
  std::vector<MPI_Status> statuses_;
  std::vector<uint64_t> given_, taken_;  // messages to and from each rank
};

}  // namespace mokume::mpi
