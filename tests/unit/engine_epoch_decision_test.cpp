// What becomes of a lane, as a table of everything that can be found and asked.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "epoch_decisions.h"

namespace nustream::tests {
namespace {

using namespace engine;
using namespace epoch_decisions;

struct Row {
  const char* what;
  Found found;
  Ledger ledger;
  Asked asked;
  Keeping keeping;
  const char* decided;
};

std::vector<Row> rows_of_folders() {
  constexpr Keeping folder = Keeping::folder;
  const auto not_compared = [](Found& found) { found.input = InputFound::not_known; };
  const auto first_at_50 = [](Found& found) { found.first = Position{50}; };
  const auto owed = [](Found& found) { found.owed = line(3, 0, 120, Overlap::unknown); };
  const auto torn = [](Found& found) { found.torn_release = true; };
  const auto behind = [](Found& found) { found.behind_witness = true; };
  const Ledger with_lost{line(2, 0, 140, Overlap::unknown)};  // the witness knows this line
  return {
      {"a first run in a folder that was deleted",
       Found{.behind_witness = true},
       {},
       fresh(),
       folder,
       "refuse: behind witness"},
      {"--new-epoch in a folder that was deleted", remains(State::none, behind), with_lost, anew(), folder,
       "begin 3 at 140, unknown"},
      {"--resume of an older copy", state(behind), one_epoch, resume(), folder, "refuse: behind witness"},
      {"--new-epoch behind an older copy", state(behind), with_lost, anew(), folder, "begin 3 at 140, unknown"},
      {"--new-epoch --from 0 behind an older copy", state(behind), with_lost, anew_from(0), folder,
       "begin 3 at 0, unknown"},
      {"a first run", nothing(), {}, fresh(), folder, "begin 0 at 0, disjoint"},
      {"a first run --from 50", Found{.first = Position{50}}, {}, fresh(), folder, "begin 0 at 50, disjoint"},
      {"a first run over a state", state(), one_epoch, fresh(), folder, "refuse: state is there"},
      {"a first run over a damaged one", remains(State::unusable), {}, fresh(), folder, "refuse: state is there"},
      {"a first run over releases", remains(State::none), one_epoch, fresh(), folder,
       "refuse: remains without state"},
      {"a first run over a state of another kind", state([](Found& f) { f.other_kind = true; }), one_epoch, fresh(),
       folder, "refuse: state is there"},
      {"--resume of nothing", nothing(), {}, resume(), folder, "refuse: nothing to resume"},
      {"--resume of releases", remains(State::none), one_epoch, resume(), folder, "refuse: remains without state"},
      {"--resume", state(), one_epoch, resume(), folder, "go on, disjoint"},
      {"--resume of an epoch that reads again", state(), back_at_the_beginning, resume(), folder,
       "go on, overlapping"},
      {"--resume of an epoch of unknown overlap", state(), of_another_input, resume(), folder, "go on, unknown"},
      {"--resume at the horizon", state([](Found& f) { f.noise_is_used_up = true; }), one_epoch, resume(), folder,
       "go on, disjoint"},
      {"--resume under other settings", state([](Found& f) { f.other_settings = true; }), one_epoch, resume(), folder,
       "refuse: other settings"},
      {"--resume of other passes", state([](Found& f) { f.other_passes = true; }), one_epoch, resume(), folder,
       "refuse: other passes"},
      {"--resume of another kind", state([](Found& f) { f.other_kind = true; }), one_epoch, resume(), folder,
       "refuse: other kind"},
      {"--resume of a damaged state", remains(State::unusable), {}, resume(), folder, "refuse: unusable state"},
      {"--resume of another stream's state", remains(State::foreign), {}, resume(), folder, "refuse: foreign state"},
      {"--resume of a state that was rolled back",
       remains(State::rolled_back),
       {},
       resume(),
       folder,
       "refuse: rolled back state"},
      {"--resume where the ledger lost lines",
       remains(State::ahead_of_ledger),
       {},
       resume(),
       folder,
       "refuse: ledger lost"},
      {"--resume beside another lane's ledger", state([](Found& f) { f.ledger_of_another = true; }), one_epoch,
       resume(), folder, "refuse: other ledger"},
      {"--new-epoch of nothing", nothing(), {}, anew(), folder, "begin 0 at 0, disjoint"},
      {"--new-epoch", state(), one_epoch, anew(), folder, "begin 3 at 100, disjoint"},
      {"--new-epoch behind two", state(), two_epochs, anew(), folder, "begin 3 at 310, disjoint"},
      {"--new-epoch behind one that read again", state(), back_at_the_beginning, anew(), folder,
       "begin 3 at 300, disjoint"},
      {"--new-epoch where records are numbered anew", state([](Found& f) { f.is_renumbered = true; }), one_epoch,
       anew(), folder, "begin 3 at 100, unknown"},
      {"--new-epoch behind one of unknown overlap", state(), of_another_input, anew(), folder,
       "begin 3 at 100, unknown"},
      {"--new-epoch --from before", state(), one_epoch, anew_from(50), folder, "begin 3 at 50, overlapping"},
      {"--new-epoch --from right behind", state(), one_epoch, anew_from(100), folder, "begin 3 at 100, disjoint"},
      {"--new-epoch --from, of another input", state(not_compared), one_epoch, anew_from(50), folder,
       "begin 3 at 50, unknown"},
      {"--new-epoch of other settings", state([](Found& f) { f.other_settings = true; }), one_epoch, anew(), folder,
       "begin 3 at 100, disjoint"},
      {"--new-epoch in passes", state(), one_epoch, anew_in_passes(), folder, "refuse: passes need from"},
      {"a first --new-epoch in passes", nothing(), {}, anew_in_passes(), folder, "refuse: passes need from"},
      {"--new-epoch of another kind", state([](Found& f) { f.other_kind = true; }), one_epoch, anew(), folder,
       "refuse: other kind"},
      {"--new-epoch beside another lane's ledger", state([](Found& f) { f.ledger_of_another = true; }), one_epoch,
       anew(), folder, "refuse: other ledger"},
      {"--new-epoch behind a damaged state", remains(State::unusable), one_epoch, anew(), folder,
       "begin 3 at 100, unknown"},
      {"--new-epoch behind a state that was rolled back", remains(State::rolled_back), one_epoch, anew(), folder,
       "begin 3 at 100, unknown"},
      {"--new-epoch behind another stream's state", remains(State::foreign), one_epoch, anew(), folder,
       "refuse: foreign state"},
      {"--new-epoch where the ledger lost lines", remains(State::ahead_of_ledger), one_epoch, anew(), folder,
       "refuse: ledger lost"},
      {"--new-epoch behind releases", remains(State::none), one_epoch, anew(), folder, "begin 3 at 100, unknown"},
      {"--new-epoch behind a damaged state that released nothing",
       remains(State::unusable, first_at_50),
       {},
       anew(),
       folder,
       "begin 0 at 50, disjoint"},
      {"--new-epoch where a line is owed", remains(State::none, owed), one_epoch, anew(), folder,
       "begin 4 at 120, unknown, owed"},
      {"--new-epoch where an earlier epoch read further than what is owed", remains(State::none, owed), two_epochs,
       anew(), folder, "begin 4 at 310, unknown, owed"},
      {"--new-epoch behind a torn release", remains(State::none, torn), one_epoch, anew(), folder,
       "begin 3 at 100, unknown"},
      {"--new-epoch behind releases of other inputs", remains(State::none), of_another_input, anew(), folder,
       "begin 3 at 300, unknown"},
      {"--new-epoch --from 0 behind releases", remains(State::none), one_epoch, anew_from(0), folder,
       "begin 3 at 0, unknown"},
  };
}

std::vector<Row> rows_of_topics() {
  constexpr Keeping topics = Keeping::topics;
  const auto found_input = [](InputFound input, std::uint64_t first, std::optional<Position> end = {}) {
    return [=](Found& found) {
      found.input = input;
      found.first = Position{first};
      found.end = end;
    };
  };
  const auto lost = [](std::optional<std::uint64_t> committed, std::uint64_t released, std::uint64_t end) {
    return [=](Found& found) {
      if (committed) found.committed_offset = Position{*committed};
      found.last_release = release(2, released);
      found.end = Position{end};
    };
  };
  const auto moved = [](Found& found) { found.moved = line(0, 0, 70); };
  return {
      {"a first start", Found{.first = Position{7}}, {}, attached(), topics, "begin 0 at 7, disjoint"},
      {"a first start where users come from other lanes",
       Found{.moved = line(0, 0, 70), .first = Position{7}},
       {},
       attached(),
       topics,
       "begin 1 at 7, disjoint, owed"},
      {"a first start --new-epoch where users come from other lanes",
       Found{.moved = line(0, 0, 70), .first = Position{7}},
       {},
       attached_anew(),
       topics,
       "begin 1 at 7, disjoint, owed"},
      {"a start where users come from other lanes", state(moved), one_epoch, attached(), topics, "go on, disjoint"},
      {"--new-epoch under other settings, where users come from other lanes", state([&](Found& f) {
         f.other_settings = true;
         moved(f);
       }),
       one_epoch, attached_anew(), topics, "begin 3 at 100, disjoint, owed"},
      {"--new-epoch without a state, where users come from other lanes",
       remains(State::none,
               [&](Found& f) {
                 lost(100, 90, 500)(f);
                 moved(f);
               }),
       one_epoch, attached_anew(), topics, "begin 3 at 100, disjoint, owed"},
      {"a committed offset alone, where users come from other lanes",
       remains(State::none,
               [&](Found& f) {
                 f.committed_offset = Position{100};
                 moved(f);
               }),
       {},
       attached_anew(),
       topics,
       "begin 1 at 100, disjoint, owed"},
      {"a first start --new-epoch",
       Found{.first = Position{7}},
       {},
       attached_anew(),
       topics,
       "begin 0 at 7, disjoint"},
      {"a start", state(), one_epoch, attached(), topics, "go on, disjoint"},
      {"a start in an epoch of unknown overlap", state(), of_another_input, attached(), topics, "go on, unknown"},
      {"--new-epoch where none is needed", state(), one_epoch, attached_anew(), topics, "go on, disjoint"},
      {"under other settings", state([](Found& f) { f.other_settings = true; }), one_epoch, attached(), topics,
       "refuse: other settings"},
      {"--new-epoch under other settings", state([](Found& f) { f.other_settings = true; }), one_epoch,
       attached_anew(), topics, "begin 3 at 100, disjoint"},
      {"at the horizon", state([](Found& f) { f.noise_is_used_up = true; }), one_epoch, attached(), topics,
       "go on, disjoint"},
      {"--new-epoch at the horizon", state([](Found& f) { f.noise_is_used_up = true; }), one_epoch, attached_anew(),
       topics, "begin 3 at 100, disjoint"},
      {"where users are lost", state([](Found& f) { f.users_are_lost = true; }), one_epoch, attached(), topics,
       "go on, disjoint"},
      {"--new-epoch where users are lost", state([](Found& f) { f.users_are_lost = true; }), one_epoch,
       attached_anew(), topics, "begin 3 at 100, disjoint"},
      {"--new-epoch behind an unknown overlap", state([](Found& f) { f.noise_is_used_up = true; }), of_another_input,
       attached_anew(), topics, "begin 3 at 100, unknown"},
      {"a gap", state(found_input(InputFound::gap, 150)), one_epoch, attached(), topics, "refuse: gap"},
      {"--new-epoch over a gap", state(found_input(InputFound::gap, 150)), one_epoch, attached_anew(), topics,
       "refuse: gap"},
      {"a gap that is accepted", state(found_input(InputFound::gap, 150)), one_epoch, attached_over_a_gap(), topics,
       "begin 3 at 150, disjoint, gap accepted"},
      {"an unproven log", state(found_input(InputFound::unproven, 0)), one_epoch, attached(), topics, "refuse: gap"},
      {"an unproven log that is accepted", state(found_input(InputFound::unproven, 0)), one_epoch,
       attached_over_a_gap(), topics, "begin 3 at 100, unknown, gap accepted"},
      {"another log", state(found_input(InputFound::changed, 0, Position{40})), one_epoch, attached_anew(), topics,
       "refuse: gap"},
      {"another log that is accepted", state(found_input(InputFound::changed, 0, Position{40})), one_epoch,
       attached_over_a_gap(), topics, "begin 3 at 40, unknown, gap accepted"},
      {"another kind", remains(State::none, [](Found& f) { f.other_kind = true; }), one_epoch, attached_anew(),
       topics, "refuse: other kind"},
      {"a damaged state", remains(State::unusable), {}, attached(), topics, "refuse: unusable state"},
      {"another stream's state", remains(State::foreign), {}, attached_anew(), topics, "refuse: foreign state"},
      {"a state that was rolled back",
       remains(State::rolled_back),
       {},
       attached(),
       topics,
       "refuse: rolled back state"},
      {"no state", remains(State::none, lost(100, 90, 500)), one_epoch, attached(), topics,
       "refuse: remains without state"},
      {"--new-epoch without a state", remains(State::none, lost(100, 90, 500)), one_epoch, attached_anew(), topics,
       "begin 3 at 100, disjoint"},
      {"--new-epoch behind a damaged state", remains(State::unusable, lost(120, 90, 500)), one_epoch, attached_anew(),
       topics, "begin 3 at 120, disjoint"},
      {"--new-epoch behind a state that was rolled back", remains(State::rolled_back, lost(100, 170, 500)), one_epoch,
       attached_anew(), topics, "begin 3 at 170, disjoint"},
      {"--new-epoch without a state and a committed offset", remains(State::none, lost({}, 90, 500)), one_epoch,
       attached_anew(), topics, "begin 3 at 100, unknown"},
      {"--new-epoch without a state, behind another log", remains(State::none, lost(110, 90, 500)), of_another_input,
       attached_anew(), topics, "begin 3 at 110, unknown"},
      {"--new-epoch without a state, over a shorter log", remains(State::none, lost(100, 90, 60)), one_epoch,
       attached_anew(), topics, "refuse: gap"},
      {"a shorter log that is accepted", remains(State::none, lost(100, 90, 60)), one_epoch, attached_over_a_gap(),
       topics, "begin 3 at 60, unknown, gap accepted"},
      {"a release that no line vouches for",
       remains(State::none, lost(100, 90, 500)),
       {line(1, 0, 80)},
       attached_anew(),
       topics,
       "refuse: spend not known"},
      {"a damaged state and nothing else",
       Found{.state = State::unusable, .first = Position{7}},
       {},
       attached_anew(),
       topics,
       "begin 0 at 7, disjoint"},
  };
}

TEST(EpochDecision, IsThatOfItsTable) {
  std::vector<Row> rows = rows_of_folders();
  std::ranges::move(rows_of_topics(), std::back_inserter(rows));
  for (const Row& row : rows) {
    EXPECT_EQ(text_of(decide(row.found, row.ledger, row.asked, row.keeping)), row.decided)
        << (row.keeping == Keeping::folder ? "folder: " : "topics: ") << row.what;
  }
}

// The line for users who come from other lanes takes the place of the lane's last line, or of an epoch 0.
TEST(EpochDecision, OwesWhatUsersSpentInOtherLanes) {
  Found found = state([](Found& f) {
    f.other_settings = true;
    f.moved = line(5, 20, 90);
  });
  const auto in_place_of_last =
      std::get<Begin>(decide(found, of_another_input, attached_anew(), Keeping::topics)).owed;
  ASSERT_TRUE(in_place_of_last);
  EXPECT_EQ(in_place_of_last->epoch, EpochId{2});
  EXPECT_EQ(in_place_of_last->from, Position{0});
  EXPECT_EQ(in_place_of_last->to, Position{100});
  EXPECT_EQ(in_place_of_last->steps, StepCount{100}) << "the lane's own steps, which are more";
  EXPECT_EQ(in_place_of_last->overlap, Overlap::unknown);

  const auto of_epoch_0 =
      std::get<Begin>(decide({.moved = line(5, 20, 90), .first = Position{7}}, {}, attached(), Keeping::topics)).owed;
  ASSERT_TRUE(of_epoch_0);
  EXPECT_EQ(of_epoch_0->epoch, EpochId{0});
  EXPECT_EQ(of_epoch_0->from, Position{7});
  EXPECT_EQ(of_epoch_0->to, Position{7});
  EXPECT_EQ(of_epoch_0->steps, StepCount{70});
  EXPECT_EQ(of_epoch_0->overlap, Overlap::disjoint);
}

// What stands in the ledger before a new epoch's first line.
TEST(LinesBeforeEpoch, CloseWhatIsReservedUnlessAnotherLineSaysMore) {
  const LedgerEntry last = one_epoch.back();
  const LedgerEntry lost = line(last.epoch.value(), 0, 140, Overlap::unknown);
  const LedgerEntry owed_by_next = line(last.epoch.value() + 1, 0, 120, Overlap::unknown);
  const LedgerEntry owed_by_last = line(last.epoch.value(), 0, 130, Overlap::unknown);
  journal::Ledger ledger{journal::empty_ledger_head, one_epoch};
  const auto ends_of = [&](const Ledger& lines_lost, const std::optional<LedgerEntry>& owed) {
    std::vector<std::uint64_t> ends;
    for (const LedgerEntry& entry : lines_before_epoch(ledger, lines_lost, owed)) ends.push_back(entry.to.value());
    return ends;
  };
  using Ends = std::vector<std::uint64_t>;
  EXPECT_EQ(ends_of({}, {}), Ends{});
  EXPECT_EQ(ends_of({lost}, owed_by_next), (Ends{140, 120}));
  ledger.reserving = last;
  EXPECT_EQ(ends_of({}, {}), Ends{last.to.value()});
  EXPECT_EQ(ends_of({}, owed_by_next), (Ends{last.to.value(), 120}));
  EXPECT_EQ(ends_of({}, owed_by_last), Ends{130}) << "the owed line takes the place of the closing one";
  EXPECT_EQ(ends_of({lost}, {}), Ends{140}) << "an older state closed an epoch that went on";
}

}  // namespace
}  // namespace nustream::tests
