#include "inspect/explain.hpp"

#include <gtest/gtest.h>

#include "inspect/inspection.hpp"
#include "sdk/error.hpp"

namespace mokume::inspect {
namespace {

using journal::EventRecord;
using test::event_record;
using testing::killed;
using testing::running;
using Kind = EventRecord::Kind;

TEST(ParseFit, TakesAnIdOrAPlaceInThePlan) {
  search::Plan plan = running().view.plan;
  EXPECT_EQ(parse_fit(plan, "5"), 5U);
  EXPECT_EQ(parse_fit(plan, "2,1"), 5U);
  EXPECT_EQ(parse_fit(plan, "2, 0, 1"), 5U);
  plan.bootstraps = 4;
  EXPECT_EQ(parse_fit(plan, "2,3,1"), (2U * 4 + 3) * 2 + 1);
}

TEST(ParseFit, ErrorsListTheValidForms) {
  search::Plan plan = running().view.plan;
  const auto failure = [&](const std::string& text) -> std::string {
    try {
      parse_fit(plan, text);
      return "";
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), MK_INVALID_ARGUMENT);
      return e.what();
    }
  };
  for (const char* text :
       {"7", "-1", "x", "", "1.5", "3,0", "0,2", "0,1,0", "0,0,0,0", ",", "refit,0", "refits", "refit,", "6,"})
    EXPECT_HAS(failure(text), "id (0 to 5, 6 for refits), candidate,fold (0 to 2, 0 to 1) or refit");
  plan.bootstraps = 2;
  for (const char* text : {"1,1", "14", "refit", "refit,2", "refit,x", "refit,0,0"})
    EXPECT_HAS(failure(text),
               "id (0 to 11, 12 to 13 for refits), candidate,bootstrap,fold (0 to 2, 0 to 1, 0 to 1) or "
               "refit,bootstrap (refit,0 to refit,1)");
  plan.folds = 0;
  for (const char* text : {"2", "0,0,0", "0,0"})
    EXPECT_HAS(failure(text), "refit,bootstrap (refit,0 to refit,1), or an id (0 to 1); there are only refits");
  plan.bootstraps = 1;
  EXPECT_HAS(failure("1"), "refit, or an id (0); there are only refits");
}

TEST(ParseFit, TakesRefits) {
  search::Plan plan = running().view.plan;
  EXPECT_EQ(parse_fit(plan, "6"), 6U);
  EXPECT_EQ(parse_fit(plan, " refit "), 6U);
  plan.bootstraps = 2;
  EXPECT_EQ(parse_fit(plan, "13"), 13U);
  EXPECT_EQ(parse_fit(plan, "refit, 1"), 13U);
  plan.folds = 0;
  EXPECT_EQ(parse_fit(plan, "1"), 1U);
  EXPECT_EQ(parse_fit(plan, "refit,0"), 0U);
}

TEST(ExplainFit, ReportsWhereItRan) {
  const std::string text = explain_fit(running(), 2);
  EXPECT_HAS(text, "fit 2: candidate 1, fold 0 (C = 1)\n");
  EXPECT_HAS(text, "ok, errors 3, error 0.3, on 10 rows\n");
  EXPECT_HAS(text, "node 0, opencl:0 (opencl/Card), bundle 1, attempt 1, started after 2.0 s");
  EXPECT_HAS_NOT(text, "note of the model");
  Inspection run = running();
  run.view.records[2].note = "steps=12";
  EXPECT_HAS(explain_fit(run, 2), "note of the model: steps=12\n");
}

