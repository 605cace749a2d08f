// Tests records with a valid checksum whose values make no sense.
#include "journal/bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "journal/line.hpp"
#include "journal/read.hpp"
#include "journal/scratch.hpp"

namespace mokume::journal {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

Bounds classifier() { return {200, 50, 2, std::vector<Bounds::Metric>{{"errors", true}, {"error"}, {"f1"}}}; }
Bounds regression() { return {200, 50, 0, std::vector<Bounds::Metric>{{"mse"}}}; }

FitRecord sane_fit(uint32_t fit = 4) {
  FitRecord record = make_record(fit);
  record.n = 100;
  record.values = {25, 0.25, 0.8};
  return record;
}

FitRecord sane_refit() {
  FitRecord record = make_record(small_plan().refit_slot(0));
  record.refit = 3;
  record.n = 50;
  record.values = {5};
  record.confusion = {25, 2, 3, 20};
  record.measures = {{"f1", 0.9}, {"log_loss", 1.5}, {"of a newer version", -7}};
  return record;
}

struct Case {
  std::function<void(FitRecord&)> spoil;
  std::string says;
};

// Expects that reading a journal with the record in line 2 fails and names file, line, value and cure.
void expect_refused(const FitRecord& record, const Bounds& bounds, const std::string& says) {
  const Scratch scratch;
  const search::Plan plan = small_plan();
  const search::FitKey key = plan.is_refit(record.fit) ? search::FitKey{} : plan.key(record.fit);
  std::filesystem::create_directories(scratch.directory());
  spill(scratch.file(0), seal(base::to_json(Header{kFormat, plan.hash, 0})) +
                             seal(record_text(record, plan.is_refit(record.fit) ? nullptr : &key)));
  try {
    read_all(scratch.directory(), plan, bounds);
    ADD_FAILURE() << "read: " << says;
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), MK_BAD_DATA);
    for (const std::string& word : {scratch.file(0) + ", line 2: ", says, std::string("delete the line")})
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << word << " in: " << e.what();
  }
}

TEST(Bounds, AllowWhatARunWrites) {
  FitRecord none_of_f1 = sane_fit(), failed = sane_fit(), all_wrong = sane_fit(), older = sane_fit();
  none_of_f1.values[2] = kNan;
  failed.status = FitStatus::failed;
  failed.n = 0;
  failed.values.clear();
  all_wrong.values = {100, 1, 0};
  older.values.pop_back();
  for (const FitRecord& one : {sane_fit(), none_of_f1, failed, all_wrong, older})
    EXPECT_NO_THROW(check_fit(one, classifier()));
  FitRecord untested = sane_refit(), of_many_classes = sane_refit(), lost = sane_refit();
  untested.n = 0;
  untested.values.clear();
  untested.confusion.clear();
  untested.measures.clear();
  of_many_classes.confusion.clear();
  lost.status = FitStatus::failed;
  lost.n = 0;
  for (const FitRecord& one : {sane_refit(), untested, of_many_classes, lost})
    EXPECT_NO_THROW(check_refit(one, classifier()));
}

