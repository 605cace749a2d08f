// Defines targets for the journal, sealed texts and checksums.
#include <filesystem>

#include "base/files.hpp"
#include "base/sealed.hpp"
#include "fuzz.hpp"
#include "journal/journal.hpp"
#include "journal/line.hpp"
#include "journal/read.hpp"
#include "journal/scratch.hpp"

namespace mokume::fuzz {
namespace {

std::string reseal_lines(std::string_view bytes) {
  std::string repaired;
  while (!bytes.empty()) {
    const size_t end = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
    repaired += resealed(bytes.substr(0, end));
    bytes.remove_prefix(end);
  }
  return repaired;
}

const search::Plan& plan() {
  static const search::Plan one = journal::small_plan();
  return one;
}

std::string line_of(const journal::FitRecord& record) {
  const bool refit = plan().is_refit(record.fit);
  const search::FitKey key = refit ? search::FitKey() : plan().key(record.fit);
  return journal::seal(journal::record_text(record, refit ? nullptr : &key));
}

void require_same(const std::vector<journal::FitRecord>& a, const std::vector<journal::FitRecord>& b) {
  require(a.size() == b.size(), "the journal reads back with another number of records");
  for (size_t i = 0; i < a.size(); ++i)
    require(a[i].fit == b[i].fit && journal::same_result(a[i], b[i]), "a record reads back differently");
}

// Requires that the records that count survive when one node writes them.
void check_round_trip(const journal::Contents& read) {
  std::string text = journal::seal(base::to_json(journal::Header{journal::kFormat, plan().hash, 0}));
  for (const auto* records : {&read.records, &read.refits})
    for (const journal::FitRecord& record : *records) text += line_of(record);
  file("again/journal/node-0000.ndjson", text);
  const journal::Contents again = journal::read_all(scratch() + "/again/journal", plan());
  require_same(read.records, again.records);
  require_same(read.refits, again.refits);
  require(again.notices.empty(), "a written journal gives notices");
}

FUZZ_TARGET(journal, reseal_lines) {
  const auto nodes = parts(bytes, 2);
  file("read/journal/node-0000.ndjson", nodes[0]);
  file("read/journal/node-0001.ndjson", nodes[1]);
  accepts([] {
    const journal::Contents read = journal::read_all(scratch() + "/read/journal", plan());
    check_round_trip(read);
    journal::busy_seconds(read.records);
    journal::rivals(read.records, read);
  });
}

// A node that starts again cuts off a torn end and keeps everything else.
FUZZ_TARGET(journal_reopened, reseal_lines) {
  const std::string directory = scratch() + "/own/journal";
  const std::string path = file("own/journal/node-0000.ndjson", bytes);
  journal::Contents before;
  const bool readable = accepts([&] { before = journal::read_all(directory, plan()); });
  const bool opened = accepts([&] {
    journal::Journal own(directory, 0, plan(), std::chrono::milliseconds(0));
    own.close("done");
  });
  if (!readable) return;
  require(opened, "a readable journal cannot be opened");
  const journal::Contents after = journal::read_all(directory, plan());
  require_same(before.records, after.records);
  require_same(before.refits, after.refits);
}

FUZZ_TARGET(sealed, resealed) {
  const auto read = base::unseal_file(bytes);
  if (!read || !read->checked) return;
  const auto again = base::unseal_file(base::seal(read->object));
  require(again && again->checked && again->object == read->object, "a sealed text reads back differently");
}

// Reads SHA256SUMS and one of its files.
FUZZ_TARGET(sums) {
  const auto two = parts(bytes, 2);
  file("sums/SHA256SUMS", two[0]);
  file("sums/a", two[1]);
  accepts([] { base::check_sums(scratch() + "/sums"); });
  accepts([] { base::check_sums(scratch() + "/sums", "a"); });
  std::filesystem::remove(scratch() + "/sums/SHA256SUMS");
}

}  // namespace
}  // namespace mokume::fuzz
