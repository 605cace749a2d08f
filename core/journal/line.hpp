// The text of a journal: one JSON object a line, sealed by a checksum of the rest of its line.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/sealed.hpp"
#include "journal/record.hpp"
#include "search/plan.hpp"

namespace mokume::journal {

inline constexpr uint32_t k_format = 2;  // "mokume_journal" in the header line

std::string file_name(uint32_t node);  // "node-0000.ndjson"

std::string header_text(const std::string& plan_hash, uint32_t node);
std::string event_text(std::string_view event, double time, const std::string& reason);

// {"event":"failed",...}. Bytes of `text` that are no UTF-8 become U+FFFD: it may come from a driver.
std::string event_text(const EventRecord& record);
// No value: an event of a kind that this version does not know.
std::optional<EventRecord> event_from(const nlohmann::json& object);

// One fit as a JSON object; doubles shortest round-trip, every NaN alike. `key` adds candidate, bootstrap and fold; the
// node is left to the file (or the sender of a message); what there is none of (curves, a device class) has no field.
// Error(MK_DEVICE_ERROR) if the note is not UTF-8.
std::string record_text(const FitRecord& record, const search::FitKey* key);

// The opposite of record_text; candidate, bootstrap and fold are not looked at. Error(MK_BAD_DATA) that names the
// field.
FitRecord record_from(const nlohmann::json& object);

using base::seal, base::unseal;

// Whether two records of one fit agree in everything that is a result, bit for bit.
bool same_result(const FitRecord& a, const FitRecord& b);

}  // namespace mokume::journal
