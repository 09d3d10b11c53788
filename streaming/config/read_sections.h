// The sections of the settings that are long enough for a file of their own.
#pragma once

#include "config/config.h"
#include "config/kafka.h"
#include "config/settings_tree.h"

namespace nustream::config {

/// stream.name.
/// Of all commands' configurations.
[[nodiscard]] std::vector<std::string> section_names();
[[nodiscard]] std::string read_name(const Section& stream);
/// [stream]: where records come from and how they are framed. Relative files are sought beside `config_file`.
[[nodiscard]] InputSettings read_input(const Section& stream, const std::string& config_file);
/// `input` as it is meant in a file of settings: "-", absolute, or relative to that file.
[[nodiscard]] std::string beside(const std::string& config_file, const std::string& input);
/// How many of a schema's features are what in a two-stage model: the last ones, instruments before endogenous.
struct TwoStageColumns {
  std::size_t instruments = 0;
  std::size_t endogenous = 0;
};
/// "s", "ms" or "us"; empty where the key is not there.
[[nodiscard]] std::optional<record::TimeUnit> read_time_unit(const Section& section, std::string_view key);
/// [[features]], then [[instruments]] and [[endogenous]], and [target]; the intercept belongs to [model].
[[nodiscard]] record::Schema read_schema(const Section& root, TwoStageColumns& columns);
/// [model]: loss, intercept, regularisation, and the labels that the loss allows.
void read_model(const Section& model, Config& config);
/// A column under one transform.
[[nodiscard]] record::Term read_term(const Section& section);
/// [weight] and [exposure], once [model] and [privacy] are read.
void read_weights(const Section& root, Config& config);
/// [first_stage], where there are endogenous regressors.
void read_first_stage(const Section& root, const TwoStageColumns& columns, Config& config);
/// A target that alone is private must not change how the rest of its record is read: it is a header, which stands
/// beside the value, or the last column of a CSV line, whose leading fields are read whatever follows. Where a header
/// line names the columns, the reader looks at their order. `key` is refused
/// where it does.
void check_private_target(const Section& section, std::string_view key, const Config& config);
/// [intervals], and [estimate] for a table.
void read_intervals(const Section& root, Config& config, Purpose purpose);
/// [kafka]; without brokers where there is no such section. `of_user`: the unit is the user, whose store has a topic.
[[nodiscard]] Kafka read_kafka(const Section& kafka, const std::string& stream, bool of_user);
/// [serve].
[[nodiscard]] Serve read_serve(const Section& serve);
/// [log].
[[nodiscard]] Log read_log(const Section& log);
/// [noise]: one correlation by name with its own parameters. An optimised one reads [descent] and [model] too.
[[nodiscard]] Noise read_noise(const Section& root, Purpose purpose);
/// [descent]: step_size, schedule and its parameters.
[[nodiscard]] descent::Schedule read_schedule(const Section& descent);
/// [descent]: how far a step of a constant size carries in the long run, η_0/(1 − momentum): what stands for the step
/// size where ν or a correlation is chosen for the noise that is left in the iterate.
[[nodiscard]] StepSize effective_step_size(const Section& descent);
/// [descent]: horizon, which is then the correlation's stop too, cooldown and momentum, once [noise] is read.
void read_course(const Section& root, Purpose purpose, Config& config);
/// Whether model.estimator is "moments".
[[nodiscard]] bool asks_for_moments(const Section& root);
/// What stands for a descent's settings where there is none: records of a step. Of a table that is one
/// step they are 0, for as many as it will turn out to have.
[[nodiscard]] lane::Settings settings_of_moments(const Section& root, Purpose purpose);
/// As the memory or the number of releases asks; [noise] is a descent's.
[[nodiscard]] Noise noise_of_moments(const Section& root, std::uint64_t every, Purpose purpose);
/// [moments], and its kinds of [intervals], once the schema and [model] are read.
void read_moments(const Section& root, Purpose purpose, const TwoStageColumns& columns, Config& config);
/// privacy.unit and what it asks for, [users] among it, once everything else is read.
void read_users(const Section& root, Purpose purpose, Config& config);
/// [plan]: what users are guessed to do.
[[nodiscard]] UserGuesses read_user_guesses(const Section& plan);
/// [descent]: projection and its radius or bounds.
[[nodiscard]] descent::Projection read_projection(const Section& descent);
/// [descent]: average and where it begins or how it decays.
[[nodiscard]] descent::Averaging read_averaging(const Section& descent);

}  // namespace nustream::config
