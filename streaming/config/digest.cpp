// Writes the canonical text of the settings and hashes it (docs/formats/releases.md, "The settings digest"). A
// resumed state is compared by this digest, so that the text must stay the same, byte by byte, for settings that an
// earlier version had. Keys that came later are therefore written only where they differ from what was implied
// before. settings_by_name.cpp reads the text back.
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include <openssl/evp.h>

#include "config/mechanism.h"
#include "error.h"
#include "secrets/hex.h"

namespace nustream::config {
namespace {

/// Canonical text: one "key=value" on each line, and numbers in the shortest form that reads back as the same double.
/// For example "clip_norm=1:2" and "loss=6:linear", each on a line of its own.
class Canonical {
 public:
  void add(std::string_view key, std::string_view value) {
    // Each value stands after its length, so that no value can look like the next line.
    text_ += std::string(key) + "=" + std::to_string(value.size()) + ":" + std::string(value) + "\n";
  }
  void add(std::string_view key, double value) {
    // to_chars gives the shortest text that reads back as the same double, on every machine.
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    add(key, std::string_view(buffer.data(), static_cast<std::size_t>(end - buffer.data())));
  }
  void add_count(std::string_view key, std::uint64_t value) { add(key, std::to_string(value)); }
  void add(std::string_view key, std::span<const double> values) {
    add_count(key, values.size());
    for (const double value : values) add(key, value);
  }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

/// Adds which field is read and how. A transform is written as its number, so that the order of the enumeration must
/// not change (settings_difference.cpp translates the numbers back).
void add_term(const record::Term& term, Canonical& out) {
  out.add("column", term.column);
  out.add_count("transform", static_cast<std::uint64_t>(term.transform));
  out.add("equals", term.equals);
  for (const std::string& label : term.labels) out.add("label", label);
  // Numbers that only some transforms have are written for those alone.
  if (term.unit != record::TimeUnit::none) out.add_count("unit", static_cast<std::uint64_t>(term.unit));
  if (term.transform == record::Transform::bucket) {
    out.add_count("buckets", term.buckets);
    out.add_count("bucket", term.bucket);
  }
  if (term.transform == record::Transform::bin) {
    out.add("from", term.from);
    out.add("below", term.below);
  }
}

/// Adds a feature with its name, its one or two terms, and what is done with their value. settings_by_name.cpp takes
/// everything up to the next "feature", "target" or "intercept" for lines of this feature.
void add_feature(std::string_view kind, const record::Feature& feature, Canonical& out) {
  out.add(kind, feature.name);
  add_term(feature.first, out);
  if (feature.second) add_term(*feature.second, out);
  out.add("center", feature.center);
  out.add("scale", feature.scale);
  out.add("lower", feature.lower);
  out.add("upper", feature.upper);
}

/// Adds how much a record counts.
void add_weights(const record::Schema& schema, Canonical& out) {
  if (schema.weight) {
    out.add("weight", "of a record");
    add_term(schema.weight->term, out);
    out.add("most", schema.weight->most);
  }
  if (schema.exposure) {
    out.add("exposure", schema.exposure->is_log ? "its logarithm" : "as it is");
    add_term(schema.exposure->term, out);
    out.add("most", schema.exposure->most);
  }
}

/// Adds the schedule's kind as its place in the variant, then the numbers of that kind.
void add_schedule(const descent::Schedule& schedule, Canonical& out) {
  out.add_count("schedule", schedule.family().index());
  std::visit(
      [&](const auto& family) {
        using Family = std::decay_t<decltype(family)>;
        // A cooldown wraps another schedule, which is added behind its own numbers.
        if constexpr (std::is_same_v<Family, descent::Cooldown>) {
          out.add("cooldown", family.share);
          out.add("cooldown_to", family.floor);
          out.add_count("steps", family.horizon.value());
          add_schedule(*family.of, out);
        } else if constexpr (std::is_same_v<Family, descent::Piecewise>) {
          for (const auto& piece : family.pieces) {
            out.add_count("from", piece.from);
            out.add("step_size", piece.size.value());
          }
        } else {
          out.add("step_size", family.size.value());
          if constexpr (requires { family.knee; }) out.add("knee", family.knee);
          if constexpr (requires { family.steps; }) out.add_count("warm_up_steps", family.steps);
        }
      },
      schedule.family());
}

void add_projection(const descent::Projection& projection, Canonical& out) {
  out.add_count("projection", projection.family().index());
  if (const auto* ball = std::get_if<descent::Ball>(&projection.family())) out.add("radius", ball->radius);
  if (const auto* box = std::get_if<descent::Box>(&projection.family())) {
    out.add("lower", box->lower);
    out.add("upper", box->upper);
  }
}

/// Adds the shape of a two-stage model and what its first stage has of its own. A public first stage has no clip
/// norm, and so no line for one.
void add_first_stage(const lane::FirstStage& first, Canonical& out) {
  out.add_count("instruments", first.shape.instruments);
  out.add_count("controls", first.shape.controls);
  out.add_count("endogenous", first.shape.endogenous);
  if (first.clip) out.add("first_clip_norm", first.clip->value());
  add_schedule(first.schedule, out);
  out.add("first_l2", first.l2);
}

/// Adds everything that decides what an iterate becomes. release_every is left out, since it changes nothing of the
/// iterates, except where gradients are counted.
void add_descent(const lane::Settings& descent, Canonical& out) {
  out.add("loss", model::name(descent.loss.kind));
  // The threshold is written for every loss, level and bandwidth only for quantiles.
  out.add("threshold", descent.loss.threshold);
  if (descent.loss.kind == model::Loss::Kind::quantile) {
    out.add("level", descent.loss.level);
    out.add("bandwidth", descent.loss.bandwidth);
  }
  if (descent.loss.kind == model::Loss::Kind::multinomial) out.add_count("classes", descent.loss.classes);
  out.add("l2", descent.l2);
  out.add("clip_norm", descent.clip.value());
  add_schedule(descent.schedule, out);
  if (descent.momentum > 0) out.add("momentum", descent.momentum);
  add_projection(descent.projection, out);
  out.add_count("average", static_cast<std::uint64_t>(descent.averaging.kind));
  out.add_count("average_from", descent.averaging.from);
  out.add("average_decay", descent.averaging.decay);
  out.add_count("minibatch", descent.minibatch);
  out.add("start", descent.start);
  if (descent.first_stage) add_first_stage(*descent.first_stage, out);
  // Batches that a state may lack are no part of the digest, as in earlier versions, which did not keep them.
  if (descent.batching && !descent.batching->may_lack) {
    out.add_count("batches", descent.batching->batches);
    out.add_count("batch_steps", descent.batching->first_length);
  }
  if (descent.moments) {
    out.add("bread_clip", descent.moments->bread.value());
    if (descent.moments->meat) out.add("meat_clip", descent.moments->meat->value());
    out.add_count("moments_from", descent.moments->from);
  }
  if (!descent.counts_clipped) return;
  out.add("clipped", "are counted");
  // Gradients are counted between marks that follow from this number.
  out.add_count("clipped_every", descent.release_every);
}

/// Adds what takes the place of a descent's settings where a model is solved from running sums.
void add_moments(const Config& config, Canonical& out) {
  const Moments& moments = *config.moments;
  out.add("estimator", "moments");
  out.add_count("every", config.descent.minibatch);
  out.add_count("stages", moments.stages.size());
  for (const Moments::Stage& stage : moments.stages) {
    out.add_count("from", stage.from);
    out.add("row_norm", stage.radii.inputs);
    out.add("regressor_bound", stage.radii.regressors);
    out.add("residual_bound", stage.radii.target);
  }
  if (moments.grows) out.add("units", "grow");
  out.add_count("restage_every", moments.restage_every);
  out.add_count("memory", moments.memory.value_or(0));
  out.add("residual_variance", moments.residual_variance.value_or(0));
  out.add_count("spread", static_cast<std::uint64_t>(moments.spread));
  if (moments.solution == moments::Solution::adassp) out.add("solve", "adassp");
  out.add("start", config.descent.start);
  if (!config.descent.first_stage) return;
  out.add_count("instruments", config.descent.first_stage->shape.instruments);
  out.add_count("controls", config.descent.first_stage->shape.controls);
  out.add_count("endogenous", config.descent.first_stage->shape.endogenous);
}

/// SHA-256 of the text, as 64 hexadecimal digits.
std::string sha256_hex(const std::string& text) {
  std::array<unsigned char, 32> digest{};
  unsigned int size = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw Failure(Exit::internal, "SHA-256 is not available from OpenSSL; check its configuration");
  }
  return secrets::to_hex(digest);
}

/// The numbers as bytes, for a matrix with too many entries to be written as text.
std::string little_endian(std::span<const double> values) {
  std::string bytes;
  bytes.reserve(values.size() * sizeof(double));
  for (const double value : values) {
    // Byte by byte, so that the hash is the same on machines of either byte order.
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (unsigned shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<char>(bits >> shift & 0xff));
  }
  return bytes;
}

/// Adds the correlation by its parameters. They are read from the value that the generators are made from, not from
/// the settings.
void add_correlation(const noise::Correlation& correlation, Canonical& out) {
  if (const auto* restarted = std::get_if<noise::Restarted>(&correlation.family())) {
    add_correlation(restarted->block(), out);
    // The block, whose text comes first, is what begins anew.
    out.add("begins", "anew at its horizon");
    if (const auto stop = correlation.horizon()) out.add_count("stop", stop->value());
    return;
  }
  out.add("correlation", correlation.name());
  const std::optional<StepCount> horizon = correlation.horizon();
  out.add_count("horizon", horizon ? horizon->value() : 0);
  std::visit(
      [&](const auto& family) {
        if constexpr (requires { family.nu; }) out.add("nu", family.nu.value());
        if constexpr (requires { family.beta; }) out.add("beta", family.beta);
        if constexpr (requires { family.c; }) out.add("c", family.c);
        if constexpr (requires { family.q(); }) {
          out.add("q", family.q());
          out.add("b", family.b());
        }
        // A dense correlation may have millions of entries. Their hash stands for them.
        if constexpr (requires { family.rows(); }) {
          out.add_count("bands", family.bands());
          out.add("rows", sha256_hex(little_endian(family.rows())));
        }
        if constexpr (requires { family.height; }) {
          out.add_count("height", family.height);
          out.add_count("restarts", family.restarts ? 1 : 0);
        }
      },
      correlation.family());
}

void add_stage(const CalibratedStage& stage, Canonical& out) {
  add_correlation(stage.correlation, out);
  out.add_count("generator", static_cast<std::uint64_t>(stage.generator));
  out.add("sigma", stage.sigma.value());
  out.add("displacement", stage.displacement.value());
}

/// Adds whose records make one unit, and what one user may do.
void add_users(const Users& users, const users::Limits& limits, const InputSettings& input, Canonical& out) {
  out.add("unit", "user");
  out.add("user", users.column);
  out.add_count("identifiers of nobody", users.nobody.size());
  // In the order of the settings, since the number of lines stands before them.
  for (const std::string& identifier : users.nobody) out.add("nobody", identifier);
  out.add_count("limits", (limits.participation() ? 1U : 0U) + (limits.mass() ? 2U : 0U));
  // "limits" above says which limits follow, so that no two sets of limits have one text.
  if (limits.participation()) {
    out.add_count("user_times", limits.participation()->times());
    out.add_count("user_separation", limits.participation()->separation());
  }
  if (limits.mass()) out.add("user_mass", limits.mass()->value());
  if (const auto& windows = limits.windows()) {
    out.add("user_period", users::text_of(windows->period));
    out.add("user_times", windows->times_are_trusted ? "trusted" : "append");
    // Another column or unit of time would put the records into other windows.
    if (windows->times_are_trusted) {
      out.add("user_time_column", input.time_column);
      out.add_count("user_time_unit", static_cast<std::uint64_t>(input.time_unit));
    }
  }
  // What divides users among lanes is added where there are several lanes.
  if (users.partitioner == users::Partitioner::crc32) out.add("user_partitioner", "crc32");
  if (users.lanes > 1) out.add_count("user_lanes", users.lanes);
}

/// Adds how a record's bytes become fields. It leaves out where the bytes come from, and the names of columns for a
/// file with a header.
void add_value_format(const InputSettings& input, Canonical& out) {
  out.add_count("record_bytes_max", input.record_bytes_max);
  out.add("format", traits_of(input.format).digest_name);
  if (input.envelope != Envelope::none) out.add_count("envelope", static_cast<std::uint64_t>(input.envelope));
  if (!has_columns(input)) return;
  out.add("delimiter", std::string_view(&input.delimiter, 1));
  if (input.decimal != '.') out.add("decimal", std::string_view(&input.decimal, 1));
  if (input.framing_is_trusted) out.add("framing", "trusted");
  if (input.columns.empty()) return;
  out.add_count("columns", input.columns.size());
  for (const std::string& column : input.columns) out.add("column", column);
}

}  // namespace

std::string settings_text(const Config& config, const Mechanism& mechanism, bool is_private, EpochStart start) {
  Canonical out;
  out.add("format", "nustream settings 2");
  for (const record::Feature& feature : config.schema.features) add_feature("feature", feature, out);
  if (config.schema.target) add_feature("target", *config.schema.target, out);
  // settings_by_name.cpp takes this key for the end of the features' lines.
  out.add_count("intercept", config.schema.intercept ? 1 : 0);
  // The loss follows below. This line says how the target's field is read.
  if (config.schema.counts) out.add("target", "a count");
  add_weights(config.schema, out);
  add_value_format(config.input, out);
  config.moments ? add_moments(config, out) : add_descent(config.descent, out);
  // The noise as it is generated, not as it is asked for: the same ρ gives another σ under another correlation.
  for (const CalibratedStage& stage : mechanism.stages) add_stage(stage, out);
  out.add_count("times", mechanism.participation.times());
  out.add_count("separation", mechanism.participation.separation());
  // ρ is not written: it follows from the stages' σ, their correlation and the participations.
  out.add_count("adjacency", static_cast<std::uint64_t>(config.privacy.adjacency));
  // Runs that belong together share one digest, which no other epoch has.
  if (config.intervals.kind == Intervals::Kind::runs) out.add_count("runs", config.intervals.count);
  if (config.users) {
    add_users(*config.users, *config.descent.users, config.input, out);
  } else {
    out.add("unit", config.privacy.protects == Protects::record ? "record" : "target of a record");
  }
  // The values that were measured are part of the settings from then on.
  if (!config.ranges.empty()) out.add("ranges", config.ranges);
  // So a state of a run that was not private is never resumed as a private one.
  if (!is_private) out.add("noise", "not private");
  if (start == EpochStart::settings) out.add("epoch", "begins at start, whatever was released before it");
  return out.text();
}

std::string settings_digest(const Config& config, const Mechanism& mechanism, bool is_private, EpochStart start) {
  return sha256_hex(settings_text(config, mechanism, is_private, start));
}

EpochDigests::EpochDigests(const Config& config, const Mechanism& mechanism, bool is_private)
    : texts_{settings_text(config, mechanism, is_private, EpochStart::last_release),
             settings_text(config, mechanism, is_private, EpochStart::settings)},
      both_{sha256_hex(texts_[0]), sha256_hex(texts_[1])} {}

std::string model_digest(const Config& config) {
  Canonical out;
  out.add("format", "nustream model 1");
  const auto add_terms = [&out](std::string_view kind, const record::Feature& feature) {
    out.add(kind, feature.name);
    add_term(feature.first, out);
    if (feature.second) add_term(*feature.second, out);
  };
  for (const record::Feature& feature : config.schema.features) add_terms("feature", feature);
  if (config.schema.target) add_terms("target", *config.schema.target);
  add_weights(config.schema, out);
  out.add("loss", model::name(config.descent.loss.kind));
  // 64 bits are enough to tell models apart: this digest guards against mistakes.
  constexpr std::size_t digits = 16;
  return sha256_hex(out.text()).substr(0, digits);
}

}  // namespace nustream::config
