// Measuring over a whole input, in an epoch of one step in the run's own folder: read the raw values, fit, commit
// what was found together with its cost, and go on with the run in the next epoch. After a kill behind the commit the
// values come from the state instead (held_by()).
#include "measure/measure.h"

#include <algorithm>
#include <charconv>
#include <exception>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "check/first_look.h"
#include "config/mechanism.h"
#include "config/ranges.h"
#include "console/operator_counts.h"
#include "console/signals.h"
#include "decode/byte_source.h"
#include "decode/reader.h"
#include "decode/segment_rows.h"
#include "error.h"
#include "folder/account_share.h"
#include "folder/one_step_account.h"
#include "folder/refusals.h"
#include "journal/outbox_folder.h"
#include "journal/state_record.h"
#include "located.h"
#include "measure/fit.h"
#include "measure/numbers_instead.h"
#include "publish/json_text.h"
#include "secrets/key_file.h"
#include "users/identifiers.h"

namespace nustream::measure {
namespace {

constexpr std::size_t rows_per_read = 4096;

/// Refuses pipes: the input is read once to measure and once for the run, and a pipe can be read only once.
void require_files(const config::Config& asked) {
  for (const std::string& file : asked.input.files) {
    if (!decode::is_standard_input(file) && decode::stored_size(file)) continue;
    throw Failure(
        Exit::configuration,
        fmt::format(
            "{}: {} = \"private\" needs files, since the input is read twice: record the pipe to a file first, "
            "or set a number",
            asked.file, asked.measuring.keys.front()));
  }
}

bool is_private_run(const folder::Options& options) {
  return !options.insecure_seed && !options.compared;
}

/// The row of the batch that holds an unusable record. A position is no row number: in a recorded segment positions
/// begin at its first offset, and may leave some out.
std::size_t row_of(const record::Reject& reject, const record::RowBatch& rows) {
  const auto behind = std::ranges::upper_bound(rows.next, reject.position.value());
  return static_cast<std::size_t>(behind - rows.next.begin());
}

/// Judges, before anything is spent, by --min-usable: a stream by its first records, a table by all of them.
class UsableGate {
 public:
  UsableGate(std::optional<double> least, config::Purpose purpose, std::string look)
      : least_(least), is_table_(purpose == config::Purpose::table), look_(std::move(look)) {}

  /// How many records are to be read before the gate judges for the first time.
  [[nodiscard]] std::size_t first_read() const {
    return least_ && !is_table_ ? check::records_judged : rows_per_read;
  }
  /// Takes records in their order. Throws Failure(unusable) where too few of those that are judged can be used.
  void take(const record::RowBatch& rows, bool is_last) {
    if (!least_ || is_judged_) return;
    seen_.add(check::tally_of(rows));
    if (is_table_ && !is_last) return;
    is_judged_ = true;
    check::require_usable(seen_, *least_, look_);
  }

