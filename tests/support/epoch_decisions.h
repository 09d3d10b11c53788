// Cases for tests of how an epoch is decided: what is asked of a lane, what is found of it, and decisions in words.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/epoch_decision.h"

namespace nustream::tests::epoch_decisions {

using namespace nustream::engine;
using journal::LedgerEntry;
using journal::Overlap;
using State = Found::State;
using NewEpoch = Asked::NewEpoch;
using Ledger = std::vector<LedgerEntry>;

constexpr privacy::Neighbours neighbours{privacy::Adjacency::zero_out, false};

inline LedgerEntry line(std::uint32_t epoch, std::uint64_t from, std::uint64_t to,
                        Overlap overlap = Overlap::disjoint) {
  return {"orders", LaneId{0}, EpochId{epoch}, Position{from}, Position{to}, StepCount{to - from},
          Rho{0.1}, Rho{0.5},  "digest",       neighbours,     true,         overlap};
}

inline journal::LastRelease release(std::uint32_t epoch, std::uint64_t position) {
  return {LaneId{0}, EpochId{epoch}, StepCount{1}, Position{position}, neighbours, true,
          Rho{0.1},  "digest",       Rho{0.5}};
}

inline const char* word(Overlap overlap) {
  return overlap == Overlap::disjoint ? "disjoint" : overlap == Overlap::overlapping ? "overlapping" : "unknown";
}

inline const char* word(Refusal reason) {
  constexpr const char* words[] = {
      "state is there", "nothing to resume", "remains without state", "unusable state",   "foreign state",
      "ledger lost",    "rolled back state", "behind witness",        "other kind",       "other settings",
      "other passes",   "other ledger",      "spend not known",       "passes need from", "gap"};
  return words[static_cast<std::size_t>(reason)];
}

inline std::string text_of(const Decision& decision) {
  if (const auto* go_on = std::get_if<GoOn>(&decision)) return std::string("go on, ") + word(go_on->overlap);
  if (const auto* refused = std::get_if<Refuse>(&decision)) return std::string("refuse: ") + word(refused->reason);
  const Begin& begin = std::get<Begin>(decision);
  return "begin " + std::to_string(begin.epoch.value()) + " at " + std::to_string(begin.start.value()) + ", " +
         word(begin.overlap) + (begin.owed ? ", owed" : "") + (begin.accepted_gap ? ", gap accepted" : "");
}

// ---- what is asked
inline Asked fresh() {
  return {.first_run = true, .going_on = false};
}
inline Asked resume() {
  return {.first_run = false, .going_on = true};
}
inline Asked anew() {
  return {.first_run = true, .going_on = false, .new_epoch = NewEpoch::always};
}
inline Asked anew_from(std::uint64_t from) {
  Asked asked = anew();
  asked.from = Position{from};
  return asked;
}
inline Asked anew_in_passes() {
  Asked asked = anew();
  asked.several_passes = true;
  return asked;
}
inline Asked attached() {
  return {};
}
inline Asked attached_anew() {
  return {.new_epoch = NewEpoch::where_needed};
}
inline Asked attached_over_a_gap() {
  return {.new_epoch = NewEpoch::where_needed, .accept_gap = true};
}

// ---- what is found
inline Found nothing() {
  return {};
}
inline Found state(const std::function<void(Found&)>& change = {}) {
  Found found{.state = State::committed, .epoch = EpochId{2}, .position = Position{100}};
  if (change) change(found);
  return found;
}
inline Found remains(State state, const std::function<void(Found&)>& change = {}) {
  Found found{.state = state, .has_remains = true};
  if (change) change(found);
  return found;
}

inline const Ledger one_epoch{line(2, 0, 100)};
inline const Ledger two_epochs{line(1, 0, 300), line(2, 300, 310)};
inline const Ledger back_at_the_beginning{line(1, 0, 300), line(2, 0, 100, Overlap::overlapping)};
inline const Ledger of_another_input{line(1, 0, 300), line(2, 0, 100, Overlap::unknown)};

}  // namespace nustream::tests::epoch_decisions
