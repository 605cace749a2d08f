#include <gtest/gtest.h>

#include <algorithm>

#include "layering/rules.hpp"
#include "support/paths.hpp"

namespace mokume::layering {
namespace {

TEST(Tree, KeepsItsRules) {
  const std::vector<Source> tree = read_tree(test::source_directory());
  for (const std::string& violation : violations(tree)) ADD_FAILURE() << violation;
  // The rules also hold for an empty tree, so this checks that the tree has files.
  const auto count = [&](const std::string& path) {
    return std::count_if(tree.begin(), tree.end(), [&](const Source& s) { return s.path == path; });
  };
  for (const char* path : {"core/abi/op.h", "core/sdk/ops.hpp", "tests/layering/rules.cpp", "cmake/Mokume.cmake"})
    EXPECT_EQ(count(path), 1) << path;
}

// To understand a run, a reader needs what run.cpp reaches. Both numbers may fall; an increase needs a reason. They
// last rose by trials (ADR 54), cautions for every measure, the readers of more kinds of tables, and predictions of the
// validated rows, four ops, the layers that the report draws, the choice of the storage, rungs in time, what
// remembers the files that passed a check, the energy of fits, traces of a device's steps,
// and portable functions.
TEST(Tree, CoreStaysSmall) {
  const std::vector<Source> tree = read_tree(test::source_directory());
  EXPECT_LE(core_lines(tree), 46000U);
  EXPECT_LE(reached_lines(tree, "core/run/run.cpp"), 40500U);
}

// ---- tests of the checker

std::vector<std::string> of(const std::string& path, const std::string& text) {
  return violations({{path, text + "\n"},
                     {path.substr(0, path.rfind('.')) + ".hpp", ""},
                     {"core/base/files.hpp", ""},
                     {"core/device/device.hpp", ""},
                     {"core/sdk/error.hpp", ""},
                     {"backends/formulas/math.cl", ""},
                     {"backends/opencl/platform.hpp", ""},
                     {"backends/host/ops/gemm.hpp", ""}});
}

struct Case {
  const char *path, *text;
};

std::string case_name(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.path;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == '.'; }, '_');
  return name + "_" + std::to_string(info.index);
}

class Bad : public testing::TestWithParam<Case> {};

TEST_P(Bad, IsReportedOnceWithItsPlace) {
  const std::vector<std::string> found = of(GetParam().path, std::string("\n") + GetParam().text);
  ASSERT_EQ(found.size(), 1U) << GetParam().text;
  EXPECT_EQ(found[0].find(std::string(GetParam().path) + ":2: "), 0U) << found[0];
}

INSTANTIATE_TEST_SUITE_P(
    Lines, Bad,
    testing::Values(
        // order of layers
        Case{"core/base/x.cpp", "#include \"device/device.hpp\""}, Case{"core/abi/x.h", "#include \"sdk/error.hpp\""},
        Case{"core/data/x.cpp", "  #  include \"search/plan.hpp\""},
        Case{"core/data/x.cpp", "#include \"device/device.hpp\""},
        Case{"core/cluster/x.hpp", "#include \"device/device.hpp\""},
        Case{"core/base/x.cpp", "#include <device/device.hpp>"}, Case{"core/base/x.cpp", "#include \"stray.hpp\""},
        Case{"core/base/x.cpp", "#include \"../device/device.hpp\""},
        Case{"core/attic/x.cpp", "#include \"base/files.hpp\""},
        Case{"core/run/x.cpp", "#include \"report/pages/write.hpp\""},
        Case{"apps/report/pages/x.cpp", "#include \"run/view.hpp\""},
        Case{"apps/report/charts/x.cpp", "#include \"frontends.hpp\""},
        // fences
        Case{"core/device/x.cpp", "#include <tbb/parallel_for.h>"},
        Case{"plugins/svc/x.cpp", "#include <oneapi/tbb/task_arena.h>"}, Case{"core/cluster/x.cpp", "#include <mpi.h>"},
        Case{"core/scheduler/x.cpp", "#include <CL/cl.h>"}, Case{"backends/host/x.cpp", "#include <clblast.h>"},
        Case{"tests/device/x.cpp", "#include <CL/opencl.hpp>"},
        // libraries
        Case{"backends/host/x.cpp", "#include \"base/files.hpp\""},
        Case{"backends/host/x.cpp", "#include <base/files.hpp>"},
        Case{"backends/host/x.cpp", "#include \"opencl/platform.hpp\""},
        Case{"backends/host/x.cpp", "#include \"platform.hpp\""},
        Case{"plugins/svc/x.cpp", "#include \"device/device.hpp\""},
        Case{"plugins/svc/x.cpp", "#include \"formulas/math.cl\""},
        Case{"transports/mpi/x.cpp", "#include \"cluster/node.hpp\""},
        // calls
        Case{"core/device/x.cpp", "const char* s = getenv(\"HOME\");"},
        Case{"plugins/svc/x.cpp", "auto s = ::secure_getenv (\"HOME\");"},
        Case{"core/results/x.cpp", "std::cout << 1;"}, Case{"backends/host/x.cpp", "int i = rand();"},
        Case{"tests/data/x.cpp", "std::srand(1);"}, Case{"core/search/x.cpp", "std::random_device device;"},
        Case{"core/cluster/x.cpp", "void* h = dlopen(path, RTLD_NOW);"}, Case{"core/registry/x.cpp", "dlclose(h);"},
        Case{"backends/opencl/x.cpp", "bool b = n>rand();"}),
    case_name);

