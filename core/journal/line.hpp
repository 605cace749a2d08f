// Defines the text format of the journal: each line is a JSON object with a checksum of the rest of the line.
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
  std::string reason;  // only for a stop

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("event", self.event);
    field("time", self.time_s);
    field("reason", self.reason);
  }
};

// Returns a name such as "node-0000.ndjson", or "node-0000-0002.ndjson" for node 2 that became node 0.
std::string file_name(uint32_t node, uint32_t number);

// Returns a fit as a JSON object, with candidate, bootstrap and fold if there is a `key`. Leaves out the node, which
// the file or the sender of the message identifies. Throws Error(MK_DEVICE_ERROR) if the note or a name is not UTF-8.
std::string record_text(const FitRecord& record, const search::FitKey* key);

// Returns the event, or nothing if this version does not know its kind. Throws Error(MK_BAD_DATA) for a bad field.
std::optional<EventRecord> event_from(const nlohmann::json& object);

using base::seal, base::unseal;

// Returns whether two records of one fit agree bit for bit in everything that is part of the result.
bool same_result(const FitRecord& a, const FitRecord& b);

}  // namespace mokume::journal
