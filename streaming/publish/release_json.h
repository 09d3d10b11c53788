// Writes and reads one release as one line of JSON (docs/formats/releases.md). A line is a function of the noisy
// gradients, public settings and step counts alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "nustream/base/units.h"
#include "nustream/lane/lane.h"
#include "nustream/moments/lane.h"
#include "nustream/privacy/zcdp.h"
#include "publish/age_spend.h"
#include "publish/clipped.h"
#include "publish/epsilons.h"
#include "publish/growth.h"
#include "publish/instruments.h"
#include "publish/intervals.h"
#include "publish/json_writer.h"
#include "publish/original_units.h"
#include "publish/promise.h"

namespace nustream::publish {

/// Requires that `line`, a release or a combined model, is of the format that this version reads. A line without the
/// field, as the first versions wrote it, is of format 1. Throws Failure(data) for any other: a reader that guessed
/// would take the fields of a later version for something that they may no longer mean.
void require_known_format(const simdjson::dom::element& line);

/// What every release of one lane and epoch repeats.
struct ReleaseHeader {
  std::string stream;
  LaneId lane;
  EpochId epoch;
  Delta delta;
  std::string settings_digest;
  Promise promise{};
  std::string model_digest{};        ///< of what the coefficients mean
  std::vector<Delta> more_deltas{};  ///< where ε is shown beside `delta`
  bool tells_ages = false;           ///< releases tell what records of several ages have cost
  /// Settings that were measured privately, by key, with their values as JSON: the digest is of the rule by
  /// which they were measured, and of the values.
  std::vector<std::pair<std::string, std::string>> measured{};
  std::string public_key{};  ///< checks the lane's signatures; hexadecimal, shown beside releases and not in them

  /// `delta` and then the others.
  [[nodiscard]] std::vector<Delta> deltas() const;
};

/// Computes ρ of the record that all epochs of the lane cost most, once this epoch has spent `spent` in `steps` steps
/// up to `position`. It is a function of public settings and counts. Empty: there is no other epoch.
using LedgerTotal = std::function<Rho(Rho spent, StepCount steps, Position position)>;

/// Encodes releases, and keeps its buffers between calls. Not thread-safe.
class ReleaseEncoder {
 public:
  ReleaseEncoder(ReleaseHeader header, OriginalUnits units, privacy::Spend spend,
                 std::optional<IntervalKind> intervals = {}, std::optional<StrengthDesign> strength = {},
                 LedgerTotal ledger_total = {}, std::optional<SolvedInstruments> instruments = {},
                 std::optional<ClippedDesign> clipped = {});

  /// Appends one line, newline included. `tag` is "cadence", "clock", "end" or "shutdown".
  void append(const lane::Release& release, std::string_view tag, std::string& out);
  /// Appends one line of a release of running sums.
  void append(const moments::Release& release, std::string_view tag, std::string& out);

 private:
  /// A ρ and its ε. They are kept, because ρ settles long before the stream ends and ε costs a root search.
  struct Told {
    double rho = -1;
    std::vector<Epsilons> epsilons{};
  };
  void tell(Rho rho, Told& told) const;
  void append_place(StepCount steps, Position position, std::string_view tag, JsonWriter& json) const;
  void append_spend(StepCount steps, Position position, JsonWriter& json);
  void append_values(MemberName key, std::span<const double> theta, JsonWriter& json);
  void append_interval(const moments::Release& release, JsonWriter& json) const;
  void append_shown(const std::optional<ShownIntervals>& shown, JsonWriter& json) const;
  void append_moments(const moments::Release& release, JsonWriter& json) const;
  void append_strength(const lane::Release& release, JsonWriter& json) const;