class Good : public testing::TestWithParam<Case> {};

TEST_P(Good, IsNotReported) { EXPECT_EQ(of(GetParam().path, GetParam().text), std::vector<std::string>{}); }

INSTANTIATE_TEST_SUITE_P(
    Lines, Good,
    testing::Values(
        Case{"core/device/x.cpp", "#include \"base/files.hpp\"\n#include \"device/device.hpp\"\n#include <vector>"},
        Case{"core/node/x.cpp", "#include \"cluster/node.hpp\"\n#include \"sdk/error.hpp\""},
        Case{"apps/report/charts/x.cpp", "#include \"report/charts/svg.hpp\"\n#include \"results/view.hpp\""},
        Case{"apps/mokume/x.cpp", "#include \"config/config.hpp\"\nstd::cout << getenv(\"TERM\");"},
        Case{"core/scheduler/x.cpp", "#include <oneapi/tbb/task_arena.h>\n#include <tbb/tbb.h>"},
        Case{"transports/mpi/x.cpp", "#include <mpi.h>\n#include \"abi/transport.h\""},
        Case{"backends/opencl/x.cpp", "#include <CL/cl.h>\n#include <clblast_c.h>\n#include \"platform.hpp\""},
        Case{"backends/host/ops/x.cpp", "#include \"ops/gemm.hpp\"\n#include \"gemm.hpp\""},
        Case{"backends/host/x.cpp", "#include \"generated_table.hpp\"\n#include \"formulas/math.cl\""},
        Case{"plugins/svc/x.cpp", "#include \"sdk/error.hpp\"\n#include \"smo.embed.hpp\"\n#include <data/none.h>"},
        Case{"core/registry/x.cpp", "dlopen(path, RTLD_NOW);"},
        Case{"core/base/x.cpp", "// std::cout << rand() /* dlopen( */\nauto s = \"getenv(\"; char c = '\"';"},
        Case{"core/base/x.cpp", "operand(1); a.rand(); a->rand(); strand(2); int n = 1'000;"},
        Case{"core/base/x.cpp", "auto s = R\"x(getenv( \" )x\"; auto t = \"\\\"rand(\";"}),
    case_name);

TEST(Checker, ReportsLongFiles) {
  std::string text;
  for (int i = 0; i < 600; ++i) text += "x\n";
  EXPECT_TRUE(violations({{"scripts/x.py", text}}).empty());
  EXPECT_EQ(violations({{"scripts/x.py", text + "x\n"}}).size(), 1U);
}

TEST(Checker, ReportsSourcesWithoutAHeaderAndFullFolders) {
  EXPECT_EQ(violations({{"core/base/x.cpp", ""}}).size(), 1U);
  EXPECT_TRUE(violations({{"core/base/x.cpp", ""}, {"core/base/x.hpp", ""}, {"core/base/x_more.cpp", ""}}).empty());
  std::vector<Source> full;
  for (int i = 0; i < 25; ++i) {
    const std::string stem = "core/base/x" + std::to_string(i);
    full.push_back({stem + ".cpp", ""});
    full.push_back({stem + ".hpp", ""});
  }
  EXPECT_EQ(violations(full).size(), 1U);
}

TEST(Checker, FollowsIncludesAndTheSourcesOfHeaders) {
  const std::vector<Source> tree = {{"core/a/a.cpp", "#include \"a/b.hpp\"\n#include <vector>\n"},
                                    {"core/a/b.cpp", "1\n2\n3\n4\n"},
                                    {"core/a/b.hpp", "#include \"c.h\"\n"},
                                    {"core/a/b_more.cpp", "1\n2\n3\n4\n5\n6\n7\n8\n"},
                                    {"core/a/b_other.cpp", "1\n"},
                                    {"core/a/b_other.hpp", "1\n"},
                                    {"core/a/c.h", "1\n2\n3\n"},
                                    {"tests/a/b.hpp", "1\n"}};
  EXPECT_EQ(reached_lines(tree, "core/a/a.cpp"), 2U + 1 + 4 + 8 + 3);
  EXPECT_EQ(core_lines(tree), 2U + 1 + 4 + 8 + 3 + 2);
}

TEST(Checker, KeepsTheLinesOfTheCode) {
  EXPECT_EQ(code_only("a /* b\nc */ d // e\nf \"g\" '\\'' h"), "a     \n     d     \nf          h");
  EXPECT_EQ(code_only("\"open"), "     ");
  EXPECT_EQ(code_only("/*"), "  ");
}

}  // namespace
}  // namespace mokume::layering
