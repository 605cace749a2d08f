// Tests the structs that carry the scalars of the opencl backend's launches: every device's compiler must lay them out
// like the host's compiler. The host refuses padding when it compiles them, so a member's offset is the size of the
// members before it.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "suite.hpp"
#include "support/paths.hpp"

namespace mokume::conformance {
namespace {

namespace fs = std::filesystem;

struct Struct {
  std::string name;
  std::vector<std::pair<std::string, std::string>> members;  // type and name
};

struct Headers {
  std::string text;  // all headers, each once, without lines for the host
  std::vector<Struct> structs;
};

class Reader {
 public:
  explicit Reader(fs::path root) : root_(std::move(root)) {
    std::set<fs::path> paths;
    for (const auto& entry : fs::recursive_directory_iterator(root_))
      if (entry.path().string().ends_with("_args.h")) paths.insert(entry.path());
    for (const fs::path& path : paths) read(path);
  }

  Headers headers;

 private:
  void read(const fs::path& path) {
    if (!seen_.insert(path).second) return;
    std::ifstream file(path);
    Struct open;
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("#include \"")) {
        const std::string name = line.substr(10, line.rfind('"') - 10);
        if (name.ends_with(".h")) read(root_ / name);
        continue;
      }
      if (line == "#pragma once") continue;
      headers.text += line + "\n";
      if (line.starts_with("typedef struct {")) {
        open = {};
      } else if (line.starts_with("} ")) {
        open.name = line.substr(2, line.size() - 3);
        headers.structs.push_back(open);
      } else if (line.starts_with("  ")) {
        std::istringstream words(line.substr(0, line.find(';')));
        std::string type;
        words >> type;
        for (std::string name; words >> name;) open.members.emplace_back(type, name.substr(0, name.find(',')));
      }
    }
  }

  fs::path root_;
  std::set<fs::path> seen_;
};

void structs_have_the_hosts_layout(DeviceUnderTest& dut, const mk_kernel_source& extension) {
  const Headers headers = Reader(test::source_directory() + "/backends/opencl").headers;
  ASSERT_GT(headers.structs.size(), 30U);
  std::map<std::string, uint32_t> size_of{{"i32", 4}, {"u32", 4}, {"f32", 4}, {"i64", 8}};
  std::string source = headers.text + "\n__kernel void layout(__global uint* out) {\n";
  Words want;
  std::vector<std::string> what;
  const auto expect = [&](const std::string& expression, uint32_t value, const std::string& name) {
    source += "  out[" + std::to_string(want.size()) + "] = (uint)(" + expression + ");\n";
    want.push_back(value);
    what.push_back(name);
  };
  for (const Struct& one : headers.structs) {
    source += "  {\n  " + one.name + " it;\n";
    uint32_t size = 0;
    for (const auto& [type, name] : one.members) {
      ASSERT_EQ(size_of.count(type), 1U) << one.name << "." << name << " is of type " << type;
      expect("(__private char*)&it." + name + " - (__private char*)&it", size, one.name + "." + name);
      size += size_of[type];
    }
    expect("sizeof(" + one.name + ")", size, one.name);
    size_of[one.name] = size;
    source += "  }\n";
  }
  source += "}\n";
  mk_program* program = nullptr;
  sdk::call(extension.build, dut.device(), "layout", source.c_str(), "", &program);
  Buffer out(dut, Words(want.size(), 0));
  const mk_argument argument{MK_ARG_BUFFER, 0, out.handle(), nullptr, 0};
  const uint64_t global[3] = {1, 1, 1};
  sdk::call(extension.launch, dut.queue(), program, "layout", &argument, 1U, static_cast<const uint64_t*>(global),
            static_cast<const uint64_t*>(global), static_cast<mk_event**>(nullptr));
  finish(dut);
  extension.release(program);
  const Words got = out.read();
  for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(got[i], want[i]) << what[i];
}

}  // namespace

void add_layout_tests(DeviceUnderTest& dut) {
  const auto* extension =
      static_cast<const mk_kernel_source*>(dut.table().extension(dut.table().self, "kernel_source_v1"));
  if (extension == nullptr) return;
  add_test(dut.label(), "layout.structs_have_the_hosts_layout",
           [&dut, extension] { structs_have_the_hosts_layout(dut, *extension); });
}

}  // namespace mokume::conformance
