// Reads the release that is solved from, and prints the solution.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "config/mechanism.h"
#include "console/path_printer.h"
#include "console/report_parts.h"
#include "journal/outbox_folder.h"
#include "publish/combined_model.h"
#include "publish/json_writer.h"
#include "shell_word.h"
#include "solve/solve.h"

namespace nustream::solve {
namespace {

/// The last line that is not empty; "" where there is none.
std::string last_line_of(const std::string& file) {
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown)) {
    const std::filesystem::path releases = std::filesystem::path(file) / journal::folder_files::releases;
    throw Failure(Exit::io,
                  file + ": is a folder; name the file of releases in it: --release " + in_shell(releases.string()));
  }
  std::ifstream lines(file, std::ios::binary);
  if (!std::filesystem::is_regular_file(file, unknown) || !lines) {
    throw Failure(Exit::io, file + ": cannot be read; name a file of releases with --release");
  }
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) last = std::move(line);
  }
  return last;
}

// The same words in the table and as JSON.
constexpr std::string_view covered =
    "what these records come to without the noise, scaled and clipped as they are; not what others would say";

/// What is solved from: a lane's release, or the combined model of several lanes.
struct Source {
  std::string name;
  std::optional<std::uint64_t> step;
  double rho;
  publish::Promise promise;
  std::string model;
};

/// What the line is; nothing where it is neither a release nor a combined model.
std::optional<Source> source_of(const std::string& file, const std::string& line) try {
  if (const auto release = publish::read_release(line)) {
    return Source{fmt::format("the release at step {}, epoch {}", release->step, release->epoch.value()),
                  release->step, release->rho, release->promise, release->model};
  }
  if (const auto model = publish::read_model(line)) {
    return Source{fmt::format("the combined model of {} lane{}", model->lanes, model->lanes == 1 ? "" : "s"),
                  std::nullopt, model->rho, model->promise, model->model};
  }
  return std::nullopt;
} catch (const Failure& failure) {
  throw Failure(failure.code(), file + ": its last line is " + failure.what());
}

/// Prints the solution as a table, and what it was made of. It says that nothing is spent, since readers will ask.
void print(const Source& source, const Solution& solution, double level) {
  std::size_t width = solution.target.size();
  for (const auto& [name, value] : solution.coefficients) width = std::max(width, name.size());
  const bool has_intervals = !solution.intervals.empty();
  fmt::print("{:<{}}  {:>14}{}\n", solution.target, width, "estimate",
             has_intervals ? fmt::format("  {:>14}  {:>14}", "from", "to") : "");
  for (std::size_t j = 0; j < solution.coefficients.size(); ++j) {
    const auto& [name, value] = solution.coefficients[j];
    fmt::print("{:<{}}  {:>14}", name, width, console::shown_number(value));
    if (has_intervals) {
      fmt::print("  {:>14}  {:>14}", console::shown_number(solution.intervals[j].lower()),
                 console::shown_number(solution.intervals[j].upper()));
    }
    fmt::print("\n");
  }
  if (has_intervals) fmt::print("{:g}% intervals: {}\n", 100 * level, covered);
  // An answer that does not exist is told, and is no failure: the release is what it is.
  if (solution.coefficients.empty()) {
    fmt::print("there is no answer: noise hides the instruments, or they do not tell the regressors apart\n");
  } else if (solution.floored > 0) {
    fmt::print("noise hides {} direction{} of these features: the answer is a guess there\n", solution.floored,
               solution.floored == 1 ? "" : "s");
  }
  fmt::print("from {}: nothing further is spent ({}, rho {:.6g})\n", source.name,
             console::protected_unit(source.promise), source.rho);
  if (!source.promise.is_private)
    fmt::print("private         false: the release that this is solved from is not private either\n");
}

