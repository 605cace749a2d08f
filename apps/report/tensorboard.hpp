// Writes curves as event files, the format that TensorBoard reads.
//
// A file is a list of TFRecords. Each has a length (uint64), the masked CRC-32C of these 8 bytes, data, and the masked
// CRC-32C of the data, all little-endian. The data of each record is an Event message of Protocol Buffers. The first
// message holds the file's version; then, one message per epoch has a simple_value for each curve. See
// tensorflow/core/lib/io/record_writer.h and tensorflow/core/util/event.proto.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/below.hpp"
#include "journal/record.hpp"
#include "report/named_file.hpp"
#include "results/view.hpp"

namespace mokume::report {

// Returns the CRC-32C (Castagnoli), which iSCSI uses, too (RFC 3720, appendix B.4).
uint32_t crc32c(std::string_view bytes);

// Returns the bytes of an event file. The step is the epoch, from 1; the tag is the curve's name. Every event has
// `wall_time` (seconds since 1970). Rounds values to float.
std::string event_file(const std::vector<journal::Curve>& curves, double wall_time);

// Returns text like "candidate-0003-fold-1", with the bootstrap in the middle if there are several.
std::string event_folder(const search::Plan& plan, const search::FitKey& key);

// Holds the event files of a run, by folder: the refit and the members, then the fits of the best candidates until all
// files together reach 4 MiB. The journal has the curves of all fits.
struct ChosenEvents {
  std::vector<NamedFile> files;
  size_t fits = 0, of = 0;  // fits that have a file, and fits with curves
};
ChosenEvents event_files(const results::RunView& view);

// Writes DIRECTORY/<candidate-0003-fold-1 | refit | member-003>/events.out.tfevents.mokume for the chosen curves.
// Writes each file atomically but does not sync it, because the journal suffices to write it again. Removes event files
// that only an earlier report has. Creates nothing if there are no curves. Throws sdk::storage_error() if something
// cannot be written.
void write_event_files(const results::RunView& view, const base::Below& directory);

}  // namespace mokume::report
