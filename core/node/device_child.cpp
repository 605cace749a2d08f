#include "node/device_child.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/frames.hpp"
#include "node/device_messages.hpp"
#include "node/device_worker.hpp"
#include "sdk/error.hpp"

namespace mokume::node {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kProgressPause(50);

// Requests as they come. Its thread ends the process when there is nobody left to work for, even while the main thread
// is stuck in a driver.
class Inbox {
 public:
  explicit Inbox(int socket) : socket_(socket) {
    std::thread([this] { listen(); }).detach();
  }

  DeviceMessage next() {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return !waiting_.empty(); });
    DeviceMessage message = std::move(waiting_.front());
    waiting_.pop_front();
    return message;
  }

  const std::atomic<bool>& cancelled() const { return cancelled_; }  // the work that next() returned last

 private:
  void listen() {
    try {
      while (const std::optional<std::string> frame = base::receive_frame(socket_)) take(decode_device_message(*frame));
    } catch (const std::exception&) {
      // A run that says what cannot be is as good as none.
    }
    _exit(0);
  }

  void take(DeviceMessage message) {
    const std::lock_guard lock(mutex_);
    cancelled_ = std::holds_alternative<CancelWork>(message);
    if (cancelled_) return;
    waiting_.push_back(std::move(message));
    came_.notify_one();
  }

  int socket_;
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<DeviceMessage> waiting_;
};

class Service {
 public:
  Service(const ChildRuntime& runtime, int socket) : runtime_(runtime), socket_(socket), inbox_(socket) {}

  [[noreturn]] void serve() {
    for (;;) {
      const DeviceMessage request = inbox_.next();
      try {
        std::visit(*this, request);
      } catch (const Error& e) {
        end(e.status(), e.what());
      } catch (const std::bad_alloc&) {
        end(MK_OUT_OF_MEMORY, "out of host memory");
      } catch (const std::exception& e) {
        end(MK_INTERNAL, e.what());
      }
    }
  }

  void operator()(const LoadExperiment& load) {
    const config::ParseResult parsed = config::parse(load.config, "the experiment", {}, runtime_.schema_lookup);
    if (!parsed.config) throw Error(MK_INTERNAL, config::render_all(parsed.diagnostics, load.config, {}));
    registry::Registry& registry = runtime_.registry(parsed.config->plugin_directories);
    prepared_ = std::make_unique<Prepared>(registry, *parsed.config);
    machine_ = std::make_unique<Machine>(registry, runtime_.log);
  }

  void operator()(const OpenDevice& wanted) {
    if (!machine_) return;  // LOAD has failed, and said why
    const auto& listed = machine_->listed();
    const auto found = std::find_if(listed.begin(), listed.end(), [&](const device::Listed& l) {
      return l.id() == wanted.id && l.device_class() == wanted.device_class;
    });
    if (found == listed.end())
      throw Error(MK_DEVICE_ERROR, "device " + wanted.id + " is not there any more: see `mokume devices`");
    device_ = std::make_unique<OwnDevice>(*machine_, *prepared_, *found, wanted.choices, wanted.budget_bytes);
    greet();
  }

  void operator()(const AgreeChoices& agreed) {
    device_->agree(agreed.choices);
    greet();
  }

  void operator()(const MeasureSpeed&) {
    device_->measure();
    greet();
  }

  void operator()(const BeginRun& begun) { device_->begin(begun.run_directory, begun.profile); }

  void operator()(const cluster::Grant& grant) {
    FrameReporter reporter(*this);
    device_->work(grant.item, reporter);
    end(MK_OK, "");
  }

  template <class Other>
  void operator()(const Other&) {
    throw Error(MK_INTERNAL, "the run sent a message out of turn");
  }

 private:
  // The run journals what is reported, and knows who reported it when.
  class FrameReporter : public cluster::Reporter {
   public:
    explicit FrameReporter(Service& service) : service_(service) {}
    void report(const journal::FitRecord& record) override { service_.send(WorkRecord{record}); }
    void progress(const std::string& what, double share) override {
      const Clock::time_point now = Clock::now();
      if (now < next_progress_) return;
      next_progress_ = now + kProgressPause;
      service_.send(WorkProgress{what, share});
    }
    bool cancelled() const override { return service_.inbox_.cancelled(); }

   private:
    Service& service_;
    Clock::time_point next_progress_{};
  };

  void send(const DeviceMessage& message) { base::send_frame(socket_, encode_device_message(message)); }

  void greet() {
    const cluster::LocalDevice info = device_->info();
    send(cluster::Hello{MOKUME_VERSION, prepared_->plan().hash, {info}, {{info.device_class, device_->choices()}}});
  }

  void end(mk_status status, const std::string& text) {
    WorkEnded ended;
    ended.status = status;
    ended.text = text;
    if (device_) {
      ended.choices = device_->choices();
      ended.fallbacks = device_->fallbacks();
      ended.profile = device_->profiled();
    }
    try {
      send(ended);
    } catch (const Error&) {
      // Nobody is left to hear it; the inbox ends the process.
    }
  }

  const ChildRuntime& runtime_;
  int socket_;
  Inbox inbox_;
  std::unique_ptr<Prepared> prepared_;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<OwnDevice> device_;
};

}  // namespace

void serve_device(const ChildRuntime& runtime, int socket) { Service(runtime, socket).serve(); }

}  // namespace mokume::node
