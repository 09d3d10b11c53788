// The settings of a run, checked and typed: what one TOML file with its overrides comes to.
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

/// What of a record is private.
enum class Protects {
  record,  ///< all of it
  target,  ///< the target alone: the settings declare features, instruments and endogenous regressors public
};

/// How σ follows from ρ.
enum class Calibration {
  exact,            ///< σ² = sens²/(2ρ)
  proposition_3_1,  ///< of the IV paper as printed: √2 larger, so that half of the ρ asked for is spent
};

/// [privacy]: what is promised. Exactly one of rho and epsilon is set.
struct Privacy {
  std::optional<Rho> rho;
  std::optional<Epsilon> epsilon;  ///< exact Gaussian curve at `delta`
  Delta delta;                     ///< the first, at which ε is calibrated
  privacy::Adjacency adjacency;
  std::optional<Rho> budget;  ///< hard stop for the ledger's total over all epochs
  Protects protects = Protects::record;
  Calibration calibration = Calibration::exact;
  std::vector<Delta> more_deltas{};  ///< at which ε is told beside `delta`
  bool of_user = false;              ///< the unit is the user: Config::users says who that is
  std::string account{};  ///< file of a budget that other streams share (folder/account_share.h); empty: none

  /// `delta`, then the others, as they are set.
  [[nodiscard]] std::vector<Delta> deltas() const {
    std::vector<Delta> all{delta};
    all.insert(all.end(), more_deltas.begin(), more_deltas.end());
    return all;
  }
  [[nodiscard]] privacy::Neighbours neighbours() const { return {adjacency, protects == Protects::target, of_user}; }
};

/// What a fitted correlation was fitted to.
using FitObjective = std::variant<privacy::PrefixSums, privacy::StronglyConvex, privacy::LocalProblem>;
struct Fit {
  FitObjective objective;
  double seconds;  ///< that it took
};

/// [noise]: how the noise is correlated and generated.
struct Noise {
  noise::Correlation correlation;
  noise::GeneratorKind generator;
  std::optional<Damping> approximated_nu;  ///< the ν that a rational correlation stands in for
  std::optional<Fit> fit;                  ///< of an optimised one
};

/// [state]: where what must survive is kept.
struct State {
  std::string directory;
  std::string key_file;          ///< empty: where `key` in the directory leads to, made with it (secrets/key_place.h)
  std::string key_directory;     ///< where such a key is made; empty for the user's configuration folder
  std::string witness;           ///< folder of the witness, or "none"; empty for that of the key
  std::uint64_t commit_records;  ///< a batch closes at this many records …
  double commit_seconds;         ///< … or after this long, whichever comes first
  bool rejects;                  ///< write rejects.jsonl
};

/// [intervals]: what is said of the estimate's error.
struct Intervals {
  enum class Kind {
    none,
    batch_means,  ///< of consecutive iterates
    sandwich,     ///< charged second moments
    checkpoints,  ///< of one run over a table, spaced
    residuals,    ///< of running sums: one charged variance of the residuals
    runs,         ///< over a table, which share the budget
  };
  Kind kind = Kind::none;
  double level = 0.95;         ///< nominal coverage
  double share = 0.1;          ///< of ρ, for sandwich: what its second moments cost
  std::uint64_t count = 10;    ///< m: of batches (32 where nothing is said), checkpoints or runs over a table
  std::uint64_t burn_in = 0;   ///< steps over a table before the first of them
  std::uint64_t averaged = 1;  ///< last steps of a checkpoint or a run that its value is the mean of; 1: its last
};

/// [estimate]: a descent over a whole table.
struct Estimate {
  std::uint64_t steps = 0;  ///< T, of one run
  bool full_batch = true;   ///< every step takes all records: no descent.minibatch is given
};

