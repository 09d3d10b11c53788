// Named places at which a fault test ends the process by SIGKILL. Builds without NUSTREAM_FAILPOINTS contain nothing
// of this, not even the names.
#pragma once

#ifdef NUSTREAM_FAILPOINTS

#include <array>
#include <cstddef>
#include <string_view>

namespace nustream::journal {

/// Every place, in the order in which a run passes them. NUSTREAM_FAILPOINT=name:count in the environment kills the
/// process at the count-th passage of that place (from 1), and name:count:milliseconds kills it there after a pause.
/// With :live at the end the process pauses there and goes on. With :abort it goes on with an error, at places that
/// have one (NUSTREAM_ABORTPOINT). Several requests are separated by commas, and each is counted by itself. For
/// example NUSTREAM_FAILPOINT=after-sync-state:3 kills the process when the third state is synced.
inline constexpr std::array<std::string_view, 20> failpoints{
    "after-seal",              // the state is sealed, nothing of the batch is written
    "after-append-rejects",    //
    "after-sync-rejects",      //
    "after-sync-ledger",       // the batch before is durable in the ledger …
    "after-sync-releases",     // … and in the releases
    "after-sync-new-files",    // the folder knows files that the batch before made
    "during-write-state",      // half of state.new
    "after-write-state",       //
    "after-sync-state",        //
    "after-rename-state",      // state.new is state, perhaps not for a power failure yet
    "after-sync-folder",       // the batch is committed, nothing of it is readable
    "during-append-ledger",    // half of the batch's line
    "after-append-ledger",     //
    "during-append-releases",  // half of the outbox
    "after-append-releases",   //
    "after-commit",            // before the completion is called
    "after-flush",             //
    "after-cut-torn-tails",    // resume: judged, the state written anew, nothing appended yet
    "after-recover-ledger",    //
    "after-recover-releases",  //
};

/// The places of a journal of topics: the boundaries of a transaction and of a take-over.
inline constexpr std::array<std::string_view, 10> topic_failpoints{
    "after-init-transactions",   // older producers are fenced, what they left is ended
    "after-read-state",          //
    "before-transaction",        // it is about to be handed to the threads that commit
    "after-begin-transaction",   //
    "after-send-offsets",        // the broker has the offsets, nothing is written
    "after-produce-state",       // on its way perhaps; dead letters are taken
    "after-produce",             // every record was handed over, nothing is committed
    "after-commit-transaction",  // before anybody is told
    "after-abort-transaction",   //
    "after-publish-outbox",      // releases are public, but this process has not been told yet
};

/// The places of the kept reports of `local randomize` …
inline constexpr std::array<std::string_view, 6> report_failpoints{
    "after-begin-reports",   // the file has its heading, perhaps not for a power failure yet
    "during-write-reports",  // half of the batch
    "after-write-reports",   //
    "after-sync-reports",    // durable, nothing is shown
    "before-show-reports",   //
    "during-show-reports",   // half of the batch
};
/// … and for the sums of `local collect`.
inline constexpr std::array<std::string_view, 7> sums_failpoints{
    "during-write-ids",   // half of the batch's ids
    "after-write-ids",    //
    "after-sync-ids",     // the sums do not know them yet
    "during-write-sums",  // half of state.new
    "after-sync-sums",    //
    "after-rename-sums",  //
    "after-commit-sums",  //
};

/// … and for the witness of a state folder, written by a thread of its own.
inline constexpr std::array<std::string_view, 4> witness_failpoints{
    "before-write-witness",  // the commit that it is to tell of is durable
    "during-write-witness",  // half of NAME.new
    "after-sync-witness",    //
    "after-rename-witness",  // perhaps not for a power failure yet
};

/// … and for the store of a folder's users.
inline constexpr std::array<std::string_view, 6> users_failpoints{
    "during-write-users",    // half of what the batch changed, in a file
    "after-write-users",     // all of it, perhaps not for a power failure yet; no state knows of it
    "after-sync-users",      //
    "before-take-users",     // the state is durable, and the table has not taken its changes
    "after-take-users",      // of a table on disk perhaps not for a power failure yet
    "during-rebuild-users",  // all records are in the table, which does not say so yet
};

/// The number of a place, counted over all tables. A name that is in none of them does not compile.
consteval std::size_t failpoint_index(std::string_view name) {
  for (std::size_t index = 0; index < failpoints.size(); ++index) {
    if (failpoints[index] == name) return index;
  }
  std::size_t before = failpoints.size();
  for (std::size_t index = 0; index < topic_failpoints.size(); ++index) {
    if (topic_failpoints[index] == name) return before + index;
  }
  before += topic_failpoints.size();
  for (std::size_t index = 0; index < report_failpoints.size(); ++index) {
    if (report_failpoints[index] == name) return before + index;
  }
  before += report_failpoints.size();
  for (std::size_t index = 0; index < sums_failpoints.size(); ++index) {
    if (sums_failpoints[index] == name) return before + index;
  }
  before += sums_failpoints.size();
  for (std::size_t index = 0; index < witness_failpoints.size(); ++index) {
    if (witness_failpoints[index] == name) return before + index;
  }
  before += witness_failpoints.size();
  for (std::size_t index = 0; index < users_failpoints.size(); ++index) {
    if (users_failpoints[index] == name) return before + index;
  }
  throw "no such failpoint: add it to a table";
}

/// Counts a passage of the place. At the passage that was asked for, it ends the process by SIGKILL or pauses.
/// Returns true where the place has to go on with an error.
bool pass_failpoint(std::size_t index);

}  // namespace nustream::journal

#define NUSTREAM_ABORTPOINT(name) ::nustream::journal::pass_failpoint(::nustream::journal::failpoint_index(name))
#define NUSTREAM_FAILPOINT(name) static_cast<void>(NUSTREAM_ABORTPOINT(name))

/// Calls write(bytes) in two halves, with a failpoint between them.
#define NUSTREAM_TORN_WRITE(name, bytes, write)   \
  do {                                            \
    write((bytes).substr(0, (bytes).size() / 2)); \
    NUSTREAM_FAILPOINT(name);                     \
    write((bytes).substr((bytes).size() / 2));    \
  } while (false)

#else
#define NUSTREAM_ABORTPOINT(name) false
#define NUSTREAM_FAILPOINT(name) static_cast<void>(0)
#define NUSTREAM_TORN_WRITE(name, bytes, write) write(bytes)
#endif
