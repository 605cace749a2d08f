// What a run and the child process of a device say to each other: JSON texts, one a frame.
//
//   run:   LOAD, OPEN,         AGREE,         BEGIN, WORK,                           WORK, ...
//   child:             HELLO,         HELLO,         PROGRESS..., RECORD..., ENDED,         ...
//
// Any request may be answered by ENDED with what went wrong. CANCEL may follow WORK at any time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "cluster/protocol/messages.hpp"
#include "device/device.hpp"
#include "journal/record.hpp"

namespace mokume::node {

// ---- from the run

struct LoadExperiment {
  std::string config;  // as to_toml() writes it
};

// Answered by HELLO, which names the plan, this one device and the choices of its class.
struct OpenDevice {
  std::string id;  // "opencl:0"
  std::string device_class;
  uint64_t budget_bytes = 0;
  device::Choices choices;
};

// Answered by HELLO: open with these choices, unless it is already.
struct AgreeChoices {
  device::Choices choices;
};

// Answered by HELLO, whose device says its speed.
struct MeasureSpeed {};

struct BeginRun {
  std::string run_directory;
  bool profile = false;
};

struct CancelWork {};

// ---- from the child

struct WorkProgress {
  std::string what;
  double share = 0;
};

struct WorkRecord {
  journal::FitRecord record;
};

// The work is over, or a request failed; with everything that the child has learned since it was started.
struct WorkEnded {
  int32_t status = 0;  // a mk_status
  std::string text;    // of a failure
  device::Choices choices;
  std::map<std::string, uint64_t> fallbacks;  // by op
  std::vector<device::ProfileRow> profile;    // empty unless the run is profiled
};

// WORK is the grant of a node and HELLO the greeting of one: what is added to those is here too.
using DeviceMessage = std::variant<LoadExperiment, OpenDevice, AgreeChoices, MeasureSpeed, BeginRun, cluster::Grant,
                                   CancelWork, cluster::Hello, WorkProgress, WorkRecord, WorkEnded>;

std::string encode_device_message(const DeviceMessage& message);

// Throws Error(MK_BAD_DATA) that names the field.
DeviceMessage decode_device_message(const std::string& text);

}  // namespace mokume::node
