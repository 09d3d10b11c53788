// A run as a page or a chart: reads the last epoch of the folder's releases, shows it by the sections of the status
// page, and adds the settings that make the run again. Nothing but releases and settings is read, so that a report is
// public.
#include "report/report.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "chart/chart.h"
#include "config/ranges.h"
#include "config/settings_tree.h"
#include "console/main_path.h"
#include "engine/release_encoder.h"
#include "engine/subject.h"
#include "error.h"
#include "journal/disk.h"
#include "journal/last_release.h"
#include "journal/outbox_folder.h"
#include "located.h"
#include "report/document.h"
#include "serve/page_parts.h"

namespace nustream::report {
namespace {

/// Lines are handed to the history in pieces of about this size, so that a long file is never in memory as a whole.
constexpr std::size_t piece_bytes = 1U << 20U;

/// The members that every release of one lane and epoch begins with, up to the step.
std::string beginning_of(const std::string& line) {
  // Such as {"format":1,"stream":"mine","lane":0,"epoch":0, for all releases of one epoch.
  return line.substr(0, line.find("\"step\":"));
}

/// The public settings of the lane. Where something was released, epoch, digest and limit are those of the last
/// release.
serve::PublicLane public_lane(const config::Config& config, const config::Mechanism& mechanism,
                              const std::optional<publish::ShownRelease>& last) {
  const engine::ReleaseIdentity identity{config.lane, last ? last->epoch : EpochId{0},
                                         last ? last->digest : std::string(), !last || last->promise.is_private};
  return {.header = engine::release_header(config, identity),
          .rho_limit = last ? Rho{last->rho_limit} : mechanism.spend.limit(),
          .noise_multiplier = mechanism.main().sigma,
          .sensitivity = mechanism.main().sensitivity,
          .schedule = config.moments ? std::nullopt : std::optional(config.descent.schedule),
          .budget = config.privacy.budget,
          .release_every = StepCount{config.descent.release_every},
          .records_of_a_step = config.descent.minibatch,
          .subject = engine::subject_of(config),
          .spend_by_age = {}};
}

/// Lets the release show intervals that are made of several runs or checkpoints, which no single release carries.
void take_over(const publish::ReportedIntervals& intervals, publish::ShownRelease& release) {
  // Where noise hides the estimate, there is nothing to put the intervals on.
  if (intervals.bounds.size() != release.estimate.size()) return;
  release.interval = intervals;
}

/// Appends what is estimated, and how many steps and records the last release has behind it.
void append_summary(const serve::ShownLane& lane, std::string& out) {
  out += fmt::format("<section aria-label=\"Summary\"><p class=\"what\">{}</p><dl class=\"facts big\">",
                     chart::escaped(lane.settings.subject));
  serve::page::append_fact("Steps", serve::page::count(lane.steps.value()), out);
  if (lane.release) {
    serve::page::append_fact("Records passed", serve::page::count(lane.release->position), out);
    if (lane.settings.header.promise.is_private) {
      serve::page::append_fact("A guess about one is right at most",
                               serve::page::times_in_hundred(serve::page::right_guesses(lane.total.value())), out);
    }
  }
  out += "</dl></section>\n";
}

/// A sentence that names the settings that were measured, which stand in place of "private"; empty where none was.
std::string measured_in_words(const config::Config& config) {
  std::string keys;
  for (const auto& [key, value] : config::measured_settings(config.ranges)) keys += (keys.empty() ? "" : ", ") + key;
  if (keys.empty()) return {};
  return "<p>Measured privately, and charged in an epoch of its own, in place of “private”: <code>" +
         chart::escaped(keys) +
         "</code>. A run of these numbers over the same records is a second spend, which adds to this one.</p>";
}

/// Appends the command and the settings that make the run again. What was measured stands in them as numbers.
void append_command(const config::Config& config, const Run& run, std::string& out) {
  std::vector<std::string> overrides = config.overrides;
  for (const auto& [key, value] : config::measured_settings(config.ranges)) overrides.push_back(key + '=' + value);
  out += same_again(run.command, settings_of(config.file, overrides), measured_in_words(config));
}

/// The last epoch of the state folder, with the run's own intervals where the release has none.
serve::ShownLane reported_lane(const config::Config& config, const config::Mechanism& mechanism, const Run& run) {
  const std::filesystem::path folder(config.state.directory);
  serve::ShownLane lane = shown_lane(config, mechanism, folder / journal::folder_files::releases);
  if (lane.release && lane.release->interval.bounds.empty() && run.intervals)
    take_over(*run.intervals, *lane.release);
  return lane;
}

}  // namespace

void add_history(const std::string& file, const std::string& last, serve::History& history) {
  std::ifstream lines(file);
  if (!lines) throw system_failure(Exit::io, "read", file, errno, "restore it");
  // A folder's file holds all epochs. Lines of the same lane and epoch begin alike, so that the others are skipped
  // without being parsed.
  const std::string beginning = beginning_of(last);
  std::string piece;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(beginning)) continue;
    piece += line + '\n';
    if (piece.size() < piece_bytes) continue;
    history.add(piece);
    piece.clear();
  }
  history.add(piece);
}

