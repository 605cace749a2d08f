#include "registry/candidate.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstring>

#include "sdk/plugin.hpp"

namespace mokume::registry {
namespace {

constexpr const char* kRebuild = "rebuild it with the headers of this mokume";

// Holds the first fields, which all tables have in common.
struct TablePrefix {
  uint32_t struct_size;
  uint16_t abi_major;
  uint16_t abi_minor;
};

const char* sanitizer_name(uint32_t sanitizer) {
  switch (sanitizer) {
    case MK_SANITIZER_NONE:
      return "no sanitizer";
    case MK_SANITIZER_ADDRESS:
      return "the address sanitizer";
    case MK_SANITIZER_THREAD:
      return "the thread sanitizer";
    default:
      return "an unknown sanitizer";
  }
}

// Runs code of the library, whose exceptions must not end the program.
template <class Body>
void run_foreign(const char* stage, const char* function, Body&& body) {
  mk_error error{MK_OK, {}};
  if (sdk::guard(&error, body) != MK_OK)
    throw Refused(stage, fmt::format("its {} threw \"{}\": report this to its author", function, error.text));
}

const mk_plugin_header& query(const std::string& path, const Begin& begin) {
  if (begin) begin("open");
  // The library is never unloaded (NODELETE, no dlclose), because threads and thread-local destructors of drivers
  // outlive any attempt to unload it.
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* why = ::dlerror();
    throw Refused("open", fmt::format("the dynamic loader rejects it ({}): install its dependencies or {}",
                                      why == nullptr ? "no reason given" : why, kRebuild));
  }
  void* symbol = ::dlsym(handle, MK_PLUGIN_QUERY_SYMBOL);
  if (symbol == nullptr)
    throw Refused("symbol", fmt::format("it does not export {}: it is not a mokume library, or its source lacks "
                                        "MOKUME_PLUGIN(...)",
                                        MK_PLUGIN_QUERY_SYMBOL));
  const auto function = reinterpret_cast<mk_plugin_query>(symbol);
  const mk_plugin_header* header = nullptr;
  if (begin) begin("query");
  run_foreign("query", MK_PLUGIN_QUERY_SYMBOL, [&] { header = function(MK_ABI_MAJOR); });
  if (header == nullptr)
    throw Refused("query", fmt::format("it cannot serve ABI {}.{}, which this program uses: {}", MK_ABI_MAJOR,
                                       MK_ABI_MINOR, kRebuild));
  return *header;
}

// Returns a text of the header, or "" for a null pointer.
std::string header_text(const char* text, const char* what) {
  constexpr size_t kLongest = 1024;
  if (text == nullptr) return "";
  const size_t length = ::strnlen(text, kLongest);
  if (length == kLongest)
    throw Refused("header", fmt::format("the {} in its header does not end within {} bytes: report this to its author",
                                        what, kLongest));
  return {text, length};
}

void check_header(const mk_plugin_header& header, mk_plugin_kind kind, const std::string& name) {
  const auto refuse = [](const std::string& text) { throw Refused("header", text); };
  if (header.magic != MK_PLUGIN_MAGIC)
    refuse(fmt::format("its header starts with {:#018x}, not {:#018x}: it is not a mokume library", header.magic,
                       MK_PLUGIN_MAGIC));
  if (header.struct_size != sizeof(mk_plugin_header))
    refuse(fmt::format("its header has {} bytes, this program's {}: {}", header.struct_size, sizeof(mk_plugin_header),
                       kRebuild));
  if (header.abi_major != MK_ABI_MAJOR)
    refuse(fmt::format("it uses ABI {}.{}, this program {}.{}: {}", header.abi_major, header.abi_minor, MK_ABI_MAJOR,
                       MK_ABI_MINOR, kRebuild));
  if (header.abi_minor > MK_ABI_MINOR)
    refuse(fmt::format("it needs ABI {}.{}, this program has only {}.{}: update mokume or {}", header.abi_major,
                       header.abi_minor, MK_ABI_MAJOR, MK_ABI_MINOR, kRebuild));
  if (header.abi_hash != MK_ABI_HASH)
    refuse(
        fmt::format("it was built against other headers of core/abi (hash {:016x}, this program's is {:016x}), "
                    "although both have ABI {}.{}: {}",
                    header.abi_hash, MK_ABI_HASH, header.abi_major, header.abi_minor, kRebuild));
  if (header.sanitizer != MOKUME_SANITIZER)
    refuse(fmt::format("it was built with {}, this program with {}: build both with the same preset",
                       sanitizer_name(header.sanitizer), sanitizer_name(MOKUME_SANITIZER)));
  if (header.kind != kind)
    refuse(fmt::format("it is a {}, not a {}: move it to {}/", kind_name(header.kind), kind_name(kind),
                       kind_directory(header.kind)));
  if (const std::string own = header_text(header.name, "name"); own != name)
    refuse(fmt::format("it calls itself '{}', its file '{}': rename the file or the library", own, name));
  if (header.version == nullptr || header.description == nullptr || header.start == nullptr)
    refuse("its header has no version, description or start function: use MOKUME_PLUGIN(...)");
}

constexpr size_t kNone = 0;

// Checks the slots of a table in the bytes [from, to). Each must hold a function, except the one at `optional`.
void check_slots(const void* table, size_t from, size_t to, size_t optional = kNone) {
  for (size_t at = from; at < to; at += sizeof(void*)) {
    void* slot = nullptr;
    std::memcpy(&slot, static_cast<const char*>(table) + at, sizeof(slot));
    if (slot == nullptr && (optional == kNone || at != optional))
      throw Refused("start", fmt::format("function {} of its table is null: every function of ABI {}.{} is needed",
                                         (at - from) / sizeof(void*) + 1, MK_ABI_MAJOR, MK_ABI_MINOR));
  }
}

// All functions from export_onnx on are optional, but calibrate() and probabilities() need each other.
void check_model(const mk_model& model) {
  check_slots(&model, offsetof(mk_model, check), offsetof(mk_model, export_onnx), offsetof(mk_model, summary));
  if ((model.calibrate == nullptr) != (model.probabilities == nullptr))
    throw Refused("start", "it has only one of calibrate() and probabilities(): provide both or none");
}

void check_table(mk_plugin_kind kind, const void* table) {
  if (table == nullptr)
    throw Refused("start", "its start function succeeded but returned no table: report this to its author");
  TablePrefix prefix{};
  std::memcpy(&prefix, table, sizeof(prefix));
  const size_t size = kind == MK_PLUGIN_BACKEND ? sizeof(mk_backend)
                      : kind == MK_PLUGIN_MODEL ? sizeof(mk_model)
                                                : sizeof(mk_transport);
  if (prefix.abi_major != MK_ABI_MAJOR || prefix.abi_minor > MK_ABI_MINOR)
    throw Refused("start", fmt::format("its table has ABI {}.{}, this program uses {}.{}: {}", prefix.abi_major,
                                       prefix.abi_minor, MK_ABI_MAJOR, MK_ABI_MINOR, kRebuild));
  if (prefix.struct_size != size)
    throw Refused("start",
                  fmt::format("its table has {} bytes, this program's {}: {}", prefix.struct_size, size, kRebuild));
  switch (kind) {
    case MK_PLUGIN_BACKEND:
      return check_slots(table, offsetof(mk_backend, enumerate), sizeof(mk_backend));
    case MK_PLUGIN_MODEL:
      return check_model(*static_cast<const mk_model*>(table));
    case MK_PLUGIN_TRANSPORT:
      return check_slots(table, offsetof(mk_transport, rank), sizeof(mk_transport));
  }
}

}  // namespace

