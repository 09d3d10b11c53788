// A lane in a state folder, and everything that is committed together with it. It is opened from the folder, and
// committed batch by batch.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/mechanism.h"
#include "engine/epoch_decision.h"
#include "engine/epoch_ledger.h"
#include "engine/estimator.h"
#include "engine/noise_feed.h"
#include "folder/account_share.h"
#include "folder/input_witness.h"
#include "folder/options.h"
#include "folder/users.h"
#include "folder/window.h"
#include "journal/disk.h"
#include "journal/file_journal.h"
#include "journal/folder_witness.h"
#include "journal/ledger_chain.h"
#include "journal/release_chain.h"
#include "journal/state_record.h"
#include "publish/release_json.h"
#include "secrets/keyring.h"
#include "secrets/locked_memory.h"

namespace nustream::folder {

/// What a batch leaves behind when it closes.
struct BatchResult {
  std::string outbox{};   ///< encoded releases, in step order
  std::string rejects{};  ///< lines for rejects.jsonl, if asked for
  bool closes = false;    ///< the run ends with this batch
};

/// Called with releases that are public from now on: whole lines, in step order.
using Published = std::function<void(std::string_view lines)>;

/// One run over one state folder. commit() returns while its batch is still being written. By then the batch before
/// is durable, and what that batch released is public and shown.
class Session {
 public:
  /// How a run ended. After a failure nothing is sealed beyond the last commit.
  enum class Ended { well, by_failure };

  /// Opens the folder as `options.start` says. References outlive it. Throws Failure(data) in three cases: the folder
  /// holds a state and neither --resume nor --new-epoch was given; its state is of other settings; or its state was
  /// made from another input. Throws Failure(permission) where the key cannot be read, or is not the state's.
  Session(const config::Config& config, const config::Mechanism& mechanism, const Window& window,
          const Options& options, Published published, InputWitness& input);

  [[nodiscard]] engine::Estimator& lane() noexcept { return *lane_; }
  [[nodiscard]] engine::NoiseFeed& feed() noexcept { return *feed_; }
  [[nodiscard]] EpochId epoch() const noexcept { return ledger_->identity().epoch; }
  [[nodiscard]] const std::string& digest() const noexcept { return epoch_.digest; }
  [[nodiscard]] bool is_private() const noexcept { return keys_.ring->is_private(); }
  /// The key with which everybody can check the signatures of the lane's releases and ledger lines.
  [[nodiscard]] secrets::PublicKey public_key() const noexcept { return keys_.ring->public_key(); }
  /// The key under which identifiers of users are hashed; null where the folder keeps no users.
  [[nodiscard]] const users::UserKey* user_key() const noexcept { return users_ ? &users_->key() : nullptr; }
  /// The path of the key file; empty under an insecure seed.
  [[nodiscard]] const std::string& key_file() const noexcept { return keys_.file; }
  /// The path of the witness; empty where none is kept.
  [[nodiscard]] std::string witness_file() const { return witness_ ? witness_->file().string() : std::string(); }
  /// Sentences that warn the operator about the key's place, the witness, and closed users that are forgotten.
  [[nodiscard]] std::vector<std::string> warnings() const;
  /// The warning about the witness, which may also arise while the run goes on; "" for none.
  [[nodiscard]] std::string witness_warning() const { return witness_ ? witness_->warning() : std::string(); }
  /// The number of steps at this epoch's last release when the folder was opened; 0 for none.
  [[nodiscard]] std::uint64_t released_at() const noexcept { return before_.released; }
  /// Whether there is a state of this epoch from which --resume would go on. Certain only after finish().
  [[nodiscard]] bool is_committed() const noexcept { return committed_.is_there; }
  /// False for a new epoch, unless it is known to have the input and the settings of the epoch before.
  [[nodiscard]] bool is_like_last_epoch() const noexcept { return epoch_.is_like_last; }
  /// Where a later epoch begins, in words; empty for the first epoch, and where the run goes on from a state.
  [[nodiscard]] const std::string& begun() const noexcept { return epoch_.begun; }
  /// The largest number of steps that horizon and budget allow; nothing where there is no limit.
  [[nodiscard]] std::optional<StepCount> step_limit() const;
  /// ρ of the whole ledger once this epoch has taken `steps` steps.
  [[nodiscard]] Rho ledger_total(StepCount steps) const;
  /// A function for the releases, which gives this total at any position. It has a copy of the ledger of this moment,
  /// and may outlive the session.
  [[nodiscard]] publish::LedgerTotal ledger_total() const;
  /// Why the run stops at step_limit(), in words.
  [[nodiscard]] std::string limit_reached() const;
  /// Sets the words for the budget where an account lowered privacy.budget: AccountShare::limit(). "" changes
  /// nothing.
  void name_limit(std::string limit) { limit_ = std::move(limit); }
  /// What ends the run by its budget, in words: "privacy.budget" where no account lowered it.
  [[nodiscard]] std::string_view budget_in_words() const noexcept;

  /// Commits a batch. `rejected` is the number of records of this run that could not be used, and `released` the
  /// number of steps at the last release; both include this batch. Throws what the batch before failed with.
  void commit(BatchResult result, std::uint64_t rejected, std::uint64_t released);
  /// Waits for the last batch, and publishes what it released. Where the ledger's last line still reserves steps, one
  /// more commit says how many were taken.
  void finish(Ended ended = Ended::well);
  /// The file that lists records that could not be used; "" where no list was asked for. For the operator alone.
  [[nodiscard]] std::string rejects_file() const;
  /// How many records of this epoch could not be used before this run, according to the state that it goes on from.
  /// For the operator alone.
  [[nodiscard]] std::uint64_t rejected_before() const noexcept { return before_.rejected; }
  /// To be asked after finish(). False where a write to rejects_file() failed; records from there on are not listed.
  [[nodiscard]] bool rejects_are_written() const { return !journal_->rejects_given_up(); }

