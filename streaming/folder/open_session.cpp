// How a session opens its folder: what is found there, what follows from that, and which epoch goes on.
#include <exception>
#include <filesystem>
#include <variant>

#include <fmt/format.h>

#include "config/settings_difference.h"
#include "engine/going_on.h"
#include "engine/noise_feed.h"
#include "engine/spent.h"
#include "folder/refusals.h"
#include "folder/session.h"
#include "journal/last_release.h"
#include "journal/ledger_chain.h"
#include "located.h"
#include "secrets/key_file.h"
#include "secrets/random.h"

namespace nustream::folder {
namespace {

bool holds_public_files(const std::filesystem::path& folder) {
  for (const char* name : {journal::folder_files::releases, journal::folder_files::ledger}) {
    std::error_code missing;
    const auto size = std::filesystem::file_size(folder / name, missing);
    if (!missing && size > 0) return true;
  }
  return false;
}

/// What a state's header claims; nothing where not even the header of a damaged state can be read.
std::optional<secrets::StateIdentity> identity_of(const std::string& sealed) {
  try {
    return secrets::read_identity(sealed);
  } catch (const Failure&) {
    return std::nullopt;
  }
}

/// Whether anything of the run may pass for private. Under a seed the noise can be computed again, and beside answers
/// that are not private the others protect nobody.
bool is_private_run(const Options& options) {
  return !options.insecure_seed && !options.compared;
}

/// What the command line asks of decide(): without --resume and --new-epoch a state that is there is refused.
engine::Asked asked_of(const Options& options, const Window& window) {
  engine::Asked asked;
  asked.first_run = options.start != Start::resume;
  asked.going_on = options.start == Start::resume;
  asked.new_epoch = options.start == Start::new_epoch ? engine::Asked::NewEpoch::always : engine::Asked::NewEpoch::no;
  asked.stands_for_resume = options.goes_on_behind_measuring;
  asked.several_passes = window.passes > 1;
  if (options.start == Start::new_epoch && options.from) asked.from = Position{window.first};
  return asked;
}

/// What is known before a key is read: whether there is a state, and what its header claims.
engine::Found found_by_name(const std::optional<std::string>& sealed, const Window& window, bool is_private) {
  engine::Found found;
  found.first = Position{window.first};
  if (!sealed) return found;
  found.state = engine::Found::State::committed;
  const auto claimed = identity_of(*sealed);  // a damaged state is no failure yet: --new-epoch may go on behind it
  found.other_kind = claimed && claimed->is_private != is_private;
  return found;
}

}  // namespace

struct Session::Opening {
  const Options& options;
  engine::Asked asked;
  std::optional<std::string> sealed{};  ///< the state as it lies in the folder
  engine::Found found{};
  std::optional<journal::State> state{};      ///< set where it can be used
  journal::Ledger ledger{};                   ///< as it lies in the folder, settled by the state
  std::vector<journal::LedgerEntry> lost{};   ///< what the witness knows to be spent, without a line in `ledger`
  std::vector<journal::LedgerEntry> known{};  ///< the last line of each epoch, with those that are lost
};

Session::Session(const config::Config& config, const config::Mechanism& mechanism, const Window& window,
                 const Options& options, Published published, InputWitness& input)
    : config_(config),
      mechanism_(mechanism),
      window_(window),
      published_(std::move(published)),
      input_(input),
      digests_(config, mechanism, is_private_run(options)),
      // The rule by which an epoch begins is part of its digest. A resumed epoch keeps its own rule
      // (look_at_state()).
      epoch_{digests_.of(options.from_start ? config::EpochStart::settings : config::EpochStart::last_release)},
      disk_(journal::posix_disk()) {
  const std::filesystem::path folder = config.state.directory;
  require_folder(config);
  disk_->require_trusted(folder);
  // Before the journal, which makes the folder and its lock where they are missing.
  if (options.start == Start::resume) require_any_file(folder);
  journal_.emplace(*disk_, journal::FolderOptions{folder, is_private_run(options), config.state.rejects});
  Opening opening{options, asked_of(options, window), journal_->load()};
  opening.found = found_by_name(opening.sealed, window, is_private_run(options));
  opening.found.has_remains = journal_->has_remains();
  find_keys_and_state(opening);
  find_witness(opening);
  find_ledger(opening);
  // What the ledger and the store of users refuse does not name the folder by itself.
  located(config.state.directory, [&] { act_on(decided(opening), opening); });
  // By now all releases that the folder owed are in its files, so that the chain goes on from the last one there.
  releases_ = {config_.descent.release_every, journal::last_release_head(*disk_, folder)};
  if (users_) lane_->use(users_->open(), users_->clock());
  // Last of all: the witness is written to from here on, and a run that is refused must leave it as it is.
  if (witness_) witness_->keep();
}

/// decided() is asked after each finding, since a refusal stands whatever is found later. The first time is before a
/// key is looked for, so that none is made for a run that is refused.
void Session::find_keys_and_state(Opening& opening) {
  static_cast<void>(decided(opening));
  load_keys(config_, opening.options, opening.sealed.has_value());
  witness_ = witness_for(config_, keys_.file, *keys_.ring);
  if (opening.sealed) opening.state = look_at_state(opening);
  static_cast<void>(decided(opening));  // before the witness: a wrong key is named first
}

void Session::find_witness(Opening& opening) {
  if (witness_ && !witness_->is_looked_for()) {
    witness_->find(std::nullopt);  // no state names an account, so that the witness is found by the folder's path
    opening.found.behind_witness = !opening.sealed && witness_->found();
    if (!witness_->found() && holds_public_files(config_.state.directory)) witness_->doubt_files();
  }
  static_cast<void>(decided(opening));  // before the folder's files are adopted as they are
}

void Session::find_ledger(Opening& opening) {
  const std::filesystem::path folder = config_.state.directory;
  std::optional<journal::Adopted> adopted;
  // Files without a usable state are taken as they are. They show what was released, which may be more than the
  // ledger tells.
  if (opening.found.state != engine::Found::State::committed && (opening.sealed || holds_public_files(folder))) {
    adopted = journal_->adopt();
  }
  opening.ledger = journal::read_ledger(*disk_, folder, *keys_.ring);
  // The last line may reserve steps that were never taken. The state knows how many were.
  if (opening.state) journal::settle(opening.ledger, opening.state->record);
  owe_what_is_lost(adopted, opening);
  opening.found.ledger_of_another = journal::holds_another(opening.ledger, config_.stream, config_.lane);
  opening.found.is_renumbered = renumbers(opening.known);
}

/// Finds out what was spent without a line in the ledger: what adopted files show, and what the witness knows.
void Session::owe_what_is_lost(const std::optional<journal::Adopted>& adopted, Opening& opening) const {
  engine::Found& found = opening.found;
  const bool is_older = found.behind_witness && found.state == engine::Found::State::committed;
  if (witness_) opening.lost = witness_->lost(*disk_, opening.ledger, is_older);
  found.has_remains = adopted || !opening.lost.empty();
  journal::Ledger known = opening.ledger;
  for (const journal::LedgerEntry& entry : opening.lost) known.keep(entry);
  if (adopted) {
    found.owed = owed_by(*adopted, known, config_, keys_.ring->is_private());
    found.torn_release = adopted->torn_release.has_value();
  }
  opening.known = std::move(known.epochs);
}

/// The decision by what is found so far. A refusal is thrown as a Failure, in words.
engine::Decision Session::decided(const Opening& opening) const {
  engine::Decision decision = engine::decide(opening.found, opening.known, opening.asked, engine::Keeping::folder);
  if (const auto* refused = std::get_if<engine::Refuse>(&decision)) {
    refuse(refused->reason, opening.options, opening.sealed);
  }
  return decision;
}

void Session::act_on(const engine::Decision& decision, Opening& opening) {
  const engine::Found& found = opening.found;
  const auto* const begin = std::get_if<engine::Begin>(&decision);
  if (begin == nullptr) {
    go_on(std::move(*opening.state), std::get<engine::GoOn>(decision).overlap, std::move(opening.ledger));
    return;
  }
  epoch_.is_like_last =
      opening.options.start != Start::new_epoch || (found.state == engine::Found::State::committed &&
                                                    !found.other_settings && found.input == engine::InputFound::held);
  const bool carries_over = begin_users(opening.state ? &*opening.state : nullptr, found, opening.known);
  if (opening.state && found.input == engine::InputFound::held) keep_marks(opening.state->record, begin->start);
  begin_epoch(*begin, opening.lost, std::move(opening.ledger), opening.options, carries_over);
}

void Session::refuse(engine::Refusal reason, const Options& options, const std::optional<std::string>& sealed) const {
  using engine::Refusal;
  const std::string& folder = config_.state.directory;
  switch (reason) {
    case Refusal::state_is_there:
      throw state_is_there(located(folder, [&] { return secrets::read_identity(*sealed); }), config_, options,
                           option_of_new_epoch(options));
    case Refusal::nothing_to_resume:
      throw nothing_to_resume(folder);
    case Refusal::remains_without_state:
      throw remains_without_state(config_, options, option_of_new_epoch(options));
    case Refusal::other_kind:
      throw other_kind(folder, is_private_run(options));
    case Refusal::behind_witness: {
      const std::string new_epoch = command_to_go_on(config_, options, option_of_new_epoch(options));
      if (!sealed) throw is_forgotten(*witness_, config_, new_epoch);
      throw is_older(*witness_, secrets::read_identity(*sealed), config_, new_epoch);
    }
    case Refusal::other_ledger:
      throw Failure(Exit::data, folder +
                                    ": its ledger is of another stream or lane; choose another "
                                    "state.directory");
    case Refusal::passes_need_from:
      throw Failure(Exit::usage,
                    "--new-epoch with --passes needs --from: every pass reads the window from its beginning, "
                    "and what was read before is charged again");
    default:
      // The other reasons were found by a check that threw. Its exception has the better message.
      NUSTREAM_REQUIRE(why_unusable_ != nullptr, "a refusal that nobody has words for");
      std::rethrow_exception(why_unusable_);
  }
}

/// Refuses to resume in a folder that holds no file of a run. Called before anything is made there, since the path
/// may be mistyped.
void Session::require_any_file(const std::filesystem::path& folder) const {
  for (const char* name : {journal::folder_files::state, journal::folder_files::ledger,
                           journal::folder_files::releases, journal::folder_files::lock}) {
    if (disk_->open(folder / name, journal::Access::read)) return;
  }
  throw nothing_to_resume(folder);
}

void Session::load_keys(const config::Config& config, const Options& options, bool state_exists) {
  if (options.insecure_seed) {
    keys_.ring = secrets::Keyring::insecure(*options.insecure_seed);
    return;
  }
  if (!state_exists && is_private_run(options)) require_no_other_stream(config);
  keys_.file = key_file_for(config, state_exists);
  keys_.ring = secrets::load_key_file(keys_.file);
  // The keys are those of a private run, but nothing that they seal or sign passes for private.
  if (options.compared) keys_.ring = keys_.ring->beside_nonprivate();
}

journal::State Session::open_state(const std::string& sealed, const secrets::ExpectedIdentity& expected) const {
  return located(config_.state.directory, [&] { return journal::open_state(*keys_.ring, sealed, expected); });
}

namespace {

/// Whether no epoch up to this state took a step. States of the first versions do not say it.
bool took_no_step(const journal::StateRecord& record) {
  const std::vector<journal::LedgerEntry> epochs = journal::read_entries(record.ledger_epochs);
  return !epochs.empty() &&
         std::ranges::all_of(epochs, [](const journal::LedgerEntry& epoch) { return epoch.steps == StepCount{0}; });
}

}  // namespace

/// The option that begins a new epoch under these settings: a replay's has --from-start, where it cannot go on from
/// the last release, which is in the outbox or in the releases.
std::string Session::option_of_new_epoch(const Options& options, const std::string& outbox) const {
  if (options.command != "replay") return "--new-epoch";
  const std::filesystem::path releases =
      std::filesystem::path(config_.state.directory) / journal::folder_files::releases;
  const std::string last = outbox.empty() ? journal::last_line(*disk_, releases) : outbox;
  return engine::can_go_on(last, config_, is_private_run(options)) ? "--new-epoch" : "--new-epoch --from-start";
}

/// Refuses a state of other settings, with the command that begins a new epoch under these.
void Session::require_same_settings(const journal::State& state, const Options& options) const {
  const std::string& folder = config_.state.directory;
  if (digests_.has(state.identity.settings_digest)) return;
  config::BesideTexts beside = config::beside_texts(config_, mechanism_);
  beside.new_epoch = command_to_go_on(config_, options, option_of_new_epoch(options, state.record.outbox));
  // Several passes begin where they began before, and nothing would say so once the command is typed.
  if (options.passes > 1) beside.new_epoch += " (it reads the same records again: what both epochs spend adds up)";
  const journal::Ledger ledger = located(folder, [&] { return journal::read_ledger(*disk_, folder, *keys_.ring); });
  // With the limit from the ledger the message can name the ρ there beside the ρ here.
  beside.rho_there = engine::limit_of(ledger.epochs, state.identity.epoch);
  try {
    config::require_same_settings(state.record.settings, state.identity.settings_digest, digests_, beside);
  } catch (const Failure& failure) {
    // The command may name the folder too, which would not say whose state it is.
    throw Failure(failure.code(), folder + ": " + failure.what());
  }
}

/// Opens the state, checks whether the input is the one that was read, and publishes the releases that its epoch
/// still owes. Returns nothing for a state that cannot be used, and notes in `found` why.
///
/// A new epoch may begin behind a state that is damaged or was rolled back: such a state does not tell what is
/// public. But a state of another stream or lane, or under another key, is not damaged (`foreign`). And where the
/// ledger has lost spends that the state knows, no new epoch may begin either, since nobody else knows them
/// (`ahead_of_ledger`).
std::optional<journal::State> Session::look_at_state(Opening& opening) {
  using State = engine::Found::State;
  const std::string& sealed = *opening.sealed;
  const Options& options = opening.options;
  engine::Found& found = opening.found;
  const secrets::ExpectedIdentity expected{config_.stream, config_.lane, std::nullopt, std::nullopt,
                                           keys_.ring->is_private()};
  std::optional<journal::State> state;
  const auto is_unusable = [&](State as, const Failure& failure) {
    found.state = failure.code() != Exit::data || secrets::is_foreign(sealed, expected) ? State::foreign : as;
    why_unusable_ = std::current_exception();
  };
  try {
    state = open_state(sealed, expected);
    if (options.start == Start::resume) {
      input_.require_same_size(state->record);
      // A resume has to have the settings of the state. A new epoch may have others, and its digest is its own.
      epoch_.digest = digests_.like(state->identity.settings_digest);
      require_same_settings(*state, options);
    }
  } catch (const Failure& failure) {
    is_unusable(State::unusable, failure);
    return std::nullopt;
  }
  found.epoch = state->identity.epoch;
  found.position = Position{window_.touched(state->record.position.value())};
  found.other_settings = !digests_.has(state->identity.settings_digest);
  found.noise_is_used_up = engine::noise_is_used_up(mechanism_, state->record.noise, state->identity.steps);
  found.other_passes = !has_same_passes(state->record);
  if (found.other_passes) why_unusable_ = std::make_exception_ptr(other_passes(state->record));
  // The witness of the account that the state names is looked for, and not that of the folder's path, which may have
  // been moved.
  if (witness_) {
    witness_->find(state->record.account, &*state);
    found.behind_witness = !witness_->is_held_by(*disk_, state->identity.epoch, state->identity.steps, state->record);
  }
  static_cast<void>(decided(opening));  // a run that is refused has published nothing
  // Before recover(), which publishes: where the input is another one, nothing is made public.
  look_at_input(state->record, options, found);
  try {
    journal_->recover(state->record.recovery());
  } catch (const Failure& failure) {
    // A resume cannot go on from such a state. A new epoch can, unless the ledger has lost what only the state knows.
    if (options.start == Start::resume) throw;
    const bool known = journal::ledger_follows(*disk_, config_.state.directory, *keys_.ring, state->record);
    is_unusable(known ? State::rolled_back : State::ahead_of_ledger, failure);
    return std::nullopt;
  }
  committed_.is_there = options.start == Start::resume;
  return state;
}

/// Checks the input where the run goes on behind the state's position, without --from. Such a run takes the records
/// there for ones that nobody has read yet, so that the input has to be the same. With --from it may be another
/// input, whose ordinals say nothing of what was read before; then it is only looked whether it is the same.
///
/// A state without marks compares with any input: a fit's has none. Its input then is not known, unless nothing was
/// read at all.
void Session::look_at_input(const journal::StateRecord& record, const Options& options, engine::Found& found) {
  const bool goes_on = options.start == Start::resume || !options.from;
  if (options.start == Start::resume || (goes_on && window_.passes == 1)) input_.check(record);
  const bool is_compared = goes_on && (!record.seen.empty() || took_no_step(record));
  found.input = is_compared || input_.holds(record) ? engine::InputFound::held : engine::InputFound::not_known;
}

void Session::go_on(journal::State state, journal::Overlap overlap, journal::Ledger ledger) {
  // recover() has written the state's own line where it was missing. So another head is another history.
  if (ledger.head != state.record.ledger_head) {
    throw Failure(Exit::data, config_.state.directory +
                                  ": the ledger does not end with this state's entry: another copy of the folder has "
                                  "written to it, or lines were removed; restore the folder as it was");
  }
  before_.rejected = state.record.rejected;
  go_on_with_users(state);
  const bool carries_over = journal::began_with_counts(ledger, state.identity.epoch);
  use_ledger(state.identity.epoch, state.record.start, overlap, std::move(ledger), carries_over);
  committed_.steps = state.identity.steps;
  before_.released = committed_.released = state.record.released.value();
  marks_.seen = state.record.seen;
  // Without marks nothing depends on the state's key for them, and a fresh one is drawn.
  marks_.key = marks_.seen.empty() ? secrets::random_key() : state.record.seen_key;
  lane_ = engine::decoded_estimator(config_, mechanism_, state.record.lane);
  NUSTREAM_REQUIRE(lane_->steps() == state.identity.steps, "the sealed lane is at another step than its seal says");
  // In a private run a new segment begins here, so that another run that goes on from a copy of this state has other
  // noise (noise/source.h).
  feed_.emplace(mechanism_, state.record.noise, StepIndex{lane_->steps().value()}, &locked_,
                keys_.ring->healing(true));
}

/// Whether the passes of the state are over the window of this run. Several passes are accounted for over one window.
/// In another window, even one of as many steps, a record could take part more often, or sooner again, than the spend
/// says.
bool Session::has_same_passes(const journal::StateRecord& record) const {
  return window_.passes == 1 || (record.start == Position{window_.first} && record.stop == Position{*window_.end});
}

Failure Session::other_passes(const journal::StateRecord& record) const {
  const std::string stop = record.stop ? std::to_string(record.stop->value()) : "the end";
  return {Exit::data, fmt::format("{}: this state's passes read records {} to {}, not {} to {}; resume with that "
                                  "input and the same --from and --to",
                                  config_.state.directory, record.start.value(), stop, window_.first, *window_.end)};
}

}  // namespace nustream::folder
