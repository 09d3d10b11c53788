// Readers of sections of the settings that are long enough for files of their own.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "config/kafka.h"
#include "config/settings_tree.h"
#include "nustream/base/units.h"
#include "nustream/privacy/stationary.h"

namespace nustream::config {

/// The names of all sections, of every command's configuration.
[[nodiscard]] std::vector<std::string> section_names();
/// Reads stream.name.
[[nodiscard]] std::string read_name(const Section& stream);
/// Reads [stream]: where records come from and how they are framed. Relative files are relative to the folder of
/// `config_file`.
[[nodiscard]] InputSettings read_input(const Section& stream, const std::string& config_file);
/// `input` as a file of settings means it: "-", an absolute path, or a path relative to that file.
[[nodiscard]] std::string beside(const std::string& config_file, const std::string& input);
/// How many of a schema's last features are instruments and endogenous regressors, in that order.
struct TwoStageColumns {
  std::size_t instruments = 0;
  std::size_t endogenous = 0;
};
/// Reads "s", "ms" or "us"; empty where the key is absent.
[[nodiscard]] std::optional<record::TimeUnit> read_time_unit(const Section& section, std::string_view key);
/// Reads [[features]], then [[instruments]] and [[endogenous]], and [target]. The intercept belongs to [model].
[[nodiscard]] record::Schema read_schema(const Section& root, TwoStageColumns& columns);
/// Reads [model]: loss, intercept, regularisation, and the labels that the loss allows.
void read_model(const Section& model, Config& config);
/// Reads a column with its one transform.
[[nodiscard]] record::Term read_term(const Section& section);
/// Reads [weight] and [exposure], after [model] and [privacy].
void read_weights(const Section& root, Config& config);
/// Reads [first_stage], where there are endogenous regressors.
void read_first_stage(const Section& root, const TwoStageColumns& columns, Config& config);
/// Checks that a target that alone is private cannot change how the rest of its record is read, and refuses `key`
/// where it could. The target has to be a message's header, which comes beside the value, or the last column of a CSV
/// line, whose leading fields are read whatever follows. Where a header line names the columns, the reader checks
/// their order.
void check_private_target(const Section& section, std::string_view key, const Config& config);
/// Reads [intervals], and [estimate] for a table.
void read_intervals(const Section& root, Config& config, Purpose purpose);
/// Reads from [release] whether a descent's releases have a status, after everything else: which iterates it is of,
/// and whether the settings themselves rule out that a path settles.
void read_trail(const Section& release, Purpose purpose, Config& config);
/// Reads [kafka]; it has no brokers where there is no such section. `stream` is stream.name, after which topics are
/// called that no key names. `of_user` says that the unit is the user, whose store has a topic.
[[nodiscard]] Kafka read_kafka(const Section& root, const std::string& stream, bool of_user);
/// Reads [serve].
[[nodiscard]] Serve read_serve(const Section& serve);
/// Reads [log].
[[nodiscard]] Log read_log(const Section& log);
/// Reads [noise]: one correlation by name with its own parameters. An optimised one reads [descent] and [model] as
/// well.
[[nodiscard]] Noise read_noise(const Section& root, Purpose purpose);
/// Reads step_size, schedule and its parameters of [descent].
[[nodiscard]] descent::Schedule read_schedule(const Section& descent);
/// How far a step of constant size carries in the long run, η_0/(1 − momentum). It replaces the step size where ν or
/// a correlation is chosen for the noise that is left in the iterate.
[[nodiscard]] StepSize effective_step_size(const Section& descent);
/// Reads horizon (which is then the correlation's end, too), cooldown and momentum of [descent], after [noise].
void read_course(const Section& root, Purpose purpose, Config& config);
/// Whether model.estimator is "moments".
[[nodiscard]] bool asks_for_moments(const Section& root);
/// What replaces a descent's settings where there is no descent: the records of a step. For a table that is one step
/// it is 0, until the number of its records is known.
[[nodiscard]] lane::Settings settings_of_moments(const Section& root, Purpose purpose);
/// The noise that follows from the memory or the number of releases. [noise] is read for a descent only.
[[nodiscard]] Noise noise_of_moments(const Section& root, std::uint64_t every, Purpose purpose);
/// Reads [moments] and its kinds of [intervals], after the schema and [model].
void read_moments(const Section& root, Purpose purpose, const TwoStageColumns& columns, Config& config);
/// Reads privacy.unit and what it asks for, including [users], after everything else.
void read_users(const Section& root, Purpose purpose, Config& config);
/// Reads from [plan] what users are guessed to do.
[[nodiscard]] UserGuesses read_user_guesses(const Section& plan);
/// Reads projection and its radius or bounds of [descent].
[[nodiscard]] descent::Projection read_projection(const Section& descent);
/// Reads average, and where it begins or how it decays, of [descent].
[[nodiscard]] descent::Averaging read_averaging(const Section& descent);

/// The best ν for the average where `descent.average` asks for one, else for the last iterate, as a plan suggests it.
/// It follows from [descent], plan.second_moment_eigenvalues (or else all 1) and plan.records alone, for records that
/// take part once. It is rounded to two digits, so that every machine has the same ν. Where there is no such ν, it
/// refuses the settings because noise.nu is missing.
[[nodiscard]] Damping default_nu(const Section& root);

/// What the objective "descent" takes from other sections: the size of the first step, and whether the loss is the
/// mean. A mean has a fixed curvature; for any other loss features multiply into the error.
struct FittedDescent {
  StepSize step_size;
  privacy::Curvature curvature;
};

struct OptimisedNoise {
  noise::Correlation correlation;
  FitObjective objective;
};

/// Reads the problem and solves it, which takes seconds for thousands of coefficients. Throws Failure(configuration)
/// for a key that is out of range, and InvalidParameter and Unsupported as the fits do.
[[nodiscard]] OptimisedNoise read_optimised(const Section& noise, const FittedDescent& descent);

/// Reads start of [descent], in working coordinates. Numbers are taken as they are. A table gives coefficients by
/// name, in original units, as releases show them. A text is the path, relative to the settings' own file, of a file
/// whose last line is the release to begin at. Without the key all are zero.
///
/// All of `config` but its start has to be read before. Throws Failure(configuration) where a name is missing or
/// unknown, or the release promises less than these settings, and Failure(io) where the file cannot be read.
[[nodiscard]] std::vector<double> read_start(const Section& descent, const Config& config);

/// Checks that stream.columns, where they are named, have once each column that is read: those of `schema`, and the
/// one `beside` them unless it is empty. Columns that are a message's key, header or time are not looked for.
void check_columns(const Section& stream, const InputSettings& input, const record::Schema& schema,
                   const std::string& beside);
/// Checks what several sections decide together, and sets the number of coefficients and the start that follow, after
/// everything else is read.
void check_together(const Section& root, Purpose purpose, Config& config);

/// The settings of the document. `overrides` are kept in Config::overrides unchanged.
[[nodiscard]] Config read_tree(const SettingsTree& tree, const std::string& file,
                               const std::vector<std::string>& overrides, Purpose purpose);

}  // namespace nustream::config