 private:
  std::optional<double> least_;
  bool is_table_;
  std::string look_;  ///< the command that shows more
  bool is_judged_ = false;
  check::Tally seen_;
};

/// The values of all records, as they were read.
RawTable read_raw(const config::Config& asked, UsableGate gate) {
  record::Schema schema = raw_schema(asked);
  // Users are told apart while this table is measured: nothing of them is kept, so that a fresh key will do.
  users::Identifiers identifiers(users::Partitioner::user_hash);
  if (schema.user) {
    identifiers.use(users::UserKey::draw());
    schema.user->reader = &identifiers;
  }
  const auto reader = decode::open_reader(asked.input, schema);
  RawTable table = raw_table(asked);
  record::RowBatch rows;
  rows.dimension = table.features;
  for (bool more = true; more;) {
    rows.clear();
    console::require_no_signal();
    const bool is_first = table.y.empty();
    more = reader->read(rows, is_first ? gate.first_read() : rows_per_read);
    // The operator hears of records that cannot be used before anything is spent on them.
    gate.take(rows, !more);
    if (is_first)
      console::say_for_operator(check::unusable_at_first(check::tally_of(rows), asked.input, asked.schema));
    std::vector<std::size_t> unusable;
    for (const record::Reject& reject : rows.rejects) unusable.push_back(table.y.size() + row_of(reject, rows));
    table.add(rows, unusable);
  }
  return table;
}

/// The state folder with its keys and its witness. The key file is made only where there is no state yet, since a
/// state opens under its own key alone.
folder::AccountPlace place_of(const config::Config& asked, const folder::Options& options) {
  const auto keys = [&asked, &options](bool state_exists) -> std::pair<secrets::Keyring, std::string> {
    if (options.insecure_seed) return {secrets::Keyring::insecure(*options.insecure_seed), ""};
    if (!state_exists && is_private_run(options)) folder::require_no_other_stream(asked);
    const std::string file = folder::key_file_for(asked, state_exists);
    secrets::Keyring ring = secrets::load_key_file(file);
    return {options.compared ? ring.beside_nonprivate() : ring, file};
  };
  const auto witness = [&asked](const std::string& key_file, const secrets::Keyring& ring) {
    return folder::witness_for(asked, key_file, ring);
  };
  const auto way_on = [&asked, &options] { return numbers_instead(asked, options); };
  return {asked.state.directory, asked.stream, asked.lane, is_private_run(options), keys, witness, way_on};
}

/// How many of the input's `records` the run behind the measuring steps, which begins at --from and ends at --to.
/// Bounds by time and offsets of a segment are not counted: where one is given, the number is an upper bound.
std::uint64_t records_of_run(const config::Config& asked, const folder::Options& options, std::uint64_t records) {
  if (std::ranges::any_of(asked.input.files, decode::is_segment)) return records;
  const auto ordinal = [records](const std::optional<std::string>& text, std::uint64_t otherwise) {
    std::uint64_t number = 0;
    const char* const end = text ? text->data() + text->size() : nullptr;
    const bool is_number = text && std::from_chars(text->data(), end, number).ptr == end;
    return is_number ? std::min(number, records) : otherwise;
  };
  const std::uint64_t from = ordinal(options.from, 0);
  const std::uint64_t to = ordinal(options.to, records);
  return to > from ? to - from : 0;
}

/// Refuses a stream of which no step could be taken behind the measuring, whose cost would buy nothing.
void require_a_step(const config::Config& asked, const folder::Options& options, std::uint64_t records) {
  const std::uint64_t left = records_of_run(asked, options, records);
  if (asked.estimate.steps > 0 || left >= asked.descent.minibatch) return;
  throw Failure(
      Exit::configuration,
      fmt::format("{}: {} = {}: allowed is at most {}, the number of records that are left for the run after what is "
                  "\"private\" was measured; nothing is spent",
                  asked.file, asked.moments ? "release.every" : "descent.minibatch", asked.descent.minibatch, left));
}

/// Refuses to measure behind a measuring that found nothing where privacy.budget does not pay for all of them. All
/// are over the same records, so that what they cost adds up.
void require_budget_behind(const config::Config& asked, Rho spent) {
  const std::optional<Rho>& budget = asked.privacy.budget;
  const Rho more = config::rho_asked(asked.privacy);
  if (spent.value() == 0 || !budget || spent.value() + more.value() <= budget->value()) return;
  throw Failure(Exit::exhausted,
                fmt::format("measuring anew and the run behind it take rho {:.6g} in addition to the {:.6g} that was "
                            "spent before: privacy.budget = {:g} does not pay for both; nothing was read privately, "
                            "nothing more is spent: lower privacy.rho to what the budget leaves, or raise the budget",
                            more.value(), spent.value(), budget->value()));
}

/// Measures, commits what was found together with its cost, and returns it.
std::string measure_now(const config::Config& asked, config::Purpose purpose, const folder::Options& options,
                        const std::string& rule, folder::AccountShare& share) {
  const RawTable table = read_raw(asked, UsableGate(options.min_usable, purpose, asked.input.look));
  // Everything that can be refused by public figures is refused before the account is opened and the share begins.
  require_budget(asked);
  require_enough(asked, table.y.size());
  require_a_step(asked, options, table.y.size());
  folder::OneStepAccount account(place_of(asked, options));
  // The share is charged before any noise is drawn; a folder's own ledger is written only with the commit below.
  const Rho spent = account.spent(asked.privacy.neighbours());
  require_budget_behind(asked, spent);
  account.require_summable(asked.input.framing_is_trusted, asked.users ? &*asked.users->limits : nullptr);
  share.begin(spent);
  const Measured found = find_ranges(asked, purpose, table, account.keys(), account.epoch(), rule);
  account.commit({rhos_of(asked).ranges,
                  table.y.size(),
                  asked.privacy.neighbours(),
                  rule,
                  {},
                  found.ranges,
                  asked.input.framing_is_trusted,
                  user_spend(asked)});
  // The failure is thrown only after the commit: it may tell something of the records, and that has to be paid for.
  if (found.failure) std::rethrow_exception(found.failure);
  return found.ranges;
}

struct Held {
  std::string ranges;
  bool is_measuring;  ///< true where no run has begun after the measuring
};

/// What to do behind a measuring that found nothing. Its folder goes on: what was spent stays in the ledger.
std::string measure_anew(const config::Config& asked, const folder::Options& options) {
  return "measure anew, which is charged in addition, with: " +
         folder::command_to_go_on(asked, options, "--new-epoch");
}

/// Refuses to go on from a state whose measuring found nothing, under settings that are not those that it had.
Failure found_nothing(const config::Config& asked, const folder::Options& options) {
  return {Exit::data,
          fmt::format("{}: its state holds no settings that were measured: hardly any record was usable, "
                      "and what the measuring cost is in the ledger; mend the input or the settings, and {}",
                      asked.state.directory, measure_anew(asked, options))};
}

/// The state, whatever its epoch and settings: it may be that of the measuring or of the run behind it, whose digests
/// differ.
journal::State opened(const config::Config& asked, const folder::Options& options, const std::string& sealed) {
  const secrets::Keyring keys = place_of(asked, options).keys(true).first;
  return journal::open_state(keys, sealed, {asked.stream, asked.lane, std::nullopt, std::nullopt, keys.is_private()});
}

/// Refuses a first run in a folder that holds a state.
[[noreturn]] void refuse_state(const config::Config& asked, const folder::Options& options,
                               const std::string& sealed) {
  const auto is_failed = [&] {
    try {
      return !config::stopped_by(opened(asked, options, sealed).record.ranges).empty();
    } catch (const Failure&) {
      return false;  // what can be read without the key is told
    }
  };
  if (is_failed()) throw found_nothing(asked, options);
  throw folder::state_is_there(secrets::read_identity(sealed), asked, options);
}

/// What the folder's state says of measured settings; nothing where there is no state, and where a new epoch is asked
/// for behind a measuring that found nothing: it measures anew.
std::optional<Held> held_by(const config::Config& asked, const folder::Options& options, const std::string& rule) {
  const std::unique_ptr<journal::Disk> disk = journal::posix_disk();
  const std::filesystem::path folder = asked.state.directory;
  folder::require_folder(asked);
  if (!disk->open(folder / journal::folder_files::state, journal::Access::read)) return std::nullopt;
  disk->require_trusted(folder);
  journal::FileJournal journal(*disk, journal::FolderOptions{folder, is_private_run(options)});
  const std::optional<std::string> sealed = journal.load();
  if (!sealed) return std::nullopt;
  if (options.start == folder::Start::fresh) refuse_state(asked, options, *sealed);
  const journal::State state = opened(asked, options, *sealed);
  const bool is_failed = !config::stopped_by(state.record.ranges).empty();
  if (is_failed && options.start == folder::Start::new_epoch) return std::nullopt;
  if (config::rule_of(state.record.ranges) != rule) {
    if (is_failed) throw found_nothing(asked, options);
    throw Failure(
        Exit::data,
        fmt::format("{}: {}; choose another state.directory to measure there, or the settings as they were",
                    asked.state.directory,
                    state.record.ranges.empty() ? "its state holds no settings that were measured"
                                                : "its settings were measured under a different configuration (rho, "
                                                  "model, ranges or columns)"));
  }
  return Held{state.record.ranges, state.identity.settings_digest == rule};
}

/// Whether the folder holds releases or a ledger.
bool has_remains(const std::filesystem::path& folder) {
  const std::unique_ptr<journal::Disk> disk = journal::posix_disk();
  const auto holds_any = [&](const char* name) {
    const auto file = disk->open(folder / name, journal::Access::read);
    return file && file->size() > 0;
  };
  return holds_any(journal::folder_files::ledger) || holds_any(journal::folder_files::releases);
}

/// The same, with the refusals that need the way on of a folder in which nothing can be measured any more.
std::optional<Held> found_in_folder(const config::Config& asked, const folder::Options& options,
                                    const std::string& rule) {
  const std::string& folder = asked.state.directory;
  const auto advice = [&] {
    return "restore it only from a copy that nothing was released after, or " + numbers_instead(asked, options);
  };
  std::optional<Held> held =
      located(folder, [&] { return with_own_advice(advice, [&] { return held_by(asked, options, rule); }); });
  if (held || options.start != folder::Start::resume) return held;
  // The account refuses to begin behind remains, and says what to do.
  if (has_remains(folder)) folder::OneStepAccount(place_of(asked, options));
  throw folder::nothing_to_resume(folder);
}

}  // namespace

Settled settle(const config::Config& asked, config::Purpose purpose, const folder::Options& options,
               folder::AccountShare& share) {
  require_measurable(asked);
  require_files(asked);
  const std::string rule = rule_digest(asked, is_private_run(options), 0);
  // Values in the state come first. Measuring again over the same records would spend again.
  std::optional<Held> held = found_in_folder(asked, options, rule);
  const bool measures_now = !held;
  if (measures_now) held = Held{measure_now(asked, purpose, options, rule, share), true};
  Settled settled{settled_config(asked, purpose, held->ranges, asked.state.directory, measure_anew(asked, options)),
                  options};
  // The records were judged before they were measured: what has been paid for is not refused afterwards.
  if (measures_now) settled.options.min_usable.reset();
  // The run's epoch begins behind the one that measured. It reads the same records from the first one on, and begins
  // at the settings' start, since measuring has released no iterate.
  if (held->is_measuring) {
    settled.options.goes_on_behind_measuring = measures_now || options.start != folder::Start::new_epoch;
    settled.options.start = folder::Start::new_epoch;
    settled.options.from_start = true;
    if (!settled.options.from) settled.options.from = "0";
  }
  return settled;
}

void show(const Settled& settled, const config::Config& asked) {
  fmt::print("measured privately over the whole input, rho {:.6g} in the ledger beside the {:.6g} of this run:\n",
             rhos_of(asked).ranges.value(), settled.config.privacy.rho->value());
  for (const auto& [key, value] : config::measured_settings(settled.config.ranges)) {
    fmt::print("  {} = {}\n", key, value);
  }
  std::fflush(stdout);
}

std::string used_settings(const config::Config& settled, const config::Config& asked, const std::string& ledger) {
  std::vector<std::string> overrides = asked.overrides;
  for (const auto& [key, value] : config::measured_settings(settled.ranges)) {
    overrides.push_back(key + '=' + value);
  }
  if (asked.input.files.size() == 1) {
    std::string quoted;
    publish::append_string(std::filesystem::absolute(asked.input.files.front()).string(), quoted);
    overrides.push_back("stream.input=" + quoted);
  }
  return fmt::format(
             "# The settings that a run measured privately, at rho = {0}, and used. The privacy of these values is "
             "spent.\n"
             "# WARNING: a run over the same records spends again, in addition to what {1} holds.\n"
             "# The state that is there has other settings than this file, so that such a run needs "
             "--new-epoch{2}.\n",
             rhos_of(asked).ranges.value(), ledger, asked.kafka.brokers.empty() ? " (a replay also --from 0)" : "") +
         config::settings_as_toml(asked.file, overrides);
}

}  // namespace nustream::measure
