// report.html: one file without references to others; well-formed as HTML and as XML.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.hpp"
#include "report/charts/figure.hpp"
#include "report/pages/headline.hpp"
#include "report/pages/markup.hpp"
#include "report/pages/page.hpp"

namespace mokume::report {
namespace {

constexpr size_t kTopCandidates = 20;
constexpr size_t kMaxNotes = 20;
constexpr size_t kMaxDevices = 64;
constexpr size_t kFewPlots = 4;  // shown at once; of more, only the one with the best candidate, the rest folded away

// ---- the plots

bool is_box_plot(const NamedFile& file) { return file.name.rfind("plots/box-", 0) == 0; }
bool is_members_plot(const NamedFile& file) {
  return file.name == kMemberPlot || file.name.starts_with(kExemplarPlots);
}
bool is_curve_plot(const NamedFile& file) { return file.name.rfind("plots/curves-", 0) == 0; }

std::string surface_section(const Figure& figure, const std::vector<NamedFile>& plots) {
  std::string body;
  size_t shown = 0;
  for (const NamedFile& file : plots) {
    if (is_box_plot(file) || is_curve_plot(file) || is_members_plot(file)) continue;
    body += inlined(file.content, "plot");
    ++shown;
  }
  if (body.empty()) return {};
  std::string lead;
  if (figure.surface && shown < figure.groups.size()) {
    lead = fmt::format("The first {} of {} heat maps are drawn.", shown, figure.groups.size());
  }
  return section(figure.surface ? "The whole search" : "Candidates compared", lead, body);
}

// The file of the box plot that holds the best candidate, or of the first.
std::string main_box_plot(const Figure& figure) {
  const auto panels = figure.box_panels();
  for (const BoxPanel& panel : panels) {
    const auto& in = panel.candidates;
    if (figure.best && std::find(in.begin(), in.end(), *figure.best) != in.end()) return panel.file;
  }
  return panels.empty() ? "" : panels.front().file;
}

std::string box_section(const Figure& figure, const std::vector<NamedFile>& plots) {
  const std::string main = main_box_plot(figure);
  std::string first, all;
  size_t count = 0;
  for (const NamedFile& file : plots) {
    if (!is_box_plot(file)) continue;
    ++count;
    all += inlined(file.content, "plot");
    if (file.name == main) first = inlined(file.content, "plot main");
  }
  if (count == 0) return {};
  std::string lead =
      "Boxes hold the middle half, whiskers reach the furthest value within 1.5 box heights, dots are fits.";
  if (count > 1) lead += " All plots share one vertical axis.";
  if (figure.y && !figure.surface) lead += " The candidates fill no grid: one plot for each numeric parameter.";
  const size_t wanted = figure.box_panel_count();
  if (count < wanted) lead += fmt::format(" Drawn are the {} of {} plots with the lowest means.", count, wanted);
  const std::string grid = fmt::format("<div class=\"grid\">\n{}</div>\n", all);
  const std::string title = figure.unit.title.empty() ? "Fits" : "Spread of the " + figure.unit.name;
  if (count == 1) return section(title, lead, first);
  if (count <= kFewPlots) return section(title, lead, grid);
  return section(title, lead,
                 first + fmt::format("<details>\n<summary>All {} plots</summary>\n{}</details>\n", count, grid));
}

std::string training_section(const RunView& view, const std::vector<NamedFile>& plots) {
  std::string body;
  for (const NamedFile& file : plots)
    if (is_curve_plot(file)) body += inlined(file.content, "plot");
  if (body.empty()) return {};
  std::string lead;
  if (std::any_of(view.records.begin(), view.records.end(), [](const auto& r) { return !r.curves.empty(); }))
    lead = view.plan.bootstraps > 1 ? "One thin line per fit, those of the best candidates in colour."
                                    : "One thin line per fit, those of the best candidates in colour; the refit is the "
                                      "thick one.";
  return section("Training", lead, body);
}

// ---- the tables

std::string candidate_rows(const Figure& figure, const std::vector<size_t>& order) {
  const auto& plan = figure.view.plan;
  std::string rows;
  for (const size_t c : order) {
    const Pooled& row = figure.pooled[c];
    rows += figure.best == c ? "<tr class=\"first\">" : "<tr>";
    rows += number_cell(fmt::format("{}", row.rank)) + number_cell(fmt::format("{}", c));
    for (size_t p = 0; p < plan.params.size(); ++p) {
      const auto& values = plan.candidates[c];
      if (p >= values.size())
        rows += cell("");
      else if (std::holds_alternative<std::string>(values[p]))
        rows += cell(pretty(values[p]));
      else
        rows += number_cell(pretty(values[p]), search::to_text(values[p]));
    }
    if (row.complete) {
      const Moments m = moments(row.values);
      for (const double value : {m.mean, m.sd, m.min, m.max}) {
        rows += number_cell(figure.unit.spread(value), base::shortest(value));
      }
    } else {
      rows += element("td", "class=\"n\" colspan=\"4\"", row.failed > 0 ? "a fit failed" : "not finished");
    }
    rows += "</tr>\n";
  }
  return rows;
}

std::string candidates_section(const Figure& figure) {
  const auto& plan = figure.view.plan;
  if (plan.candidates.empty() || plan.folds == 0) return {};
  std::vector<size_t> order(figure.pooled.size());
  for (size_t c = 0; c < order.size(); ++c) order[figure.pooled[c].rank - 1] = c;
  order.resize(std::min(order.size(), kTopCandidates));
  std::vector<std::pair<std::string, bool>> heads = {{"rank", true}, {"candidate", true}};
  for (size_t p = 0; p < plan.params.size(); ++p) {
    const auto& values = plan.candidates.front();
    heads.emplace_back(elide(plan.params[p], 40), p < values.size() && !std::holds_alternative<std::string>(values[p]));
  }
  heads.emplace_back("mean " + figure.unit.title, true);
  for (const char* name : {"sd", "min", "max"}) heads.emplace_back(name, true);
  const std::string title =
      order.size() < plan.candidates.size()
          ? fmt::format("The {} best of {} candidates", order.size(), grouped(plan.candidates.size()))
          : "Candidates";
  // Incomplete rows span columns, which a sort by column could not place.
  const bool sortable = std::all_of(order.begin(), order.end(), [&](size_t c) { return figure.pooled[c].complete; });
  return section(title, "All of them, with every digit, are in candidates.csv.",
                 table(sortable ? "sort" : "", heads, candidate_rows(figure, order)));
}

std::string devices_section(const RunView& view) {
  std::string body;
  const std::string chart = gantt(view);
  if (!chart.empty()) body += inlined(chart, "plot");
  std::string rows;
  double fastest = 0;
  for (const DeviceUse& use : view.devices) fastest = std::max(fastest, use.speed);
  for (size_t i = 0; i < std::min(view.devices.size(), kMaxDevices); ++i) {
    const DeviceUse& use = view.devices[i];
    rows += "<tr>" + number_cell(fmt::format("{}", use.node)) + cell(elide(use.id, 40)) + cell(elide(use.name, 80)) +
            cell(elide(use.vendor, 60)) + number_cell(grouped(use.fits), fmt::format("{}", use.fits)) +
            number_cell(seconds_text(use.busy_s), base::shortest(use.busy_s)) +
            number_cell(fastest > 0 ? percent(use.speed / fastest) : "–", base::shortest(use.speed)) + "</tr>\n";
  }
  if (!rows.empty()) {
    body += "<h3>Devices</h3>\n" + table("sort",
                                         {{"node", true},
                                          {"device", false},
                                          {"name", false},
                                          {"vendor", false},
                                          {"fits", true},
                                          {"busy", true},
                                          {"speed", true}},
                                         rows);
  }
  if (view.devices.size() > kMaxDevices) {
    body +=
        fmt::format("<p class=\"soft\">{} more are listed in summary.json.</p>\n", view.devices.size() - kMaxDevices);
  }
  if (body.empty()) return {};
  const std::string lead = fmt::format(
      "Bars are bundles of fits (red: a fit failed), the pale track is idle time. Fits kept the devices busy for {} in "
      "all. Efficiency {}: time at work over time present, each device weighted by its speed, which was {}.",
      seconds_text(report::busy_seconds(all_work(view))), percent(view.efficiency),
      view.speeds == Speeds::measured ? "measured before the run" : "estimated from the work it did");
  return section("Devices at work", lead, body);
}

// Failed and capped fits and refits with what the model said about them, the most frequent note first.
std::string notes_table(const RunView& view) {
  struct Note {
    size_t fits = 0;
    std::string example;
  };
  std::map<std::pair<journal::FitStatus, std::string>, Note> notes;
  const auto add = [&](const journal::FitRecord& record) {
    const bool told = record.status == journal::FitStatus::failed || record.status == journal::FitStatus::capped;
    if (!told) return;
    Note& note = notes[{record.status, elide(record.note, 240)}];
    if (note.fits++ == 0) note.example = fit_name(view.plan, record.fit);
  };
  for (const auto* record : by_fit(view.plan, view.records))
    if (record != nullptr) add(*record);
  for (const journal::FitRecord& refit : view.refits) add(refit);
  std::vector<std::pair<std::pair<journal::FitStatus, std::string>, Note>> order(notes.begin(), notes.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    const bool fa = a.first.first == journal::FitStatus::failed, fb = b.first.first == journal::FitStatus::failed;
    return fa != fb ? fa : a.second.fits > b.second.fits;
  });
  std::string rows;
  for (size_t i = 0; i < std::min(order.size(), kMaxNotes); ++i) {
    const auto& [what, note] = order[i];
    rows += "<tr>" + cell(journal::to_text(what.first)) + number_cell(grouped(note.fits)) + cell(note.example) +
            cell(what.second.empty() ? "–" : what.second) + "</tr>\n";
  }
  if (rows.empty()) return {};
  std::string out = table("", {{"status", false}, {"fits", true}, {"first", false}, {"note", false}}, rows);
  if (order.size() > kMaxNotes) {
    out += fmt::format("<p class=\"soft\">{} more kinds of notes are in the journal.</p>\n", order.size() - kMaxNotes);
  }
  return "<h3>Notes</h3>\n" + out;
}

std::string fits_section(const Figure& figure, const Counts& counts) {
  const RunView& view = figure.view;
  if (counts.planned == 0) {  // straight to the refit
    const std::string notes = notes_table(view);
    return notes.empty() ? "" : section("Fits", "", notes);
  }
  size_t unusable = 0;  // no value to rank by, whatever the status
  for (const Pooled& row : figure.pooled) unusable += row.failed;
  const auto one = [](const char* name, size_t number, bool bad) {
    return fmt::format("<div{}><b>{}</b>{}</div>\n", bad && number > 0 ? " class=\"bad\"" : "", grouped(number), name);
  };
  std::string body = "<div class=\"counts\">\n";
  body += one("done", counts.ok, false);
  if (counts.copied > 0) body += one("copied from an equal problem", counts.copied, false);
  if (counts.capped > 0) body += one("stopped at the iteration cap", counts.capped, false);
  body += one("failed", counts.failed, true);
  if (unusable > counts.failed)
    body += one("without a finite value, left out of plots", unusable - counts.failed, true);
  if (counts.finished < counts.planned) body += one("not finished", counts.planned - counts.finished, false);
  return section("Fits", "", body + "</div>\n" + notes_table(view));
}

std::string environment_section(const RunView& view) {
  std::string facts;
  for (const std::string& line : base::split(view.environment, '\n')) {
    if (base::trim(line).empty()) continue;
    const size_t colon = line.find(": ");
    const std::string key = colon == std::string::npos ? "" : line.substr(0, colon);
    const std::string value = colon == std::string::npos ? line : line.substr(colon + 2);
    facts += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape(key), escape(value));
  }
  facts += fmt::format("<dt>plan</dt><dd>{}</dd>\n<dt>data, SHA-256</dt><dd>{}</dd>\n", escape(view.plan_hash),
                       escape(view.data_sha256));
  std::string body;
  if (!view.reproduce.empty()) body += fmt::format("<h3>Do it again</h3>\n<pre>{}</pre>\n", escape(view.reproduce));
  body += fmt::format("<h3>Environment</h3>\n<dl class=\"facts\">\n{}</dl>\n", facts);
  if (!view.config_toml.empty()) {
    body += fmt::format("<details>\n<summary>Resolved experiment file</summary>\n<pre>{}</pre>\n</details>\n",
                        escape(view.config_toml));
  }
  return section("How to reproduce", "", body);
}

}  // namespace

std::string report_html(const RunView& view, const std::vector<NamedFile>& plots) {
  const Figure figure(view);
  const Counts counts = count(view);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<title>{} – mokume report</title>\n<style>{}{}</style>\n</head>\n<body>\n<main>\n",
      escape(elide(view.name, 80)), kPageStyle, svg_style());
  out += headline(figure, counts);
  out += members_section(view, plots) + surface_section(figure, plots) + box_section(figure, plots) +
         training_section(view, plots);
  if (plots.empty())
    out += section("Plots", "There is nothing to plot: the plan has no candidates or no metric that selects.", "");
  out += candidates_section(figure) + devices_section(view) + team_section(view.team) + profile_section(view.profiles) +
         fits_section(figure, counts) + events_section(view) + environment_section(view);
  out += fmt::format("</main>\n<script>{}</script>\n</body>\n</html>\n", kPageScript);
  return out;
}

}  // namespace mokume::report
