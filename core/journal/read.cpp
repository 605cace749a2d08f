#include "journal/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "base/files.hpp"
#include "journal/agree.hpp"
#include "journal/line.hpp"

namespace mokume::journal {
namespace {

struct File {
  uint32_t node = 0;
  base::Below place;
  std::string path;  // for messages
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

// Returns 3 for "node-0003.ndjson", 0 for "node-0000-0003.ndjson", and nothing for a name that is not that of a
// journal.
std::optional<uint32_t> node_of(const std::string& name) {
  if (!name.starts_with("node-")) return std::nullopt;
  const char* const end = name.data() + name.size();
  uint32_t node = 0;
  const char* at = std::from_chars(name.data() + 5, end, node).ptr;
  uint32_t number = node;
  if (at != end && *at == '-') std::from_chars(at + 1, end, number);
  return name == file_name(node, number) ? std::optional(node) : std::nullopt;
}

std::vector<File> list_files(const std::string& directory) {
  const std::filesystem::path path(directory);
  const base::Below folder{path.has_parent_path() ? path.parent_path().string() : ".", path.filename().string()};
  std::vector<File> files;
  for (const std::string& name : base::names_in(folder))
    if (const auto node = node_of(name)) files.push_back({*node, {folder.root, folder.name + "/" + name}, ""});
  for (File& file : files) file.path = file.place.path();
  const auto key = [](const File& file) { return std::tuple(file.node, file.path.size(), file.path); };
  std::sort(files.begin(), files.end(), [&](const File& a, const File& b) { return key(a) < key(b); });
  return files;
}

struct Entry {
  FitRecord record;
  std::string path;
  size_t line = 0;

  bool failed() const { return !has_result(record.status); }
  std::string place() const { return fmt::format("{}, line {}", path, line); }
};

std::string disagreement_text(const Entry& counts, const Entry& other, bool one_class) {
  return fmt::format("fit {} has one result in {}, which counts, and another in {}: {}", counts.record.fit,
                     counts.place(), other.place(),
                     one_class ? "the devices must give the same bits, so one of them is wrong; delete the line "
                                 "that you do not trust"
                               : "they differ more than devices of different classes should; computing it on "
                                 "a third device shows which one is wrong");
}

class Reader {
 public:
  Reader(const search::Plan& plan, const Bounds& bounds) : plan_(plan), bounds_(bounds) {}

  void read(const File& file) {
    file_ = &file;
    const std::string text = base::read_file(file.place);
    size_t begin = 0;
    for (size_t line = 1; begin < text.size(); ++line) {
      const size_t end = text.find('\n', begin);
      const bool last = end == std::string::npos || end + 1 == text.size();
      line_ = line;
      const auto object =
          end == std::string::npos ? std::nullopt : unseal(std::string_view(text).substr(begin, end - begin));
      if (!object && last) {
        contents_.notices.push_back(fmt::format("{}, line {}: torn by a crash, skipped", file.path, line));
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
    for (auto& [fit, entries] : entries_) choose(entries);
    std::stable_sort(contents_.events.begin(), contents_.events.end(),
                     [](const EventRecord& a, const EventRecord& b) { return a.time_s < b.time_s; });
    Intervals intervals;
    for (const RecordedSession& one : contents_.sessions) add_interval(intervals, one.start_s, one.stop_s);
    contents_.wall_s = union_seconds(std::move(intervals));
    return std::move(contents_);
  }

 private:
  // Selects the record that counts. The entries of a fit are in the order of the files and lines.
  void choose(std::vector<Entry>& entries) {
    const auto rank = [&](const Entry& one) { return std::pair(is_superseded(one.record), one.failed()); };
    std::stable_sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) { return rank(a) < rank(b); });
    for (size_t i = 1; i < entries.size(); ++i) {
      const Entry &counts = entries.front(), &other = entries[i];
      const bool same_work = counts.record.refit == other.record.refit;
      if (!same_work || consistent(counts.record, other.record, bounds_)) continue;
      const bool one_class = must_be_equal(counts.record, other.record, bounds_);
      contents_.disagreements.push_back({counts.record.fit, one_class, disagreement_text(counts, other, one_class)});
    }
    for (size_t i = 0; i < entries.size(); ++i) {
      FitRecord& record = entries[i].record;
      auto& counting = plan_.is_refit(record.fit) ? contents_.refits : contents_.records;
      (i == 0 ? counting : contents_.repeats).push_back(std::move(record));
    }
  }

