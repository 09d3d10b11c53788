// The settings of a run, checked and typed: what one TOML file and its overrides mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/input.h"
#include "config/kafka.h"
#include "config/serve.h"
#include "config/users.h"
#include "nustream/base/units.h"
#include "nustream/lane/lane.h"
#include "nustream/moments/batch_sums.h"
#include "nustream/moments/shape.h"
#include "nustream/noise/correlation.h"
#include "nustream/noise/source.h"
#include "nustream/privacy/optimised.h"
#include "nustream/privacy/optimised_descent.h"
#include "nustream/privacy/participation.h"
#include "nustream/record/schema.h"

namespace nustream::config {

/// Which part of a record is private.
enum class Protects {
  record,  ///< the whole record
  target,  ///< the target alone: the settings declare features, instruments and endogenous regressors public
};

/// How σ follows from ρ.
enum class Calibration {
  exact,            ///< σ² = sens²/(2ρ)
  proposition_3_1,  ///< of the IV paper as printed: σ is √2 larger, and half of the ρ that is asked for is spent
};

/// [privacy]: what is promised. Exactly one of rho and epsilon is set.
struct Privacy {
  std::optional<Rho> rho;
  std::optional<Epsilon> epsilon;  ///< at `delta`, by the exact Gaussian curve
  Delta delta;                     ///< the first δ, at which ε is calibrated
  privacy::Adjacency adjacency;
  std::optional<Rho> budget;  ///< hard stop for the ledger's total over all epochs
  Protects protects = Protects::record;
  Calibration calibration = Calibration::exact;
  std::vector<Delta> more_deltas{};  ///< where ε is reported beside `delta`
  bool of_user = false;              ///< the unit is the user, whom Config::users defines
  bool ignores_users = false;        ///< the settings name users, and yet the unit is the record
  std::string account{};  ///< file of a budget that other streams share (folder/account_share.h); empty: none

