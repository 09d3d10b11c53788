// A state machine without a clock. Silence counts from the first thing that was not answered, and ends with any
// answer; being outside of the group ends with an assignment alone.
#include "attach/broker_watch.h"

#include <algorithm>

namespace nustream::attach {
namespace {

/// Whether `since` is longer ago than `patience`. Nothing that has not begun has passed.
bool has_passed(std::chrono::milliseconds patience, const std::optional<BrokerWatch::Time>& since,
                BrokerWatch::Time now) {
  return since && now - *since > patience;
}

}  // namespace

void BrokerWatch::assigned() {
  joined_ = true;
  outside_since_.reset();
  // An assignment is an answer of the group's coordinator too.
  answered();
}

/// If brokers were silent before the group counted this member out, that silence is the cause, and the time outside
/// the group begins with it.
void BrokerWatch::lost(Time now) {
  if (!outside_since_) outside_since_ = silent_since_.value_or(now);
}

void BrokerWatch::unanswered(Time now) {
  if (!silent_since_) silent_since_ = now;
}

bool BrokerWatch::is_out(Time now) const {
  // Before the first assignment nothing is done in the group's name, and the process cannot be out of what it never
  // was in.
  return joined_ && (outside_since_ || has_passed(patience_.session, silent_since_, now));
}

bool BrokerWatch::gave_up(Time now) const {
  return has_passed(patience_.give_up, outside_since_, now) || has_passed(patience_.give_up, silent_since_, now);
}

bool BrokerWatch::takes_question(Time now) {
  // Outside of the group no question is needed: the client asks by itself to be let in again.
  if (!joined_ || outside_since_ || !silent_since_ || asking_) return false;
  // A third of the session leaves time for an answer before the session is over. A lane that commits needs no
  // question: the answer to its commit shows that the brokers are there.
  asking_ = now - std::max(*silent_since_, question_over_) > patience_.session / 3;
  return asking_;
}

void BrokerWatch::question_over(bool was_answered, Time now) {
  asking_ = false;
  question_over_ = now;
  if (was_answered) {
    answered();
  } else {
    unanswered(now);
  }
}

}  // namespace nustream::attach