  bool is_superseded(const FitRecord& record) const {
    return superseded_.count({record.fit, record.node, record.attempt}) > 0;
  }

  [[noreturn]] void bad(const std::string& what) const {
    throw Error(MK_BAD_DATA, fmt::format("{}, line {}: {}", file_->path, line_, what));
  }

  void take(const std::string& object) {
    try {
      const nlohmann::json json = base::parse_json(object);
      if (line_ == 1) {
        take_header(base::from_json<Header>(json));
      } else if (json.contains("event")) {
        take_event(json);
      } else {
        take_record(json);
      }
    } catch (const Error& error) {
      if (std::string_view(error.what()).starts_with(file_->path)) throw;
      bad(std::string(error.what()) + "; delete the line and its fit will be computed again");
    }
  }

  void take_header(const Header& header) const {
    if (header.format != kFormat) {
      bad("written by another version of mokume; use that one, or start a new run with `mokume run --fresh`");
    }
    if (header.plan_hash != plan_.hash) {
      bad("belongs to another plan (the config or the data changed since); start a new run with `mokume run --fresh`");
    }
    if (header.node != file_->node) bad("belongs to another node; give the file its own name back");
  }

  void take_event(const nlohmann::json& json) {
    if (!json["event"].is_string()) base::bad_field("event", "a string");
    if (json["event"] != "start" && json["event"] != "stop") return note_event(json);
    const auto line = base::from_json<SessionLine>(json);
    std::vector<RecordedSession>& sessions = contents_.sessions;
    if (line.event == "start") {
      sessions.push_back({file_->node, line.time_s, line.time_s, false, {}});
      return;
    }
    if (sessions.empty() || sessions.back().node != file_->node) bad("a stop without a start; delete the line");
    sessions.back().stop_s = std::max(sessions.back().stop_s, line.time_s);
    sessions.back().closed = true;
    sessions.back().reason = line.reason;
  }

  // Skips an invalid event with a notice, because it is no reason to reject the file.
  void note_event(const nlohmann::json& json) {
    try {
      const auto event = event_from(json);
      if (!event) return;
      if (event->fit >= int64_t{plan_.n_slots()} || !std::isfinite(event->time_s))
        base::bad_field("fit", "one of the plan");
      extend_session(event->time_s);
      if (event->kind == EventRecord::Kind::superseded)
        superseded_.insert({static_cast<uint32_t>(event->fit), event->node, event->attempt});
      contents_.events.push_back(*event);
    } catch (const Error& error) {
      contents_.notices.push_back(
          fmt::format("{}, line {}: an event with an invalid field, skipped: {}", file_->path, line_, error.what()));
    }
  }

  // Extends a session that has not ended, because a killed session lasted at least until its last line.
  void extend_session(double end_s) {
    std::vector<RecordedSession>& sessions = contents_.sessions;
    if (sessions.empty() || sessions.back().node != file_->node || sessions.back().closed) return;
    sessions.back().stop_s = std::max(sessions.back().stop_s, end_s);
  }

  // Checks the candidate of a refit. Only a failed refit, in which nothing could be trained, has none.
  void match_refit(const FitRecord& record) const {
    if (record.status == FitStatus::dropped) base::bad_field("status", "that of a refit");
    if (!record.refit && record.status != FitStatus::failed) base::bad_field("refit", "a candidate");
    if (record.refit && !plan_.has(*record.refit, record.fit - plan_.n_fits())) {
      bad(fmt::format(
          "candidate {} does not belong to this bootstrap in the plan; start a new run with `mokume run --fresh`",
          *record.refit));
    }
  }

