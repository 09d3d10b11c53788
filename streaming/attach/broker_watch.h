// Tells since when the group has not counted this process as a member, and since when no broker has answered it.
#pragma once

#include <chrono>
#include <optional>

namespace nustream::attach {

/// What a member of a group knows of its brokers: when to give up, and what to tell the operator meanwhile. Brokers
/// that are gone send nothing, so the owner of a watch reports both the answers that came and those that did not. It
/// reads no clock: callers pass the time. To be used from one thread at a time.
class BrokerWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Patience {
    std::chrono::milliseconds give_up;  ///< a process without brokers for longer than that ends
    std::chrono::milliseconds session;  ///< the group counts out a member that has been silent for this long
  };

  /// The process is outside of the group from `start` on.
  BrokerWatch(Time start, Patience patience) : patience_(patience), outside_since_(start) {}

  /// The group has let this member in, with partitions or without.
  void assigned();
  /// The group goes on without this member; only assigned() takes that back.
  void lost(Time now);
  /// A connection was lost, or a request was not answered. One such event means nothing by itself. If no answer
  /// follows, the silence counts from here.
  void unanswered(Time now);
  /// A broker has answered this process.
  void answered() { silent_since_.reset(); }

  /// True once the group has let this member in, also where it has been counted out since.
  [[nodiscard]] bool has_joined() const noexcept { return joined_; }
  /// True where the group has counted this member out, or must have, since no broker has answered for longer than a
  /// session. Until the member is back, nothing is done here in the group's name. False before the first assignment.
  [[nodiscard]] bool is_out(Time now) const;
  /// True where something was lost or not answered, and no answer has come since.
  [[nodiscard]] bool is_silent() const noexcept { return silent_since_.has_value(); }
  /// True where the process has been outside of the group, or without any answer, for longer than `give_up`.
  [[nodiscard]] bool gave_up(Time now) const;
  /// True where the caller has to ask the brokers whether they are there. After an unanswered(), a member that has
  /// nothing to commit would otherwise hear no answer that ends the silence. Once this was true, it is false until
  /// question_over(), and for a third of a session after that.
  [[nodiscard]] bool takes_question(Time now);
  /// Reports how the question ended.
  void question_over(bool was_answered, Time now);

 private:
  Patience patience_;
  std::optional<Time> outside_since_;
  std::optional<Time> silent_since_;
  Time question_over_;  // when the last question ended; the clock's epoch before the first
  bool asking_ = false;
  bool joined_ = false;
};

}  // namespace nustream::attach
