#include "report/tables/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "report/pages/markup.hpp"
#include "sdk/error.hpp"

namespace mokume::report {
namespace {

using device::ProfilePhase;
using device::ProfileRow;
using nlohmann::ordered_json;

constexpr size_t kMostOps = 40;
constexpr size_t kMostDevices = 16;

// The first rows, and one for all that follow.
std::vector<ProfileRow> first_rows(const std::vector<ProfileRow>& rows) {
  if (rows.size() <= kMostOps) return rows;
  std::vector<ProfileRow> first(rows.begin(), rows.begin() + kMostOps - 1);
  ProfileRow rest;
  rest.phase = "...";
  rest.what = fmt::format("{} more, in logs/", rows.size() - first.size());
  for (size_t r = first.size(); r < rows.size(); ++r) {
    rest.calls += rows[r].calls;
    rest.seconds += rows[r].seconds;
    rest.flops += rows[r].flops;
    rest.bytes += rows[r].bytes;
  }
  first.push_back(rest);
  return first;
}

template <class Row>
double seconds_of(const std::vector<Row>& rows) {
  double sum = 0;
  for (const Row& row : rows) sum += row.seconds;
  return sum;
}

double share(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

std::string rate(double amount, double seconds) {
  return amount > 0 && seconds > 0 ? fmt::format("{:.1f}", amount / seconds / 1e9) : "";
}

// ---- terminal

template <class Row>
std::string numbers(const Row& row, double total) {
  return fmt::format("{:>9} {:>10.3f} {:>6.1f}% {:>9} {:>8}\n", row.calls, row.seconds, share(row.seconds, total),
                     rate(row.flops, row.seconds), rate(row.bytes, row.seconds));
}

std::string head(const std::string& what) {
  return fmt::format("{:<46} {:>9} {:>10} {:>7} {:>9} {:>8}\n", what, "calls", "seconds", "share", "GFLOP/s", "GB/s");
}

// ---- page

const std::vector<std::pair<std::string, bool>> kNumbers = {
    {"calls", true}, {"total", true}, {"share", true}, {"GFLOP/s", true}, {"GB/s", true}};

std::string rate_cell(double amount, double seconds) {
  const std::string text = rate(amount, seconds);
  return number_cell(text.empty() ? "–" : text, text.empty() ? "0" : text);
}

template <class Row>
std::string number_cells(const Row& row, double total) {
  return number_cell(grouped(row.calls), fmt::format("{}", row.calls)) +
         number_cell(seconds_text(row.seconds), base::shortest(row.seconds)) +
         number_cell(fmt::format("{:.1f}\u00A0%", share(row.seconds, total)), base::shortest(row.seconds)) +
         rate_cell(row.flops, row.seconds) + rate_cell(row.bytes, row.seconds);
}

std::vector<std::pair<std::string, bool>> heads(const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, bool>> all;
  for (const std::string& name : names) all.emplace_back(name, false);
  all.insert(all.end(), kNumbers.begin(), kNumbers.end());
  return all;
}

std::string device_tables(const DeviceProfile& profile) {
  const double total = seconds_of(profile.rows);
  std::string phases, ops;
  for (const ProfilePhase& phase : device::phases_of(profile.rows))
    phases += "<tr>" + cell(elide(phase.name, 40)) + number_cells(phase, total) + "</tr>\n";
  for (const ProfileRow& row : first_rows(profile.rows))
    ops += "<tr>" + cell(elide(row.phase, 40)) + cell(elide(row.what, 60)) + number_cells(row, total) + "</tr>\n";
  return fmt::format("<h3>Node {}, {} ({}): {}</h3>\n", profile.node, escape(elide(profile.id, 40)),
                     escape(elide(profile.name, 80)), seconds_text(total)) +
         table("sort", heads({"phase"}), phases) + "<details>\n<summary>Ops within the phases</summary>\n" +
         table("sort", heads({"phase", "op"}), ops) + "</details>\n";
}

double number(const ordered_json& row, const char* key) {
  const double value = row.at(key).get<double>();
  if (!(value >= 0)) throw Error(MK_BAD_DATA, std::string("\"") + key + "\" is negative");
  return value;
}

}  // namespace

std::string profile_text(const DeviceProfile& profile) {
  const double total = seconds_of(profile.rows);
  std::string text = fmt::format("node {}, {} ({}): {:.3f} s\n", profile.node, profile.id, profile.name, total);
  text += head("phase");
  for (const ProfilePhase& phase : device::phases_of(profile.rows))
    text += fmt::format("{:<46} {}", phase.name, numbers(phase, total));
  text += head(fmt::format("{:<11} {}", "phase", "op"));
  for (const ProfileRow& row : first_rows(profile.rows))
    text += fmt::format("{:<11} {:<34} {}", row.phase, row.what, numbers(row, total));
  return text;
}

std::string profile_section(const std::vector<DeviceProfile>& profiles) {
  if (profiles.empty()) return {};
  std::string body;
  for (size_t k = 0; k < std::min(profiles.size(), kMostDevices); ++k) body += device_tables(profiles[k]);
  if (profiles.size() > kMostDevices)
    body +=
        fmt::format("<p class=\"soft\">{} more devices have theirs in logs/.</p>\n", profiles.size() - kMostDevices);
  return section("Where the time went",
                 "The last profiled session, with every op waited for by itself, so that the whole took longer than it "
                 "would have. GFLOP/s and GB/s are what the ops need at least over the time taken.",
                 body);
}

std::string profile_json(uint32_t node, const std::vector<DeviceProfile>& profiles) {
  ordered_json all = {{"node", node}, {"devices", ordered_json::array()}};
  for (const DeviceProfile& profile : profiles) {
    ordered_json rows = ordered_json::array();
    for (const ProfileRow& row : profile.rows)
      rows.push_back({{"phase", row.phase},
                      {"what", row.what},
                      {"calls", row.calls},
                      {"seconds", row.seconds},
                      {"flops", row.flops},
                      {"bytes", row.bytes}});
    all["devices"].push_back({{"id", profile.id}, {"name", profile.name}, {"rows", rows}});
  }
  return all.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::vector<DeviceProfile> read_profile_json(const std::string& text) {
  std::vector<DeviceProfile> profiles;
  try {
    const ordered_json all = ordered_json::parse(text);
    for (const ordered_json& device : all.at("devices")) {
      DeviceProfile profile;
      profile.node = all.at("node").get<uint32_t>();
      profile.id = device.at("id").get<std::string>();
      profile.name = device.at("name").get<std::string>();
      for (const ordered_json& row : device.at("rows"))
        profile.rows.push_back({row.at("phase").get<std::string>(), row.at("what").get<std::string>(),
                                row.at("calls").get<uint64_t>(), number(row, "seconds"), number(row, "flops"),
                                number(row, "bytes")});
      profiles.push_back(std::move(profile));
    }
  } catch (const nlohmann::json::exception& e) {
    throw Error(MK_BAD_DATA, e.what());
  }
  return profiles;
}

}  // namespace mokume::report
