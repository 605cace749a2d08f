// Tests the cards and their refusals. Without refusals, the suites on a pose could pass by mistake.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "answers.hpp"
#include "kernels.hpp"
#include "support/paths.hpp"

namespace mokume::pose {
namespace {

namespace fs = std::filesystem;

std::string cards() { return test::source_directory() + "/tests/gpu/pose/cards"; }

Card card(const std::string& name) { return read_card(cards() + "/" + name + ".toml"); }

cl_int launch(const Card& c, std::array<size_t, 3> groups, std::array<size_t, 3> local, size_t local_bytes = 0,
              size_t parameter_bytes = 0) {
  std::array<size_t, 3> global{};
  for (size_t i = 0; i < 3; ++i) global[i] = groups[i] * local[i];
  return refusal(c, Grid(c, 3, global.data(), local.data()), local_bytes, parameter_bytes);
}

template <class T>
T number(const Answer& answer) {
  T value{};
  EXPECT_EQ(give(answer, sizeof(value), &value, nullptr), CL_SUCCESS);
  return value;
}

TEST(Pose, every_card_takes_its_limits_and_refuses_one_more) {
  size_t seen = 0;
  for (const auto& entry : fs::directory_iterator(cards())) {
    const Card c = card(entry.path().stem().string());
    SCOPED_TRACE(c.name);
    ++seen;
    EXPECT_EQ(launch(c, c.groups, {1, 1, 1}, c.local_bytes, c.parameter_bytes), CL_SUCCESS);
    for (size_t i = 0; i < 3; ++i) {
      std::array<size_t, 3> groups{1, 1, 1}, local{1, 1, 1};
      groups[i] = c.groups[i] + 1;
      EXPECT_EQ(launch(c, groups, {1, 1, 1}), c.groups_error) << "dimension " << i;
      local[i] = c.work_item_sizes[i] + 1;
      EXPECT_EQ(launch(c, {1, 1, 1}, local), CL_INVALID_WORK_ITEM_SIZE) << "dimension " << i;
    }
    EXPECT_EQ(launch(c, {1, 1, 1}, {c.work_group / 4, 4, 1}), CL_SUCCESS);
    EXPECT_EQ(launch(c, {1, 1, 1}, {c.work_group / 4, 8, 1}), CL_INVALID_WORK_GROUP_SIZE);
    EXPECT_EQ(launch(c, {1, 1, 1}, {1, 1, 1}, c.local_bytes + 1), c.local_error);
    EXPECT_EQ(launch(c, {1, 1, 1}, {1, 1, 1}, 0, c.parameter_bytes + 1), c.parameter_error);
  }
  EXPECT_EQ(seen, 4U);
}

TEST(Pose, uneven_groups_are_refused) {
  const Card c = card("nvidia-h200");
  const size_t global[] = {100, 1, 1}, local[] = {64, 1, 1};
  EXPECT_EQ(refusal(c, Grid(c, 3, global, local), 0, 0), CL_INVALID_WORK_GROUP_SIZE);
}

TEST(Pose, answers_match_the_card_except_for_missing_memory) {
  const Card c = card("amd-mi300x");
  constexpr cl_ulong kThere = cl_ulong{4} << 30;
  EXPECT_EQ(number<cl_device_type>(device_answer(c, CL_DEVICE_TYPE, kThere, kThere)),
            cl_device_type{CL_DEVICE_TYPE_GPU});
  EXPECT_EQ(number<cl_uint>(device_answer(c, CL_DEVICE_MAX_COMPUTE_UNITS, kThere, kThere)), 304U);
  EXPECT_EQ(number<cl_ulong>(device_answer(c, CL_DEVICE_LOCAL_MEM_SIZE, kThere, kThere)), 65536U);
  EXPECT_EQ(number<cl_ulong>(device_answer(c, CL_DEVICE_GLOBAL_MEM_SIZE, kThere, kThere)), kThere);
  EXPECT_EQ(number<cl_ulong>(device_answer(card("old-laptop"), CL_DEVICE_MAX_MEM_ALLOC_SIZE, kThere, kThere)),
            cl_ulong{1} << 30);
  EXPECT_TRUE(device_answer(c, CL_DEVICE_QUEUE_PROPERTIES, kThere, kThere).empty()) << "the driver's own answer holds";
}

TEST(Pose, a_card_without_fp64_or_fma_reports_that) {
  const auto config = [](const char* name, cl_device_info what) {
    return number<cl_device_fp_config>(device_answer(card(name), what, 1, 1));
  };
  EXPECT_NE(config("nvidia-h200", CL_DEVICE_DOUBLE_FP_CONFIG), 0U);
  EXPECT_EQ(config("intel-arc-b580", CL_DEVICE_DOUBLE_FP_CONFIG), 0U);
  EXPECT_NE(config("intel-arc-b580", CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_FMA, 0U);
  EXPECT_EQ(config("old-laptop", CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_FMA, 0U);
}

TEST(Pose, a_file_that_is_not_a_card_is_refused_with_its_key) {
  const fs::path file = fs::temp_directory_path() / ("mokume-card-" + std::to_string(getpid()) + ".toml");
  std::ofstream(file) << "[platform]\nname = \"P\"\nvendor = 7\n";
  try {
    read_card(file.string());
    ADD_FAILURE() << "it was taken";
  } catch (const std::exception& e) {
    EXPECT_EQ(std::string(e.what()), file.string() + ": platform.vendor must be a text");
  }
  fs::remove(file);
}

}  // namespace
}  // namespace mokume::pose
