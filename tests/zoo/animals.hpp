// Lists every bad library of the zoo, the stage of its refusal, and the sentence with the reason.
#pragma once

#include <fmt/format.h>

#include <ostream>
#include <string>
#include <vector>

#include "abi/backend.h"
#include "sdk/plugin.hpp"

namespace mokume::zoo {

struct Animal {
  std::string name, stage, sentence;
};

inline constexpr const char* kProbeSeconds = "2";  // long enough for a library to reach its hang

inline bool hangs(const Animal& animal) { return animal.name.ends_with("_hangs"); }

inline std::vector<Animal> tried_elsewhere() {
  const std::string crashed = "the process that tried it crashed (Segmentation fault) ",
                    exited = "the process that tried it ended with exit code 3 ",
                    hung = "the process that tried it was ended after 2 s ",
                    loaded = "while it was loaded: build or install it again, or remove it";
  std::vector<Animal> list = {
      {"constructor_throws", "open", "it threw \"thrown across the boundary\" " + loaded},
      {"constructor_crashes", "open", crashed + loaded},
      {"constructor_exits", "open", exited + loaded},
      {"constructor_hangs", "open", hung + loaded},
      {"query_throws", "query",
       "its mokume_plugin_query_v1 threw \"thrown across the boundary\": report this to its author"},
      {"start_throws", "start", "its start function threw \"thrown across the boundary\": report this to its author"},
      {"enumerate_throws", "enumerate",
       "its enumerate function threw \"thrown across the boundary\": report this to the author of the backend"},
      {"many_devices", "enumerate",
       "it claims 4294967295 devices, and at most 4096 are accepted: report this to the author of the backend"},
      {"endless_device", "enumerate",
       "the name of its device 0 does not end within 128 bytes: report this to the author of the backend"},
      {"short_info", "enumerate",
       fmt::format("the info of its device 0 has {} bytes, this program's {}: report this to the author of the backend",
                   sizeof(mk_device_info) - 8, sizeof(mk_device_info))}};
  for (const std::string function : {"query", "start", "enumerate", "shutdown"}) {
    const std::string where = "in its " + function + " function: report this to its author, and remove it meanwhile";
    list.push_back({function + "_crashes", function, crashed + where});
    list.push_back({function + "_exits", function, exited + where});
    list.push_back({function + "_hangs", function, hung + where});
  }
  return list;
}

// Returns libraries whose faults the program finds by reading their headers.
inline std::vector<Animal> read_here() {
  const std::string rebuild = "rebuild it with the headers of this mokume";
  return {
      {"no_symbol", "symbol",
       "it does not export mokume_plugin_query_v1: it is not a mokume library, or its source lacks MOKUME_PLUGIN(...)"},
      {"null_header", "query", "it cannot serve ABI 1.0, which this program uses: " + rebuild},
      {"wrong_magic", "header",
       "its header starts with 0x0000000000000007, not 0x656d756b6f6d0a01: it is not a mokume library"},
      {"short_header", "header", "its header has 56 bytes, this program's 64: " + rebuild},
      {"other_major", "header", "it uses ABI 2.0, this program 1.0: " + rebuild},
      {"newer_minor", "header", "it needs ABI 1.1, this program has only 1.0: update mokume or " + rebuild},
      {"wrong_hash", "header",
       fmt::format("it was built against other headers of core/abi (hash {:016x}, this program's is {:016x}), although "
                   "both have ABI 1.0: {}",
                   MK_ABI_HASH ^ 1, MK_ABI_HASH, rebuild)},
      {"wrong_kind", "header", "it is a model, not a backend: move it to plugins/"},
      {"unknown_kind", "header", "it is a library of unknown kind, not a backend: move it to another directory/"},
      {"wrong_name", "header", "it calls itself 'other', its file 'wrong_name': rename the file or the library"},
      {"null_name", "header", "it calls itself '', its file 'null_name': rename the file or the library"},
      {"endless_description", "header",
       "the description in its header does not end within 1024 bytes: report this to its author"},
      {"null_start", "header", "its header has no version, description or start function: use MOKUME_PLUGIN(...)"},
      {"start_fails", "start", "the driver is missing: install it"},
      {"start_is_silent", "start", "its start function failed with status 1 and no reason"},
      {"null_table", "start", "its start function succeeded but returned no table: report this to its author"},
      {"short_table", "start",
       fmt::format("its table has 24 bytes, this program's {}: {}", sizeof(mk_backend), rebuild)},
      {"other_table_major", "start", "its table has ABI 2.0, this program uses 1.0: " + rebuild},
      {"null_slot", "start", "function 11 of its table is null: every function of ABI 1.0 is needed"}};
}

inline void PrintTo(const Animal& animal, std::ostream* out) { *out << animal.name; }

}  // namespace mokume::zoo
