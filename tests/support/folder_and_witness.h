// A state folder with a ledger, and its witness beside it.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "journal/disk.h"
#include "journal/folder_witness.h"
#include "journal/state_record.h"
#include "keys_from.h"
#include "temporary_folder.h"
#include "witness_example.h"

namespace nustream::tests {

/// A ledger of some lines in a folder, and the witness of its commits.
class AFolderAndItsWitness : public ::testing::Test {
 protected:
  AFolderAndItsWitness() {
    std::filesystem::create_directory(state());
    for (std::uint64_t steps = 100; steps <= 300; steps += 100) {
      const std::string line = journal::ledger_line(entry(0, steps), heads.back(), keys_from(1));
      heads.push_back(journal::hash_of(line));
      lines.push_back(line);
    }
    hold(3);
  }

  [[nodiscard]] std::filesystem::path state() const { return folder.path() / "state"; }
  [[nodiscard]] journal::WitnessSettings settings() const {
    return {folder.path() / "keys", false, state(), "mine", LaneId{0}};
  }
  void hold(std::size_t count) const {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += lines[i];
    folder.write("state/ledger", text);
  }
  /// Writes the witness of a run that commits `count` lines.
  void witness_of(std::size_t count, const journal::AccountId& id, std::uint8_t first = 1) const {
    witness_of(count, entry(0, 100 * count), id, first);
  }
  /// The same of a run whose only epoch is charged by `line`.
  void witness_of(std::size_t count, const journal::LedgerEntry& line, const journal::AccountId& id,
                  std::uint8_t first = 1) const {
    journal::FolderWitness witness(settings(), keys_from(first));
    witness.find(id);
    witness.keep();
    witness.committed(EpochId{0}, StepCount{100 * count}, heads[count], {line});
    witness.finish();
  }
  /// What the account's witness knows and the folder's ledger lacks.
  [[nodiscard]] std::vector<journal::LedgerEntry> lost() const {
    journal::FolderWitness witness(settings(), keys_from(1));
    witness.find(account);
    const auto disk = journal::posix_disk();
    return witness.lost(*disk, journal::read_ledger(*disk, state(), keys_from(1)));
  }
  [[nodiscard]] bool is_held(std::size_t state_at, const std::optional<journal::AccountId>& id) const {
    journal::FolderWitness witness(settings(), keys_from(1));
    witness.find(id);
    journal::StateRecord record;
    record.ledger_head = heads[state_at];
    const auto disk = journal::posix_disk();
    return witness.is_held_by(*disk, EpochId{0}, StepCount{100 * state_at}, record);
  }

  const TemporaryFolder folder;
  std::vector<std::string> lines;
  std::vector<journal::Hash> heads{journal::empty_ledger_head};
  const journal::AccountId account{9, 9, 9};
};

}  // namespace nustream::tests
