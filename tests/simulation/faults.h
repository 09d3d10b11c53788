// Everything that histories count. A run of full length has to have met each kind: otherwise it shows less than it
// claims. An event that is counted under a name which is not listed here is reported as missing.
#pragma once

#include <array>
#include <string_view>

namespace nustream::tests {

/// Counted in histories of `replay` over the disk: the faults, what the histories were spared, and how they ended.
inline constexpr std::array<std::string_view, 39> counted_of_folders{
    "a crash",
    "a crash after a failed call",
    "a life with several failed calls",
    "a life whose rejects could not be written",
    "a power failure",
    "calls that failed",
    "syncs that failed",
    "writes lost",
    "writes torn",
    "writes that arrived out of order",
    "a jump of the clock",
    "a signal",
    "an epoch that goes on",
    "several passes",
    "under an insecure seed",
    "under a fresh key",
    "a release that was printed",
    "every reject on record",
    "users whose counts are those of the steps",
    "users whose counts are those of their window",
    "users of running sums whose counts are those of the steps",
    "a window in which users begin anew",
    "a record behind the window of its step",
    "a lost store of users that is refused",
    "an older store of users that is refused",
    "a cut store of users that is refused",
    "an epoch in which users go on counting",
    "an epoch in which users begin anew",
    "a damaged store of users that is refused",
    "sums of records",
    "sums of records that recentre",
    "sums of records that recentre again and again",
    "sums of records whose units may grow",
    "sums of records that forget",
    "sums of records with instruments",
    "sums of records of private targets",
    "sums of records with intervals",
    "a resume of sums behind a recentring",
    "steps",
};

/// Arrows of a lane's machine (docs/lane-states.md) that histories of `attach` take again and again. They are its
/// whole life, except for what no simulated broker does (an input that cannot be read) and for what is rare.
inline constexpr std::array<std::string_view, 26> counted_of_lanes{
    "idle --> opening: open",
    "opening --> starting: opened",
    "opening --> retrying: interrupted",
    "opening --> fenced: fenced_off",
    "opening --> leaving: drop",
    "retrying --> opening: pause_over",
    "fenced --> asking: asked",
    "asking --> opening: confirmed",
    "starting --> reading: reading_began",
    "reading --> paused: full",
    "paused --> reading: room",
    "reading --> finishing: end_reached",
    "finishing --> finished: settled",
    "reading --> retrying: interrupted",
    "reading --> fenced: fenced_off",
    "reading --> draining: drain",
    "reading --> leaving: drop",
    "finished --> draining: drain",
    "draining --> leaving: settled",
    "draining --> leaving: interrupted",
    "leaving --> gone: quiet",
    "stopping --> stopped: quiet",
    "opening --> homeless: must_wait",
    "homeless --> looking: pause_over",
    "looking --> starting: opened",
    "opening --> homeless: lacks_partition",
};

/// Counted in histories of `attach` over the broker.
inline constexpr std::array<std::string_view, 57> counted_of_brokers{
    // processes
    "a crash before a call",
    "a crash after a call",
    "a process that gave up",
    "a process that was told to end",
    "a jump of the clock",
    "a ledger line",
    // calls without an answer
    "no answer to init",
    "no answer to offsets",
    "no answer to arrive",
    "no answer to commit",
    "no answer to abort",
    "a question without an answer",
    "a record that was not taken",
    // transactions
    "a commit whose answer was lost",
    "a commit that was sent late",
    "a commit that arrived late",
    "a commit that was lost",
    "markers that came late",
    "an aborted transaction",
    "an open transaction ended by the next producer",
    "a transaction that the coordinator gave up",
    "a producer that was fenced",
    // the group
    "a partition that moved",
    "a member that was counted out",
    "offsets of an older generation refused",
    "records that were given twice",
    // brokers that are away for a while
    "a restart of the brokers",
    // another number of lanes
    "a change of the number of lanes",
    "a change of lanes in which users begin anew",
    "a user who goes on counting in another lane",
    "a lane that waits for closing marks",
    "a crash while the number of lanes changes",
    "a process that runs on under the old number of lanes",
    "a commit under the old number of lanes while that changes",
    "a process of the old number of lanes that is refused",
    // what it came to
    "a committed transaction",
    "a page with a release",
    "a page with a release whose estimate noise hides",
    "users whose counts are those of the steps",
    "users whose counts are those of their window",
    "users of running sums whose counts are those of the steps",
    "a window in which users begin anew",
    "a record behind the window of its step",
    "a lost store of users that is refused",
    "an older store of users that is refused",
    "a thinned store of users that is refused",
    "sums of records",
    "sums of records that recentre",
    "sums of records that recentre again and again",
    "sums of records whose units may grow",
    "sums of records that forget",
    "sums of records with instruments",
    "sums of records of private targets",
    "sums of records with intervals",
    "under an insecure seed",
    "under a fresh key",
    "steps",
};

/// Those of both lists that are counted when a history ends, which histories of given records do not.
inline constexpr std::array<std::string_view, 8> counted_of_sums{
    "sums of records",
    "sums of records that recentre",
    "sums of records that recentre again and again",
    "sums of records whose units may grow",
    "sums of records that forget",
    "sums of records with instruments",
    "sums of records of private targets",
    "sums of records with intervals",
};

/// Those of both lists that no history has whose unit is the record.
inline constexpr std::array<std::string_view, 20> counted_of_users{
    "users whose counts are those of the steps",
    "users whose counts are those of their window",
    "users of running sums whose counts are those of the steps",
    "a window in which users begin anew",
    "a record behind the window of its step",
    "a lost store of users that is refused",
    "an older store of users that is refused",
    "a cut store of users that is refused",
    "a thinned store of users that is refused",
    "a damaged store of users that is refused",
    "an epoch in which users go on counting",
    "an epoch in which users begin anew",
    "a change of the number of lanes",
    "a change of lanes in which users begin anew",
    "a user who goes on counting in another lane",
    "a lane that waits for closing marks",
    "a crash while the number of lanes changes",
    "a process that runs on under the old number of lanes",
    "a commit under the old number of lanes while that changes",
    "a process of the old number of lanes that is refused",
};

}  // namespace nustream::tests
