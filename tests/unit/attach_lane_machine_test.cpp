// The state machine of a lane: its tables, what they must never allow, and the drawings of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "attach/lane_machine.h"
#include "attach/roster.h"
#include "attach/service_machine.h"

namespace nustream::attach {
namespace {

/// "from --> to: event" of every change that a table allows.
template <class Event, class Table, class Stages, class Events>
std::set<std::string> arrows(const Table& table, const Stages& stages, const Events& events) {
  using Stage = typename decltype(table.next({}, Event{}))::value_type;
  std::set<std::string> all;
  for (std::size_t from = 0; from < stages.size(); ++from) {
    for (std::size_t event = 0; event < events.size(); ++event) {
      const auto to = table.next(static_cast<Stage>(from), static_cast<Event>(event));
      if (!to || static_cast<std::size_t>(*to) == from) continue;
      all.insert(std::string(stages[from]) + " --> " + std::string(name(*to)) + ": " + std::string(events[event]));
    }
  }
  return all;
}

std::set<std::string> lane_arrows() {
  return arrows<LaneEvent>(machine::lane_table, lane_stage_names, lane_event_names);
}
std::set<std::string> transaction_arrows() {
  return arrows<TransactionEvent>(machine::transaction_table, transaction_stage_names, transaction_event_names);
}

std::vector<LaneStage> all_stages() {
  std::vector<LaneStage> all;
  for (std::size_t i = 0; i < lane_stage_names.size(); ++i) all.push_back(static_cast<LaneStage>(i));
  return all;
}
std::vector<LaneEvent> all_events() {
  std::vector<LaneEvent> all;
  for (std::size_t i = 0; i < lane_event_names.size(); ++i) all.push_back(static_cast<LaneEvent>(i));
  return all;
}

/// The stages to which some events lead from `from`.
std::set<LaneStage> reachable(LaneStage from) {
  std::set<LaneStage> seen{from};
  std::vector<LaneStage> left{from};
  while (!left.empty()) {
    const LaneStage stage = left.back();
    left.pop_back();
    for (const LaneEvent event : all_events()) {
      const auto to = machine::lane_table.next(stage, event);
      if (to && seen.insert(*to).second) left.push_back(*to);
    }
  }
  return seen;
}

/// The arrows of one Mermaid drawing. An arrow of a box counts as an arrow of every stage in the box.
class Drawing {
 public:
  explicit Drawing(const std::string& text) {
    std::istringstream lines(text);
    std::string line;
    while (std::getline(lines, line)) read(line);
  }
  [[nodiscard]] const std::set<std::string>& arrows() const { return arrows_; }
  [[nodiscard]] const std::string& twice() const { return twice_; }

 private:
  void read(const std::string& line) {
    std::istringstream words(line);
    std::string first;
    std::string second;
    std::string third;
    std::string fourth;
    words >> first >> second >> third >> fourth;
    if (first == "state") {
      boxes_.push_back(second);
    } else if (first == "}") {
      boxes_.pop_back();
    } else if (second == "-->" && first != "[*]" && third != "[*]") {
      if (members_.count(first) == 0) return add(first, third, fourth);
      for (const std::string& member : members_[first]) add(member, third, fourth);
    } else if (second.empty()) {
      for (const std::string& box : boxes_) members_[box].push_back(first);
    }
  }
  void add(const std::string& from, const std::string& to, const std::string& event) {
    const std::string arrow = from + " --> " + to + " " + event;
    if (!arrows_.insert(arrow).second) twice_ += arrow + "\n";
  }

