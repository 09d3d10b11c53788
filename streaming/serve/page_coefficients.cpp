// The coefficients of the status page: a table of all, charts of some, and the mean of the lanes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "chart/chart.h"
#include "chart/rows.h"
#include "publish/intervals.h"
#include "publish/release_json.h"
#include "serve/page_parts.h"

namespace nustream::serve::page {
namespace {

constexpr std::size_t drawn_points = 128;            ///< points of a chart: as many as its width can resolve
constexpr std::size_t model_coefficients_drawn = 6;  ///< keeps the page small; the table has all
constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// The j-th value; not a number where the point has none, which leaves a gap in the line.
double at(const std::vector<double>& values, std::size_t j) {
  return j < values.size() ? values[j] : none;
}

/// The values to quote: the average once it has begun, and the iterate before.
const publish::NamedValues& quoted(const publish::ShownRelease& release) {
  return release.average.empty() ? release.estimate : release.average;
}

/// The column's name: running sums have no iterate.
const char* name_of_estimate(bool of_sums) {
  return of_sums ? "Estimate" : "Last iterate";
}

/// One coefficient as a row: the quoted value, its interval where there is one, and the last iterate behind an
/// average.
void append_row(const publish::ShownRelease& release, std::size_t j, std::string& out) {
  const auto& [name, value] = quoted(release)[j];
  out += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td>", chart::escaped(name),
                     release.is_determined(name) ? data(value) : "not determined");
  if (!release.interval.bounds.empty()) {
    out += fmt::format("<td>{}</td><td>{}</td>", data(release.interval.bounds[j].first),
                       data(release.interval.bounds[j].second));
  }
  if (!release.average.empty()) out += "<td>" + data(release.estimate[j].second) + "</td>";
  out += "</tr>\n";
}

/// All coefficients, however many there are; the charts show only some of them.
void append_table(const publish::ShownRelease& release, std::string& out) {
  out += fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of coefficients\"><table "
      "id=\"coefficients\"><caption>As published{}.</caption><thead><tr><th "
      "scope=\"col\">Coefficient</th><th "
      "scope=\"col\">{}</th>",
      release.step > 1 ? " at step " + count(release.step) : std::string(),
      release.average.empty() ? name_of_estimate(release.sums.records > 0) : "Average");
  if (!release.interval.bounds.empty()) out += "<th scope=\"col\">From</th><th scope=\"col\">To</th>";
  if (!release.average.empty()) out += "<th scope=\"col\">Last iterate</th>";
  out += "</tr></thead><tbody>\n";
  for (std::size_t j = 0; j < release.estimate.size(); ++j) append_row(release, j, out);
  out += "</tbody></table></div>\n";
}

/// Says in how many directions noise hides xxᵀ.
void append_floored(std::uint64_t floored, std::string& out) {
  if (floored == 0) return;
  out += fmt::format(
      "<p class=\"alarm\">Noise hides {} direction{} of the features: the estimate is a guess there.</p>\n",
      count(floored), floored == 1 ? "" : "s");
}

/// Says which columns' scales have grown.
void append_growth(const std::vector<publish::ShownGrowth>& grown, std::string& out) {
  if (grown.empty()) return;
  out +=
      fmt::format("<p>The scale of {} has grown: later records spread further than those that it was set for.</p>\n",
                  chart::escaped(publish::in_words(grown)));
}

/// Says whether the path has settled, where the release tells.
void append_verdict(const publish::ShownRelease& release, std::string& out) {
  const std::string words = publish::in_words(release.status.verdict, release.status.asks_interval);
  if (words.empty()) return;
  out += fmt::format("<p{}>Of this estimate {}.</p>\n",
                     publish::is_warning(release.status.verdict) ? " class=\"alarm\"" : "", words);
}

/// The Anderson–Rubin set in a few words.
std::string shown_set(const publish::ShownInstruments& of) {
  const std::string bounds = data(of.lower) + " to " + data(of.upper);
  if (of.set_kind == "interval") return bounds;
  if (of.set_kind == "outside") return "all but " + bounds;
  return of.set_kind == "everything" ? "every effect" : "no effect";
}

/// Says what the Anderson–Rubin set means where it is no interval.
std::string_view meaning(std::string_view kind) {
  if (kind == "interval") return "It holds whatever the instruments are worth.";
  if (kind == "outside")
    return "It is unbounded: the instruments are too weak to tell how large the effect is, and rule out only what "
           "lies "
           "between.";
  if (kind == "everything")
    return "It is unbounded on both sides: the instruments tell nothing of the effect at this noise.";
  return "It is empty: no effect fits all instruments, so that one of them acts on the target in another way too, or "
         "the model is wrong.";
}

