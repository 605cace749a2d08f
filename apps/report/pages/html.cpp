#include "report/pages/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.hpp"
#include "plots.embed.hpp"
#include "report.embed.hpp"
#include "report/charts/confusion.hpp"
#include "report/charts/figure.hpp"
#include "report/charts/learning_curve.hpp"
#include "report/charts/numbers.hpp"
#include "report/charts/structure.hpp"
#include "report/charts/style.hpp"
#include "report/pages/devices.hpp"
#include "report/pages/events.hpp"
#include "report/pages/headline.hpp"
#include "report/pages/markup.hpp"
#include "report/pages/members.hpp"
#include "report/tensorboard.hpp"
#include "results/class_scores.hpp"
#include "results/nested.hpp"
#include "tables.embed.hpp"

namespace mokume::report {
namespace {

using journal::FitRecord;
using journal::FitStatus;

constexpr size_t kTopCandidates = 20;
constexpr size_t kMaxNotes = 20;
constexpr size_t kFewPlots = 4;  // more plots are folded, except the best candidate's

// ---- the plots

std::string surface_section(const Figure& figure, const std::vector<NamedFile>& plots) {
  const auto maps = inlined(plots, "plots/heatmap");
  const std::string body = joined(maps) + joined(inlined(plots, "plots/candidates."));
  if (body.empty()) return {};
  const bool cut = figure.surface && maps.size() < figure.groups.size();
  return section(
      figure.surface ? "The whole search" : "Candidates compared",
      cut ? fmt::format("The page shows the first {} of {} heat maps.", maps.size(), figure.groups.size()) : "", body);
}

// Returns the index of the box plot that contains the best candidate, or 0 if there is none.
size_t main_box_plot(const Figure& figure) {
  const auto panels = figure.box_panels();
  const auto found = std::find_if(panels.begin(), panels.end(), [&](const BoxPanel& panel) {
    const auto& in = panel.candidates;
    return figure.best && std::find(in.begin(), in.end(), *figure.best) != in.end();
  });
  return found == panels.end() ? 0 : static_cast<size_t>(found - panels.begin());
}

std::string box_section(const Figure& figure, const std::vector<NamedFile>& plots) {
  const auto boxes = inlined(plots, "plots/box-");
  const size_t count = boxes.size();
  const bool single = figure.view.plan.fits_per_candidate() == 1;
  if (count == 0 || (single && figure.surface)) return {};  // the heat map shows every fit
  std::string lead =
      single ? "Each dot is a fit."
             : "Boxes hold the middle half, whiskers reach the furthest value within 1.5 box heights, dots are fits.";
  if (count > 1) lead += " All plots share one vertical axis.";
  if (figure.y && !figure.surface)
    lead += " The candidates do not fill a grid, so each numeric parameter has its own plot.";
  const size_t wanted = figure.box_panel_count();
  if (count < wanted) lead += fmt::format(" The page shows the {} of {} plots with the best means.", count, wanted);
  const std::string grid = fmt::format("<div class=\"grid\">\n{}</div>\n", joined(boxes));
  const std::string title = figure.unit.title.empty() ? "Fits" : "Spread of the " + figure.unit.name;
  if (count > 1 && count <= kFewPlots) return section(title, lead, grid);
  const std::string main = fmt::format("<div class=\"main\">\n{}</div>\n", boxes.at(main_box_plot(figure)));
  return section(title, lead, count == 1 ? main : main + folded(fmt::format("All {} plots", count), grid));
}

std::string training_section(const results::RunView& view, const std::vector<NamedFile>& plots) {
  const std::string body = joined(inlined(plots, "plots/curves-"));
  if (body.empty()) return {};
  std::string lead;
  if (std::any_of(view.records.begin(), view.records.end(), [](const auto& r) { return !r.curves.empty(); }))
    lead = fmt::format("Each fit is a thin line, in colour for the best candidates{}.",
                       view.plan.bootstraps > 1 ? "" : "; the refit is the thick line");
  if (const ChosenEvents events = event_files(view); events.fits < events.of)
    lead += fmt::format(" logs/tensorboard has the {} best of {} fits; the journal has all curves.",
                        results::grouped(events.fits), results::grouped(events.of));
  return section("Training", lead, body);
}

// ---- the tables

std::string nested_section(const results::RunView& view) {
  if (!view.nested || view.nested->each.empty()) return {};
  const bool numbers = view.nested->pooled.mse.has_value();
  const std::string metric = results::estimate_of(view).metric;
  const bool measured = metric != "error" && metric != "mse";
  const auto text = [&](double value) {
    return numbers ? results::pretty(value) : fmt::format("{:.2f}\u00A0%", 100 * value);
  };
  Table table({{"outer fold", true},
               {"chosen in its inner folds"},
               {"inner mean", true},
               {"test rows", true},
               {numbers ? "test MSE" : "test error", true}});
  if (measured) table.add_column({"test " + results::elide(metric, 24), true});
  for (const results::NestedFold& one : view.nested->each) {
    std::vector<Cell> row{Cell::id(one.fold), one.best.empty() ? results::kNoValue : results::elide(one.best, 120),
                          results::pretty(one.validation), Cell::count(static_cast<uint64_t>(one.n)),
                          Cell(text(one.value()), one.value())};
    if (measured) row.emplace_back(results::pretty(one.measures.at(metric)), one.measures.at(metric));
    table.row(row);
  }
  return section("Nested cross-validation",
                 "The whole experiment was repeated without each outer fold and tested on its rows: " +
                     results::nested_text(view) +
                     ". Unlike the mean of the best candidate, this estimate is not biased " + "by its choice.",
                 table.html(true));
}

// Says how the rows were predicted.
std::string predicted_by(results::ResultByClass::Rows rows, const search::Plan& plan) {
  using Rows = results::ResultByClass::Rows;
  if (rows == Rows::test) return {};
  if (rows == Rows::outer)
    return " Each row was predicted by the model that was tuned and trained without its outer fold.";
  if (plan.candidates_per_bootstrap() <= 1) return " Each row was predicted in the fold that validates it.";
  return " Each row was predicted by the best candidate in the fold that validates it. The best of many candidates is "
         "somewhat better here than on new rows.";
}

std::string classes_section(const results::RunView& view, const std::vector<NamedFile>& plots) {
  const results::ResultByClass by_class = results::result_by_class(view);
  const results::TestResult* const result = by_class.result;
  if (result == nullptr) return {};
  const std::vector<results::ClassScore> scores = results::class_scores(view, *result);
  Table table({{"class"},
               {by_class.rows_text() + std::string(" rows"), true},
               {"precision", true},
               {"recall", true},
               {"F1", true}});
  for (const results::ClassScore& one : scores) {
    table.row({results::elide(one.name, 60), Cell::count(static_cast<uint64_t>(one.rows)),
               Cell(results::pretty(one.precision), one.precision), Cell(results::pretty(one.recall), one.recall),
               Cell(results::pretty(one.f1), one.f1)});
  }
  return section("Errors by class",
                 "Recall is the share of a class that was found, precision the share of right answers among those "
                 "that name the class, and F1 their harmonic mean." +
                     predicted_by(by_class.rows, view.plan),
                 joined(inlined(plots, kConfusionPlot)) + table.html(true));
}

std::string numbers_section(const results::RunView& view, const std::vector<NamedFile>& plots) {
  if (!view.validated || view.validated->points.empty()) return {};
  return section("Predicted numbers",
                 "Each row was predicted by the best candidate in the fold that validates it; out_of_fold.csv lists "
                 "them all.",
                 joined(inlined(plots, kPredictedPlot)) + joined(inlined(plots, kResidualsPlot)));
}

std::string learning_curve_section(const results::RunView& view, const std::vector<NamedFile>& plots) {
  if (!view.curve || view.curve->points.empty()) return {};
  const results::Unit unit = results::unit_of(results::Metric{view.curve->metric});
  Table table({{"training rows", true}, {"mean " + results::elide(unit.title, 24), true}, {"sd", true}});
  for (const results::LearningCurve::Point& one : view.curve->points)
    table.row({Cell::count(static_cast<uint64_t>(std::max<int64_t>(0, one.rows))),
               Cell(unit.spread(one.mean), one.mean), Cell(unit.spread(one.sd), one.sd)});
  return section(
      "Learning curve",
      "The best candidate was cross-validated on growing parts of the rows. A curve that still falls, or rises "
      "for a score, promises a better model from more rows.",
      joined(inlined(plots, kLearningCurve)) + table.html(true));
}

std::string structure_section(const results::RunView& view, const std::vector<NamedFile>& plots) {
  const std::string drawing = joined(inlined(plots, kStructurePlot));
  if (drawing.empty()) return {};
  const std::string whose =
      view.plan.n_candidates() > 1 ? "These are the layers of the best candidate's network. " : "";
  return section("Network",
                 whose + "Each box names the layer, the shape of its output and the number of its parameters.",
                 element("div", "class=\"tall\" tabindex=\"0\"", drawing));
}

// Returns the metrics other than the selecting one that fit into a table.
std::vector<size_t> shown_metrics(const std::vector<results::Metric>& metrics) {
  constexpr size_t kMost = 6;
  std::vector<size_t> others = results::other_metrics(metrics);
  others.resize(std::min(others.size(), kMost));
  return others;
}

bool is_number(const search::Plan& plan, size_t candidate, size_t param) {
  const auto& values = plan.candidates[candidate];
  return param < values.size() && !std::holds_alternative<std::string>(values[param]);
}

std::vector<Cell> candidate_cells(const Figure& figure, size_t c, const std::vector<size_t>& others) {
  const search::Plan& plan = figure.view.plan;
  const results::CandidateRow& row = figure.pooled[c];
  std::vector<Cell> cells = {Cell::id(row.rank), Cell::id(c)};
  for (size_t p = 0; p < plan.params.size(); ++p) {
    const auto& values = plan.candidates[c];
    cells.emplace_back(p < values.size() ? results::pretty(values[p]) : "",
                       is_number(plan, c, p) ? search::to_text(values[p]) : "");
  }
  if (plan.rungs() > 1) cells.push_back(Cell::id(row.rung));
  for (const double value : {row.mean, row.sd, row.min, row.max})
    cells.push_back(row.complete ? Cell(figure.unit.spread(value), value) : results::kNoValue);
  if (!row.complete) cells.end()[-4] = row.failed > 0 ? "a fit failed" : "not finished";
  for (const size_t m : others)
    cells.push_back(row.each[m] ? Cell(results::pretty(row.each[m]->mean), row.each[m]->mean) : results::kNoValue);
  return cells;
}

std::string candidates_section(const Figure& figure) {
  const auto& plan = figure.view.plan;
  if (plan.candidates.empty() || plan.folds == 0) return {};
  Table table({{"rank", true}, {"candidate", true}});
  for (size_t p = 0; p < plan.params.size(); ++p)
    table.add_column({results::elide(plan.params[p], 40), is_number(plan, 0, p)});
  if (plan.rungs() > 1) table.add_column({"rung", true});
  for (const std::string& head :
       {"mean " + figure.unit.title, std::string("sd"), std::string("min"), std::string("max")})
    table.add_column({head, true});
  const std::vector<size_t> others = shown_metrics(figure.view.metrics);
  for (const size_t m : others) table.add_column({"mean " + results::elide(figure.view.metrics[m].name, 24), true});
  bool sortable = true;
  const auto order = figure.ranking(kTopCandidates);
  for (const size_t c : order) {
    sortable &= figure.pooled[c].complete;
    table.row(candidate_cells(figure, c, others), figure.best == c ? "class=\"first\"" : "");
  }
  const size_t total = plan.trials > 0 ? figure.ranking(plan.candidates.size()).size() : plan.candidates.size();
  return section(order.size() < total ? fmt::format("The {} best of {} {}", order.size(), results::grouped(total),
                                                    plan.trials > 0 ? "trials" : "candidates")
                                      : "Candidates",
                 "candidates.csv contains all of them with full precision.", table.html(sortable));
}

// Lists the model's notes on fits and refits that failed or were capped: failures first, then the most frequent notes.
std::string notes_table(const results::RunView& view) {
  struct Note {
    FitStatus status;
    std::string text, example;
    size_t fits = 0;
  };
  std::map<std::pair<FitStatus, std::string>, Note> notes;
  const auto add = [&](const FitRecord& record) {
    if (record.status != FitStatus::failed && record.status != FitStatus::capped) return;
    const std::string text = results::elide(record.note, 240);
    ++notes.try_emplace({record.status, text}, Note{record.status, text, results::fit_name(view.plan, record.fit)})
          .first->second.fits;
  };
  for (const FitRecord* record : results::recorded(view)) add(*record);
  for (const FitRecord& refit : view.refits) add(refit);
  if (notes.empty()) return {};
  std::vector<const Note*> order;
  for (const auto& [key, note] : notes) order.push_back(&note);
  std::stable_sort(order.begin(), order.end(), [](const Note* a, const Note* b) {
    const bool fa = a->status == FitStatus::failed, fb = b->status == FitStatus::failed;
    return fa != fb ? fa : a->fits > b->fits;
  });
  Table table({{"status"}, {"fits", true}, {"first"}, {"note"}});
  for (size_t i = 0; i < std::min(order.size(), kMaxNotes); ++i) {
    const Note& note = *order[i];
    table.row({journal::to_text(note.status), results::grouped(note.fits), note.example,
               note.text.empty() ? results::kNoValue : note.text});
  }
  return "<h3>Notes</h3>\n" + table.html(false) +
         left_out(order.size(), kMaxNotes, "more kinds of notes are in the journal");
}

std::string fits_section(const Figure& figure) {
  const results::RunView& view = figure.view;
  const std::string notes = notes_table(view);
  const size_t planned = view.plan.n_fits(), failed = results::count_fits(view, FitStatus::failed);
  if (planned == 0) return notes.empty() ? "" : section("Fits", "", notes);
  size_t unusable = 0;  // fits without a value for ranking, whatever their status
  size_t ill_determined = 0;
  for (const results::CandidateRow& row : figure.pooled) unusable += row.failed, ill_determined += row.ill_determined;
  std::string body;
  const auto add = [&](const char* name, size_t number, const char* classes) {
    body += element("div", number > 0 ? classes : "", element("b", "", results::grouped(number)) + name) + '\n';
  };
  const auto add_if_any = [&](const char* name, size_t number, const char* classes = "") {
    if (number > 0) add(name, number, classes);
  };
  add("done", results::count_fits(view, FitStatus::ok), "");
  add_if_any("copied from an equal problem", results::count_fits(view, FitStatus::copied));
  add_if_any("stopped at the iteration cap", results::count_fits(view, FitStatus::capped));
  add_if_any("ill-determined: the tolerance leaves the class of more than 2 % of the rows open", ill_determined);
  add("failed", failed, "class=\"bad\"");
  add_if_any("without a finite value, left out of plots", unusable - std::min(failed, unusable), "class=\"bad\"");
  const size_t dropped = results::count_dropped(view);
  add_if_any("dropped by successive halving", dropped);
  const size_t over = dropped + results::recorded(view).size();
  add_if_any("not finished", planned - std::min(planned, over));
  return section("Fits", "", element("div", "class=\"counts\"", '\n' + body) + '\n' + notes);
}

std::string environment_section(const results::RunView& view) {
  std::string facts;
  const auto add = [&](const std::string& key, const std::string& value) {
    facts += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape(key), escape(value));
  };
  for (const std::string& line : base::split(view.environment, '\n')) {
    if (base::trim(line).empty()) continue;
    const size_t colon = line.find(": ");
    if (colon == std::string::npos)
      add("", line);
    else
      add(line.substr(0, colon), line.substr(colon + 2));
  }
  add("plan", view.plan_hash);
  add("data, SHA-256", view.data_sha256);
  std::string body;
  if (!view.reproduce.empty()) body += fmt::format("<h3>Run it again</h3>\n<pre>{}</pre>\n", escape(view.reproduce));
  body += fmt::format("<h3>Environment</h3>\n<dl class=\"facts\">\n{}</dl>\n", facts);
  if (!view.config_toml.empty())
    body += folded("Resolved experiment file", fmt::format("<pre>{}</pre>\n", escape(view.config_toml)));
  return section("How to reproduce", "", body);
}

}  // namespace

std::string report_html(const results::RunView& view, const std::vector<NamedFile>& plots, bool live) {
  const Figure figure(view);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "{}<title>{} – mokume report</title>\n<style>\n{}{}{}</style>\n</head>\n<body>\n<main>\n",
      live ? fmt::format("<meta http-equiv=\"refresh\" content=\"{}\"/>\n", kRefreshSeconds) : "",
      escape(results::elide(view.name, 80)), palette_css(), kReport, plot_css());
  out += headline(figure) + members_section(view, plots) + nested_section(view) + classes_section(view, plots) +
         numbers_section(view, plots) + learning_curve_section(view, plots) + surface_section(figure, plots) +
         box_section(figure, plots) + training_section(view, plots) + structure_section(view, plots);
  if (plots.empty())
    out += section("Plots", "There is nothing to plot: the plan has no candidates or no selecting metric.", "");
  out += candidates_section(figure) + devices_section(view) + team_section(view.team) + profile_section(view.profiles) +
         fits_section(figure) + events_section(view) + environment_section(view);
  return out + fmt::format("</main>\n<script>\n{}{}</script>\n</body>\n</html>\n", kTables, kPlots);
}

}  // namespace mokume::report
