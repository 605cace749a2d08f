#include "data/outer_fold.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "data/load.hpp"
#include "data/support.hpp"

namespace mokume::data {
namespace {

class OuterFolds : public DataTest {
 protected:
  DataSpec spec(const std::string& csv) const {
    std::ofstream(path("t.csv")) << csv;
    DataSpec made;
    made.source = "csv";
    made.path = path("t.csv");
    return made;
  }
};

TEST_F(OuterFolds, EveryRowIsTestedOnceAndClassesAreShared) {
  std::string csv = "a,kind\n";
  for (int r = 0; r < 30; ++r) csv += std::to_string(r) + (r < 10 ? ",x\n" : ",y\n");
  DataSpec rows = spec(csv);
  std::multiset<float> tested;
  for (uint32_t fold = 1; fold <= 5; ++fold) {
    rows.outer = {fold, 5, true, true, 7};
    const Dataset data = load(rows);
    EXPECT_EQ(data.train.rows, 24);
    EXPECT_EQ(data.test.rows, 6);
    EXPECT_EQ(std::count(data.test.labels.begin(), data.test.labels.end(), 0), 2);
    EXPECT_TRUE(std::is_sorted(data.train.x.begin(), data.train.x.end())) << "rows keep their order";
    tested.insert(data.test.x.begin(), data.test.x.end());
  }
  EXPECT_EQ(tested.size(), 30U);
  EXPECT_EQ(std::set<float>(tested.begin(), tested.end()).size(), 30U);
}

TEST_F(OuterFolds, GapsAreFilledByTheRowsThatRemain) {
  DataSpec rows = spec("a,y\n1,0.5\n2,1.5\n,2.5\n,3.5\n10,4.5\n20,5.5\n");
  rows.missing = Missing::mean;
  rows.within = Within::training;
  for (uint32_t fold = 1; fold <= 3; ++fold) {
    rows.outer = {fold, 3, false, false, 0};
    const Dataset data = load(rows);
    ASSERT_EQ(data.test.rows, 2);
    double sum = 0, count = 0;
    for (size_t r = 0; r < data.train.x.size(); ++r)
      if (data.train.targets[r] != 2.5F && data.train.targets[r] != 3.5F) sum += double{data.train.x[r]}, ++count;
    for (const Table* table : {&data.train, &data.test})
      for (size_t r = 0; r < table->x.size(); ++r) {
        const bool gap = table->targets[r] == 2.5F || table->targets[r] == 3.5F;
        EXPECT_TRUE(!gap || table->x[r] == static_cast<float>(sum / count)) << table->x[r];
      }
  }
}

TEST_F(OuterFolds, GroupsStayTogether) {
  std::string csv = "a,who,kind\n";
  for (int r = 0; r < 24; ++r) csv += std::to_string(r) + ",p" + std::to_string(r / 4) + (r % 2 == 0 ? ",x\n" : ",y\n");
  DataSpec rows = spec(csv);
  rows.group = "who";
  rows.outer = {1, 3, true, true, 1};
  const Dataset data = load(rows);
  std::set<int> groups;
  for (const float a : data.test.x) groups.insert(static_cast<int>(a) / 4);
  EXPECT_EQ(groups.size() * 4, data.test.x.size());
}

}  // namespace
}  // namespace mokume::data
