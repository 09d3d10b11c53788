// The smallest lane that a journal can be tested with: numbered steps, and one release for each step, whose value the
// test chooses.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "journal/file_journal.h"
#include "journal/ledger_chain.h"
#include "journal/state_record.h"

namespace nustream::tests {

/// A lane's state between batches, and the calls that a run makes around its journal.
class ToyLane {
 public:
  ToyLane(secrets::Keyring keys, std::string stream) : keys_(std::move(keys)), stream_(std::move(stream)) {}

  static constexpr const char* digest = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

  [[nodiscard]] secrets::StateIdentity identity() const {
    return {stream_, LaneId{0}, EpochId{0}, StepCount{steps_}, digest, keys_.is_private()};
  }
  [[nodiscard]] secrets::ExpectedIdentity expected() const {
    return {stream_, LaneId{0}, EpochId{0}, digest, keys_.is_private()};
  }

  /// Opens what load() gave. Returns the recovery to hand to the journal.
  journal::Recovery restore(const std::string& sealed) {
    const journal::State state = journal::open_state(keys_, sealed, expected());
    steps_ = state.identity.steps.value();
    head_ = state.record.ledger_head;
    return state.record.recovery();
  }

  /// The next batch, of `steps` steps, each of which is released with value(step).
  template <class Value>
  journal::Batch batch(std::uint64_t steps, const std::string& bookmark, Value value) {
    std::string outbox;
    for (std::uint64_t step = steps_ + 1; step <= steps_ + steps; ++step) outbox += release(step, value(step));
    steps_ += steps;
    const std::string line = journal::ledger_line(entry(), head_, keys_);
    head_ = journal::hash_of(line);
    return seal(std::move(outbox), line, bookmark);
  }

  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
  [[nodiscard]] const journal::Hash& ledger_head() const noexcept { return head_; }
  [[nodiscard]] const secrets::Keyring& keys() const noexcept { return keys_; }

 private:
  [[nodiscard]] std::string release(std::uint64_t step, const std::string& value) const {
    return R"({"format":1,"stream":")" + stream_ + R"(","lane":0,"epoch":0,"step":)" + std::to_string(step) +
           R"(,"position":)" + std::to_string(step) + R"(,"value":")" + value + R"(","private":)" +
           (keys_.is_private() ? "true" : "false") + "}\n";
  }
  [[nodiscard]] journal::LedgerEntry entry() const {
    return {stream_,   LaneId{0}, EpochId{0}, Position{0}, Position{steps_},   StepCount{steps_},
            Rho{0.25}, Rho{0.5},  digest,     {},          keys_.is_private(), journal::Overlap::disjoint};
  }
  [[nodiscard]] journal::Batch seal(std::string outbox, const std::string& line, const std::string& bookmark) const {
    journal::StateRecord record;
    record.position = Position{steps_};
    record.lane = "toy";
    record.noise = journal::NoiseCheckpoints({{{StepIndex{steps_}, {1, 2, 3}}}, {0.5, -0.25}});
    record.outbox = outbox;
    record.ledger_entry = line;
    record.bookmark = bookmark;
    record.ledger_head = head_;
    std::string rejects = R"({"position":)" + std::to_string(steps_) + ",\"reason\":\"toy\"}\n";
    return {journal::seal_state(keys_, identity(), record), Position{steps_}, line, std::move(rejects),
            std::move(outbox)};
  }

  secrets::Keyring keys_;
  std::string stream_;
  std::uint64_t steps_ = 0;
  journal::Hash head_ = journal::empty_ledger_head;
};

}  // namespace nustream::tests