const char* kind_name(int32_t kind) {
  switch (kind) {
    case MK_PLUGIN_BACKEND:
      return "backend";
    case MK_PLUGIN_MODEL:
      return "model";
    case MK_PLUGIN_TRANSPORT:
      return "transport";
    default:
      return "library of unknown kind";
  }
}

const char* kind_directory(int32_t kind) {
  switch (kind) {
    case MK_PLUGIN_BACKEND:
      return "backends";
    case MK_PLUGIN_MODEL:
      return "plugins";
    case MK_PLUGIN_TRANSPORT:
      return "transports";
    default:
      return "another directory";
  }
}

Library start_library(mk_plugin_kind kind, const std::string& name, const std::string& real_path, const mk_host* host,
                      const Begin& begin) {
  const mk_plugin_header& header = query(real_path, begin);
  check_header(header, kind, name);
  mk_error error{MK_OK, {}};
  const void* table = nullptr;
  int32_t status = MK_OK;
  if (begin) begin("start");
  run_foreign("start", "start function", [&] { status = header.start(host, &table, &error); });
  error.text[sizeof(error.text) - 1] = '\0';
  if (status != MK_OK)
    throw Refused("start", error.text[0] == '\0'
                               ? fmt::format("its start function failed with status {} and no reason", status)
                               : std::string(error.text));
  check_table(kind, table);
  return {kind, name, real_path, header_text(header.version, "version"), header_text(header.description, "description"),
          table};
}

void shut_down(const Library& library) noexcept {
  sdk::guard(nullptr, [&] {
    switch (library.kind) {
      case MK_PLUGIN_BACKEND:
        return library.backend()->shutdown(library.backend()->self);
      case MK_PLUGIN_MODEL:
        return library.model()->shutdown(library.model()->self);
      case MK_PLUGIN_TRANSPORT:
        return library.transport()->shutdown(library.transport()->self);
    }
  });
}

}  // namespace mokume::registry
