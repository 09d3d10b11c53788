// What holds of every decision about a lane, whatever is found and asked.
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "epoch_decisions.h"

namespace nustream::tests {
namespace {

using namespace engine;
using namespace epoch_decisions;

/// How many there are; docs/privacy.md says so too.
constexpr std::size_t combinations_of_all = 5'529'600;

/// What both ways of keeping a lane, or one of them, can find beside the state and the input: eleven facts each.
void find_beside(Found& found, const Ledger& ledger, Keeping keeping, unsigned bits) {
  const auto next = [&bits] { return (std::exchange(bits, bits >> 1U) & 1U) != 0; };
  found.other_settings = next();
  found.noise_is_used_up = next();
  found.other_passes = next();
  found.other_kind = next();
  found.ledger_of_another = next();
  found.has_remains = next() || !ledger.empty();
  if (next() && found.has_remains) found.last_release = release(2, 120);
  if (keeping == Keeping::folder) {
    found.torn_release = next() && found.has_remains;
    found.behind_witness = next();
    if (next() && found.has_remains) found.owed = line(3, 0, 120, Overlap::unknown);
    found.is_renumbered = next();
  } else {
    if (next() && found.has_remains) found.committed_offset = Position{130};
    if (next()) found.end = Position{60};
    found.users_are_lost = next();
    if (next()) found.moved = line(0, 0, 70);
  }
}
constexpr unsigned facts_beside = 11;

/// Calls `look` with every combination of what can be found and asked of a lane that is kept in files, and of one
/// that is kept in topics, whether or not it makes sense.
void for_all_combinations(const std::function<void(const Found&, const Ledger&, const Asked&, Keeping)>& look) {
  const std::vector<Ledger> ledgers{{}, one_epoch, two_epochs, back_at_the_beginning, of_another_input};
  const std::vector<Asked> askeds{fresh(),      resume(),        anew(),
                                  anew_from(0), anew_from(1000), anew_in_passes(),
                                  attached(),   attached_anew(), attached_over_a_gap()};
  for (const Keeping keeping : {Keeping::folder, Keeping::topics})
    for (const Ledger& ledger : ledgers)
      for (const Asked& asked : askeds)
        for (int state = 0; state <= static_cast<int>(State::committed); ++state)
          for (int input = 0; input <= static_cast<int>(InputFound::changed); ++input)
            for (unsigned bits = 0; bits < 1U << facts_beside; ++bits) {
              Found found{.state = static_cast<State>(state), .epoch = EpochId{2}, .position = Position{100}};
              found.input = static_cast<InputFound>(input);
              find_beside(found, ledger, keeping, bits);
              look(found, ledger, asked, keeping);
            }
}

TEST(EpochDecision, NeverBeginsOrGoesOnAgainstItsRules) {
  std::size_t begun = 0;
  std::size_t gone_on = 0;
  std::size_t refused = 0;
  for_all_combinations([&](const Found& found, const Ledger& ledger, const Asked& asked, Keeping keeping) {
    if (::testing::Test::HasFailure()) return;  // one example is enough for a failure
    const Decision decision = decide(found, ledger, asked, keeping);
    const bool is_anew = asked.new_epoch != NewEpoch::no;
    SCOPED_TRACE(text_of(decision) + " of state " + std::to_string(static_cast<int>(found.state)));
    if (std::holds_alternative<GoOn>(decision)) {
      ++gone_on;
      EXPECT_EQ(found.state, State::committed);
      EXPECT_TRUE(asked.going_on && asked.new_epoch != NewEpoch::always);
      EXPECT_FALSE(found.other_settings || found.other_passes || found.other_kind);
      EXPECT_FALSE(is_anew && found.users_are_lost);
      EXPECT_FALSE(found.ledger_of_another);
      EXPECT_FALSE(found.behind_witness && !is_anew) << "an older copy goes on";
      EXPECT_TRUE(found.input == InputFound::held || found.input == InputFound::not_known);
    }
    if (std::holds_alternative<Refuse>(decision)) ++refused;
    const auto* begin = std::get_if<Begin>(&decision);
    if (begin == nullptr) return;
    ++begun;
    const bool has_state = found.state == State::committed;
    const bool has_past = found.state != State::none || found.has_remains;
    EXPECT_TRUE(is_anew || !has_past) << "a past that nobody asked to leave";
    EXPECT_FALSE(found.other_kind || found.state == State::foreign || found.state == State::ahead_of_ledger);
    EXPECT_FALSE(found.ledger_of_another);
    EXPECT_FALSE(found.behind_witness && !is_anew) << "an epoch that forgets what the witness knows";
    // The number of an epoch is never used twice.
    for (const LedgerEntry& entry : ledger) EXPECT_GT(begin->epoch, entry.epoch);
    if (has_state) {
      EXPECT_GT(begin->epoch, found.epoch);
    }
    if (begin->owed) {
      EXPECT_GT(begin->epoch, begin->owed->epoch);
    }
    EXPECT_EQ(begin->owed.has_value(), found.owed || found.moved) << "what users spent in other lanes is owed";
    // A range that is called disjoint is behind everything of which anything tells.
    const bool held = has_state ? found.input == InputFound::held || found.input == InputFound::gap
                                : found.committed_offset.has_value() && keeping == Keeping::topics;
    if (begin->overlap == Overlap::disjoint) {
      EXPECT_TRUE((ledger.empty() && !found.owed) || held);
      EXPECT_FALSE(found.is_renumbered && (!ledger.empty() || found.owed)) << "positions stand for other records";
      EXPECT_FALSE(found.torn_release && found.has_remains && !has_state && keeping == Keeping::folder);
      for (const LedgerEntry& entry : ledger) {
        EXPECT_NE(entry.overlap, Overlap::unknown);
        if (keeping == Keeping::folder || !has_state) {
          EXPECT_GE(begin->start, entry.to);
        }
      }
      if (has_state && keeping == Keeping::topics) {
        EXPECT_GE(begin->start, found.position);
      }
    }
    if (begin->overlap == Overlap::overlapping) {
      EXPECT_TRUE(asked.from.has_value());
    }
    if (begin->accepted_gap) {
      EXPECT_TRUE(asked.accept_gap);
    }
  });
  EXPECT_EQ(begun + gone_on + refused, combinations_of_all);
  EXPECT_GT(begun, 10'000U);
  EXPECT_GT(gone_on, 100U);
  EXPECT_GT(refused, 10'000U);
}

// Whoever opens a folder asks for the decision before anything is published, when little is known; what is refused
// then stays refused. A lane in topics is decided about once, when all is found.
TEST(EpochDecision, RefusesEarlyWhatItRefusesLate) {
  for_all_combinations([&](const Found& found, const Ledger& ledger, const Asked& asked, Keeping keeping) {
    if (::testing::Test::HasFailure() || keeping == Keeping::topics) return;
    if (asked.new_epoch == NewEpoch::where_needed) return;  // runs over folders never ask with where_needed
    Found early{.state = found.state, .epoch = found.epoch, .position = found.position};
    early.other_settings = found.other_settings;
    early.other_passes = found.other_passes;
    early.other_kind = found.other_kind;
    early.behind_witness = found.behind_witness;
    if (std::holds_alternative<Refuse>(decide(early, {}, asked, keeping))) {
      EXPECT_TRUE(std::holds_alternative<Refuse>(decide(found, ledger, asked, keeping)));
    }
  });
}

}  // namespace
}  // namespace nustream::tests
