#include "journal/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/files.hpp"
#include "journal/fields.hpp"
#include "journal/line.hpp"

namespace mokume::journal {
namespace {

struct File {
  uint32_t node = 0;
  std::string path;
};

using Intervals = std::vector<std::pair<double, double>>;

double union_seconds(Intervals intervals) {
  std::sort(intervals.begin(), intervals.end());
  double total = 0, reached = -std::numeric_limits<double>::infinity();
  for (const auto& [start, stop] : intervals) {
    if (stop <= reached) continue;
    total += stop - std::max(start, reached);
    reached = stop;
  }
  return total;
}

void add_interval(Intervals& intervals, double start, double stop) {
  if (std::isfinite(start) && std::isfinite(stop) && stop > start) intervals.emplace_back(start, stop);
}

// "node-0003.ndjson" -> 3; anything else is no journal.
std::optional<uint32_t> node_of(const std::string& name) {
  uint32_t node = 0;
  if (!name.starts_with("node-")) return std::nullopt;
  std::from_chars(name.data() + 5, name.data() + name.size(), node);
  return name == file_name(node) ? std::optional(node) : std::nullopt;
}

std::vector<File> list_files(const std::string& directory) {
  std::vector<File> files;
  std::error_code cause;
  std::filesystem::directory_iterator at(directory, cause);
  if (cause == std::errc::no_such_file_or_directory) return files;
  for (; !cause && at != std::filesystem::directory_iterator(); at.increment(cause)) {
    if (const auto node = node_of(at->path().filename().string())) files.push_back({*node, at->path().string()});
  }
  if (cause) throw Error(MK_BAD_DATA, fmt::format("cannot list {}: {}", directory, cause.message()));
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.node < b.node; });
  return files;
}

struct Origin {
  std::string path;
  size_t line = 0;
};

class Reader {
 public:
  explicit Reader(const search::Plan& plan) : plan_(plan) {}

  void read(const File& file) {
    file_ = &file;
    const std::string text = base::read_file(file.path);
    size_t begin = 0;
    for (size_t line = 1; begin < text.size(); ++line) {
      const size_t end = text.find('\n', begin);
      const bool last = end == std::string::npos || end + 1 == text.size();
      line_ = line;
      const auto object =
          end == std::string::npos ? std::nullopt : unseal(std::string_view(text).substr(begin, end - begin));
      if (!object && last) {
        contents_.notices.push_back(fmt::format("{}, line {}: torn by a crash, left out", file.path, line));
        return;
      }
      if (!object)
        bad("is damaged (its checksum does not match); restore the file, or delete the line and its fit "
            "will be computed again");
      take(*object);
      begin = end + 1;
    }
  }

  Contents finish() {
    for (auto& [fit, found] : records_) contents_.records.push_back(std::move(found.first));
    Intervals intervals;
    for (const Session& one : contents_.sessions) add_interval(intervals, one.start_s, one.stop_s);
    contents_.wall_s = union_seconds(std::move(intervals));
    return std::move(contents_);
  }

 private:
  [[noreturn]] void bad(const std::string& what) const {
    throw Error(MK_BAD_DATA, fmt::format("{}, line {}: {}", file_->path, line_, what));
  }

  void take(const std::string& object) {
    const nlohmann::json json = nlohmann::json::parse(object, nullptr, false);
    try {
      if (line_ == 1) {
        take_header(json);
      } else if (find_field(json, "event") != nullptr) {
        take_event(json);
      } else if (find_field(json, "refit") != nullptr) {
        take_refit(json);
      } else {
        take_record(json);
      }
    } catch (const Error& error) {
      if (std::string_view(error.what()).starts_with(file_->path)) throw;
      bad(std::string(error.what()) + "; delete the line and its fit will be computed again");
    }
  }

  void take_header(const nlohmann::json& json) {
    if (whole_field(json, "mokume_journal", UINT32_MAX) != k_format) {
      bad("written by another version of mokume; use that one, or start a new run with --fresh");
    }
    if (text_field(json, "plan_hash") != plan_.hash) {
      bad("belongs to another plan (the config or the data changed since); start a new run with --fresh");
    }
    if (u32_field(json, "node") != file_->node) bad("belongs to another node; give the file its own name back");
  }

  void take_event(const nlohmann::json& json) {
    const std::string event = text_field(json, "event");
    const double time = real_field(json, "time");
    std::vector<Session>& sessions = contents_.sessions;
    if (event == "start") {
      sessions.push_back({file_->node, time, time, false, {}});
    } else if (event == "stop" && !sessions.empty() && sessions.back().node == file_->node) {
      sessions.back().stop_s = std::max(sessions.back().stop_s, time);
      sessions.back().closed = true;
      sessions.back().reason = text_field(json, "reason");
    } else {
      bad("'" + event + "' is no event that can stand here; delete the line");
    }
  }

  void take_refit(const nlohmann::json& json) {
    RefitRecord refit = refit_from(json);
    if (refit.candidate >= plan_.candidates.size()) {
      bad(fmt::format("candidate {} is not in the plan, which has {}; start a new run with --fresh", refit.candidate,
                      plan_.candidates.size()));
    }
    extend_session(refit.end_s);
    contents_.refit = std::move(refit);
  }

  // A killed session lasted at least until its last line.
  void extend_session(double end_s) {
    std::vector<Session>& sessions = contents_.sessions;
    if (sessions.empty() || sessions.back().node != file_->node || sessions.back().closed) return;
    sessions.back().stop_s = std::max(sessions.back().stop_s, end_s);
  }

  void take_record(const nlohmann::json& json) {
    FitRecord record = record_from(json);
    record.node = file_->node;
    if (record.fit >= plan_.n_fits()) {
      bad(fmt::format("fit {} is not in the plan, which has {} fits; start a new run with --fresh", record.fit,
                      plan_.n_fits()));
    }
    const search::FitKey key = plan_.key(record.fit);
    if (u32_field(json, "candidate") != key.candidate || u32_field(json, "bootstrap") != key.bootstrap ||
        u32_field(json, "fold") != key.fold) {
      bad(fmt::format("fit {} is another candidate, bootstrap or fold in the plan; start a new run with --fresh",
                      record.fit));
    }
    extend_session(record.end_s);
    const auto found = records_.find(record.fit);
    if (found == records_.end()) {
      records_.emplace(record.fit, std::pair(std::move(record), Origin{file_->path, line_}));
    } else if (!same_result(found->second.first, record)) {
      const Origin& other = found->second.second;
      bad(
          fmt::format("fit {} has another result than in {}, line {}; the same fit must give the same bits on every "
                      "node: delete the wrong line",
                      record.fit, other.path, other.line));
    }
  }

  const search::Plan& plan_;
  const File* file_ = nullptr;
  size_t line_ = 0;
  std::map<uint32_t, std::pair<FitRecord, Origin>> records_;
  Contents contents_;
};

}  // namespace

Contents read_all(const std::string& directory, const search::Plan& plan) {
  Reader reader(plan);
  for (const File& file : list_files(directory)) reader.read(file);
  return reader.finish();
}

std::map<std::pair<uint32_t, std::string>, double> busy_seconds(const std::vector<FitRecord>& records) {
  std::map<std::pair<uint32_t, std::string>, Intervals> intervals;
  for (const FitRecord& one : records) add_interval(intervals[{one.node, one.device}], one.start_s, one.end_s);
  std::map<std::pair<uint32_t, std::string>, double> busy;
  for (auto& [where, list] : intervals) busy[where] = union_seconds(std::move(list));
  return busy;
}

}  // namespace mokume::journal
