// A state machine as a table: which event leads from which state to which.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>

#include "nustream/base/error.h"

namespace nustream::attach {

/// A set of enumerators of an enumeration that has at most 32 of them, numbered from 0 on.
template <class State>
class StateSet {
 public:
  constexpr StateSet(std::initializer_list<State> states) {
    for (const State state : states) bits_ |= bit(state);
  }
  [[nodiscard]] constexpr bool contains(State state) const { return (bits_ & bit(state)) != 0; }
  [[nodiscard]] constexpr StateSet operator|(StateSet other) const {
    other.bits_ |= bits_;
    return other;
  }

 private:
  static constexpr std::uint32_t bit(State state) { return std::uint32_t{1} << static_cast<unsigned>(state); }
  std::uint32_t bits_ = 0;
};

/// From each of the states `from`, `event` leads to `to`; where `to` is empty the state stays as it is, and nothing
/// happens.
template <class State, class Event>
struct Rule {
  StateSet<State> from;
  Event event;
  std::optional<State> to;
};

/// The table that follows from a list of rules. Where no rule names a pair of a state and an event, the event is not
/// allowed in that state. Two rules for one pair do not compile.
template <class State, std::size_t states, class Event, std::size_t events>
class TransitionTable {
 public:
  template <std::size_t rules>
  constexpr explicit TransitionTable(const std::array<Rule<State, Event>, rules>& all) {
    for (auto& row : cells_) row.fill(not_allowed);
    for (const Rule<State, Event>& rule : all) add(rule);
  }

  /// The state after the event; nothing where the event is not allowed in the state `from`.
  [[nodiscard]] constexpr std::optional<State> next(State from, Event event) const {
    const std::uint8_t to = cells_[static_cast<std::size_t>(from)][static_cast<std::size_t>(event)];
    return to == not_allowed ? std::nullopt : std::optional<State>(static_cast<State>(to));
  }
  /// The state after an event that has to be allowed. A contract: where it is not, the process ends with `refusal`.
  [[nodiscard]] State after(State from, Event event, const char* refusal) const {
    const std::optional<State> to = next(from, event);
    NUSTREAM_REQUIRE(to.has_value(), refusal);
    return *to;
  }

 private:
  static constexpr std::uint8_t not_allowed = 0xff;

  constexpr void add(const Rule<State, Event>& rule) {
    for (std::size_t from = 0; from < states; ++from) {
      const auto state = static_cast<State>(from);
      if (!rule.from.contains(state)) continue;
      std::uint8_t& cell = cells_[from][static_cast<std::size_t>(rule.event)];
      if (cell != not_allowed) throw std::logic_error("two rules for one event in one state");
      cell = static_cast<std::uint8_t>(rule.to.value_or(state));
    }
  }

  std::array<std::array<std::uint8_t, events>, states> cells_{};
};

}  // namespace nustream::attach