 private:
  /// What is found while the folder is opened.
  struct Opening;
  /// The epoch that begins, or goes on.
  struct Epoch {
    std::string digest{};      ///< of its settings
    std::string begun{};       ///< where a later epoch begins, in words
    bool is_like_last = true;  ///< false where it may have another input or other settings than the epoch before
  };
  struct Keys {
    std::optional<secrets::Keyring> ring{};
    std::string file{};  ///< empty under an insecure seed
  };
  /// Figures of the state that the run goes on from; zeros where it begins an epoch.
  struct Before {
    std::uint64_t rejected = 0;  ///< records of this epoch that could not be used
    std::uint64_t released = 0;  ///< steps of the last release
  };
  /// A batch that is being written.
  struct InFlight {
    std::future<void> done{};
    std::string outbox{};  ///< what it releases
  };
  /// The last commit.
  struct LastCommit {
    std::optional<StepCount> steps{};  ///< of its state; nothing before an epoch's first
    std::uint64_t rejected = 0;        ///< of this run
    std::uint64_t released = 0;        ///< steps of the last release
    bool is_there = false;             ///< made by this run, or by a run that it goes on from
  };
  /// Records by which a resumed run recognises its input.
  struct Marks {
    journal::Hash key{};
    std::vector<journal::SeenRecord> seen{};
  };

  void require_any_file(const std::filesystem::path& folder) const;
  void load_keys(const config::Config& config, const Options& options, bool state_exists);
  void use_ledger(EpochId epoch, Position start, journal::Overlap overlap, journal::Ledger ledger,
                  bool carries_over = false);
  [[nodiscard]] bool begin_users(const journal::State* before, const engine::Found& found,
                                 const std::vector<journal::LedgerEntry>& known_epochs);
  void require_nobody_closed(const journal::State& before) const;
  void tell_of_ended_users();
  void go_on_with_users(const journal::State& state);
  [[nodiscard]] journal::State open_state(const std::string& sealed, const secrets::ExpectedIdentity& expected) const;
  void find_keys_and_state(Opening& opening);
  void find_witness(Opening& opening);
  void find_ledger(Opening& opening);
  [[nodiscard]] engine::Decision decided(const Opening& opening) const;
  void act_on(const engine::Decision& decision, Opening& opening);
  [[noreturn]] void refuse(engine::Refusal reason, const Options& options,
                           const std::optional<std::string>& sealed) const;
  void require_same_settings(const journal::State& state, const Options& options) const;
  [[nodiscard]] std::string option_of_new_epoch(const Options& options, const std::string& outbox = {}) const;
  [[nodiscard]] std::optional<journal::State> look_at_state(Opening& opening);
  void look_at_input(const journal::StateRecord& record, const Options& options, engine::Found& found);
  [[nodiscard]] bool renumbers(const std::vector<journal::LedgerEntry>& known) const;
  void begin_epoch(const engine::Begin& begin, const std::vector<journal::LedgerEntry>& lost, journal::Ledger ledger,
                   const Options& options, bool carries_over);
  void keep_marks(const journal::StateRecord& before, Position start);
  void choose_beginning(EpochId epoch, const Options& options);
  void go_on(journal::State state, journal::Overlap overlap, journal::Ledger ledger);
  [[nodiscard]] bool has_same_passes(const journal::StateRecord& record) const;
  [[nodiscard]] Failure other_passes(const journal::StateRecord& record) const;
  void owe_what_is_lost(const std::optional<journal::Adopted>& adopted, Opening& opening) const;
  void mark_input();
  [[nodiscard]] std::function<void()> tell_witness(StepCount steps);
  void wait();
  void close_ledger();
  /// One past the furthest record that was touched.
  [[nodiscard]] Position touched() const { return Position{window_.touched(lane_->position().value())}; }

  const config::Config& config_;
  const config::Mechanism& mechanism_;
  Window window_;
  Published published_;
  InputWitness& input_;
  config::EpochDigests digests_;
  Epoch epoch_;
  std::string limit_;  // the words for privacy.budget; "" for its own name
  secrets::LockedMemory locked_;
  std::unique_ptr<journal::Disk> disk_;
  Keys keys_;
  // Both outlive the journal, whose thread calls them while it ends the batch in flight.
  std::optional<journal::FolderWitness> witness_;  // of private runs
  std::unique_ptr<FolderUsers> users_;             // set where the folder keeps users; the journal's thread syncs it
  std::optional<journal::FileJournal> journal_;

  std::string lost_users_;                     // a warning where nobody knows any more who was closed
  std::optional<engine::EpochLedger> ledger_;  // as of the last commit; its head moves with every line
  journal::ReleaseChain releases_;             // the lane's, up to the last commit
  Before before_;
  LastCommit committed_;
  Marks marks_;
  std::optional<engine::Estimator> lane_;
  std::optional<engine::NoiseFeed> feed_;

  std::exception_ptr why_unusable_;  // the exception of the check that found the state unusable

  InFlight in_flight_;
};

}  // namespace nustream::folder