/// Shows how strong the instruments of running sums are, and the set of effects that they do not reject.
void append_instruments(const publish::ShownInstruments& of, std::string& out) {
  out +=
      "<section id=\"instruments\" aria-labelledby=\"instruments-h\"><h2 id=\"instruments-h\">Instruments</h2>\n<dl "
      "class=\"facts\">";
  // A strength that is not known is no reason to trust the estimate.
  bool is_weak = of.effective_f.empty();
  for (const auto& [name, f] : of.effective_f) {
    is_weak |= f < publish::weak_effective_f;
    append_fact("Effective F of " + chart::escaped(name), (of.is_bounded ? "at least " : "") + data(f), out);
  }
  if (of.effective_f.empty()) append_fact("Effective F", "not known: noise hides the sums", out);
  if (!of.set_kind.empty()) {
    append_fact(fmt::format("Anderson–Rubin set, {:g}%", 100 * of.level), shown_set(of), out);
  }
  out += "</dl>\n";
  if (is_weak) {
    out +=
        "<p class=\"alarm\">The instruments are weak, or not known to be strong (F below 10): quote the set, not "
        "the estimate.</p>\n";
  }
  out += "<p>F says how much of the regressor the instruments explain, next to chance and privacy noise.";
  if (!of.set_kind.empty()) {
    out += fmt::format(" The set has the effects that the instruments do not reject. {}", meaning(of.set_kind));
  }
  if (of.is_bounded) {
    out +=
        " How much residuals vary is not known here, so they are taken to vary as much as their bounds allow: F is "
        "then too small, and the set too wide.";
  }
  out += "</p></section>\n";
}

/// The steps that intervals are made of; "" where it is one step, which is then the whole table.
std::string made_of(const publish::ReportedIntervals& intervals) {
  if (intervals.through <= 1) return {};
  return fmt::format(" They are made of {} steps, up to step {}.", count(intervals.effective_steps),
                     count(intervals.through));
}

/// Says at which level intervals cover what, and whether they are made of too few steps for that.
void append_coverage(const publish::ShownRelease& release, std::string& out) {
  if (const auto intervals = publish::reported_intervals(release)) {
    out += fmt::format("<p>Intervals ({}, {:g}%): {}.{}{}</p>\n", chart::escaped(intervals->kind),
                       100 * intervals->level, chart::escaped(intervals->covers), made_of(*intervals),
                       intervals->too_few ? " That is too few: they cover less often than they say." : "");
  }
}

/// Links to the coefficients before and after those that are drawn.
void append_turns(const PageView& view, const ShownLane& lane, std::size_t all, std::string& out) {
  if (view.is_file || all <= coefficients_of_a_page) return;
  const std::uint32_t id = lane.settings.header.lane.value();
  out += "<nav class=\"turns\" aria-label=\"More coefficients\"><span>Drawn:</span>";
  for (std::size_t first = 0; first < all; first += coefficients_of_a_page) {
    const std::size_t last = std::min(first + coefficients_of_a_page, all);
    out += fmt::format("<a href=\"/lanes/{}/from/{}\"{}>{}–{}</a>", id, first,
                       first == view.first_coefficient ? " aria-current=\"page\"" : "", first + 1, last);
  }
  out += "</nav>\n";
}

}  // namespace

chart::Chart coefficient_chart(const History& history, const publish::ShownRelease& release, std::size_t j,
                               const std::string& name) {
  chart::Layer band{"interval", chart::Mark::band, {}};
  chart::Layer iterate{"last iterate", chart::Mark::faint, {}};
  chart::Layer line{"quoted estimate", chart::Mark::line, {}};
  // Points are counted from the last one, so that it is always drawn.
  std::size_t behind = history.points().size();
  // At most drawn_points of the history's points are drawn, evenly spread.
  const std::size_t stride = (behind + drawn_points - 1) / drawn_points;
  for (const auto& [span, point] : history.points()) {
    if (--behind % stride != 0) continue;
    // Before the average begins, the iterate is the quoted estimate and there is nothing to draw faintly behind it.
    const auto x = static_cast<double>(point.step);
    const bool averaged = !point.average.empty();
    band.points.push_back({x, at(point.lower, j), at(point.upper, j)});
    iterate.points.push_back({x, averaged ? at(point.estimate, j) : none, 0});
    line.points.push_back({x, averaged ? at(point.average, j) : at(point.estimate, j), 0});
  }
  // The sentence that a screen reader reads. It has the numbers that others take from the picture.
  const double value = quoted(release)[j].second;
  std::string summary =
      fmt::format("{} quoted estimate is {}",
                  release.step > 1 ? fmt::format("At step {} the", count(release.step)) : std::string("The"),
                  release.is_determined(name) ? fmt::format("{:.4g}", value) : "not determined");
  if (!release.interval.bounds.empty()) {
    summary += fmt::format(", its interval {:.4g} to {:.4g}", release.interval.bounds[j].first,
                           release.interval.bounds[j].second);
  }
  return {.title = name + " over the steps",
          .summary = summary + ".",
          .x = {"steps", true},
          .y = {},
          .layers = {std::move(band), std::move(iterate), std::move(line)}};
}

