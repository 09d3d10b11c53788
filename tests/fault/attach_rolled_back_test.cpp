// A state that was rolled back: releases, ledger and committed offset each tell of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "attach_contradiction.h"
#include "journal/last_release.h"
#include "journal/state_record.h"
#include "secrets/key_file.h"

namespace nustream::tests {
namespace {

TEST_F(AttachContradiction, AStateThatWasRolledBackIs65) {
  const std::vector<StoredRecord> states = world_.committed(topic("state"));
  ASSERT_GT(states.size(), 3U);
  write_records(world_.direct(), topic("state"), 0, {states[2]});
  expect_refused({}, 65, "rolled back");
}

/// A state that was rolled back, with some of the topics that would show it.
class RolledBack : public AttachContradiction {
 protected:
  void SetUp() override {
    AttachContradiction::SetUp();
    releases_ = world_.committed(topic("releases"));
    lines_ = world_.committed(topic("ledger"));
    const std::vector<StoredRecord> states = world_.committed(topic("state"));
    ASSERT_GT(states.size(), 3U);
    const journal::State state = journal::open_state(secrets::load_key_file(world_.key()), *states[2].value);
    write_records(world_.direct(), topic("state"), 0, {states[2]});
    steps_ = state.identity.steps.value();
    head_ = state.record.ledger_head;
  }
  void roll_back_releases() {
    const auto is_later = [&](const StoredRecord& record) {
      return journal::parse_last_release(*record.value).steps.value() > steps_;
    };
    const auto end = std::find_if(releases_.begin(), releases_.end(), is_later);
    make_anew(topic("releases"), {}, {releases_.begin(), end});
    before_ = world_.releases_uncommitted();
  }
  void roll_back_ledger() {
    const auto is_head = [&](const StoredRecord& record) { return journal::hash_of(*record.value + '\n') == head_; };
    const auto head = std::find_if(lines_.begin(), lines_.end(), is_head);
    ASSERT_NE(head, lines_.end());
    make_anew(topic("ledger"), {{"retention.ms", "-1"}}, {lines_.begin(), head + 1});
  }
  void forget_committed_offset() const { delete_group(world_.direct(), "nustream-" + world_.name()); }

 private:
  /// Makes a topic anew with its records at the same offsets. Where a transaction's end stood, the record before it
  /// stands once more.
  void make_anew(const std::string& name, const TopicSettings& settings,
                 const std::vector<StoredRecord>& records) const {
    std::vector<StoredRecord> filled;
    for (const StoredRecord& record : records) {
      while (static_cast<std::int64_t>(filled.size()) < record.offset) {
        filled.push_back(filled.empty() ? record : filled.back());
      }
      filled.push_back(record);
    }
    delete_topic(world_.direct(), name);
    create_topic(world_.direct(), name, 1, settings);
    write_records(world_.direct(), name, 0, filled);
  }

  std::vector<StoredRecord> releases_;
  std::vector<StoredRecord> lines_;
  std::uint64_t steps_ = 0;
  journal::Hash head_{};
};

// Each of the three locks alone keeps such a state out.
TEST_F(RolledBack, IsToldByTheReleasesAlone) {
  roll_back_ledger();
  forget_committed_offset();
  expect_refused({"--until-end"}, 65, "is released, but the state is at epoch 0");
}

TEST_F(RolledBack, IsToldByTheLedgerAlone) {
  roll_back_releases();
  forget_committed_offset();
  expect_refused({"--until-end"}, 65, "the ledger goes on beyond this state");
}

TEST_F(RolledBack, IsToldByTheCommittedOffsetAlone) {
  roll_back_releases();
  roll_back_ledger();
  // The state might still be on its way, for as long as a transaction may take.
  expect_refused({"--until-end", "--set", "kafka.transaction_seconds=6"}, 65, "the group has committed offset 1200");
}

// Where everything was rolled back together, all is as it was then: nothing is left that could tell.
TEST_F(RolledBack, WithAllThatWouldTellGoesOn) {
  roll_back_releases();
  roll_back_ledger();
  forget_committed_offset();
  const CommandResult result = world_.run({"--until-end"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(ledger_end(world_).steps, 1200U);
}

}  // namespace
}  // namespace nustream::tests
