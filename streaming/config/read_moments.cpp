// Reads the settings of running sums. [moments] is read twice: first for the noise, which follows from the memory or
// the number of releases and is needed to make a Config, and then into that Config.
#include <algorithm>
#include <limits>
#include <string>

#include "config/growing_stages.h"
#include "config/moments.h"
#include "config/read_sections.h"
#include "nustream/base/error.h"

namespace nustream::config {
namespace {

/// The largest size of a step in numbers, because its rows wait in memory for its last one.
constexpr std::uint64_t step_numbers_max = std::uint64_t{1} << 27;

/// Reads the radii of a stage. A later stage has those of the stage before it for keys that it leaves out.
moments::Radii read_radii(const Section& section, const moments::Radii* before, bool two_stage) {
  moments::Radii radii = before != nullptr ? *before : moments::Radii{};
  const auto read = [&](const char* key, double& radius) {
    const auto value = section.number(key);
    if (!value && before == nullptr) section.missing(key);
    radius = value.value_or(radius);
    const bool in_range = radius >= 0x1p-100 && radius <= 0x1p100;  // false for NaN
    if (!in_range) section.refuse(key, "a number > 0, from 2^-100 to 2^100");
  };
  read("row_norm", radii.inputs);
  read("residual_bound", radii.target);
  if (two_stage) read("regressor_bound", radii.regressors);
  return radii;
}

/// Reads a number of records that has to be a whole number of steps.
std::uint64_t whole_steps(const Section& section, const char* key, std::uint64_t every) {
  const std::uint64_t records = section.count(key).value_or(0);
  // 0 is a table as a single step, within which no stage can begin.
  if (every == 0) section.refuse(key, "only together with release.every: without it a table is one step");
  if (records == 0 || records % every != 0) {
    section.refuse(key, "a multiple of release.every = " + std::to_string(every) + " records");
  }
  return records;
}

/// Whether units are to grow: moments.stages is a text then, in place of an array.
bool read_growth(const Section& section) {
  if (!section.is_text("stages")) return false;
  return section.choice<bool>("stages", false, {{"growing", true}});
}

/// Reads the radii of the first stage and [[moments.stages]]. A stage begins where a step does, since
/// radii hold for whole steps.
std::vector<Moments::Stage> read_stages(const Section& section, std::uint64_t every, bool two_stage) {
  std::vector<Moments::Stage> stages{{0, read_radii(section, nullptr, two_stage)}};
  if (section.is_text("stages")) return stages;
  for (const Section& stage : section.tables("stages")) {
    const std::uint64_t from = whole_steps(stage, "from", every);
    if (from <= stages.back().from) stage.refuse("from", "more records than the stage before it");
    stages.push_back({from, read_radii(stage, &stages.back().radii, two_stage)});
  }
  constexpr std::size_t most = 256;
  if (stages.size() > most) section.refuse("stages", "at most 255 further stages");
  return stages;
}

double read_positive(const Section& section, const char* key) {
  const double value = section.number(key).value_or(1);
  if (!(value > 0)) section.refuse(key, "a finite number > 0");
  return value;
}

/// Reads what only a stream has: memory, further stages at a distance, and the number of releases.
void read_memory(const Section& section, std::uint64_t every, Moments& moments) {
  if (const auto memory = section.count("memory")) {
    // ν is every/memory. With less than two steps of memory ν would be above 1/2.
    if (*memory < 2 * every || *memory / every > 1'000'000'000) {
      section.refuse("memory", "from 2 to 1e9 times release.every = " + std::to_string(every) + " records");
    }
    moments.memory = *memory;
  }
  if (section.has("restage_every")) {
    if (!moments.memory) section.refuse("restage_every", "only together with memory: other sums keep every stage");
    moments.restage_every = whole_steps(section, "restage_every", every);
    // After 42 memories nothing is left of a stage (nustream/moments/schedule). So this is the largest number of
    // stages that are kept.
    const std::uint64_t kept = 42 * (*moments.memory / every + 1) / (moments.restage_every / every);
    if (kept + moments.stages.size() > 256) {
      section.refuse("restage_every", "fewer than 256 stages within 42 memories");
    }
  }
  if (const auto releases = section.count("releases")) {
    if (*releases == 0 || *releases > 1'000'000'000) section.refuse("releases", "a whole number from 1 to 1e9");
    moments.releases = *releases;
  }
}

/// Refuses the settings that a table does not have: it is read once, from its beginning to its end, and its number of
/// records is public.
void refuse_of_a_table(const Section& section) {
  for (const char* key : {"memory", "restage_every"}) {
    if (section.has(key)) section.refuse(key, "none for a table: all of its records count alike");
  }
  if (section.has("releases")) section.refuse("releases", "none for a table: they follow from its records");
  if (section.is_text("stages")) section.refuse("stages", "an array for a table: its units are of the whole table");
}

/// Reads moments.solve. An adaptive ridge is for a table that is one step and whose records are private as a whole,
/// because the smallest eigenvalue is released once.
void read_solution(const Section& section, const Section& root, bool is_one_release, Moments& moments) {
  using Solution = moments::Solution;
  moments.solution = section.choice<Solution>("solve", Solution::floored,
                                              {{"floored", Solution::floored}, {"adassp", Solution::adassp}});
  const auto share = section.number("eigenvalue_share");
  moments.eigenvalue_share = share.value_or(moments.eigenvalue_share);
  if (!(moments.eigenvalue_share > 0 && moments.eigenvalue_share < 1)) {
    section.refuse("eigenvalue_share", "a number between 0 and 1");
  }
  if (moments.solution == Solution::floored) return;
  const auto refuse = [&](const char* why) { section.refuse("solve", std::string("\"floored\" ") + why); };
  // The ridge is computed from one noisy eigenvalue, which is paid for once. Each further release
  // would need another one.
  if (!is_one_release) {
    section.refuse("solve",
                   "\"floored\", except for a table without release.every: an adaptive ridge needs a single release");
  }
  if (moments.stages.size() > 1) refuse("where there are stages");
  if (root.has("endogenous")) refuse("where there are [[endogenous]] regressors");
  if (root.section("intervals").text("kind").value_or("none") != "none") {
    refuse("where there are [intervals]: a ridge has no formula for its own error");
  }
  const Section privacy = root.section("privacy");
  if (privacy.text("unit").value_or("record") != "record") refuse("where the unit of privacy is the user");
  if (privacy.text("protects").value_or("record") != "record") refuse("where features are public, and so is xx'");
}

/// Reads [moments] into a value of its own, which noise_of_moments() needs before there is a Config.
Moments read_section(const Section& root, std::uint64_t every, Purpose purpose) {
  const Section section = root.section("moments");
  if (!root.has("moments")) {
    root.section("model").refuse(
        "estimator",
        "\"moments\" together with [moments], where row_norm and residual_bound are required; "
        "set them there, or with --set moments.row_norm=… and --set moments.residual_bound=…");
  }
  Moments moments;
  moments.stages = read_stages(section, every, root.has("endogenous"));
  moments.names_stages = section.has("stages");
  moments.grows = read_growth(section);
  // This comes before add_growing_stages(), which needs the number of releases.
  purpose == Purpose::table ? refuse_of_a_table(section) : read_memory(section, every, moments);
  // These stages take the place of an array, which the settings then do not have.
  if (moments.grows) add_growing_stages(moments, every);
  if (section.has("residual_variance")) moments.residual_variance = read_positive(section, "residual_variance");
  const double share = section.number("second_moment_share").value_or(moments.second_moment_share);
  if (!(share > 0 && share < 1)) section.refuse("second_moment_share", "a number between 0 and 1");
  moments.second_moment_share = share;
  moments.regressor_share = section.number("regressor_share").value_or(moments.regressor_share);
  if (!(moments.regressor_share > 0 && moments.regressor_share < 1)) {
    section.refuse("regressor_share", "a number between 0 and 1");
  }
  read_solution(section, root, purpose == Purpose::table && every == 0, moments);
  // Where lanes are combined, their sums are released, because sums add up and estimates do not.
  const bool lanes_add_up = !root.section("kafka").text("model_topic").value_or("").empty();
  moments.release_sums = root.section("release").flag("moments").value_or(lanes_add_up);
  return moments;
}

/// Refuses units that grow where they cannot.
void require_room_to_grow(const Section& root, const Config& config) {
  if (!config.moments->grows) return;
  const bool by_user = root.section("privacy").text("unit").value_or("record") == "user";
  const std::string why =
      by_user ? "where the unit is the user: units grow for records alone" : why_units_stay(config);
  if (!why.empty()) root.section("moments").refuse("stages", "an array, or none, " + why);
}

/// Refuses the settings that only a descent has.
void refuse_of_moments(const Section& root, const Config& config) {
  // Keys of a descent's own sections may stand in the file; has() makes them known, so that they are not refused.
  for (const char* section : {"descent", "noise", "first_stage", "estimate"}) static_cast<void>(root.has(section));
  // [estimate] stays in a file whose estimator is changed by --set, with its one key.
  static_cast<void>(root.section("estimate").has("steps"));
  const Section model = root.section("model");
  if (config.descent.loss.kind != model::Loss::Kind::linear) {
    model.refuse("loss", "\"linear\" where estimator = \"moments\"");
  }
  if (config.descent.l2 > 0) model.refuse("l2", "0 where estimator = \"moments\"");
  if (config.privacy.calibration != Calibration::exact) {
    root.section("privacy").refuse("calibration", "\"exact\" where estimator = \"moments\"");
  }
}

/// Reads [intervals] of running sums. They cost a share of ρ, which is charged for the spread of the residuals.
void read_moment_intervals(const Section& root, Config& config) {
  using Kind = Intervals::Kind;
  const Section section = root.section("intervals");
  Intervals& intervals = config.intervals;
  intervals.kind = section.choice<Kind>(
      "kind", Kind::none, {{"none", Kind::none}, {"residuals", Kind::residuals}, {"sandwich", Kind::sandwich}});
  intervals.level = section.number("level").value_or(intervals.level);
  if (!(intervals.level > 0 && intervals.level < 1)) section.refuse("level", "a number between 0 and 1");
  // A sandwich pays for a matrix of moments, residuals for one variance.
  intervals.share = section.number("share").value_or(intervals.kind == Kind::sandwich ? 1.0 / 3 : 0.05);
  if (!(intervals.share > 0 && intervals.share < 1)) section.refuse("share", "a number between 0 and 1");
  for (const char* key : {"batches", "batch_steps", "second_moment_clip", "squared_residual_clip"}) {
    static_cast<void>(section.has(key));  // keys of a descent may stand beside those of running sums
  }
  Moments& moments = *config.moments;
  // The keys above are checked all the same, so that a mistake in them is seen before intervals are asked for.
  if (intervals.kind == Kind::none) return;
  if (intervals.kind == Kind::sandwich && config.descent.first_stage) {
    section.refuse("kind", "\"residuals\" where there are [[endogenous]] regressors");
  }
  moments.spread = intervals.kind == Kind::sandwich ? moments::Spread::sandwich : moments::Spread::residuals;
  // With instruments the spread follows from the residuals about the start (moments/response_spread.h).
  if (moments.stages.size() == 1 && moments.restage_every == 0 && !config.descent.first_stage) {
    section.refuse("kind",
                   "\"none\" where [moments] has one stage alone: residuals about the start are no estimate of the "
                   "spread; add [[moments.stages]]");
  }
}

/// Reads release.status. It is told beside every interval unless it is false; what it is computed from is kept all
/// the same, so that it can be told from any step on.
void read_moment_status(const Section& root, Purpose purpose, Config& config) {
  Moments& moments = *config.moments;
  const Section release = root.section("release");
  const std::optional<bool> asked = release.flag("status");
  // Sums that forget follow a drift by themselves, so that no status is kept for them (docs/intervals.md).
  moments.keeps_marks = purpose == Purpose::stream && moments.spread != moments::Spread::none && !moments.memory &&
                        !config.descent.first_stage;
  moments.tells_status = asked.value_or(true);
  if (!asked.value_or(false) || moments.keeps_marks) return;
  release.refuse("status",
                 "true with estimator = \"moments\" only for a stream with [intervals], without moments.memory and "
                 "without [[endogenous]] regressors: it is computed from what intervals pay for");
}

}  // namespace

bool asks_for_moments(const Section& root) {
  return root.section("model").choice<bool>("estimator", false,
                                            {{"descent", false}, {"moments", true}, {"auto", false}});
}

lane::Settings settings_of_moments(const Section& root, Purpose purpose) {
  const auto asked = root.section("release").count("every");
  if (asked == 0U) root.section("release").refuse("every", "a whole number of records > 0");
  // For a table 0 stands for all of its records, until their number is known. A stream has a
  // release every 1000 records.
  const std::uint64_t every = asked.value_or(purpose == Purpose::table ? 0 : 1000);
  // Running sums use the records of a step, which are `minibatch`, and that each step is released. The other
  // fields are a descent's.
  return {.dimension = 0,
          .loss = {},
          .l2 = 0,
          .clip = ClipNorm{1},
          .schedule = descent::Schedule{descent::Constant{StepSize{1}}},
          .projection = {},
          .averaging = {},
          .minibatch = every,
          .release_every = 1,
          .start = {}};
}

Noise noise_of_moments(const Section& root, std::uint64_t every, Purpose purpose) {
  const Moments moments = read_section(root, every, purpose);
  return {correlation_of(moments, every), noise::GeneratorKind::automatic, std::nullopt, std::nullopt};
}

void read_moments(const Section& root, Purpose purpose, const TwoStageColumns& columns, Config& config) {
  refuse_of_moments(root, config);
  if (columns.endogenous > 0) {
    // With fewer instruments than regressors the second stage has no unique solution.
    if (columns.instruments < columns.endogenous) {
      root.refuse("instruments", "at least as many [[instruments]] as [[endogenous]] regressors");
    }
    const std::size_t inputs = config.schema.dimension() - columns.endogenous;
    // Of the descent's first stage only the shape is used. That it has a clip norm says that the first stage is
    // released.
    config.descent.first_stage = lane::FirstStage{
        {inputs, inputs - columns.instruments, columns.endogenous}, ClipNorm{1}, config.descent.schedule, 0};
  }
  const std::uint64_t every = config.descent.minibatch;
  config.moments = read_section(root, every, purpose);
  require_room_to_grow(root, config);
  read_moment_intervals(root, config);
  read_moment_status(root, purpose, config);
  const std::size_t dimension = config.schema.dimension();
  if (purpose == Purpose::stream && every > step_numbers_max / (dimension + 1)) {
    root.section("release").refuse("every", "at most " + std::to_string(step_numbers_max / (dimension + 1)) +
                                                " records for so many features: a step's rows wait in memory");
  }
  if (config.privacy.protects == Protects::target) {
    check_private_target(root.section("privacy"), "protects", config);
    config.schema.features_public = true;
  }
}

}  // namespace nustream::config