namespace {

/// Whether there is a path to draw. A live page has one, however short; a file of one release has none.
bool has_path(const PageView& view, const ShownLane& lane) {
  return !view.is_file || lane.history.points().size() > 1;
}

/// Draws the coefficient's path, or where there is none, its interval beside 0.
std::string drawn(const PageView& view, const ShownLane& lane, std::size_t j, const std::string& id) {
  const auto& [name, value] = quoted(*lane.release)[j];
  const chart::Chart path = coefficient_chart(lane.history, *lane.release, j, name);
  if (has_path(view, lane)) return chart::svg(path, id);
  chart::Row row{.label = {}, .value = value, .shown = " "};
  if (!lane.release->interval.bounds.empty()) std::tie(row.low, row.high) = lane.release->interval.bounds[j];
  return chart::svg(
      chart::Rows{.title = name, .summary = path.summary, .axis = {}, .groups = {{"", {row}}}, .mark = 0.0}, id);
}

}  // namespace

void append_coefficients(const PageView& view, const ShownLane& lane, std::string& out) {
  out += "<section id=\"estimates\" aria-labelledby=\"estimates-h\"><h2 id=\"estimates-h\">Estimates";
  if (view.lanes.size() > 1) out += fmt::format(" of lane {}", lane.settings.header.lane.value());
  out += "</h2>\n";
  // The settings alone say when the first release comes, so that this sentence tells nothing of any record.
  if (!lane.release) {
    out += fmt::format("<p>Nothing is published yet: the first release comes after {} steps.</p></section>\n",
                       count(lane.settings.release_every.value()));
    return;
  }
  append_floored(lane.release->sums.floored, out);
  append_growth(lane.release->sums.grown, out);
  append_verdict(*lane.release, out);
  append_coverage(*lane.release, out);
  append_table(*lane.release, out);
  const std::size_t all = lane.release->estimate.size();
  append_turns(view, lane, all, out);
  out += "<div class=\"cards\">\n";
  // A file has no other page to turn to, so that it draws all.
  const std::size_t last = view.is_file ? all : std::min(view.first_coefficient + coefficients_of_a_page, all);
  for (std::size_t j = view.first_coefficient; j < last; ++j) {
    const std::string& name = lane.release->estimate[j].first;
    if (!lane.release->is_determined(name)) continue;  // the table says so, and there is nothing to draw
    // c0, c1 … are the charts of a lane and m0, m1 … those of the combined model: ids are unique in a document.
    const std::string id = fmt::format("c{}", j);
    out += fmt::format("<figure class=\"card\"><figcaption><h3>{}</h3><p><strong>{}</strong>", chart::escaped(name),
                       data(quoted(*lane.release)[j].second));
    if (!lane.release->interval.bounds.empty()) {
      out += fmt::format(" <span class=\"range\">{} to {}</span>", shown(lane.release->interval.bounds[j].first),
                         shown(lane.release->interval.bounds[j].second));
    }
    out += "</p></figcaption>" + drawn(view, lane, j, id) + "</figure>\n";
  }
  out += "</div>\n<p class=\"legend\">";
  out += has_path(view, lane)
             ? "Line: the quoted estimate. Band: its interval, where there is one. Faint: the last iterate behind an "
               "average.</p></section>\n"
             : "Dot: the estimate. Bar: its interval, where there is one. Dashed: 0.</p></section>\n";
  // Only sums with instruments have a strength to tell of.
  if (lane.release->sums.instruments) append_instruments(*lane.release->sums.instruments, out);
}

void append_model(const PageView& view, std::string& out) {
  if (view.model == nullptr || view.model->estimate.empty() || view.lanes.size() < 2) return;
  const publish::ShownRelease& model = *view.model;
  // A model that is solved has no iterate, and its columns other names.
  const bool of_sums = model.sums.records > 0;
  out += "<section id=\"model\" aria-labelledby=\"model-h\"><h2 id=\"model-h\">Combined model</h2>";
  append_floored(model.sums.floored, out);
  out += of_sums ? "<p>Solved from the sums of all lanes.</p>"
                 : "<p>The mean of the lanes, each weighted by its steps.</p>";
  out +=
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of the combined "
      "model\"><table><thead><tr><th scope=\"col\">Coefficient</th><th scope=\"col\">";
  out += model.average.empty() ? std::string(name_of_estimate(of_sums)) + "</th>"
                               : "Average</th><th scope=\"col\">Last iterate</th>";
  out += "</tr></thead><tbody>\n";
  for (std::size_t j = 0; j < model.estimate.size(); ++j) append_row(model, j, out);
  out += "</tbody></table></div>\n<div class=\"cards\">\n";
  const std::size_t drawn = std::min(model.estimate.size(), model_coefficients_drawn);
  for (std::size_t j = 0; view.model_history != nullptr && j < drawn; ++j) {
    const std::string& name = model.estimate[j].first;
    out += fmt::format(
        "<figure class=\"card\"><figcaption><h3>{}</h3><p><strong>{}</strong></p></figcaption>{}</figure>\n",
        chart::escaped(name), data(quoted(model)[j].second),
        chart::svg(coefficient_chart(*view.model_history, model, j, name), fmt::format("m{}", j)));
  }
  out +=
      "</div>\n<p class=\"legend\">Over the steps of all lanes together, since this process publishes the "
      "model.</p></section>\n";
}

}  // namespace nustream::serve::page
