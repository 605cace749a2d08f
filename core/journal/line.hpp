// The text format of the journal: one JSON object per line, with a checksum of the rest of the line.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/sealed.hpp"
#include "journal/record.hpp"
#include "search/plan.hpp"

namespace mokume::journal {

inline constexpr uint32_t kFormat = 2;

struct Header {
  uint32_t format = kFormat;
  std::string plan_hash;
  uint32_t node = 0;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("mokume_journal", self.format);
    field("plan_hash", self.plan_hash);
    field("node", self.node);
  }
};

struct SessionLine {
  std::string event;  // "start" or "stop"
  double time_s = 0;
  std::string reason;  // for a stop; empty for a start

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("event", self.event);
    field("time", self.time_s);
    field("reason", self.reason);
  }
};

std::string file_name(uint32_t node);  // "node-0000.ndjson"

// Returns a fit as a JSON object. `key` adds candidate, bootstrap and fold. The node is left out: the file or the
// sender of the message identifies it. Error(MK_DEVICE_ERROR) if the note is not UTF-8.
std::string record_text(const FitRecord& record, const search::FitKey* key);

// Returns no value for an event of a kind that this version does not support.
std::optional<EventRecord> event_from(const nlohmann::json& object);

using base::seal, base::unseal;

// Returns whether two records of one fit agree bit for bit in everything that is part of the result.
bool same_result(const FitRecord& a, const FitRecord& b);

}  // namespace mokume::journal