TEST(ExplainFit, ListsEachAttemptInOrder) {
  Inspection run = running();
  run.view.records[2].attempt = 3;
  run.view.events = {event_record(1001, Kind::failed, 1, "host:0", 2, 1, "the driver crashed"),
                     event_record(1001.5, Kind::failed, 1, "host:0", 3, 1, "of another fit"),
                     event_record(1003, Kind::moved, 0, "opencl:0", 2, 2, "out of memory")};
  const std::string text = explain_fit(run, 2);
  const size_t first = text.find("after 1.0 s: attempt 1 failed on node 1, host:0: the driver crashed");
  const size_t second = text.find("after 3.0 s: attempt 2 was taken from node 0, opencl:0: out of memory");
  ASSERT_NE(first, std::string::npos) << text;
  ASSERT_NE(second, std::string::npos) << text;
  EXPECT_LT(first, second);
  EXPECT_HAS_NOT(text, "of another fit");
}

TEST(ExplainFit, NamesTheDevicesThatComputedItTwice) {
  Inspection run = running();
  journal::FitRecord twice = test::fit_record(2, 4);
  twice.node = 1;
  twice.device = "host:0";
  twice.device_class = "";
  run.view.repeats = {twice};
  run.view.disagreements = {{2, false, "fit 2 has one result here and another there"}};
  const std::string text = explain_fit(run, 2);
  EXPECT_HAS(text,
             "also computed by node 1, host:0, bundle 1, attempt 1, which does not count: ok, errors 4, error 0.4");
  EXPECT_HAS(text, "fit 2 has one result here and another there\n");
  EXPECT_HAS_NOT(explain_fit(run, 3), "also computed");
}

TEST(ExplainFit, ReportsWhyItWaits) {
  const std::string text = explain_fit(running(), 4);
  EXPECT_HAS(text, "fit 4: candidate 2, fold 0 (C = 10)\n  not finished yet");
  EXPECT_HAS(text, "bundle of 1 fit is number 2 of 2 with fits left");
  EXPECT_HAS(text, "needs 1.0 MiB of a device's memory; 2 of 2 devices can hold that");
  EXPECT_HAS(text, "node 0, opencl:0 has been working for 12 s: C = 10, 45 %");
  EXPECT_HAS(explain_fit(running(), 5), "needs 4.0 GiB of a device's memory; 1 of 2 devices can hold that");
}

TEST(ExplainFit, ReportsThatNoDeviceIsLargeEnough) {
  Inspection run = running();
  run.last->devices[0].state = "retired";
  EXPECT_HAS(explain_fit(run, 5),
             "no remaining device can hold that, the largest budget is 2.0 GiB: raise devices.memory");
  run.last->devices[1].state = "lost";
  EXPECT_HAS(explain_fit(run, 5), "no device remains");
}

TEST(ExplainFit, ReportsThatAFitOfADeadRunWaitsForTheNextRun) {
  const std::string text = explain_fit(killed(), 4);
  EXPECT_HAS(text, "no device is working on it: the run is dead (killed)\n  next: mokume resume runs/tiny/1");
  EXPECT_HAS_NOT(text, "devices hold");
  Inspection early = running();  // before the node has written anything
  early.last.reset();
  EXPECT_HAS(explain_fit(early, 4), "it is waiting, or a device is working on it\n");
}

// Returns a run whose fits are all done, with `refit` as its refit of candidate 2.
Inspection refitted(journal::FitRecord refit) {
  Inspection run = running();
  for (uint32_t fit = 4; fit < 6; ++fit) run.view.records.push_back(test::fit_record(fit, 1));
  run.view.data_classes = 3;
  refit.fit = 6;
  refit.bundle = 4;
  run.view.refits = {refit};
  return run;
}

journal::FitRecord refit_record() {
  journal::FitRecord refit = test::fit_record(6, 7);
  refit.values = {7};
  refit.refit = 2;
  return refit;
}

