#include "journal/journal.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "journal/line.hpp"

namespace mokume::journal {

Journal::Journal(const std::string& directory, const Writer& writer, const search::Plan& plan,
                 std::chrono::milliseconds interval, const base::Disk& disk, const base::Threads& threads)
    : path_((std::filesystem::path(directory) / file_name(writer.node, writer.number)).string()),
      node_(writer.node),
      plan_(plan),
      interval_(interval),
      threads_(threads),
      monitor_(threads.monitor()) {
  file_ = disk.open(directory, file_name(writer.node, writer.number));
  written_ = good_bytes();
  file_->cut(written_);
  if (written_ == 0) commit(seal(base::to_json(Header{kFormat, plan_.hash, node_})));
  add_line(seal(base::to_json(SessionLine{"start", threads_.clock().wall_s(), ""})));
  writer_ = threads.start([this] { write_loop(); });
}

Journal::~Journal() {
  try {
    if (writer_) close("interrupted");
  } catch (const std::exception&) {
    // The failure has been reported, and the data on disk ends with a whole line.
  }
  stop_writer();
}

// Returns the number of bytes to keep of an existing file: all except a last line that a crash has torn. The reader
// checks the other lines.
uint64_t Journal::good_bytes() const {
  const std::string text = file_->read();
  size_t good = text.rfind('\n') + 1;  // 0 without a newline, because npos + 1 == 0
  if (good > 0 && good == text.size()) {
    const size_t before = good < 2 ? std::string::npos : text.rfind('\n', good - 2);
    const size_t begin = before == std::string::npos ? 0 : before + 1;
    if (!unseal(std::string_view(text).substr(begin, good - 1 - begin))) good = begin;
  }
  if (good == 0) return 0;
  const std::optional<std::string> header = unseal(std::string_view(text).substr(0, text.find('\n')));
  if (!header || !is_own(*header)) {
    throw Error(MK_BAD_DATA, fmt::format("{}, line 1: this journal belongs to another plan or node; move it away, or "
                                         "start a new run with `mokume run --fresh`",
                                         path_));
  }
  return good;
}

bool Journal::is_own(const std::string& header) const {
  try {
    const auto own = base::from_json<Header>(std::string_view(header));
    return own.plan_hash == plan_.hash && own.node == node_;
  } catch (const Error&) {
    return false;
  }
}

uint64_t Journal::append(const FitRecord& record) {
  if (record.fit >= plan_.n_slots()) {
    throw Error(MK_INTERNAL,
                fmt::format("fit {} was reported, but the plan has {} fits and refits", record.fit, plan_.n_slots()));
  }
  if (plan_.is_refit(record.fit)) return add_line(seal(record_text(record, nullptr)));
  const search::FitKey key = plan_.key(record.fit);
  return add_line(seal(record_text(record, &key)));
}

uint64_t Journal::append(const EventRecord& record) { return add_line(seal(base::to_json(record))); }

uint64_t Journal::add_line(const std::string& line) {
  const std::lock_guard lock(*monitor_);
  if (failure_) throw Error(*failure_);
  if (stopping_) throw Error(MK_INTERNAL, path_ + " is closed");
  pending_ += line;
  ++appended_;
  monitor_->change();
  return appended_;
}

std::optional<Error> Journal::failure() const {
  const std::lock_guard lock(*monitor_);
  return failure_;
}

void Journal::on_change(std::function<void()> changed) {
  const std::lock_guard lock(changed_mutex_);
  changed_ = std::move(changed);
}

void Journal::tell_change() {
  const std::lock_guard lock(changed_mutex_);
  if (changed_) changed_();
}

void Journal::flush() {
  const std::lock_guard lock(*monitor_);
  const uint64_t target = appended_;
  ++hurried_;
  monitor_->change();
  monitor_->wait([&] { return durable_ >= target || failure_; });
  --hurried_;
  if (durable_ < target) throw Error(*failure_);
}

void Journal::close(const std::string& reason) {
  add_line(seal(base::to_json(SessionLine{"stop", threads_.clock().wall_s(), reason})));
  stop_writer();
  const std::lock_guard lock(*monitor_);
  if (failure_) throw Error(*failure_);
}

void Journal::stop_writer() {
  {
    const std::lock_guard lock(*monitor_);
    stopping_ = true;
    monitor_->change();
  }
  if (writer_) writer_->join();
  writer_ = nullptr;
}

void Journal::write_loop() {
  std::unique_lock lock(*monitor_);
  double next = now();
  while (true) {
    monitor_->wait([&] { return stopping_ || !pending_.empty(); });
    if (pending_.empty()) return;
    monitor_->wait_until(next, [&] { return stopping_ || hurried_ > 0; });
    const std::string text = std::exchange(pending_, {});
    const uint64_t last = appended_;
    lock.unlock();
    std::optional<Error> failure;
    try {
      commit(text);
    } catch (const Error& error) {
      failure = error;
    }
    next = now() + std::chrono::duration<double>(interval_).count();
    lock.lock();
    if (failure)
      failure_ = failure;
    else
      durable_ = last;
    monitor_->change();
    lock.unlock();
    tell_change();
    if (failure) return;
    lock.lock();
  }
}

void Journal::commit(const std::string& text) {
  try {
    file_->append(text);
  } catch (const Error&) {
    cut_torn_line();
    throw;
  }
  written_ += text.size();
}

// Leaves only whole lines if possible; otherwise, the next start cuts off the torn line.
void Journal::cut_torn_line() noexcept {
  try {
    file_->cut(written_);
  } catch (const std::exception&) {
  }
}

}  // namespace mokume::journal
