// The dry run: looks at rows as a run would take them, without taking a step, charging anything or keeping anything.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "check/findings.h"
#include "check/foreign_texts.h"
#include "check/label_texts.h"
#include "check/limits_gate.h"
#include "config/config.h"
#include "config/mechanism.h"
#include "decode/json_names.h"
#include "nustream/record/batch.h"
#include "nustream/record/schema.h"
#include "users/identifiers.h"

namespace nustream::check {

/// To be used by one thread at a time. `config` and `mechanism` have to outlive it. Settings that are "private" stand
/// in `config` as placeholders (config/ranges.h): what depends on them is not looked at.
class DataCheck {
 public:
  /// `mechanism` is null where clips are not to be counted: it has to be unless clips_are_known() (findings.h).
  /// `is_one_step`: the input is a table, and each step takes all of its records. Otherwise a step takes
  /// descent.minibatch records.
  DataCheck(const config::Config& config, const config::Mechanism* mechanism, bool is_one_step = false);

  /// The schema to read records by: the run's own, and behind its features the columns of [weight] and [exposure],
  /// unscaled. Where the target is a label, a last feature counts its texts.
  [[nodiscard]] const record::Schema& schema() const noexcept { return schema_; }
  /// schema() for the records of one partition of a topic. Where the unit is the user, records of a user who
  /// counts in another lane are unusable, as they are when the topic is attached. The schema is good until this
  /// function is called again.
  [[nodiscard]] record::Schema schema_of_lane(const users::LaneOfUsers& lane);
  /// About how many rows are to be looked at together. Where the unit is the user they are whole steps, since a
  /// user's records in one step are one contribution.
  [[nodiscard]] std::size_t rows_together() const noexcept;
  /// Looks at rows that were read by schema(), and clears them.
  void take(record::RowBatch& rows);
  /// The names of members that the JSON records have; the code that reads the records adds them here.
  [[nodiscard]] decode::MemberNames& members() noexcept { return members_; }
  /// Notes that the whole input was read, so that it is known whether it holds records for a step.
  void note_end_of_input();
  /// Notes what the readers found of records that go over several lines.
  void note_long_record(const config::LongestRecord& longest);
  /// Takes odd_times() (times.h) of the first records.
  void note_times(std::string times) { found_.times = std::move(times); }
  /// Finds in the first records what texts are shown as.
  void note_first_records(std::span<const decode::SeenLine> records) {
    for (const auto& texts : foreign_) texts->find_bytes(records, config_.input);
  }
  /// Takes decode::files_of_one_line() of the input.
  void note_files(std::string files) { found_.files = std::move(files); }
  /// What was found; `source` says in words which input it is of.
  [[nodiscard]] Findings findings(const std::string& source) const;

 private:
  void begin_gate();
  void count_user(const record::RowUser& user);
  void count_clips_of(const record::RowBatch& rows, const std::vector<double>& without_texts);
  void look_at_texts();
  void look_at_amount(record::Feature feature, std::optional<ColumnFinding>& finding);
  void profile(const record::RowBatch& rows, std::size_t row);
  [[nodiscard]] bool refuses(const std::string& label) const;
  void find_labels(Findings& found) const;

  const config::Config& config_;
  const config::Mechanism* mechanism_;
  std::size_t rows_of_step_;
  std::size_t dimension_;
  std::unique_ptr<LabelTexts> labels_;                  ///< null where the target is not a label
  std::vector<std::unique_ptr<ForeignTexts>> foreign_;  ///< of columns that are compared with texts of the settings
  record::Schema schema_;
  std::unique_ptr<users::Identifiers> identifiers_;  ///< null where the unit is the record
  std::set<std::pair<std::uint64_t, std::uint64_t>> users_seen_;
  std::optional<LimitsGate> gate_;    ///< nothing where users have no limits, as in a table
  std::uint64_t used_up_before_ = 0;  ///< records beyond limits in the lanes before this one
  std::vector<std::uint64_t> taken_;  ///< for each text's number, how many usable records had the text
  decode::MemberNames members_;
  Findings found_;
};

}  // namespace nustream::check