  static bool says(const nlohmann::json& json, const char* field, uint32_t number) {
    return json.contains(field) && json[field] == number;
  }

  void match_fit(const FitRecord& record, const nlohmann::json& json) const {
    const search::FitKey key = plan_.key(record.fit);
    if (record.status == FitStatus::dropped && plan_.rung_of(record.fit) == 0)
      base::bad_field("status", "that of a fit in the first rung");
    if (!says(json, "candidate", key.candidate) || !says(json, "bootstrap", key.bootstrap) ||
        !says(json, "fold", key.fold) || record.refit) {
      bad(fmt::format(
          "fit {} is another candidate, bootstrap or fold in the plan; start a new run with `mokume run --fresh`",
          record.fit));
    }
  }

  void take_record(const nlohmann::json& json) {
    auto record = base::from_json<FitRecord>(json);
    record.node = file_->node;
    if (record.fit >= plan_.n_slots()) {
      bad(fmt::format(
          "fit {} is not in the plan, which has {} fits and refits; start a new run with `mokume run --fresh`",
          record.fit, plan_.n_slots()));
    }
    if (plan_.is_refit(record.fit)) {
      match_refit(record);
      check_refit(record, bounds_);
    } else {
      match_fit(record, json);
      check_fit(record, bounds_);
    }
    extend_session(record.end_s);
    std::vector<Entry>& same_fit = entries_[record.fit];
    same_fit.push_back({std::move(record), file_->path, line_});
  }

  const search::Plan& plan_;
  const Bounds& bounds_;
  const File* file_ = nullptr;
  size_t line_ = 0;
  std::map<uint32_t, std::vector<Entry>> entries_;
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> superseded_;  // fit, node, attempt
  Contents contents_;
};

}  // namespace

Contents read_all(const std::string& directory, const search::Plan& plan, const Bounds& bounds) {
  Reader reader(plan, bounds);
  for (const File& file : list_files(directory)) reader.read(file);
  return reader.finish();
}

std::vector<FitRecord> rivals(const std::vector<FitRecord>& counted, const Contents& contents) {
  std::map<uint32_t, const FitRecord*> ours;
  for (const FitRecord& one : counted) ours[one.fit] = &one;
  const auto is_rival = [&](const FitRecord& one) {
    const auto found = ours.find(one.fit);
    if (found == ours.end()) return false;
    const FitRecord& own = *found->second;
    return (own.node != one.node || own.attempt != one.attempt) && !same_result(own, one);
  };
  std::set<uint32_t> fits;
  std::vector<FitRecord> found;
  for (const auto* records : {&contents.records, &contents.refits})
    for (const FitRecord& one : *records)
      if (is_rival(one)) {
        fits.insert(one.fit);
        found.push_back(one);
      }
  for (const FitRecord& one : contents.repeats)
    if (fits.count(one.fit) > 0 && is_rival(one)) found.push_back(one);
  return found;
}

EventRecord supersede(const FitRecord& record, double time_s, const std::string& why) {
  return {time_s, EventRecord::Kind::superseded, record.node, record.device, record.fit, record.attempt, why};
}

BusySeconds busy_seconds(const std::vector<FitRecord>& records) {
  std::map<std::pair<uint32_t, std::string>, Intervals> intervals;
  for (const FitRecord& one : records) add_interval(intervals[{one.node, one.device}], one.start_s, one.end_s);
  BusySeconds busy;
  for (auto& [where, list] : intervals) busy[where] = union_seconds(std::move(list));
  return busy;
}

double busy_of(const BusySeconds& busy, uint32_t node, const std::string& device) {
  const auto seconds = [&](uint32_t n, const char* id) {
    const auto found = busy.find({n, id});
    return found == busy.end() ? 0 : found->second;
  };
  return seconds(node, device.c_str()) + seconds(0, kTeamDevice);
}

}  // namespace mokume::journal