  ReleaseHeader header_;
  OriginalUnits units_;
  privacy::Spend spend_;
  std::optional<IntervalKind> intervals_;
  std::optional<StrengthDesign> strength_;
  std::optional<SolvedInstruments> instruments_;
  std::optional<ClippedDesign> clipped_;
  std::string prefix_;  // members before the step, which are encoded once
  std::string suffix_;  // members after ε
  LedgerTotal ledger_total_;
  std::vector<Delta> deltas_;
  std::optional<AgeSpend> ages_;
  Told spent_;
  Told total_;
  ReleaseStatus status_;
  std::vector<double> values_;
};

/// Intervals as a report shows them.
struct ReportedIntervals {
  std::string kind{};
  std::string covers{};
  double level = 0;
  std::uint64_t effective_steps = 0;
  std::uint64_t through = 0;  ///< the last step that they are made of; the steps since are their age
  bool too_few = false;
  std::vector<std::pair<double, double>> bounds{};  ///< in the order of the release's estimate; empty: there are none
  std::vector<double> means{};  ///< their middles, where those are neither the estimate nor its average
};

/// How strong a first stage is, as a release tells it.
struct ShownStrength {
  std::vector<std::pair<std::string, double>> f{};  ///< by regressor; empty where there is no first stage
  double cragg_donald = 0;
  bool is_hidden = false;  ///< noise hides it, or there are too few records
};

/// What a release tells of its running sums beside the sums themselves (ShownSums).
struct SumsSummary {
  std::uint64_t records = 0;                      ///< records taken, usable or not
  std::uint64_t floored = 0;                      ///< directions that noise hides
  std::vector<ShownGrowth> grown{};               ///< columns whose scales have grown
  std::optional<ShownInstruments> instruments{};  ///< for models with instrumental variables
};

/// Whether a release can be relied on, as far as it says.
struct ShownStatus {
  std::string verdict{};                  ///< whether the path has settled; empty where the line does not say
  bool asks_interval = false;             ///< an interval is shown, or null where it is withheld
  std::optional<ClippedShare> clipped{};  ///< empty where the line does not say
};

/// What a reader of one line sees: enough for the path and the final table.
struct ShownRelease {
  std::uint64_t step = 0;
  std::uint64_t position = 0;
  std::vector<std::pair<std::string, double>> estimate;
  std::vector<std::pair<std::string, double>> average;  ///< empty before averaging begins
  double average_weight = 0;                            ///< number of iterates in it; 0 where the line does not say
  ReportedIntervals interval{};
  ShownStatus status{};
  ShownStrength first_stage{};
  SumsSummary sums{};
  double rho = 0;
  double rho_limit = 0;
  double rho_ledger = 0;  ///< over all epochs; the epoch's own where the line does not say
  double epsilon = 0;
  double epsilon_ledger = 0;
  std::vector<Epsilons> epsilons;  ///< at every δ; empty where the line does not say
  std::vector<Epsilons> epsilons_ledger;
  double delta = 0;
  std::string conversion;
  std::string digest;
  std::string model;  ///< digest of what the coefficients mean; empty where the line does not say
  std::string tag;
  Promise promise;
  std::string stream;
  LaneId lane{0};
  EpochId epoch{0};
  /// Coefficients that noise does not determine, which only a fit's releases have: the estimate is NaN there.
  std::vector<std::string> not_determined{};

  [[nodiscard]] bool is_determined(std::string_view name) const {
    return std::ranges::find(not_determined, name) == not_determined.end();
  }
};

/// Reads one encoded line back; empty where it is no release. Throws Failure(data) for one of another format.
[[nodiscard]] std::optional<ShownRelease> read_release(std::string_view line);
/// Settings that were measured privately, by key with their values as JSON, as the line tells them; empty where it
/// tells none.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> read_measured(std::string_view line);

/// The intervals that a release carries itself; empty where it carries none.
[[nodiscard]] std::optional<ReportedIntervals> reported_intervals(const publish::ShownRelease& release);

/// Writes "KEY":{"kind":…,"lower":{…},"upper":{…}} with the bounds by name. Releases, reports and the API have the
/// same text.
void append_intervals(MemberName key, std::span<const std::string> names, const ReportedIntervals& intervals,
                      JsonWriter& json);
/// Writes the same with the names of the release's estimate.
void append_intervals(MemberName key, const ShownRelease& release, const ReportedIntervals& intervals,
                      JsonWriter& json);
/// Writes "first_stage":{…}, or "instruments":{…} for running sums; nothing where the release carries neither.
void append_strength(const ShownRelease& release, JsonWriter& json);

}  // namespace nustream::publish
