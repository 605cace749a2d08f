// Defines devices and work in the form that messages use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace mokume::cluster {

// Describes a device of a node to the other nodes, which identify it by its index in the node's list.
struct LocalDevice {
  std::string id;  // such as "opencl:0"
  std::string backend, name, vendor;
  std::string device_class;
  uint64_t budget_bytes = 0;
  double speed = 0;    // measured relative speed, or 0 if unknown; must not affect results
  bool spare = false;  // computes on the cores of faster devices of its node (see scheduler::Unit)

  bool operator==(const LocalDevice&) const = default;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("id", self.id);
    field("backend", self.backend);
    field("name", self.name);
    field("vendor", self.vendor);
    field("class", self.device_class);
    field("budget", self.budget_bytes);
    field("speed", self.speed);
    field("spare", self.spare);
  }
};

// Maps keys to measured values of a device class that may affect its results.
using Choices = std::map<std::string, std::string>;
using ClassChoices = std::map<std::string, Choices>;  // by device class

// Describes one execution of a bundle on a device.
struct Attempt {
  uint32_t bundle = 0;                  // index of the bundle, or of the first of several that share work
  uint32_t number = 1;                  // number of this attempt at the fits, from 1
  std::vector<uint32_t> fits;           // fits to compute, in bundle order
  std::vector<uint32_t> done_fits;      // finished fits of the same bundles, or of the candidate of a refit
  std::vector<std::string> done_notes;  // notes of done_fits, in the same order
  bool backup = false;                  // another device works on these fits too; the first result counts
  std::optional<uint32_t> refit = {};   // candidate of a refit, which is then alone in `fits`

  bool operator==(const Attempt&) const = default;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("bundle", self.bundle);
    field("number", self.number);
    field("fits", self.fits);
    field("done", self.done_fits);
    field("notes", self.done_notes);
    field("backup", self.backup);
    field("refit", self.refit);
  }
  void check() const {
    if (done_notes.size() != done_fits.size()) base::bad_field("notes", "as long as 'done'");
    if (refit && fits.size() != 1) base::bad_field("fits", "one refit");
  }
};

}  // namespace mokume::cluster