TEST(ExplainRefit, ReportsThatItWaitsForTheFitsOfItsBootstrap) {
  const std::string text = explain_fit(running(), 6);
  EXPECT_HAS(text,
             "slot 6: the refit\n  it waits for 2 of the 6 fits that decide on its candidate:\n"
             "  fit 4: candidate 2, fold 0\n  fit 5: candidate 2, fold 1\n");
  EXPECT_HAS_NOT(text, "trains");
  const std::string dead = explain_fit(killed(), 6);
  EXPECT_HAS(dead, "no device is working on it: the run is dead (killed)\n  next: mokume resume runs/tiny/1");
  EXPECT_HAS(dead, "it waits for 2 of the 6 fits");
  Inspection bagging = running();  // 12 fits; the four fits of candidate 0 are done
  bagging.view.plan.bootstraps = 2;
  EXPECT_HAS(explain_fit(bagging, 13),
             "slot 13: the refit of bootstrap 1\n  it waits for 4 of the 6 fits of its "
             "bootstrap that decide on its candidate:\n  fit 6: candidate 1, "
             "bootstrap 1, fold 0\n");
}

TEST(ExplainRefit, ReportsThatItWaitsForADevice) {
  Inspection run = refitted({});
  run.view.refits.clear();
  run.bundles.back().bytes = 4ULL << 30;
  const std::string text = explain_fit(run, 6);
  EXPECT_HAS(text, "its fits are done: it trains candidate 2 (C = 10) on every row\n");
  EXPECT_HAS(text, "needs 4.0 GiB of a device's memory; 1 of 2 devices can hold that");
  EXPECT_HAS(text, "node 0, opencl:0 has been working for 12 s");
  run.last.reset();
  EXPECT_HAS(explain_fit(run, 6), "it is waiting for a device, or one is working on it\n");
  run.live = false;
  EXPECT_HAS_NOT(explain_fit(run, 6), "waiting for a device");
  for (journal::FitRecord& record : run.view.records)
    if (record.fit % 2 == 0) record.status = journal::FitStatus::failed;
  EXPECT_HAS(explain_fit(run, 6), "no candidate has a result in every fold");
  run.view.plan.folds = 0;  // without validation, there is only one candidate
  run.view.plan.candidates.resize(1);
  run.view.records.clear();
  EXPECT_HAS(explain_fit(run, 0), "slot 0: the refit\n  not finished");
  EXPECT_HAS(explain_fit(run, 0), "it trains candidate 0 (C = 0.1) on every row");
}

TEST(ExplainRefit, ReportsWhereItRanAndItsResult) {
  Inspection run = refitted(refit_record());
  run.view.events = {event_record(1001, Kind::failed, 1, "host:0", 6, 1, "the driver crashed"),
                     event_record(1002, Kind::moved, 0, "opencl:0", 6, 2, "out of memory"),
                     event_record(1003, Kind::failed, 1, "host:0", 2, 1, "of a fit")};
  run.view.repeats = {run.view.refits[0]};
  const std::string text = explain_fit(run, 6);
  EXPECT_HAS(text, "slot 6: the refit: candidate 2 (C = 10)\n  ok, 7 of 10 test rows wrong\n");
  EXPECT_HAS(text, "node 0, opencl:0 (opencl/Card), bundle 4, attempt 1, started after 6.0 s");
  EXPECT_HAS(text, "after 1.0 s: attempt 1 failed on node 1, host:0: the driver crashed\n");
  EXPECT_HAS(text, "after 2.0 s: attempt 2 was taken from node 0, opencl:0: out of memory\n");
  EXPECT_HAS(text, "which does not count: ok, 7 of 10 test rows wrong\n");
  EXPECT_HAS_NOT(text, "of a fit");
  EXPECT_HAS(text, "its model is gone: `mokume resume runs/tiny/1` trains it again\n") << "there is no such directory";
  run.view.data_classes = 0;
  run.view.refits[0].values = {2.5};
  EXPECT_HAS(explain_fit(run, 6), "ok, test mse 2.5 on 10 rows\n");
  run.view.refits[0].n = 0;
  EXPECT_HAS(explain_fit(run, 6), "ok, there are no test rows\n");
}

