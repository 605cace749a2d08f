// Keeps the journal of a node, an append-only file of finished fits. A fit counts once its line is on disk.
//
// A writer thread commits lines in groups, with one write and one fdatasync for all lines that arrived since the last
// commit, because a sync costs milliseconds and a fit may take less.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/disk.hpp"
#include "base/threads.hpp"
#include "journal/record.hpp"
#include "sdk/error.hpp"
#include "search/plan.hpp"

namespace mokume::journal {

// Identifies the writer of a journal: its node, and its number at the start of the job, which differs if it has become
// node 0. No two writers share a file, even if one of them is only thought dead.
struct Writer {
  Writer(uint32_t own) : node(own), number(own) {}
  Writer(uint32_t own, uint32_t at_start) : node(own), number(at_start) {}
  uint32_t node, number;
};

class Journal {
 public:
  // Opens the writer's file in DIRECTORY (file_name() in line.hpp), creating both if needed, cuts off a torn last line,
  // and records the start of a session. Throws Error(MK_BAD_DATA) if the file belongs to another plan or node. The
  // constructor and all functions that write throw sdk::storage_error() if the file cannot be written. `disk` and
  // `threads` must outlive the journal. Commits are at least `interval` apart, unless a flush is waiting.
  Journal(const std::string& directory, const Writer& writer, const search::Plan& plan,
          std::chrono::milliseconds interval = std::chrono::milliseconds(20),
          const base::Disk& disk = base::system_disk(), const base::Threads& threads = base::system_threads());
  ~Journal();  // calls close("interrupted") unless the journal is closed
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Appends a record, from any thread. Returns the number of its line, which is on disk once durable() reaches this
  // number. Throws if the journal has failed or is closed, if the plan has no such fit, or if a text is not UTF-8. The
  // caller must have checked the values of a record from a library or another process (bounds.hpp).
  uint64_t append(const FitRecord& record);

  // Appends an event in the same way. Its text may contain any bytes.
  uint64_t append(const EventRecord& record);

  // Returns the number of lines of this session that are on disk. Any thread may call this function.
  uint64_t durable() const { return durable_; }

  // Returns the error of a failed write, such as that of a full disk, after which the journal writes nothing.
  std::optional<Error> failure() const;

  // Calls `changed` on the writer's thread after durable() grows or the journal fails. `changed` must not throw or call
  // on_change(); an empty function ends the calls. When on_change() returns, the previous function is not running.
  void on_change(std::function<void()> changed);

  // Waits until all appended lines are on disk. Throws if the journal has failed.
  void flush();

  // Records the end of the session, flushes, and stops the writer. Throws if the journal has failed. Call it once.
  void close(const std::string& reason);

  const std::string& path() const { return path_; }

 private:
  uint64_t good_bytes() const;
  bool is_own(const std::string& header) const;
  uint64_t add_line(const std::string& line);
  void write_loop();
  void commit(const std::string& text);
  void tell_change();
  void stop_writer();
  void cut_torn_line() noexcept;
  double now() const { return threads_.clock().steady_s(); }

  std::string path_;
  uint32_t node_;
  search::Plan plan_;
  std::chrono::milliseconds interval_;
  const base::Threads& threads_;
  std::unique_ptr<base::AppendFile> file_;
  uint64_t written_ = 0;  // size of the whole lines on disk

  // Guards the members below it. Changes when a line or a flush arrives, a commit ends, or the journal stops.
  std::unique_ptr<base::Monitor> monitor_;
  std::string pending_;    // lines to write
  uint64_t appended_ = 0;  // number of lines
  std::atomic<uint64_t> durable_ = 0;
  uint32_t hurried_ = 0;  // number of threads in flush()
  bool stopping_ = false;
  std::optional<Error> failure_;
  std::mutex changed_mutex_;
  std::function<void()> changed_;
  std::unique_ptr<base::Thread> writer_;
};

}  // namespace mokume::journal
