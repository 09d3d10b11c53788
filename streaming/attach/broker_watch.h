// Since when no broker has counted this process to its group, or answered it at all.
#pragma once

#include <chrono>
#include <optional>

namespace nustream::attach {

/// What a member of a group knows of its brokers: a clock for giving up, and for what to tell meanwhile. Brokers that
/// are gone say nothing, so it is told what came and what did not. One thread at a time; takes no time by itself.
class BrokerWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Patience {
    std::chrono::milliseconds give_up;  ///< without brokers for longer: no hope
    std::chrono::milliseconds session;  ///< the group counts out a member that has been silent for so long
  };

  /// Outside of the group from `start` on.
  BrokerWatch(Time start, Patience patience) : patience_(patience), outside_since_(start) {}

  /// The group has let this member in, with partitions or without.
  void assigned();
  /// The group goes on without this member; only assigned() takes that back.
  void lost(Time now);
  /// A connection was lost, or a request not answered: nothing by itself, and all of it if no answer follows.
  void unanswered(Time now);
  /// A broker has answered this process.
  void answered() { silent_since_.reset(); }

  /// Once in the group, perhaps not any more.
  [[nodiscard]] bool has_joined() const noexcept { return joined_; }
  /// Counted out, or silent for so long that it must be: nothing of the group's is done here until it is back. False
  /// before the first assignment.
  [[nodiscard]] bool is_out(Time now) const;
  /// Something was lost or not answered, and nothing answered since.
  [[nodiscard]] bool is_silent() const noexcept { return silent_since_.has_value(); }
  /// Outside of the group, or without any answer, for longer than `give_up`.
  [[nodiscard]] bool gave_up(Time now) const;
  /// True where the brokers have to be asked whether they are there, since an idle member would hear nothing of them
  /// that takes an unanswered() back; then not again before question_over(), and a while.
  [[nodiscard]] bool takes_question(Time now);
  /// What came of it.
  void question_over(bool was_answered, Time now);

 private:
  Patience patience_;
  std::optional<Time> outside_since_;
  std::optional<Time> silent_since_;
  Time question_over_;  // the last one; before the first, as long ago as can be told
  bool asking_ = false;
  bool joined_ = false;
};

}  // namespace nustream::attach