TEST(Bounds, RefuseFitsOutOfRange) {
  const std::vector<Case> cases = {
      {[](FitRecord& r) { r.n = 0; }, "'n' is 0"},
      {[](FitRecord& r) { r.n = 201; }, "'n' is 201, and there are 200 training rows"},
      {[](FitRecord& r) { r.values[0] = 101; }, "'errors' is 101, of 100 rows"},
      {[](FitRecord& r) { r.values[0] = -1; }, "'errors' is -1"},
      {[](FitRecord& r) { r.values[0] = 2.5; }, "'errors' is 2.5"},
      {[](FitRecord& r) { r.values[0] = kNan; }, "'errors' is nan"},
      {[](FitRecord& r) { r.values[1] = kInf; }, "'error' is inf"},
      {[](FitRecord& r) { r.values[1] = -0.25; }, "'error' is -0.25"},
      {[](FitRecord& r) { r.values[1] = 0.26; }, "'error' is 0.26, but 25 of 100 rows are wrong"},
      {[](FitRecord& r) { r.values[2] = 1.5; }, "'f1' is 1.5"},
      {[](FitRecord& r) { r.values[2] = -kInf; }, "'f1' is -inf"},
      {[](FitRecord& r) { r.values.clear(); }, "'values' has 0 values"},
      {[](FitRecord& r) { r.values.push_back(1); }, "'values' has 4 values, and there are 3 metrics"},
      {[](FitRecord& r) { r.end_s = kNan; }, "its times are 1000000004 to nan"},
      {[](FitRecord& r) { r.energy_j = -1; }, "its energy is -1 J"},
      {[](FitRecord& r) { r.energy_j = kNan; }, "its energy is nan J"},
      {[](FitRecord& r) { r.energy_j = 1e16; }, "its energy is 1e+16 J"},
      {[](FitRecord& r) {
         r.curves = {{"</title>\"", {1}}};
       },
       R"(the name "</title>\"")"},
      {[](FitRecord& r) {
         r.curves.assign(17, {"loss", {1}});
       },
       "17 curves"},
  };
  for (const Case& one : cases) {
    FitRecord record = sane_fit();
    one.spoil(record);
    // A JSON object holds each name once.
    if (one.says == "17 curves")
      for (size_t c = 0; c < record.curves.size(); ++c) record.curves[c].name += std::to_string(c);
    expect_refused(record, classifier(), one.says);
  }
  FitRecord numbers = sane_fit();
  numbers.values = {-0.5};
  expect_refused(numbers, regression(), "'mse' is -0.5");
}

TEST(Bounds, RefuseNamesOfCurvesThatAreNotPlainOrNotDistinct) {
  const auto expect_bad = [](std::vector<Curve> curves, const std::string& says) {
    FitRecord record = sane_fit();
    record.curves = std::move(curves);
    try {
      check_fit(record, classifier());
      ADD_FAILURE() << says;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(says), std::string::npos) << e.what();
    }
  };
  for (const std::string& name :
       {std::string(), std::string("tab\t"), std::string("quote\""), std::string("quote'"), std::string("back\\slash"),
        std::string("\xc3\xa4"), std::string("\x7f"), std::string(kMaxCurveName + 1, 'x')})
    expect_bad({{name, {1}}}, "a curve has the name");
  expect_bad({{"loss", {1}}, {"loss", {1}}}, "two curves named 'loss'");
}

TEST(Bounds, RefuseRefitsOutOfRange) {
  const std::vector<Case> cases = {
      {[](FitRecord& r) { r.n = 49; }, "'n' is 49, and there are 50 test rows"},
      {[](FitRecord& r) { r.n = 0; }, "'n' is 0, and there are 50 test rows"},
      {[](FitRecord& r) { r.n = 0, r.values.clear(); }, "'n' is 0, and it has results"},
      {[](FitRecord& r) {
         r.values = {5, 6};
       },
       "'values' has 2 values"},
      {[](FitRecord& r) { r.values = {-5}; }, "'values' is -5"},
      {[](FitRecord& r) { r.values = {kNan}; }, "'values' is nan"},
      {[](FitRecord& r) { r.values = {51}; }, "'errors' is 51, of 50 rows"},
      {[](FitRecord& r) { r.values = {4}; }, "'confusion' counts 5 errors, but 'values' says 4"},
      {[](FitRecord& r) { r.confusion[0] = 24; }, "'confusion' is no matrix of 2 classes"},
      {[](FitRecord& r) {
         r.confusion = {25, 2, 3, -20};
       },
       "'confusion' is no matrix"},
      {[](FitRecord& r) { r.confusion.assign(9, 0), r.confusion[0] = 45, r.confusion[1] = 5; }, "'confusion' is no"},
      {[](FitRecord& r) {
         r.confusion = {INT64_MAX, INT64_MAX, 50, 2};
       },
       "'confusion' is no matrix"},
      {[](FitRecord& r) { r.measures["auc"] = 7; }, "'auc' is 7"},
      {[](FitRecord& r) { r.measures["log_loss"] = -1; }, "'log_loss' is -1"},
  };
  for (const Case& one : cases) {
    FitRecord record = sane_refit();
    one.spoil(record);
    expect_refused(record, classifier(), one.says);
  }
  expect_refused(sane_refit(), regression(), "measures of classes");
}

}  // namespace
}  // namespace mokume::journal
