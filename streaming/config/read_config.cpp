// Reads a whole file of settings: small sections here, large ones by the readers of read_sections.h. read_tree() has
// the order, which matters where one section's defaults or checks depend on another one.
#include "config/config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "config/estimator_choice.h"
#include "config/json_pointer.h"
#include "config/ranges.h"
#include "config/read_sections.h"
#include "config/settings_tree.h"
#include "config/typed.h"
#include "nustream/moments/stage_noise.h"

namespace nustream::config {
namespace {

privacy::Adjacency read_adjacency(const Section& section, Purpose purpose) {
  using privacy::Adjacency;
  const bool table = purpose == Purpose::table;
  return section.choice<Adjacency>("adjacency", table ? Adjacency::replace_one : Adjacency::zero_out,
                                   {{"zero-out", Adjacency::zero_out}, {"replace-one", Adjacency::replace_one}});
}

/// Reads one δ or several, none of them twice.
std::vector<Delta> read_deltas(const Section& section) {
  constexpr std::size_t most = 8;
  std::vector<Delta> deltas;
  for (const double value : section.number_or_numbers("delta")) {
    try {
      deltas.emplace_back(value);
    } catch (const InvalidParameter& error) {
      section.refuse("delta", error.allowed());
    }
    if (std::count(deltas.begin(), deltas.end(), deltas.back()) > 1) section.refuse("delta", "none of them twice");
  }
  if (!section.has("delta")) section.missing("delta");
  // Each release lists ε at every δ by each conversion, so that their number is bounded.
  if (deltas.empty() || deltas.size() > most)
    section.refuse("delta", "one number with 0 < delta < 1, or up to 8 of them");
  return deltas;
}

Privacy read_privacy(const Section& section, Purpose purpose) {
  const std::vector<Delta> deltas = read_deltas(section);
  Privacy privacy{section.as<Rho>("rho"), section.as<Epsilon>("epsilon"), deltas.front(),
                  read_adjacency(section, purpose), section.as<Rho>("budget")};
  // σ is calibrated at the first δ alone; the others are for reporting.
  privacy.more_deltas.assign(deltas.begin() + 1, deltas.end());
  if (privacy.rho && privacy.epsilon) {
    // An override of rho replaces epsilon in the file, and the other way round.
    // Both in the file, or both on the command line: nobody can tell which one is meant.
    if (section.is_override("rho") == section.is_override("epsilon")) {
      section.refuse("epsilon", "one of rho and epsilon, not both");
    }
    section.is_override("rho") ? privacy.epsilon.reset() : privacy.rho.reset();
  }
  if (!privacy.rho && !privacy.epsilon) section.missing("rho");
  if (privacy.rho && privacy.rho->value() == 0) section.refuse("rho", "a finite number > 0");
  if (privacy.epsilon && privacy.epsilon->value() == 0) section.refuse("epsilon", "a finite number > 0");
  if (privacy.budget && privacy.budget->value() == 0) section.refuse("budget", "a finite number > 0");
  // What the unit asks for is read last, by read_users(). Other sections need to know it before that.
  privacy.of_user = section.text("unit") == "user";
  privacy.account = section.text("account").value_or("");
  privacy.protects = section.choice<Protects>("protects", Protects::record,
                                              {{"record", Protects::record}, {"target", Protects::target}});
  privacy.calibration =
      section.choice<Calibration>("calibration", Calibration::exact,
                                  {{"exact", Calibration::exact}, {"proposition-3.1", Calibration::proposition_3_1}});
  return privacy;
}

/// Reads [state]. The default folder is runs/NAME below the working directory.
State read_state(const Section& section, const std::string& stream) {
  State state{section.text("directory").value_or("runs/" + stream),
              section.text("key_file").value_or(""),
              section.text("key_directory").value_or(""),
              section.text("witness").value_or(""),
              section.count("commit_records").value_or(std::uint64_t{1} << 18),
              section.number("commit_seconds").value_or(1.0),
              section.flag("rejects").value_or(false)};
  if (state.directory.empty()) section.refuse("directory", "a folder's path");
  // The variable holds a path, never the key itself.
  if (const auto variable = section.text("key_file_env")) {
    if (!state.key_file.empty()) section.refuse("key_file_env", "only without key_file");
    const char* path = std::getenv(variable->c_str());  // NOLINT(concurrency-mt-unsafe): before any thread
    if (path == nullptr || *path == '\0') section.refuse("key_file_env", "a variable that is set to the key's path");
    state.key_file = path;
  }
  if (state.commit_records == 0) section.refuse("commit_records", "a whole number > 0");
  if (!(state.commit_seconds > 0)) section.refuse("commit_seconds", "a number > 0");
  return state;
}

/// Reads how long a committed outbox may wait for its batch, at most 10^6 seconds.
std::chrono::milliseconds read_linger(const Section& release) {
  const double seconds = release.number("linger_seconds").value_or(0);
  if (!(seconds >= 0 && seconds <= 1e6)) release.refuse("linger_seconds", "a number of seconds >= 0");
  return std::chrono::milliseconds(std::llround(seconds * 1000));
}

/// Reads release.every_seconds. Running sums release every step, and a table has no clock. So neither has this
/// setting.
std::chrono::duration<double> read_interval(const Section& release, Purpose purpose, bool solved) {
  const double seconds = release.number("every_seconds").value_or(0);
  if (!(seconds >= 0 && seconds <= 1e9))
    release.refuse("every_seconds", "a number of seconds >= 0; 0: by steps alone");
  if (seconds > 0 && (solved || purpose == Purpose::table)) {
    release.refuse("every_seconds", "0 for a table, and where model.estimator = \"moments\": every step is released");
  }
  return std::chrono::duration<double>(seconds);
}

/// What [descent] alone decides. The other settings of a descent follow once schema and loss are read.
lane::Settings empty_settings(const Section& descent) {
  return {.dimension = 0,
          .loss = {},
          .l2 = 0,
          .clip = descent.required<ClipNorm>("clip_norm"),
          .schedule = read_schedule(descent),
          .projection = read_projection(descent),
          .averaging = read_averaging(descent),
          .minibatch = descent.count("minibatch").value_or(1),
          .release_every = 1,
          .start = {}};
}

/// Whether the noise that the correlation leaves in a sum over many steps is known. In an endless stream it has to be
/// known for any number of steps.
bool knows_noise_of_sums(const noise::Correlation& correlation) {
  // One step more than what is computed without a recurrence (nustream/moments/stage_noise.h).
  constexpr std::uint64_t many = (std::uint64_t{1} << 22U) + 1;
  const std::uint64_t steps = correlation.horizon() ? std::min(many, correlation.horizon()->value()) : many;
  try {
    static_cast<void>(moments::StageNoise(correlation, 1).covariance(std::array{std::uint64_t{0}}, StepCount{steps}));
    return true;
  } catch (const Unsupported&) {
    return false;
  }
}

/// Reads privacy.clipped_share of a descent, once everything else of the descent is read.
void read_clipped_share(const Section& privacy, Config& config) {
  constexpr const char* key = "clipped_share";
  const double share = privacy.number(key).value_or(0);
  if (!(share >= 0 && share < 1)) privacy.refuse(key, "a number with 0 <= clipped_share < 1; 0: no count");
  if (share == 0) return;
  if (config.moments) privacy.refuse(key, "0 where model.estimator = \"moments\": no gradients are clipped there");
  if (config.descent.first_stage) {
    privacy.refuse(key, "0 where there are [[endogenous]] regressors: each stage clips a gradient of its own");
  }
  if (config.descent.users && config.descent.users->mass() && !(config.descent.users->mass()->value() > 1)) {
    privacy.refuse(
        key,
        "0 where users.mass is 1 or less: only contributions that are let in whole are counted, and with so small a "
        "mass none is let in whole");
  }
  if (!knows_noise_of_sums(config.noise.correlation)) {
    privacy.refuse(
        key,
        "0 under this noise.correlation: the noise that it leaves in a count of many steps is not known; use "
        "noise.correlation = \"rational\"");
  }
  config.shares.clipped = share;
  config.descent.counts_clipped = true;
}

/// Reads the settings that only a descent has.
void read_descent(const Section& root, Purpose purpose, const TwoStageColumns& two_stage, Config& config) {
  const Section release = root.section("release");
  // has() makes the keys of the other estimator known, so that they may stay in the file.
  static_cast<void>(root.has("moments"));
  static_cast<void>(release.has("moments"));
  read_first_stage(root, two_stage, config);
  constexpr const char* some_steps = "a whole number of steps > 0";
  config.descent.release_every = release.count("every", some_steps).value_or(purpose == Purpose::table ? 1 : 1000);
  if (config.descent.release_every == 0) release.refuse("every", some_steps);
  read_intervals(root, config, purpose);
  read_course(root, purpose, config);
  // Without a minibatch every step over a table takes all of its records.
  config.estimate.full_batch = !root.section("descent").has("minibatch");
}

}  // namespace

std::vector<std::string> section_names() {
  return {"stream",  "target",    "features", "instruments", "endogenous", "first_stage", "model",  "descent",
          "moments", "intervals", "estimate", "privacy",     "noise",      "kafka",       "local",  "serve",
          "release", "state",     "plan",     "users",       "ranges",     "log",         "weight", "exposure"};
}

std::string beside(const std::string& config_file, const std::string& input) {
  if (input == "-" || std::filesystem::path(input).is_absolute()) return input;
  // Relative to the settings, so that a command gives the same result from any working directory.
  return (std::filesystem::path(config_file).parent_path() / input).string();
}

std::string read_name(const Section& stream) {
  std::string name = stream.text_or_refuse("name");
  // The name becomes part of paths and of keys of topics, and stands in lines of JSON.
  if (name.find_first_of("/\n\r\t\\\"") != std::string::npos || name.size() > 128) {
    stream.refuse("name", "at most 128 characters, no slash, quote, backslash or line break");
  }
  return name;
}

Purpose purpose_of(const std::string& file, const std::vector<std::string>& overrides) {
  return SettingsTree(file, overrides).root().has("estimate") ? Purpose::table : Purpose::stream;
}

namespace {

/// Reads the share of ρ that measuring settings may cost.
double read_ranges_share(const Section& section) {
  const double share = section.number("share").value_or(0.2);
  if (!(share > 0 && share < 1)) section.refuse("share", "a number between 0 and 1");
  return share;
}

void check_positive(const Section& section, const char* key, std::optional<double> value) {
  if (value && !(*value > 0)) section.refuse(key, "a number > 0");
}

/// Reads the guesses of [plan]. They change nothing of a run, except where a setting asks for a choice.
ProblemGuesses read_problem_guesses(const Section& plan) {
  ProblemGuesses guesses{plan.count("records").value_or(0), plan.number("residual"), plan.number("distance"),
                         plan.numbers("second_moment_eigenvalues")};
  check_positive(plan, "residual", guesses.residual);
  check_positive(plan, "distance", guesses.distance);
  return guesses;
}

/// Reads how many first records of a topic are measured from.
std::uint64_t read_ranges_records(const Section& section) {
  constexpr std::uint64_t most = 10'000'000;  // the rows wait in memory
  const std::uint64_t records = section.count("records").value_or(20'000);
  if (records == 0 || records > most) section.refuse("records", "a whole number of records from 1 to 10,000,000");
  return records;
}

LaneId read_lane(const Section& stream) {
  const std::uint64_t lane = stream.count("lane").value_or(0);
  if (lane > std::numeric_limits<std::uint32_t>::max()) stream.refuse("lane", "a whole number below 2^32");
  return LaneId{static_cast<std::uint32_t>(lane)};
}

/// Checks the names of sections. This comes first, because a misspelt section would otherwise be reported as the
/// first setting that is missing in it.
void require_sections(const Section& root, const std::string& file) {
  root.allow(section_names());
  if (root.has("local") && !root.has("descent") && !root.has("moments")) {
    throw Failure(Exit::configuration, file +
                                           ": [local] is for nustream local randomize and local collect; this "
                                           "command takes the settings of a stream or a table, with [descent]");
  }
}

}  // namespace

Config read_tree(const SettingsTree& tree, const std::string& file, const std::vector<std::string>& overrides,
                 Purpose purpose) {
  const Section& root = tree.root();
  require_sections(root, file);
  const Section stream = root.section("stream");
  const Section release = root.section("release");
  const Section plan = root.section("plan");
  const std::string name = read_name(stream);
  // Settings of the other estimator are not read, so that --set model.estimator=… is enough to compare the two.
  const bool solved = asks_for_moments(root);
  TwoStageColumns two_stage;
  lane::Settings settings = solved ? settings_of_moments(root, purpose) : empty_settings(root.section("descent"));
  // Noise and descent are read before the rest, since a Config cannot be made without a correlation and a clip norm.
  Noise noise = solved ? noise_of_moments(root, settings.minibatch, purpose) : read_noise(root, purpose);
  // Members are initialised in their order, and so sections are read in this order. A fault in an earlier one is
  // the one that is reported.
  Config config{.file = file,
                .overrides = overrides,
                .stream = name,
                .lane = read_lane(stream),
                .input = read_input(stream, file),
                .schema = read_schema(root, two_stage),
                .descent = std::move(settings),
                .privacy = read_privacy(root.section("privacy"), purpose),
                .noise = std::move(noise),
                .state = read_state(root.section("state"), name),
                .kafka = read_kafka(root, name, root.section("privacy").text("unit") == "user"),
                .publishing = {.linger = read_linger(release),
                               .interval = read_interval(release, purpose, solved),
                               .outbox_bytes_max = release.count("outbox_bytes"),
                               .tells_ages = release.flag("spend_by_age").value_or(false)},
                .serve = read_serve(root.section("serve")),
                .log = read_log(root.section("log")),
                .problem = read_problem_guesses(plan),
                .guesses = read_user_guesses(plan),
                .measuring = {.share = read_ranges_share(root.section("ranges")),
                              .records = read_ranges_records(root.section("ranges"))},
                .purpose = purpose};
  // The partition that a recorded segment has to be of.
  if (stream.count("lane")) config.input.partition = config.lane.value();
  read_model(root.section("model"), config);
  read_weights(root, config);
  check_pointers(root, config.input);
  if (solved) {
    read_moments(root, purpose, two_stage, config);
  } else {
    read_descent(root, purpose, two_stage, config);
  }
  read_users(root, purpose, config);
  read_clipped_share(root.section("privacy"), config);
  // This follows the readers, because dimension and start need the schema, the loss and the first stage.
  check_together(root, purpose, config);
  if (!solved) read_trail(release, purpose, config);
  // Every section was read or made known by now. What nobody asked for is a misspelt key.
  root.finish();
  // Asked after finish(), which would otherwise refuse the keys of [moments] where a descent is set.
  config.problem.sums_end = root.section("moments").has("releases");
  name_look(config, {});
  return config;
}

Config read_config(const std::string& file, const std::vector<std::string>& overrides, Purpose purpose) {
  const Resolved resolved = resolve_estimator(file, overrides, purpose);
  // The settings that "auto" chose are overrides like those of the command line, but
  // Config::overrides keeps only the latter.
  SettingsTree tree(file, resolved.overrides);
  const auto [keys, place] = tree.take_private_out();
  if (!keys.empty()) {
    throw Failure(Exit::configuration,
                  fmt::format("{}: {} = \"private\": replay, estimate and attach measure it; this command takes "
                              "a number: measure it there with --write-config, and take the file that it writes",
                              place, keys.front()));
  }
  Config config = read_tree(tree, file, overrides, purpose);
  // A plan shows why "auto" chose what it chose.
  config.chosen = resolved.why;
  return config;
}

Config read_config_to_measure(const std::string& file, const std::vector<std::string>& overrides, Purpose purpose) {
  const Resolved resolved = resolve_estimator(file, overrides, purpose);
  SettingsTree tree(file, resolved.overrides);
  SettingsTree::Private taken = tree.take_private_out();
  Config config = read_tree(tree, file, overrides, purpose);
  config.chosen = resolved.why;
  config.measuring.keys = std::move(taken.keys);
  config.measuring.place = std::move(taken.place);
  return config;
}

std::string settings_as_toml(const std::string& file, const std::vector<std::string>& overrides) {
  return SettingsTree(file, overrides).text_without({});
}

}  // namespace nustream::config
