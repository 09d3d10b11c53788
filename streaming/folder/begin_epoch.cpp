// How a session begins an epoch: under a fresh key, and where the last release is or the settings say.
#include <filesystem>

#include "engine/going_on.h"
#include "folder/session.h"
#include "journal/last_release.h"
#include "secrets/random.h"

namespace nustream::folder {

void Session::use_ledger(EpochId epoch, Position start, journal::Overlap overlap, journal::Ledger ledger) {
  ledger_.emplace(engine::EpochIdentity{config_.stream, config_.lane, epoch, start, overlap, digest_,
                                        config_.privacy.neighbours(), keys_->is_private(), digests_.text_of(digest_)},
                  mechanism_, std::move(ledger));
}

void Session::begin_epoch(const engine::Begin& begin, const std::vector<journal::LedgerEntry>& lost,
                          journal::Ledger ledger, const Options& options) {
  use_ledger(begin.epoch, begin.start, begin.overlap, std::move(ledger));
  for (const journal::LedgerEntry& entry : lost) ledger_->owe(entry);
  if (begin.owed) ledger_->owe(*begin.owed);
  seen_key_ = secrets::random_key();
  noise::KeyBytes key = keys_->epoch_key(config_.stream);
  const journal::NoiseCheckpoints first =
      journal::first_checkpoints(key, config_.lane, begin.epoch, mechanism_.stages.size());
  noise::wipe(key);
  lane_ = engine::first_estimator(config_, mechanism_, begin.start);
  if (begin.epoch.value() > 0) choose_beginning(begin.epoch, options);
  feed_.emplace(mechanism_, first, StepIndex{0}, &locked_, keys_->healing(false));
}

/// What was owed is published by now, and a release that can be read is public whatever became of its state.
void Session::choose_beginning(EpochId epoch, const Options& options) {
  if (options.from_start) {
    begun_ = engine::begun_from_start(epoch);
    return;
  }
  const std::filesystem::path releases =
      std::filesystem::path(config_.state.directory) / journal::folder_files::releases;
  begun_ = engine::go_on_from_last(*lane_, epoch, journal::last_line(*disk_, releases), config_, keys_->is_private());
}

}  // namespace nustream::folder
