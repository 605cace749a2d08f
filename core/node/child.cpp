#include "node/child.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/clock.hpp"
#include "base/frames.hpp"
#include "cluster/protocol/codec.hpp"
#include "cluster/protocol/silence.hpp"
#include "node/experiment.hpp"
#include "node/local_session.hpp"
#include "node/team_seat.hpp"
#include "sdk/error.hpp"

namespace mokume::node {
namespace {

constexpr double kProgressPauseSeconds = 0.05;

// Receives requests. Its thread exits the process when the run is gone, even if the main thread is stuck in a driver.
class Requests {
 public:
  explicit Requests(int socket) : socket_(socket) {
    std::thread([this] { listen(); }).detach();
  }

  cluster::Message next() {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return !waiting_.empty(); });
    cluster::Message message = std::move(waiting_.front());
    waiting_.pop_front();
    return message;
  }

  // Returns whether the attempt that next() returned last has been cancelled.
  const std::atomic<bool>& cancelled() const { return cancelled_; }

  // Sets the receiver of the team's answers, or null.
  void seat(TeamSeat* seat) {
    const std::lock_guard lock(mutex_);
    seat_ = seat;
  }

 private:
  void listen() {
    try {
      while (auto frame = base::receive_frame(socket_)) take(cluster::decode_frame(std::move(*frame)));
    } catch (const std::exception&) {
      // Treats a node that sends invalid messages as gone.
    }
    _exit(0);
  }

  void take(cluster::Message message) {
    const std::lock_guard lock(mutex_);
    if (auto* sum = std::get_if<cluster::TeamSum>(&message)) {
      if (seat_ != nullptr) seat_->take_sum(std::move(sum->sum));
    } else if (const auto* end = std::get_if<cluster::TeamBreak>(&message)) {
      if (seat_ != nullptr) seat_->break_up(end->why);
    } else if (std::holds_alternative<cluster::Ack>(message)) {
      cancelled_ = true;
    } else {
      cancelled_ = false;
      waiting_.push_back(std::move(message));
      came_.notify_one();
    }
  }

  int socket_;
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<cluster::Message> waiting_;
  TeamSeat* seat_ = nullptr;
};

class Service {
 public:
  Service(const ChildRuntime& runtime, int socket) : runtime_(runtime), socket_(socket), requests_(socket) {}

  [[noreturn]] void serve() {
    for (;;) {
      const cluster::Message request = requests_.next();
      refuse_if_failing([&] { std::visit(*this, request); });
    }
  }

  void operator()(const cluster::Load& load) {
    const config::ParseResult parsed =
        config::parse(load.config, "the experiment", {}, runtime_.schema_lookup, config::Origin::run);
    if (!parsed.config) throw Error(MK_INTERNAL, config::render_all(parsed.diagnostics, load.config, {}));
    registry::Registry& registry = runtime_.registry(parsed.config->plugin_directories);
    experiment_ = std::make_unique<Experiment>(registry, *parsed.config);
    registry_ = &registry;
  }

  void operator()(const cluster::Open& wanted) {
    if (!experiment_) return;  // LOAD has failed and reported why
    machine_ = std::make_unique<Machine>(*registry_, runtime_.log, wanted.id);
    const auto& listed = machine_->listed();
    const auto found = std::find_if(listed.begin(), listed.end(), [&](const device::Listed& l) {
      return l.id() == wanted.id && l.device_class() == wanted.device_class;
    });
    if (found == listed.end())
      throw Error(MK_DEVICE_ERROR, "device " + wanted.id + " is no longer available: see `mokume devices`");
    session_ = std::make_unique<LocalSession>(*machine_, *experiment_, *found, wanted.choices, wanted.budget_bytes,
                                              wanted.measure);
    send_hello();
  }

  void operator()(const cluster::Welcome& welcome) {
    const auto choices = welcome.choices.find(session_->info().device_class);
    session_->begin(choices != welcome.choices.end() ? choices->second : device::Choices(), welcome.run_directory,
                    welcome.profile);
    send_hello();
  }

  void operator()(const cluster::TeamJoin& join) {
    seat_ = std::make_unique<TeamSeat>(join, [this](const cluster::Message& message) { send(message); });
    requests_.seat(seat_.get());
  }

  void operator()(const cluster::Grant& grant) {
    const double start = base::steady_s();
    cluster::LeaseEnd end{grant.lease, MK_OK, "", 0, {}};
    try {
      ParentReporter reporter(*this, grant.lease);
      session_->run(grant.attempt, reporter, seat_ ? seat_->table() : nullptr);
    } catch (...) {  // any exception ends the lease
      const Error e = sdk::current_error();
      end.status = e.status();
      end.text = e.what();
    }
    requests_.seat(nullptr);
    seat_.reset();
    end.seconds = base::steady_s() - start;
    send(cluster::Account{session_->choices(), session_->fallbacks(), session_->profiled()});
    send(end);
  }

  template <class Other>
  void operator()(const Other&) {
    throw Error(MK_INTERNAL, "the node sent a message out of turn");
  }

 private:
  // Reports to the node, which adds its number and the times to each record.
  class ParentReporter : public cluster::Reporter {
   public:
    ParentReporter(Service& service, uint64_t lease) : service_(service), lease_(lease) {}
    void report(const journal::FitRecord& record) override { service_.send(cluster::Done{lease_, {record}}); }
    void progress(const std::string& what, double share) override {
      const double now = base::steady_s();
      if (now < next_progress_) return;
      next_progress_ = now + kProgressPauseSeconds;
      // JSON cannot represent the 0/0 of a model.
      const double valid = share >= 0 ? std::min(share, 1.0) : 0.0;
      service_.send(cluster::Heartbeat{{{0, lease_, what, valid, 0}}});
    }
    bool cancelled() const override { return service_.requests_.cancelled(); }

   private:
    Service& service_;
    uint64_t lease_;
    double next_progress_ = 0;
  };

  template <class Request>
  void refuse_if_failing(const Request& request) {
    try {
      try {
        request();
      } catch (...) {
        const Error e = sdk::current_error();
        send(cluster::Stop{e.status(), e.what()});
      }
    } catch (const Error&) {
      // The node is gone, so the thread of `requests_` exits the process.
    }
  }

  void send(const cluster::Message& message) { base::send_frame(socket_, cluster::encode(message)); }

  void send_hello() {
    const cluster::LocalDevice info = session_->info();
    send(cluster::Hello{MOKUME_VERSION, experiment_->plan().hash, {info}, {{info.device_class, session_->choices()}}});
  }

  const ChildRuntime& runtime_;
  int socket_;
  Requests requests_;
  registry::Registry* registry_ = nullptr;
  std::unique_ptr<Experiment> experiment_;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<LocalSession> session_;
  std::unique_ptr<TeamSeat> seat_;  // seat of the attempt that follows a TEAM_JOIN
};

}  // namespace

void serve_device(const ChildRuntime& runtime, int socket) { Service(runtime, socket).serve(); }

}  // namespace mokume::node