TEST(ExplainRefit, ReportsWhyItFailed) {
  Inspection run = refitted(refit_record());
  run.live = false;
  run.view.refits[0].status = journal::FitStatus::failed;
  run.view.refits[0].note = "the loss is not finite";
  const std::string text = explain_fit(run, 6);
  EXPECT_HAS(text, "  failed\n");
  EXPECT_HAS(text, "note of the model: the loss is not finite\n  `mokume resume runs/tiny/1` tries it again\n");
  EXPECT_HAS(explain_run(run), "6 of 6 fits, 1 of 1 refit\n");
  EXPECT_HAS(explain_run(run), "failed for good:\n  the refit: the loss is not finite\n");
}

TEST(ExplainFit, NamesNoDeviceForAFitThatWasGivenUp) {
  Inspection run = refitted(refit_record());
  run.live = false;
  for (journal::FitRecord* record : {&run.view.records[2], &run.view.refits[0]}) {
    record->status = journal::FitStatus::failed;
    record->device.clear();
    record->values.clear();
    record->end_s = 1004;
    record->note = "failed 3 times, last on host:0: the driver crashed";
  }
  for (const uint32_t fit : {2U, 6U}) {
    const std::string text = explain_fit(run, fit);
    EXPECT_HAS(text, "  failed\n  given up after 4.0 s: failed 3 times, last on host:0: the driver crashed\n");
    EXPECT_HAS_NOT(text, "note of the model");
    EXPECT_HAS_NOT(text, "computed by");
  }
  EXPECT_HAS(explain_fit(run, 6), "tries it again");
  run.view.refits[0].refit.reset();  // no candidate has a result, so the failed fits stay failed
  EXPECT_HAS_NOT(explain_fit(run, 6), "tries it again");
}

TEST(ExplainRun, ListsWhatWentWrong) {
  Inspection run = running();
  run.view.records[1].status = journal::FitStatus::failed;
  run.view.records[1].note = "diverged";
  run.view.repeats = {test::fit_record(2)};
  run.view.disagreements = {{2, true, "fit 2 has one result here and another there"}};
  run.view.events = {event_record(1001, Kind::failed, 1, "host:0", 2, 1, "the driver crashed"),
                     event_record(1002, Kind::retired, 1, "host:0", -1, 0, "it failed twice"),
                     event_record(1003, Kind::lost, 3, "", -1, 0, "silent for 30 s"),
                     event_record(1004, Kind::returned, 3, "", -1, 0, "")};
  const std::string text = explain_run(run);
  EXPECT_HAS(text, "runs/tiny/1: live, 4 of 6 fits, 0 of 1 refit\n");
  EXPECT_HAS(text, "retired devices:\n  after 2.0 s: node 1, host:0 was retired: it failed twice\n");
  EXPECT_HAS(text, "lost nodes:\n  after 3.0 s: node 3 was lost: silent for 30 s\n  after 4.0 s: node 3 returned\n");
  EXPECT_HAS(text, "failed for good:\n  fit 1: candidate 0, fold 1: diverged\n");
  EXPECT_HAS(text, "after 1.0 s: fit 2: candidate 1, fold 0: attempt 1 failed on node 1, host:0: the driver crashed\n");
  EXPECT_HAS(text, "1 result computed more than once");
  EXPECT_HAS(text, "fit 2 has one result here");
  run.view.events.assign(80, run.view.events[0]);
  EXPECT_HAS(explain_run(run), "and 30 more are in the journal\n");
}

TEST(ExplainRun, ReportsThatNothingWentWrong) {
  EXPECT_HAS(explain_run(running()), "no device was retired, no node lost, no fit failed or moved\n");
  Inspection run = killed();
  EXPECT_HAS(explain_run(run), "runs/tiny/1: dead (killed), 4 of 6 fits, 0 of 1 refit\n");
  EXPECT_HAS(explain_run(run), "next: mokume resume");
  run.view.state = "stopped";
  run.exit_reason = "stopped on request";
  EXPECT_HAS(explain_run(run), ": stopped on request, 4 of 6 fits, 0 of 1 refit\n");
}

}  // namespace
}  // namespace mokume::inspect