/// Writes one end of all intervals by the coefficients' names.
void append_bounds(publish::MemberName key, const Solution& solution,
                   double (inference::Interval::*bound)() const noexcept, publish::JsonWriter& json) {
  const auto object = json.object(key);
  for (std::size_t j = 0; j < solution.intervals.size(); ++j) {
    json.field(solution.coefficients[j].first, (solution.intervals[j].*bound)());
  }
}

void append_intervals(const Solution& solution, double level, publish::JsonWriter& json) {
  const auto object = json.object("interval");
  json.field("level", level);
  json.field("covers", covered);
  append_bounds("lower", solution, &inference::Interval::lower, json);
  append_bounds("upper", solution, &inference::Interval::upper, json);
}

/// The solution as one object; "spent" is 0 for the same reason.
std::string to_json(const Source& source, const Solution& solution, double level) {
  return publish::object_text([&](publish::JsonWriter& json) {
    json.field("target", solution.target);
    json.fields("estimate", solution.coefficients);
    json.field("floored", solution.floored);
    if (!solution.intervals.empty()) append_intervals(solution, level, json);
    if (source.step) json.field("step", *source.step);
    json.field("rho", source.rho);
    json.field("spent", 0);
    json.field("private", source.promise.is_private);
  });
}

/// Whether the text holds numbers alone: one, or an array of them. A release may come from anywhere, and must set
/// nothing else.
bool is_of_numbers(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789+-.eE,[] ") == std::string_view::npos;
}

/// The settings with the values that the release tells in place of "private".
config::Config settled(const config::Config& asked, config::Purpose purpose, const std::string& file,
                       const std::string& line) {
  // Nothing is "private": the settings of the file are complete.
  if (asked.measuring.keys.empty()) return asked;
  const auto measured = publish::read_measured(line);
  std::vector<std::string> overrides = asked.overrides;
  for (const std::string& key : asked.measuring.keys) {
    const auto found = std::ranges::find(measured, key, &std::pair<std::string, std::string>::first);
    if (found == measured.end() || !is_of_numbers(found->second)) {
      throw Failure(
          Exit::data,
          fmt::format("{}: its last line does not tell the values of {}: {} = \"private\"; name the release of "
                      "one lane, or the configuration that --write-config wrote",
                      file, asked.file, key));
    }
    // These values were measured privately and are a part of the release, so that it costs nothing to use them.
    overrides.push_back(key + '=' + found->second);
  }
  return config::read_config(asked.file, overrides, purpose);
}

}  // namespace

Exit run(const config::Config& asked, config::Purpose purpose, const Options& options) {
  const std::string file =
      options.release.empty()
          ? (std::filesystem::path(asked.state.directory) / journal::folder_files::releases).string()
          : options.release;
  const std::string line = last_line_of(file);
  const auto source = source_of(file, line);
  if (!source) throw Failure(Exit::data, file + ": its last line is no release; name another file with --release");
  // A release shows its sums only where release.moments asked for it.
  const auto sums = publish::read_sums(line);
  if (!sums) {
    throw Failure(Exit::data, file +
                                  ": its last release shows no sums; set release.moments = true for a run of "
                                  "model.estimator = \"moments\" (it costs nothing; moments.stages = \"growing\" "
                                  "does not go with it)");
  }
  const config::Config config = settled(asked, purpose, file, line);
  // The digest of the model says what was fitted to what. Without this, sums of other features could be solved under
  // the wrong names, where their sizes happen to fit. Releases of earlier versions do not tell it.
  if (!source->model.empty() && source->model != config::model_digest(config)) {
    throw Failure(Exit::data, file +
                                  ": its last release is of another model than these settings: of other features, "
                                  "transforms, target or loss; name the configuration that it was made with");
  }
  const Solution solution = solve(config, *sums, options);
  options.json ? fmt::print("{}\n", to_json(*source, solution, config.intervals.level))
               : print(*source, solution, config.intervals.level);
  return Exit::done;
}

}  // namespace nustream::solve