/// [moments]: a linear model that is solved from running sums instead of descended. A step is a batch of
/// release.every records: Config::descent.minibatch holds their number, and every step is released.
struct Moments {
  /// Radii from a record on, about the estimate of that time.
  struct Stage {
    std::uint64_t from;  ///< records, a multiple of a step's
    moments::Radii radii;
  };
  std::vector<Stage> stages;                  ///< rising, the first from record 0 on
  std::uint64_t restage_every = 0;            ///< records between further stages; 0: none
  std::optional<std::uint64_t> memory{};      ///< N: records that the sums remember; empty: all
  std::optional<std::uint64_t> releases{};    ///< K: how many there will be at most; empty: no end
  std::optional<double> residual_variance{};  ///< the public guess that weighs stages
  double regressor_share = 0.5;      ///< of ρ without the spread's and xxᵀ's: what the first stage's moments cost
  double second_moment_share = 0.5;  ///< of ρ without the spread's and the eigenvalue's: what xxᵀ costs
  moments::Solution solution = moments::Solution::floored;
  double eigenvalue_share = 1.0 / 3;  ///< of ρ, of an adaptive ridge: what the smallest eigenvalue costs
  moments::Spread spread = moments::Spread::none;  ///< for intervals, which pay for it with intervals.share
  bool release_sums = false;                       ///< release.moments
};

/// [plan]: public guesses of the stream, in working coordinates. They predict, and choose where they are asked to.
struct ProblemGuesses {
  std::uint64_t records = 0;          ///< of the whole stream; 0: nobody said
  std::optional<double> residual{};   ///< standard deviation of y − xᵀθ*
  std::optional<double> distance{};   ///< ‖θ* − start‖
  std::vector<double> eigenvalues{};  ///< of the second moments; empty: assumed all 1
};

/// [ranges]: settings that are "private".
struct Measuring {
  double share = 0.2;               ///< of ρ: what they cost, where there are any
  std::uint64_t records = 20'000;   ///< of a topic: its first records, over which they are measured
  std::vector<std::string> keys{};  ///< of the settings; empty where all are numbers
};

/// [release]: when an attached lane's releases leave.
struct Publishing {
  std::chrono::milliseconds linger{};  ///< how long a committed outbox may wait for its batch to close
  /// Of a descent: after so long without a release there is one where there was a step. 0: never.
  std::chrono::duration<double> interval{0};
  std::optional<std::uint64_t> outbox_bytes_max{};  ///< a batch closes at so many bytes of releases
};

/// How ρ is divided among the parts of a descent.
struct Shares {
  double first_stage = 0.5;  ///< of what the descent may spend: ρ_1/(ρ_1 + ρ_2)
  double strength = 0;       ///< of ρ: what a release of the first stage's strength costs
  double clipped = 0;        ///< of ρ: what the count of clipped gradients costs; 0: there is none
};

/// What the settings are read for; it decides what is meant where nothing is said.
enum class Purpose {
  stream,  ///< zero-out adjacency, rational correlation, one record a step, a release every 1,000 steps
  table,   ///< replace-one, independent noise, all records a step, every iterate released
};

struct Config {
  std::string file;
  std::vector<std::string> overrides;  ///< as given, to print the command that goes on
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
  std::optional<Users> users{};  ///< where the unit of privacy is the user
  Noise noise;
  State state;
  Kafka kafka;
  Publishing publishing{};
  Serve serve;
  Log log{};
  ProblemGuesses problem{};  ///< [plan]
  std::string chosen{};      ///< why, of model.estimator = "auto"; empty where it is said
  UserGuesses guesses{};     ///< [plan]
  Measuring measuring{};
  std::string ranges{};  ///< what was measured, as the state keeps it; empty: nothing
};

/// Reads `file` with `overrides` on top. A relative input is sought beside the file, a relative state directory
/// in the working directory. Throws Failure(configuration) with file:line:column, the key and what is allowed.
[[nodiscard]] Config read_config(const std::string& file, const std::vector<std::string>& overrides,
                                 Purpose purpose = Purpose::stream);

/// What a file is most likely for, where a command serves both: a table where it has a section [estimate].
[[nodiscard]] Purpose purpose_of(const std::string& file, const std::vector<std::string>& overrides);

}  // namespace nustream::config
