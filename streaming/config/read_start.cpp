// Reads descent.start, or moments.start, in its three forms: numbers, a table of coefficients by name, or a file
// whose last release is gone on from. A start is public, hence what a release must promise to be one.
#include "config/read_sections.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "config/moments.h"
#include "located.h"
#include "publish/original_units.h"
#include "publish/release_json.h"

namespace nustream::config {
namespace {

constexpr const char* start_key = "start";

using Named = std::vector<std::pair<std::string, double>>;

/// The parameter whose coefficients are `values`, in the centres and scales of these settings. They may come
/// from a run with others. Those that are named in `unknown` begin at 0.
std::vector<double> from_original_units(const Section& descent, const Config& config, const Named& values,
                                        const std::vector<std::string>& unknown = {}) {
  const publish::OriginalUnits units(config.schema, config.descent);
  std::vector<double> theta(config.descent.dimension, 0.0);
  const std::string wrong = units.invert(values, unknown, theta);
  if (!wrong.empty()) {
    std::string names;
    for (const std::string& name : units.names()) names += (names.empty() ? "" : ", ") + name;
    descent.refuse(start_key, "a number for each of " + names + ": " + wrong);
  }
  return theta;
}

/// The last line of a plain file, read from its end: settings must not wait for a device, nor read a huge file into
/// memory.
std::string last_line_of(const std::string& file) {
  // A release is far shorter than these 16 MiB. If the last line were longer, its end alone would
  // not parse as a release.
  constexpr std::uintmax_t read_max = std::uintmax_t{1} << 24;
  std::error_code wrong;
  const bool is_plain = std::filesystem::is_regular_file(file, wrong);
  const std::uintmax_t size = is_plain ? std::filesystem::file_size(file, wrong) : 0;
  std::ifstream input(file, std::ios::binary);
  if (!is_plain || wrong || !input) throw Failure(Exit::io, file + ": cannot be read; name a file of releases");
  if (size == 0) return {};
  input.seekg(static_cast<std::streamoff>(size - std::min(size, read_max)));
  std::string last;
  for (std::string line; std::getline(input, line);) {
    // The text begins within a line where the file is longer than what is read; only the last line counts.
    if (!line.empty()) last = std::move(line);
  }
  return last;
}

/// Reads the last line; a failure says of which file it is.
std::optional<publish::ShownRelease> last_release_of(const std::string& file) {
  const std::string line = last_line_of(file);
  try {
    return publish::read_release(line);
  } catch (const Failure& failure) {
    throw Failure(failure.code(), file + ": its last line is " + failure.what());
  }
}

/// The estimate of the last release of a file. It has to promise at least what these settings promise, since the new
/// run's releases show it again.
std::vector<double> from_release(const Section& descent, const Config& config, const std::string& name) {
  const std::string file = beside(config.file, name);
  std::error_code missing;
  const std::filesystem::path own = std::filesystem::path(config.state.directory) / "releases.jsonl";
  // Compared as files, so that another path to the same file is recognised. A file that is not there is no such file.
  if (std::filesystem::equivalent(file, own, missing)) {
    // The last line of such a file changes with every release, and so would the meaning of the settings.
    descent.refuse(start_key, "a file that runs do not write: a new epoch goes on from state.directory by itself");
  }
  // A failure to read it says which key names the file.
  const auto release = located(descent.place_of(start_key), [&file] { return last_release_of(file); });
  if (!release) descent.refuse(start_key, "a file whose last line is a release");
  // A start is a public setting and costs nothing here, which is right only for what was private already.
  if (!release->promise.is_private) {
    descent.refuse(
        start_key,
        "a release that is private; if the coefficients of another one may be known, write them as a table");
  }
  if (release->promise.target_only && config.privacy.protects != Protects::target) {
    descent.refuse(start_key, "a release that protects whole records, as privacy.protects does");
  }
  // A release that protects single records may tell a lot about a user who has many.
  if (config.privacy.of_user && !release->promise.user) {
    descent.refuse(start_key, "a release that protects users, as privacy.unit does");
  }
  // A promise for ever holds within any window, but a promise within windows does not hold for ever.
  const auto windows = release->promise.user ? release->promise.user->limits.windows() : std::nullopt;
  if (config.privacy.of_user && windows && windows != config.descent.users->windows()) {
    descent.refuse(start_key, "a release that protects users within the windows of users.period, or for ever");
  }
  return centre_of(config, from_original_units(descent, config, release->estimate, release->not_determined));
}

}  // namespace

std::vector<double> read_start(const Section& descent, const Config& config) {
  if (descent.is_text(start_key)) return from_release(descent, config, *descent.text(start_key));
  if (descent.is_table(start_key)) {
    return centre_of(config, from_original_units(descent, config, descent.section(start_key).named_numbers()));
  }
  std::vector<double> start = descent.numbers(start_key);
  const std::size_t parameters = centre_size(config);
  // Without the key, and for an empty array.
  if (start.empty()) start.assign(parameters, 0.0);
  if (start.size() != parameters) {
    const bool is_reduced = config.moments && config.descent.first_stage;
    descent.refuse(start_key, "one number for each of the " + std::to_string(parameters) +
                                  " parameters, the intercept first" +
                                  (is_reduced ? "; each endogenous regressor's on controls and instruments, then the "
                                                "target's"
                                   : config.descent.first_stage ? ", the second stage first"
                                                                : ""));
  }
  return start;
}

}  // namespace nustream::config