  /// `delta` and then the others, in the order of the settings.
  [[nodiscard]] std::vector<Delta> deltas() const {
    std::vector<Delta> all{delta};
    all.insert(all.end(), more_deltas.begin(), more_deltas.end());
    return all;
  }
  [[nodiscard]] privacy::Neighbours neighbours() const { return {adjacency, protects == Protects::target, of_user}; }
};

/// The problem that a fitted correlation was fitted to.
using FitObjective = std::variant<privacy::PrefixSums, privacy::StronglyConvex, privacy::LocalProblem>;
struct Fit {
  FitObjective objective;
  double seconds;  ///< how long the fit took
};

/// [noise]: how the noise is correlated and generated.
struct Noise {
  noise::Correlation correlation;
  noise::GeneratorKind generator;
  std::optional<Damping> approximated_nu;  ///< the ν that a rational correlation stands in for
  std::optional<Fit> fit;                  ///< where the correlation is an optimised one
  bool ignores_restarts = false;           ///< restarts are asked for, and the correlation has no horizon of its own
  std::string dense_name{};                ///< the name of a dense correlation in the settings, such as "circulant"
};

/// [state]: where the files are that have to survive.
struct State {
  std::string directory;
  /// Empty: the file that `key` in the directory leads to, made with it (secrets/key_place.h).
  std::string key_file;
  std::string key_directory;     ///< where such a key is made; empty: the user's configuration folder
  std::string witness;           ///< folder of the witness, or "none"; empty: the folder of the key
  std::uint64_t commit_records;  ///< a batch closes at this many records …
  double commit_seconds;         ///< … or after this time, whichever comes first
  bool rejects;                  ///< whether rejects.jsonl is written
};

/// [intervals]: what is reported about the estimate's error.
struct Intervals {
  enum class Kind {
    none,
    batch_means,  ///< from means of consecutive iterates
    sandwich,     ///< from charged second moments
    checkpoints,  ///< from spaced iterates of one run over a table
    residuals,    ///< of running sums: from one charged variance of the residuals
    runs,         ///< from several runs over a table, which share the budget
  };
  Kind kind = Kind::none;
  double level = 0.95;        ///< nominal coverage
  double share = 0.1;         ///< of ρ, for a sandwich: what its second moments cost
  std::uint64_t count = 10;   ///< m: how many batches (32 by default), checkpoints, or runs over a table
  std::uint64_t burn_in = 0;  ///< steps over a table before the first batch or checkpoint
  /// The value of a checkpoint or a run is the mean of this number of last steps; 1: its last iterate.
  std::uint64_t averaged = 1;
};

/// [estimate]: a descent over a whole table.
struct Estimate {
  std::uint64_t steps = 0;  ///< T of one run
  bool full_batch = true;   ///< every step takes all records, because descent.minibatch is not given
};

/// [moments]: a linear model that is solved from running sums instead of by a descent. A step is a batch of
/// release.every records, whose number is Config::descent.minibatch, and every step is released.
struct Moments {
  /// Radii that hold from a record on, about the estimate of that time.
  struct Stage {
    std::uint64_t from;  ///< first record, a multiple of a step's records
    moments::Radii radii;
  };
  std::vector<Stage> stages;        ///< rising; the first begins at record 0
  bool names_stages = false;        ///< whether the settings say anything of stages, if only that there are none
  bool grows = false;               ///< scales and bounds of a stage follow from the noisy sums before it
  std::uint64_t restage_every = 0;  ///< records between further stages; 0: none
  std::optional<std::uint64_t> memory{};      ///< N: how many records the sums remember; empty: all
  std::optional<std::uint64_t> releases{};    ///< K: the largest number of releases; empty: no end
  std::optional<double> residual_variance{};  ///< the public guess by which stages are weighted
  /// What the first stage's moments cost, of ρ without the parts of the spread and of xxᵀ.
  double regressor_share = 0.5;
  double second_moment_share = 0.5;  ///< what xxᵀ costs, of ρ without the parts of the spread and of the eigenvalue
  moments::Solution solution = moments::Solution::floored;
  double eigenvalue_share = 1.0 / 3;               ///< what the smallest eigenvalue of an adaptive ridge costs, of ρ
  moments::Spread spread = moments::Spread::none;  ///< for intervals; it costs intervals.share
  bool release_sums = false;                       ///< release.moments
  bool keeps_marks = false;  ///< the lane can tell whether a stream's least squares stay the same
  bool tells_status = true;  ///< release.status
};

/// [plan]: public guesses about the stream, in working coordinates. Predictions use them, and so do choices where the
/// settings ask for a choice.
struct ProblemGuesses {
  std::uint64_t records = 0;          ///< of the whole stream; 0: not given
  std::optional<double> residual{};   ///< standard deviation of y − xᵀθ*
  std::optional<double> distance{};   ///< ‖θ* − start‖
  std::vector<double> eigenvalues{};  ///< of the second moments; empty: all count as 1
  bool sums_end = false;              ///< moments.releases is set, under any estimator
};

/// [ranges]: settings that are "private".
struct Measuring {
  double share = 0.2;               ///< what it costs to measure settings, of ρ, if any are measured
  std::uint64_t records = 20'000;   ///< of a topic, the number of first records that they are measured from
  std::vector<std::string> keys{};  ///< keys of settings that are to be measured; empty where all are numbers
  /// Where the first of them stands, for messages: "stream.toml:12:10", or "--set features.0.center".
  std::string place{};
};

/// [release]: when an attached lane's releases leave.
struct Publishing {
  std::chrono::milliseconds linger{};  ///< how long a committed outbox may wait for its batch to close
  /// A descent releases after this time without a release, where it took a step since. 0: never.
  std::chrono::duration<double> interval{0};
  std::optional<std::uint64_t> outbox_bytes_max{};  ///< a batch closes once its releases have this number of bytes
  bool tells_ages = false;                          ///< releases tell what records of several ages have cost
};

/// How ρ is divided among the parts of a descent.
struct Shares {
  double first_stage = 0.5;  ///< ρ_1/(ρ_1 + ρ_2) of what the descent may spend
  double strength = 0;       ///< what the release of the first stage's strength costs, of ρ
  double clipped = 0;        ///< what the count of clipped gradients costs, of ρ; 0: there is no count
};

/// What the settings are read for, which decides on the defaults.
enum class Purpose {
  stream,  ///< zero-out adjacency, rational correlation, one record a step, a release every 1,000 steps
  table,   ///< replace-one, independent noise, all records a step, every iterate released
};

struct Config {
  std::string file;
  std::vector<std::string> overrides;  ///< as given; they are part of printed commands
  std::string stream;
  LaneId lane;
  InputSettings input;
  record::Schema schema;
  lane::Settings descent;
  Shares shares{};
  Intervals intervals{};
  Estimate estimate{};
  std::optional<Moments> moments{};  ///< where model.estimator is "moments"
  Privacy privacy;
  std::optional<Users> users{};  ///< where the unit of privacy is the user; else empty
  Noise noise;
  State state;
  Kafka kafka;
  Publishing publishing{};
  Serve serve;
  Log log{};
  ProblemGuesses problem{};  ///< [plan]
  std::string chosen{};      ///< why model.estimator = "auto" chose what it chose; empty where it is not "auto"
  UserGuesses guesses{};     ///< [plan]
  Measuring measuring{};
  std::string ranges{};  ///< what was measured, in the form that the state keeps; empty: nothing
  Purpose purpose = Purpose::stream;
};

/// Reads `file` with `overrides` on top. A relative input is relative to the file's folder, a relative state
/// directory to the working directory. Throws Failure(configuration) with file:line:column, the key and what is
/// allowed.
[[nodiscard]] Config read_config(const std::string& file, const std::vector<std::string>& overrides,
                                 Purpose purpose = Purpose::stream);

/// What a file is most likely meant for, where a command serves both: a table where it has a section [estimate].
[[nodiscard]] Purpose purpose_of(const std::string& file, const std::vector<std::string>& overrides);

}  // namespace nustream::config
