// Reads the release that is solved from, and prints what comes of it.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "config/mechanism.h"
#include "console/path_printer.h"
#include "console/report_parts.h"
#include "journal/outbox_folder.h"
#include "publish/json_text.h"
#include "solve/solve.h"

namespace nustream::solve {
namespace {

std::string last_line_of(const std::string& file) {
  std::error_code unknown;
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

void print(const publish::ShownRelease& release, const Solution& solution) {
  std::size_t width = solution.target.size();
  for (const auto& [name, value] : solution.coefficients) width = std::max(width, name.size());
  fmt::print("{:<{}}  {:>14}\n", solution.target, width, "estimate");
  for (const auto& [name, value] : solution.coefficients) {
    fmt::print("{:<{}}  {:>14}\n", name, width, console::shown_number(value));
  }
  if (solution.floored > 0) {
    fmt::print("noise hides {} direction{} of these features: the answer is a guess there\n", solution.floored,
               solution.floored == 1 ? "" : "s");
  }
  fmt::print("from the release at step {}, epoch {}: nothing further is spent ({}, rho {:.6g})\n", release.step,
             release.epoch.value(), console::protected_unit(release.promise), release.rho);
  if (!release.promise.is_private) fmt::print("private         false: so is the release that this is made of\n");
}

std::string to_json(const publish::ShownRelease& release, const Solution& solution) {
  std::string out = "{\"target\":";
  publish::append_string(solution.target, out);
  publish::append_object("estimate", solution.coefficients, out);
  publish::append_field("floored", std::uint64_t{solution.floored}, out);
  publish::append_field("step", release.step, out);
  publish::append_field("rho", release.rho, out);
  publish::append_field("spent", 0.0, out);
  out += release.promise.is_private ? ",\"private\":true}" : ",\"private\":false}";
  return out;
}

}  // namespace

Exit run(const config::Config& config, const Options& options) {
  const std::string file =
      options.release.empty()
          ? (std::filesystem::path(config.state.directory) / journal::folder_files::releases).string()
          : options.release;
  const std::string line = last_line_of(file);
  const auto release = publish::read_release(line);
  if (!release) throw Failure(Exit::data, file + ": its last line is no release; name another file with --release");
  const auto sums = publish::read_sums(line);
  if (!sums) {
    throw Failure(Exit::data, file +
                                  ": its last release shows no sums; set release.moments = true for a run of "
                                  "model.estimator = \"moments\" (it costs nothing)");
  }
  if (!release->model.empty() && release->model != config::model_digest(config)) {
    throw Failure(Exit::data, file +
                                  ": its last release is of another model than these settings: of other features, "
                                  "transforms, target or loss");
  }
  const Solution solution = solve(config, *sums, options);
  options.json ? fmt::print("{}\n", to_json(*release, solution)) : print(*release, solution);
  return Exit::done;
}

}  // namespace nustream::solve
