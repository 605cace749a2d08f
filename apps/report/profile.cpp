#include "report/profile.hpp"

#include <fmt/format.h>

namespace mokume::report {
namespace {

using device::ProfileRow;

constexpr size_t kMostOps = 40;

std::vector<ProfileRow> first_rows(std::vector<ProfileRow> rows) {
  if (rows.size() <= kMostOps) return rows;
  ProfileRow rest{"...", fmt::format("{} more, in logs/", rows.size() - kMostOps + 1)};
  for (size_t r = kMostOps - 1; r < rows.size(); ++r) {
    rest.calls += rows[r].calls;
    rest.seconds += rows[r].seconds;
    rest.flops += rows[r].flops;
    rest.bytes += rows[r].bytes;
  }
  rows.resize(kMostOps - 1);
  rows.push_back(rest);
  return rows;
}

template <class Row>
ProfileLine line_of(std::vector<std::string> names, const Row& row, double total) {
  const auto rate = [&](double amount) { return amount > 0 && row.seconds > 0 ? amount / row.seconds / 1e9 : 0; };
  return {std::move(names), row.calls,      row.seconds, total > 0 ? row.seconds / total : 0,
          rate(row.flops),  rate(row.bytes)};
}

std::string text_line(const std::string& names, const ProfileLine& line) {
  const auto rate = [](double value) { return value > 0 ? fmt::format("{:.1f}", value) : ""; };
  return fmt::format("{:<46} {:>9} {:>10.3f} {:>6.1f}% {:>9} {:>8}\n", names, line.calls, line.seconds,
                     100 * line.share, rate(line.gflops), rate(line.gbytes));
}

std::string text_head(const std::string& names) {
  return fmt::format("{:<46} {:>9} {:>10} {:>7} {:>9} {:>8}\n", names, "calls", "seconds", "share", "GFLOP/s", "GB/s");
}

}  // namespace

ProfileTables profile_tables(const results::DeviceProfile& profile) {
  ProfileTables tables;
  for (const ProfileRow& row : profile.rows) tables.seconds += row.seconds;
  for (const device::ProfilePhase& phase : device::phases_of(profile.rows))
    tables.phases.push_back(line_of({phase.name}, phase, tables.seconds));
  for (const ProfileRow& row : first_rows(profile.rows))
    tables.ops.push_back(line_of({row.phase, row.what}, row, tables.seconds));
  return tables;
}

std::string profile_text(const results::DeviceProfile& profile) {
  const ProfileTables tables = profile_tables(profile);
  std::string text =
      fmt::format("node {}, {} ({}): {:.3f} s\n", profile.node, profile.id, profile.name, tables.seconds);
  text += text_head("phase");
  for (const ProfileLine& line : tables.phases) text += text_line(line.names[0], line);
  text += text_head(fmt::format("{:<11} {}", "phase", "op"));
  for (const ProfileLine& line : tables.ops)
    text += text_line(fmt::format("{:<11} {:<34}", line.names[0], line.names[1]), line);
  return text;
}

}  // namespace mokume::report
