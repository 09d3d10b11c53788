// The lanes and settings of the status page, and what only the operator sees.
#include <algorithm>

#include <fmt/format.h>

#include "chart/chart.h"
#include "publish/promise.h"
#include "serve/page_parts.h"

namespace nustream::serve::page {
namespace {

/// A duration in milliseconds with three digits; a dash where there is none yet.
std::string milliseconds(const std::optional<double>& seconds) {
  return seconds ? fmt::format("{:.3g} ms", 1000 * *seconds) : "–";
}

/// Whether the lane has taken the last step that its budget allows.
bool is_over(const ShownLane& lane) {
  return lane.settings.last_step && lane.steps >= *lane.settings.last_step;
}

/// Says why there is nothing to show, or nothing new.
void append_absence(const PageView& view, std::string& out) {
  // Which of these reasons holds is for the operator: the operator's /readyz tells.
  if (view.lanes.empty()) {
    out +=
        "<p class=\"what\">No lane is open here: the service starts, waits for its broker, or other instances have "
        "all lanes.</p>\n";
  } else if (!view.is_open) {
    out +=
        "<p class=\"alarm\" id=\"former\">No lane is open here: the service waits for its broker, or other instances "
        "have all lanes. What stands below is the last that was published here. It stays as it is, and others may "
        "have gone on since.</p>\n";
  }
}

}  // namespace

void append_summary(const PageView& view, const ShownLane* lane, std::string& out) {
  out += "<section id=\"summary\" aria-label=\"Summary\">\n";
  append_absence(view, out);
  if (lane != nullptr) {
    out += "<p class=\"what\">" + chart::escaped(lane->settings.subject.empty() ? "A private estimate of a stream."
                                                                                : lane->settings.subject);
    const std::uint64_t records = lane->settings.records_of_a_step;
    out += fmt::format("</p>\n<dl class=\"facts big\"><div><dt>Steps taken, one {}</dt><dd>{}</dd></div>",
                       records == 1 ? "a record" : "for " + count(records) + " records", count(lane->steps.value()));
    if (lane->release) append_fact("Last published at step", count(lane->release->step), out);
    // By what all epochs have spent together: a reader has all of their releases.
    append_fact("A guess about one is right at most", times_in_hundred(right_guesses(lane->total.value())), out);
    out += "</dl>\n";
  }
  out += view.ready ? "<p class=\"state good\">Ready.</p>\n" : "<p class=\"state\">Not ready.</p>\n";
  for (const ShownLane* const each : view.lanes) {
    if (!is_over(*each)) continue;
    out += fmt::format(
        "<p class=\"alarm\">The budget of lane {} is used up: no other record takes a step, and the last estimate "
        "stays.</p>\n",
        each->settings.header.lane.value());
  }
  out += "</section>\n";
}

void append_lanes(const PageView& view, std::string& out) {
  // The table lets a reader choose a lane; with one there is nothing to choose.
  if (view.lanes.size() < 2) return;
  out +=
      "<section id=\"lanes\" aria-labelledby=\"lanes-h\"><h2 id=\"lanes-h\">Lanes</h2><div class=\"scroll tall\" "
      "tabindex=\"0\" role=\"region\" aria-label=\"Table of lanes\"><table><thead><tr><th scope=\"col\">Lane</th><th "
      "scope=\"col\">Epoch</th><th scope=\"col\">Steps</th><th scope=\"col\">Published at</th><th scope=\"col\">ρ "
      "spent</th></tr></thead><tbody>\n";
  for (const ShownLane* const lane : view.lanes) {
    const publish::ReleaseHeader& header = lane->settings.header;
    // "Published at" is a step, and not a time: the public page shows no clock.
    const bool current = header.lane == view.lane;
    out += fmt::format(
        "<tr><th scope=\"row\"><a href=\"/lanes/{0}\"{1}>{0}</a></th><td>{2}</td><td>{3}</td><td>{4}</td><td>{5}</td>"
        "</tr>\n",
        header.lane.value(), current ? " aria-current=\"page\"" : "", header.epoch.value(),
        count(lane->steps.value()), lane->release ? count(lane->release->step) : "–", data(lane->total.value()));
  }
  out += "</tbody></table></div></section>\n";
}

void append_settings(const ShownLane& lane, std::string& out) {
  const PublicLane& settings = lane.settings;
  out +=
      "<section id=\"settings\" aria-labelledby=\"settings-h\"><h2 id=\"settings-h\">Settings</h2><dl "
      "class=\"facts\">";
  const std::optional<publish::PromisedUser>& user = settings.header.promise.user;
  append_fact(
      fmt::format("Noise, in units of what one {} (σ)", user ? "contribution of a user can do" : "record can do"),
      data(settings.noise_multiplier.value()), out);
  // Limits leave records out, so that the model is that of the records that count.
  if (user) append_fact("What is estimated", chart::escaped(publish::estimand_words(user->limits)), out);
  append_fact("How far one unit can move all that is encoded", data(settings.sensitivity.value()), out);
  // Steps are numbered from 0, so that the next one has the number of those that were taken.
  if (settings.schedule) {
    append_fact("Size of the next step (η)", data(settings.schedule->at(StepIndex{lane.steps.value()})), out);
  }
  append_fact("Steps between releases", count(settings.release_every.value()), out);
  if (settings.last_step) append_fact("The budget ends at step", count(settings.last_step->value()), out);
  append_fact("Neighbours", chart::escaped(settings.header.promise.adjacency), out);
  append_fact("Epoch of the noise key", count(settings.header.epoch.value()), out);
  if (!settings.header.public_key.empty()) {
    append_fact("Public key of its releases", "<code>" + chart::escaped(settings.header.public_key) + "</code>", out);
  }
  append_fact("Digest of the settings", "<code>" + chart::escaped(settings.header.settings_digest) + "</code>", out);
  out += "</dl></section>\n";
}

void append_operator(const OperatorView& view, std::string& out) {
  out +=
      "<section id=\"operator\" class=\"operator\" aria-labelledby=\"operator-h\"><h2 id=\"operator-h\">For the "
      "operator "
      "alone</h2><p class=\"alarm\">Not private: what stands here depends on single records. Show it to nobody who "
      "must "
      "not learn about them.</p><dl class=\"facts big\">";
  append_fact("Phase", chart::escaped(view.phase), out);
  append_fact("Records a second, of late",
              view.records_per_second ? fmt::format("{:.4g}", *view.records_per_second) : std::string("–"), out);
  out += "</dl>\n";
  // What stands in the way, line by line, as /readyz says it.
  if (view.readiness != "ready\n") out += "<pre class=\"why\">" + chart::escaped(view.readiness) + "</pre>\n";
  out +=
      "<div class=\"scroll tall\" tabindex=\"0\" role=\"region\" aria-label=\"Table of lanes, for the "
      "operator\"><table><thead><tr><th scope=\"col\">Lane</th><th scope=\"col\">State</th><th class=\"text\" "
      "scope=\"col\">Reason</th><th scope=\"col\">Records</th><th scope=\"col\">Unusable</th><th "
      "scope=\"col\">Waiting</th><th scope=\"col\">Clipped</th><th scope=\"col\">Commit</th><th "
      "scope=\"col\">Release "
      "latency</th></tr></thead><tbody>\n";
  for (const OperatorLane& lane : view.lanes) {
    out += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"state-{}\">{}</td><td class=\"text\">{}</td><td>{}</td><td>{}</td>"
        "<td>{}</td><td>{:.1f}%</td><td>{}</td><td>{}</td></tr>\n",
        lane.lane.value(), name(lane.state), name(lane.state), chart::escaped(lane.reason),
        count(static_cast<std::uint64_t>(lane.records)), count(static_cast<std::uint64_t>(lane.rejected)),
        count(static_cast<std::uint64_t>(std::max(lane.lag, 0.0))), 100 * lane.clipped_ratio,
        milliseconds(lane.commit_seconds), milliseconds(lane.release_latency_seconds));
  }
  out += "</tbody></table></div><p>Commit and latency are means since this process took the lane.</p></section>\n";
}

}  // namespace nustream::serve::page
