// The journal of one node: an append-only file of finished fits. A fit counts once its line is on the disk.
//
// One writer thread commits in groups: one write and one fdatasync for all that came in since the last (a sync costs
// milliseconds, a fit may cost less).
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/disk.hpp"
#include "journal/record.hpp"
#include "sdk/error.hpp"
#include "search/plan.hpp"

namespace mokume::journal {

class Journal {
 public:
  // Opens DIRECTORY/node-NNNN.ndjson, creating both if needed, cuts off a torn last line, and notes the start of a
  // session. Error(MK_BAD_DATA) if the file belongs to another plan or node, Error(MK_STORAGE) if it cannot be
  // written, here and in all of the below. `disk` and `clock` outlive it. Two commits are at least `interval` apart.
  Journal(const std::string& directory, uint32_t node, const search::Plan& plan,
          std::chrono::milliseconds interval = std::chrono::milliseconds(20),
          const base::Disk& disk = base::system_disk(), const base::Clock& clock = base::system_clock());
  ~Journal();  // close("interrupted") unless closed
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // From any thread. `on_durable` is called on the writer's thread, in the order of the appends, once the line is on
  // the disk, and never if it could not be written; it must not throw and not call the journal. Throws if the journal
  // has failed or is closed, if the plan has no such fit, or if the note is not UTF-8.
  void append(const FitRecord& record, std::function<void()> on_durable);

  // The same for an event. Any text will do.
  void append(const EventRecord& record);

  // Waits until all that was appended is on the disk and its callbacks have returned. Throws if the journal failed.
  void flush();

  // Notes the end of the session, flushes and ends the writer. Throws if the journal failed. Once.
  void close(const std::string& reason);

  // Called at most once, on the writer's thread (or here, if it has happened already), when a write failed: a full
  // disk, a directory that turned read-only. Nothing is written after that. An empty function takes it back; when this
  // returns, the function set before is not running.
  void on_failure(std::function<void(const Error&)> handler);

  const std::string& path() const { return path_; }

 private:
  struct Batch {
    std::string text;
    std::vector<std::function<void()>> on_durable;
  };

  uint64_t good_bytes() const;
  bool is_own(const std::string& header) const;
  void add_line(std::string line, std::function<void()> on_durable);
  void write_loop();
  void commit(const std::string& text);
  void fail(const Error& error);
  void stop_writer();
  void cut_torn_line() noexcept;
  template <class Body>
  static void stored(const Body& body);

  std::string path_;
  uint32_t node_;
  search::Plan plan_;
  std::chrono::milliseconds interval_;
  const base::Clock& clock_;
  std::unique_ptr<base::AppendFile> file_;
  uint64_t written_ = 0;  // bytes of the file that are whole lines on the disk

  std::mutex mutex_;
  std::condition_variable wake_;     // of the writer
  std::condition_variable settled_;  // a batch is done, or the journal failed
  Batch pending_;
  uint64_t appended_ = 0, durable_ = 0;  // lines
  uint32_t hurried_ = 0;                 // threads in flush()
  bool stopping_ = false;
  std::optional<Error> failure_;
  std::mutex handler_mutex_;
  std::function<void(const Error&)> handler_;
  bool handled_ = false;
  std::thread writer_;
};

}  // namespace mokume::journal
