// Tests the program on cards, and on cards of two vendors in one run: a mixed cluster gives one device's result.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/shell.hpp"
#include "support/sample.hpp"

namespace mokume::cli_test {
namespace {

constexpr const char* kPocl = "OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd ";

std::string posing_as(const std::string& card) {
  return "env OPENCL_LAYERS=" + test::shell_word(test::build_directory() + "/lib/opencl_pose.so") +
         " OPENCL_POSE=" + test::shell_word(test::source_directory() + "/tests/gpu/pose/cards/" + card + ".toml") +
         " " + kPocl;
}

constexpr const char* kNetwork = R"(name = "small"
model = "cnn"
seed = 3
[data]
source = "digits"
limit = 300
standardize = { mean = 127.5, scale = 73.61 }
[validation]
share = 0.25
[search]
method = "none"
[devices]
use = "opencl"
[model_options]
epochs = 2
batch_size = 25
optimizer = { type = "sgd", lr = 0.05 }
[[model_options.layers]]
type = "conv2d"
out_channels = 4
kernel_size = 3
[[model_options.layers]]
type = "relu"
[[model_options.layers]]
type = "max_pool2d"
kernel_size = 2
[[model_options.layers]]
type = "flatten"
[[model_options.layers]]
type = "linear"
out_features = 10
)";

// Returns the rows and the wrong rows of each line of results.csv, by its "candidate,bootstrap,fold".
std::map<std::string, std::pair<double, double>> errors_of(const fs::path& run) {
  std::istringstream lines(slurp(run / "results.csv"));
  std::string head, line;
  std::getline(lines, head);
  const auto fields_of = [](const std::string& text) {
    std::vector<std::string> fields;
    std::istringstream in(text);
    for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
    return fields;
  };
  const std::vector<std::string> names = fields_of(head);
  std::map<std::string, std::pair<double, double>> errors;
  while (std::getline(lines, line)) {
    const std::vector<std::string> fields = fields_of(line);
    double n = 0, wrong = 0;
    for (size_t i = 0; i < names.size() && i < fields.size(); ++i) {
      if (names[i] == "n") n = std::stod(fields[i]);
      if (names[i] == "errors") wrong = std::stod(fields[i]);
    }
    errors[fields[0] + "," + fields[1] + "," + fields[2]] = {n, wrong};
  }
  return errors;
}

// Devices of different classes may differ in 2 rows per 1,000 of a fold, and in one row of a smaller fold.
void expect_agreement(const fs::path& run, const fs::path& with) {
  const auto mine = errors_of(run), theirs = errors_of(with);
  ASSERT_FALSE(theirs.empty());
  ASSERT_EQ(mine.size(), theirs.size());
  for (const auto& [fit, errors] : theirs) {
    ASSERT_TRUE(mine.count(fit) == 1) << fit;
    EXPECT_EQ(mine.at(fit).first, errors.first) << fit;
    EXPECT_NEAR(mine.at(fit).second, errors.second, std::max(1.0, 0.002 * errors.first)) << fit;
  }
}

nlohmann::json run_json(const fs::path& run) { return nlohmann::json::parse(slurp(run / "run.json")); }

class Program : public testing::TestWithParam<const char*> {};

TEST_P(Program, a_grid_and_a_network_agree_with_the_cpu) {
  const Place plain, posed;
  for (const Place* place : {&plain, &posed}) {
    place->write("svc.toml", small_experiment("opencl"));
    place->write("cnn.toml", kNetwork);
    const std::string as = place == &posed ? posing_as(GetParam()) : std::string(kPocl);
    for (const char* file : {"svc.toml", "cnn.toml"}) {
      const Ended ended = place->shell(as + Place::program() + " run " + file + " --out " + std::string(file, 3));
      ASSERT_EQ(ended.code, 0) << ended.err;
    }
  }
  for (const char* model : {"svc", "cnn"}) {
    SCOPED_TRACE(model);
    const auto run = [&](const Place& place) { return fs::directory_iterator(place.path() / model / "small")->path(); };
    EXPECT_NE(run_json(run(posed)).at("devices").at(0).at("vendor"),
              run_json(run(plain)).at("devices").at(0).at("vendor"))
        << "the run did not use the card";
    expect_agreement(run(posed), run(plain));
  }
}

INSTANTIATE_TEST_SUITE_P(Cards, Program, testing::Values("nvidia-h200", "amd-mi300x", "intel-arc-b580", "old-laptop"),
                         [](const auto& card) {
                           std::string name = card.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

int64_t total(const fs::path& record, const char* what) {
  int64_t sum = 0;
  for (const auto& entry : fs::directory_iterator(record))
    if (entry.path().extension() == ".json") sum += nlohmann::json::parse(slurp(entry.path())).at(what).get<int64_t>();
  return sum;
}

bool is_of_clblast(const fs::path& program) { return slurp(program).find("ROUTINE_GEMM") != std::string::npos; }

// Returns the paths of the sources of the programs in a record, without the program that tries the driver.
std::vector<fs::path> all_built(const fs::path& record) {
  std::vector<fs::path> programs;
  for (const auto& entry : fs::directory_iterator(record / "programs"))
    if (entry.path().extension() == ".cl" && slurp(entry.path()).find("void probe(") == std::string::npos)
      programs.push_back(entry.path());
  return programs;
}

// Returns these paths without CLBlast's programs, which are in no cache on disk.
std::vector<fs::path> built_in(const fs::path& record) {
  std::vector<fs::path> programs = all_built(record);
  std::erase_if(programs, is_of_clblast);
  return programs;
}

std::string without_convolutions(const std::string& network) {
  return network.substr(0, network.find("[[model_options.layers]]")) +
         network.substr(network.find("[[model_options.layers]]\ntype = \"flatten\""));
}

// PoCL's compiler aborts on the inline assembly of matrix units, which it cannot know.
TEST(Compiled, a_compiler_that_crashes_on_matrix_units_costs_only_them) {
  const Place place;
  place.write("e.toml", without_convolutions(kNetwork));
  const Ended ended =
      place.shell(posing_as("nvidia-h200") + Place::program() + " run e.toml --set devices.precision=bf16");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("computes in fp32, not in bf16: it cannot use its matrix units: the program that tries them "
                           "crashed"),
            std::string::npos)
      << ended.err;
}

// Tests the cache of built programs, which PoCL under its own name does not use.
TEST(Compiled, programs_are_taken_from_the_cache_with_the_same_results) {
  const Place place;
  place.write("e.toml", without_convolutions(kNetwork));  // few programs, without convolutions
  const auto record = [&](const std::string& name) { return place.path() / ("record-" + name); };
  const auto run = [&](const std::string& name) {
    const Ended ended =
        place.shell("OPENCL_POSE_BINARIES=1 XDG_CACHE_HOME=$PWD/cache OPENCL_POSE_RECORD=$PWD/record-" + name + " " +
                    posing_as("nvidia-h200") + Place::program() + " run e.toml --out " + name);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.err;
  };
  const auto results = [&](const std::string& name) {
    return slurp(fs::directory_iterator(place.path() / name / "small")->path() / "results.csv");
  };
  run("first");
  EXPECT_FALSE(built_in(record("first")).empty());
  EXPECT_EQ(total(record("first"), "cached_programs"), 0);
  run("second");
  EXPECT_EQ(built_in(record("second")).size(), 0U);
  EXPECT_GT(total(record("second"), "cached_programs"), 0);
  EXPECT_EQ(results("second"), results("first"));

  const fs::path programs = place.path() / "cache/mokume/opencl/programs";
  for (const auto& entry : fs::directory_iterator(programs)) fs::resize_file(entry.path(), entry.file_size() / 2);
  const std::string messages = run("third");
  EXPECT_NE(messages.find(programs.string()), std::string::npos);
  EXPECT_NE(messages.find(" is damaged"), std::string::npos);
  EXPECT_FALSE(built_in(record("third")).empty());
  EXPECT_EQ(results("third"), results("first"));
}

// Offsets into a buffer of more than 4 GiB need an option of Intel's compiler, which no other compiler knows.
void expect_large_buffers(const std::vector<fs::path>& programs) {
  EXPECT_FALSE(programs.empty());
  for (const fs::path& source : programs)
    EXPECT_NE(slurp(fs::path(source).replace_extension(".options")).find("-cl-intel-greater-than-4GB-buffer-required"),
              std::string::npos)
        << source;
}

std::string posing_with_large_buffers() {
  return "OPENCL_POSE_BOASTS=1 OPENCL_POSE_RECORD=$PWD/record " + posing_as("intel-arc-b580");
}

TEST(Compiled, asks_intel_for_large_buffers) {
  const Place place;
  place.write("e.toml", small_experiment("opencl"));
  const Ended ended = place.shell(posing_with_large_buffers() + Place::program() + " run e.toml");
  ASSERT_EQ(ended.code, 0) << ended.err;
  expect_large_buffers(all_built(place.path() / "record"));
}

// PoCL lacks the subgroups of Intel's compiler and refuses this program, but the pose has recorded its options.
TEST(Compiled, asks_intel_for_large_buffers_in_clblasts_programs) {
  const Place place;
  const Ended ended = place.shell(
      posing_with_large_buffers() + " MOKUME_TEST_CHOICES=map=scalar,gemm=clblast,conv=implicit " +
      test::shell_word(test::build_directory() + "/bin/test_conformance") + " --gtest_filter='*Intel*gemm.3x17x31'");
  if (has(ended.out + ended.err, "install libclblast1")) GTEST_SKIP() << "CLBlast is missing: install libclblast1";
  std::vector<fs::path> programs = all_built(place.path() / "record");
  std::erase_if(programs, std::not_fn(is_of_clblast));
  expect_large_buffers(programs);
}

TEST(Mixed, ranks_on_cards_of_two_vendors_share_one_run) {
  if (!have("mpirun")) GTEST_SKIP() << "mpirun is missing: install openmpi-bin";
  const Place place;
  place.write("e.toml", small_experiment("opencl", static_cast<int>(test::sample(300, 1000))));
  const std::string run = Place::program() + " run e.toml --out ";
  const Ended alone = place.shell(posing_as("nvidia-h200") + run + "alone");
  ASSERT_EQ(alone.code, 0) << alone.err;
  const Ended both =
      place.shell("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 300 mpirun --oversubscribe " +
                  by_rank(posing_as("nvidia-h200") + run + "both", posing_as("amd-mi300x") + run + "both"));
  ASSERT_EQ(both.code, 0) << both.err;
  const auto of = [&](const char* out) { return fs::directory_iterator(place.path() / out / "small")->path(); };
  std::set<std::string> vendors;
  const nlohmann::json record = run_json(of("both"));
  for (const auto& device : record.at("devices")) vendors.insert(device.at("vendor"));
  EXPECT_EQ(vendors, (std::set<std::string>{"NVIDIA Corporation", "Advanced Micro Devices, Inc."}));
  expect_agreement(of("both"), of("alone"));
}

}  // namespace
}  // namespace mokume::cli_test
