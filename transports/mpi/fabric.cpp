#include "fabric.hpp"

#include <limits>
#include <string>

#include "sdk/error.hpp"

namespace mokume::mpi {
namespace {

constexpr std::chrono::seconds kAfterwards(1);

}  // namespace

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(MK_INTERNAL, std::string(call) + " failed: " + text);
}

Fabric::Fabric(MPI_Comm communicator, std::function<void()> wake, std::chrono::milliseconds limit,
               std::function<void()> late)
    : wake_(std::move(wake)), watchdog_(std::make_unique<Watchdog>(limit, std::move(late))) {
  check(MPI_Comm_dup(communicator, &communicator_), "MPI_Comm_dup");
  check(MPI_Comm_size(communicator_, &size_), "MPI_Comm_size");
  given_.assign(static_cast<size_t>(size_), 0);
  taken_.assign(static_cast<size_t>(size_), 0);
}

// Returns what never completes and stays reserved until the process ends (see close()).
std::vector<Fabric::Request>& Fabric::kept() {
  static auto* const requests = new std::vector<Request>;
  return *requests;
}

Fabric::~Fabric() {
  kept().insert(kept().end(), requests_.begin(), requests_.end());
  kept().insert(kept().end(), asked_.begin(), asked_.end());
}

void Fabric::give(int to, int tag, const float* values, uint64_t count, Done done, void* context) {
  ask({true, to, tag, const_cast<float*>(values), count, done, context});
}

void Fabric::take(int from, int tag, float* values, uint64_t most, Done done, void* context) {
  ask({false, from, tag, values, most, done, context});
}

void Fabric::ask(const Request& request) {
  if (request.count > static_cast<uint64_t>(std::numeric_limits<int>::max()))
    throw Error(MK_INVALID_ARGUMENT, "a message must have less than 2^31 floats");
  if (request.peer < 0 || request.peer >= size_) throw Error(MK_INVALID_ARGUMENT, "there is no such node");
  {
    const std::lock_guard lock(mutex_);
    asked_.push_back(request);
    if (closed_) return;
    busy_ = true;
  }
  wake_();
}

void Fabric::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  busy_ = false;
}

void Fabric::begin(const Request& r) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int count = static_cast<int>(r.count);
  if (r.gives) {
    check(MPI_Isend(r.values, count, MPI_FLOAT, r.peer, r.tag, communicator_, &request), "MPI_Isend");
    ++given_[static_cast<size_t>(r.peer)];
  } else {
    check(MPI_Irecv(r.values, count, MPI_FLOAT, r.peer, r.tag, communicator_, &request), "MPI_Irecv");
  }
  active_.push_back(request);
  requests_.push_back(r);
}

void Fabric::progress() {
  std::vector<Request> asked;
  {
    const std::lock_guard lock(mutex_);
    asked.swap(asked_);
  }
  {
    const Watchdog::Call call(*watchdog_);
    for (const Request& request : asked) begin(request);
    places_.resize(active_.size());
    statuses_.resize(active_.size());
    int n = 0, arrived = 0;
    if (!active_.empty())
      check(MPI_Testsome(static_cast<int>(active_.size()), active_.data(), &n, places_.data(), statuses_.data()),
            "MPI_Testsome");
    else
      check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator_, &arrived, MPI_STATUS_IGNORE), "MPI_Iprobe");
    places_.resize(n == MPI_UNDEFINED ? 0 : static_cast<size_t>(n));
  }
  if (!asked.empty() || !places_.empty()) active_at_ = std::chrono::steady_clock::now();
  complete();
  const std::lock_guard lock(mutex_);
  busy_ = !closed_ && (!active_.empty() || !asked_.empty() || idle() < kAfterwards);
}

// Removes the completed requests first, because done() may ask for more.
void Fabric::complete() {
  struct Completed {
    Request request;
    uint64_t count;
  };
  std::vector<Completed> completed;
  for (size_t k = 0; k < places_.size(); ++k) {
    const Request& request = requests_[static_cast<size_t>(places_[k])];
    uint64_t count = request.count;
    if (!request.gives) {
      int received = 0;
      check(MPI_Get_count(&statuses_[k], MPI_FLOAT, &received), "MPI_Get_count");
      count = static_cast<uint64_t>(received);
      ++taken_[static_cast<size_t>(request.peer)];
    }
    completed.push_back({request, count});
  }
  size_t kept = 0;
  for (size_t k = 0; k < active_.size(); ++k) {
    if (active_[k] == MPI_REQUEST_NULL) continue;
    active_[kept] = active_[k];
    requests_[kept++] = requests_[k];
  }
  active_.resize(kept);
  requests_.resize(kept);
  for (const Completed& one : completed) one.request.done(one.request.context, one.count);
}

void Fabric::drain() {
  const Watchdog::Call call(*watchdog_);
  // A receive that is cancelled in time has received nothing; one that is not has completed.
  for (size_t k = 0; k < active_.size(); ++k) {
    if (requests_[k].gives) continue;
    MPI_Status status;
    int cancelled = 0;
    check(MPI_Cancel(&active_[k]), "MPI_Cancel");
    check(MPI_Wait(&active_[k], &status), "MPI_Wait");
    check(MPI_Test_cancelled(&status, &cancelled), "MPI_Test_cancelled");
    if (cancelled == 0) ++taken_[static_cast<size_t>(requests_[k].peer)];
  }
  std::vector<uint64_t> from(given_.size());
  check(MPI_Alltoall(given_.data(), 1, MPI_UINT64_T, from.data(), 1, MPI_UINT64_T, communicator_), "MPI_Alltoall");
  for (int peer = 0; peer < size_; ++peer)
    for (uint64_t k = taken_[static_cast<size_t>(peer)]; k < from[static_cast<size_t>(peer)]; ++k) {
      MPI_Status status;
      int count = 0;
      check(MPI_Probe(peer, MPI_ANY_TAG, communicator_, &status), "MPI_Probe");
      check(MPI_Get_count(&status, MPI_FLOAT, &count), "MPI_Get_count");
      std::vector<float> ignored(static_cast<size_t>(count));
      check(MPI_Recv(ignored.data(), count, MPI_FLOAT, peer, status.MPI_TAG, communicator_, MPI_STATUS_IGNORE),
            "MPI_Recv");
    }
  check(MPI_Waitall(static_cast<int>(active_.size()), active_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  active_.clear();
  requests_.clear();
  busy_ = false;
}

}  // namespace mokume::mpi
