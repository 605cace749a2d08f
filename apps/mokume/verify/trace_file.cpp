#include "verify/trace_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/files.hpp"
#include "base/plural.hpp"
#include "base/text.hpp"
#include "device/trace.hpp"
#include "sdk/error.hpp"

namespace mokume::app {
namespace {

constexpr uint64_t kLargestTrace = uint64_t{4} << 30;

[[noreturn]] void refuse_trace(const std::string& path, size_t line, const std::string& why) {
  throw Error(
      MK_BAD_DATA,
      fmt::format("{}, line {}: {}; write the file again with `mokume verify RUN --trace FILE`, or copy it again", path,
                  line, why));
}

FitTrace::Header header_of(const std::string& path, const std::string& line) {
  try {
    return base::from_json<FitTrace::Header>(line);
  } catch (const Error& e) {
    refuse_trace(path, 1, std::string("this is no trace of a fit (") + e.what() + ")");
  }
}

bool is_step(const std::string& line, size_t number) {
  return line.starts_with(std::to_string(number) + " ") && line.find(device::kDigestsFollow) != std::string::npos;
}

std::string step_of(const std::string& line) { return line.substr(0, line.rfind(device::kDigestsFollow)); }

// Returns "step 17, gemm 8x4 4x2 -> 8x2" for the line of step 17.
std::string step_text(const std::string& line) {
  const std::string step = step_of(line);
  const size_t space = step.find(' ');
  return "step " + step.substr(0, space) + ", " + step.substr(space + 1);
}

// Returns the step without the word that tells for which kind of devices a model's kernel is made, if it has such a
// word: kernels that do the same get other buffers there.
std::string kind_of_step(const std::string& line) {
  const std::string step = step_of(line);
  for (const std::string_view word : {"_native", "_vector", "_group"})
    if (step.find("kernel ") != std::string::npos && step.ends_with(word))
      return step.substr(0, step.size() - word.size());
  return step;
}

bool same_step(const std::string& a, const std::string& b) {
  return a == b || (step_of(a) != step_of(b) && kind_of_step(a) == kind_of_step(b));
}

std::vector<std::string> digests_of(const std::string& line) {
  return base::split(line.substr(line.rfind(device::kDigestsFollow) + std::string_view(device::kDigestsFollow).size()),
                     ' ');
}

std::string differing_digests(const std::string& a, const std::string& b, const std::string& first,
                              const std::string& second) {
  const std::vector<std::string> of_a = digests_of(a), of_b = digests_of(b);
  std::string text;
  for (size_t k = 0; k < std::min(of_a.size(), of_b.size()); ++k)
    if (of_a[k] != of_b[k])
      text +=
          fmt::format("  value {} of {}: {} on {}, {} on {}\n", k + 1, of_a.size(), of_a[k], first, of_b[k], second);
  return text;
}

// Describes traces of which one, at least, has no further step.
TracesCompared compare_ends(const FitTrace& a, const FitTrace& b, const std::string& first, const std::string& second) {
  const bool a_is_longer = a.lines.size() > b.lines.size();
  const FitTrace &longer = a_is_longer ? a : b, &shorter = a_is_longer ? b : a;
  const std::string equal = base::counted(shorter.lines.size(), "step");
  if (!shorter.header.complete || (longer.lines.size() == shorter.lines.size() && !longer.header.complete))
    return {false, "the first " + equal + " are equal; --trace-steps N compares more\n"};
  if (longer.lines.size() == shorter.lines.size()) return {false, "all " + equal + " are equal\n"};
  return {true, fmt::format("the first {} are equal; then the fit ends on {}, but continues on {} with {}\n", equal,
                            a_is_longer ? second : first, a_is_longer ? first : second,
                            step_text(longer.lines[shorter.lines.size()]))};
}

}  // namespace

void write_trace(const std::string& path, const FitTrace& trace) {
  std::string text = base::to_json(trace.header) + "\n";
  for (const std::string& line : trace.lines) text += line + "\n";
  base::write_file(path, text);
}

FitTrace read_trace(const std::string& path) {
  const std::string text = base::read_file(path, kLargestTrace);
  std::vector<std::string> lines = base::split(text, '\n');
  FitTrace trace{header_of(path, lines.front())};
  const bool whole_lines = lines.back().empty();
  if (whole_lines) lines.pop_back();
  for (size_t k = 1; k < lines.size(); ++k)
    if (!is_step(lines[k], k)) refuse_trace(path, k + 1, fmt::format("this is not step {}", k));
  if (!whole_lines || lines.size() - 1 != trace.header.steps)
    refuse_trace(path, lines.size(),
                 fmt::format("the trace ends after {} of {} steps", lines.size() - 1, trace.header.steps));
  trace.lines.assign(std::make_move_iterator(lines.begin() + 1), std::make_move_iterator(lines.end()));
  return trace;
}

TracesCompared compare_traces(const FitTrace& a, const FitTrace& b, const std::string& first,
                              const std::string& second) {
  const auto [at_a, at_b] = std::mismatch(a.lines.begin(), a.lines.end(), b.lines.begin(), b.lines.end(), same_step);
  if (at_a == a.lines.end() || at_b == b.lines.end()) return compare_ends(a, b, first, second);
  const std::string equal =
      fmt::format("{} before it are equal", base::counted(static_cast<uint64_t>(at_a - a.lines.begin()), "step"));
  if (step_of(*at_a) != step_of(*at_b))
    return {true, fmt::format("the traces part: {} on {}, {} on {}; the {}\n", step_text(*at_a), first,
                              step_text(*at_b), second, equal)};
  return {true, fmt::format("the first step that differs is {}; the {}\n{}", step_text(*at_a), equal,
                            differing_digests(*at_a, *at_b, first, second))};
}

}  // namespace mokume::app