  std::vector<std::string> boxes_;
  std::map<std::string, std::vector<std::string>> members_;
  std::set<std::string> arrows_;
  std::string twice_;
};

/// The drawings of states on a page.
std::vector<std::string> drawings(const std::string& page) {
  std::ifstream file(std::string(NUSTREAM_ROOT_DIR) + "/" + page);
  std::vector<std::string> all;
  std::string line;
  bool inside = false;
  while (std::getline(file, line)) {
    if (line == "stateDiagram-v2") {
      inside = true;
      all.emplace_back();
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      all.back() += line + "\n";
    }
  }
  return all;
}

TEST(LaneMachine, IsDrawnAsItIs) {
  const std::vector<std::string> drawn = drawings("docs/lane-states.md");
  ASSERT_EQ(drawn.size(), 3U);
  EXPECT_EQ(drawings("ARCHITECTURE.md"), std::vector{drawn[0]}) << "both pages have the same drawing of the lane";
  // An arrow into a box would not say which of the box's stages it leads to. The drawing must have none: otherwise
  // the names of stages differ below.
  const Drawing lane(drawn[0]);
  EXPECT_EQ(lane.arrows(), lane_arrows());
  EXPECT_EQ(lane.twice(), "");
  const Drawing transactions(drawn[1]);
  EXPECT_EQ(transactions.arrows(), transaction_arrows());
  EXPECT_EQ(transactions.twice(), "");
  const Drawing service(drawn[2]);
  EXPECT_EQ(service.arrows(), arrows<ServiceEvent>(machine::service_table, service_stage_names, service_event_names));
  EXPECT_EQ(service.twice(), "");
  EXPECT_GT(lane.arrows().size(), 60U);
}

TEST(LaneMachine, EveryStageIsReachedAndEveryoneCanGo) {
  EXPECT_EQ(reachable(LaneStage::idle).size(), lane_stage_names.size());
  for (const LaneStage stage : all_stages()) EXPECT_TRUE(reachable(stage).count(LaneStage::gone)) << name(stage);
  EXPECT_EQ(reachable(LaneStage::gone), std::set{LaneStage::gone});
}

// What comes from outside may come at any time, so no stage may end the process for it.
TEST(LaneMachine, CallsFromOutsideAreAllowedInEveryStage) {
  for (const LaneStage stage : all_stages()) {
    for (const LaneEvent event :
         {LaneEvent::drain, LaneEvent::drop, LaneEvent::failed, LaneEvent::unreadable, LaneEvent::confirmed}) {
      EXPECT_TRUE(machine::lane_table.next(stage, event)) << name(stage) << " " << name(event);
    }
  }
}

// A lane that was taken away, or that cannot go on, takes no step and commits nothing, whatever happens to it.
TEST(LaneMachine, NothingLeadsBackFromLeavingStoppingOrStopped) {
  for (const LaneStage from : {LaneStage::leaving, LaneStage::stopping, LaneStage::stopped}) {
    for (const LaneStage stage : reachable(from)) {
      EXPECT_FALSE(takes_steps(stage)) << name(from) << " " << name(stage);
      EXPECT_FALSE(is_ending(stage)) << name(from) << " " << name(stage);
      EXPECT_FALSE(machine::taking_over.contains(stage)) << name(from) << " " << name(stage);
    }
  }
  for (const LaneStage from : {LaneStage::draining, LaneStage::flushing, LaneStage::finishing}) {
    for (const LaneEvent event : all_events()) {
      const auto to = machine::lane_table.next(from, event);
      EXPECT_FALSE(to && takes_steps(*to)) << name(from) << " " << name(event);
    }
  }
}

// A fenced lane comes back when the group answers its own question, and in no other way.
TEST(LaneMachine, FencedLanesComeBackByAnAnswerAlone) {
  for (const LaneEvent event : all_events()) {
    const auto from_fenced = machine::lane_table.next(LaneStage::fenced, event);
    EXPECT_FALSE(from_fenced && machine::taking_over.contains(*from_fenced)) << name(event);
    const auto from_asking = machine::lane_table.next(LaneStage::asking, event);
    EXPECT_EQ(from_asking && machine::taking_over.contains(*from_asking), event == LaneEvent::confirmed);
  }
}

// A lane has one writer and one transaction at a time: nothing is sent while a transaction is under way; after an
// aborted batch that batch is sent first; and a producer whose last transaction ended in an unknown way sends nothing
// more.
TEST(LaneMachine, OneTransactionAtATime) {
  const auto allowed = [](TransactionStage stage, TransactionEvent event) {
    return machine::transaction_table.next(stage, event).has_value();
  };
  for (const TransactionStage stage :
       {TransactionStage::batch, TransactionStage::model, TransactionStage::over, TransactionStage::model_aborted}) {
    EXPECT_FALSE(allowed(stage, TransactionEvent::send_batch)) << name(stage);
    EXPECT_FALSE(allowed(stage, TransactionEvent::send_model)) << name(stage);
  }
  EXPECT_FALSE(allowed(TransactionStage::batch_aborted, TransactionEvent::send_model));
  for (std::size_t event = 0; event < transaction_event_names.size(); ++event) {
    EXPECT_FALSE(allowed(TransactionStage::over, static_cast<TransactionEvent>(event)));
  }
}

// Every pair of a stage and an event is decided: there is a rule for it, or it ends the process.
TEST(LaneMachine, PairsWithoutARuleEndTheProcess) {
  std::size_t without = 0;
  for (const LaneStage stage : all_stages()) {
    for (const LaneEvent event : all_events()) {
      if (const auto to = machine::lane_table.next(stage, event)) {
        EXPECT_EQ(next(stage, event), *to);
      } else {
        ++without;
      }
    }
  }
  EXPECT_LT(without, lane_stage_names.size() * lane_event_names.size());
  EXPECT_DEATH(static_cast<void>(next(LaneStage::stopped, LaneEvent::opened)), "does not allow it");
  EXPECT_DEATH(static_cast<void>(next(LaneStage::leaving, LaneEvent::settled)), "does not allow it");
  EXPECT_DEATH(static_cast<void>(next(TransactionStage::over, TransactionEvent::committed)), "does not allow it");
}

// Signals, failures and messages of the group come at any time; an end that has begun is not taken back.
TEST(ServiceMachine, EndsAndStaysAtItsEnd) {
  for (const ServiceStage stage : {ServiceStage::joining, ServiceStage::serving, ServiceStage::outside}) {
    EXPECT_EQ(next(stage, ServiceEvent::shut_down), ServiceStage::draining) << name(stage);
    EXPECT_EQ(next(stage, ServiceEvent::assigned), ServiceStage::serving) << name(stage);
  }
  for (const ServiceStage stage : {ServiceStage::draining, ServiceStage::closing, ServiceStage::over}) {
    EXPECT_EQ(next(stage, ServiceEvent::shut_down), stage);
    EXPECT_EQ(next(stage, ServiceEvent::assigned), stage);
    for (std::size_t event = 0; event < service_event_names.size(); ++event) {
      const auto to = machine::service_table.next(stage, static_cast<ServiceEvent>(event));
      EXPECT_FALSE(to && !is_ending(*to)) << name(stage) << " " << service_event_names[event];
    }
  }
  EXPECT_DEATH(static_cast<void>(next(ServiceStage::joining, ServiceEvent::drained)), "does not allow it");
}

TEST(RosterOf, GivesTheWorstReasonOnceNoLaneCanGoOn) {
  Roster roster;
  for (const std::uint32_t lane : {0U, 1U, 2U}) roster.assign(LaneId{lane});
  EXPECT_FALSE(roster.verdict());
  roster.stop(LaneId{0}, {Exit::done, "the end"});
  roster.stop(LaneId{1}, {Exit::data, "a gap"});
  EXPECT_FALSE(roster.verdict()) << "lane 2 goes on";
  roster.stop(LaneId{2}, {Exit::exhausted, "the budget"});
  const auto verdict = roster.verdict();
  ASSERT_TRUE(verdict && verdict->failure);
  EXPECT_EQ(verdict->code, Exit::data);
  EXPECT_STREQ(verdict->failure->what(), "a gap");
  EXPECT_FALSE(roster.revoke(LaneId{1}));
  EXPECT_EQ(roster.verdict()->code, Exit::exhausted) << "a lane that moved is forgotten";
  EXPECT_FALSE(roster.verdict()->failure);
}

TEST(RosterOf, LaneWithoutAPartitionHoldsNobodyUpButIsNotDone) {
  Roster roster;
  roster.assign(LaneId{0});
  roster.assign(LaneId{1});
  EXPECT_TRUE(roster.lacks_partition(LaneId{1}, "topic 'state' has 1 partitions"));
  EXPECT_FALSE(roster.lacks_partition(LaneId{1}, "topic 'state' has 1 partitions")) << "is told once";
  EXPECT_FALSE(roster.verdict()) << "none has stopped";
  roster.stop(LaneId{0}, {Exit::done, "the end"});
  ASSERT_TRUE(roster.verdict() && roster.verdict()->failure);
  EXPECT_EQ(roster.verdict()->failure->code(), Exit::configuration);
  roster.has_partition(LaneId{1});
  EXPECT_FALSE(roster.verdict());
}

// A lane that gives up its place waits behind all others, so that each of them gets a turn.
TEST(RosterOf, LanesBeyondTheirNumberWaitInTheOrderInWhichTheyCame) {
  Roster roster;
  EXPECT_EQ(roster.first_waiting(), std::nullopt);
  EXPECT_TRUE(roster.wait(LaneId{4}));
  EXPECT_TRUE(roster.wait(LaneId{2}));
  EXPECT_FALSE(roster.wait(LaneId{2}));
  EXPECT_EQ(roster.first_waiting(), LaneId{4});
  EXPECT_TRUE(roster.start(LaneId{4}));
  EXPECT_FALSE(roster.start(LaneId{4}));
  EXPECT_TRUE(roster.wait(LaneId{4}));
  EXPECT_EQ(roster.first_waiting(), LaneId{2});
  EXPECT_TRUE(roster.revoke(LaneId{2}));
  EXPECT_FALSE(roster.is_waiting(LaneId{2}));
  EXPECT_TRUE(roster.revoke(LaneId{4}));
  EXPECT_EQ(roster.first_waiting(), std::nullopt);
}

TEST(LaneMachine, NamesAreTheEnumerators) {
  EXPECT_EQ(name(LaneStage::gone), "gone");
  EXPECT_EQ(name(LaneEvent::quiet), "quiet");
  EXPECT_EQ(name(TransactionStage::over), "over");
  EXPECT_EQ(name(TransactionEvent::pause_over), "pause_over");
  EXPECT_EQ(std::set(lane_stage_names.begin(), lane_stage_names.end()).size(), lane_stage_names.size());
  EXPECT_EQ(std::set(lane_event_names.begin(), lane_event_names.end()).size(), lane_event_names.size());
}

}  // namespace
}  // namespace nustream::attach