std::string again(const config::Config& config, const folder::Options& options) {
  config::Config plain = config;
  plain.overrides.clear();
  std::string command = folder::command_to_go_on(plain, options, "");
  // The option to go on with stands last, and is empty here.
  while (command.ends_with(' ')) command.pop_back();
  return command;
}

serve::ShownLane shown_lane(const config::Config& config, const config::Mechanism& mechanism,
                            const std::string& releases) {
  const auto disk = journal::posix_disk();
  const std::string line = std::filesystem::exists(releases) ? journal::last_line(*disk, releases) : std::string();
  std::optional<publish::ShownRelease> last = located(releases, [&] { return publish::read_release(line); });
  serve::ShownLane lane{.settings = public_lane(config, mechanism, last),
                        .history = serve::History(StepCount{config.descent.release_every})};
  lane.epsilons = publish::epsilons_of(Rho{0}, lane.settings.header.deltas());
  if (!last) return lane;
  add_history(releases, line, lane.history);
  lane.steps = StepCount{last->step};
  lane.rho = Rho{last->rho};
  // What the release says of all epochs, so that no ledger has to be read, which is not public.
  lane.total = Rho{last->rho_ledger};
  lane.epsilons = publish::epsilons_of(lane.rho, lane.settings.header.deltas());
  lane.spend_by_age = serve::spend_by_age(mechanism.spend, lane.steps);
  lane.release = std::move(last);
  return lane;
}

std::string chart_file(const config::Config& config, const config::Mechanism& mechanism, const Run& run) {
  const serve::ShownLane lane = reported_lane(config, mechanism, run);
  if (!lane.release || lane.release->estimate.empty()) {
    const std::string nothing =
        config.stream + (lane.release ? ": noise hides the estimate" : ": nothing is published yet");
    // A file was asked for, and is written in any case: the picture says that there is nothing to draw.
    return chart::svg_file({.title = nothing, .summary = nothing, .x = {"steps", true}, .y = {}, .layers = {}});
  }
  const publish::NamedValues& values = lane.release->estimate;
  const std::size_t j = console::main_coefficient(*lane.release);
  chart::Chart chart = serve::page::coefficient_chart(lane.history, *lane.release, j, values[j].first);
  chart.title = fmt::format("{}: {}", config.stream, chart.title);
  chart.width = 720;
  chart.height = 360;
  return chart::svg_file(chart);
}

std::string settings_of(const std::string& file, const std::vector<std::string>& overrides) {
  const config::SettingsTree settings(file, overrides);
  // These sections name brokers, places and files of secrets.
  return settings.text_without(std::array<std::string_view, 4>{"kafka", "local", "serve", "state"});
}

std::string same_again(const std::string& command, const std::string& settings, const std::string& remark) {
  return section(
      "again", "The same again",
      fmt::format("<p>By <code>{}</code>, with these settings (what is set on the command line is in them; "
                  "places, brokers and secrets are left out):</p>{}{}",
                  chart::escaped(command), copied("Settings to copy", settings), remark));
}

std::string page(const config::Config& config, const config::Mechanism& mechanism, const Run& run) {
  const serve::ShownLane lane = reported_lane(config, mechanism, run);
  const serve::PageView view{.stream = config.stream, .lanes = {&lane}, .lane = config.lane, .is_file = true};
  std::string out;
  append_summary(lane, out);
  serve::page::append_coefficients(view, lane, out);
  serve::page::append_privacy(lane, out);
  serve::page::append_settings(lane, out);
  append_command(config, run, out);
  return document({config.stream, std::move(out)});
}

}  // namespace nustream::report
