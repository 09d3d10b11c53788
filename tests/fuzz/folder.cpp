// A folder whose files hold anything: a run refuses it and leaves it as it is, or resumes it and changes nothing of
// what was public.
#include <functional>

#include "error.h"
#include "fuzz.h"
#include "journal/ledger_chain.h"
#include "journal/outbox_folder.h"
#include "simulated_disk.h"

namespace nustream::fuzz {
namespace {

using journal::OutboxFolder;

const std::string folder = "/run";
const std::string releases = folder + "/releases.jsonl";
const std::string ledger = folder + "/ledger";

std::string release_line(char step) {
  return std::string(R"({"lane":0,"epoch":0,"step":)") + step + R"(,"position":)" + step + R"(,"private":false})" +
         '\n';
}

const secrets::Keyring& keys() {
  static const secrets::Keyring ring = secrets::Keyring::insecure(5);
  return ring;
}

/// What a run of two batches left, and what its state says of it.
struct Past {
  tests::SimulatedDisk disk{1};
  journal::Recovery recovery;

  Past() {
    OutboxFolder files(disk, {folder, false});
    static_cast<void>(files.load());
    files.commit({"state 1", Position{1}, "ledger 1\n", "", release_line('1')});
    recovery = {files.bookmark(), release_line('2'), "ledger 2\n"};
    files.commit({"state 2", Position{2}, recovery.ledger_entry, "", recovery.outbox});
    files.flush();
  }
};

/// The file with its last bytes changed, cut off or followed by others.
std::string damaged(std::string bytes, std::string_view& input) {
  const std::size_t cut = take_byte(input) % (bytes.size() + 1);
  bytes.resize(bytes.size() - cut);
  for (auto changes = take_byte(input) % 4; changes > 0 && !bytes.empty(); --changes) {
    const std::size_t at = take_byte(input) % bytes.size();
    bytes[at] = static_cast<char>(bytes[at] ^ take_byte(input));
  }
  return bytes.append(take_part(input));
}

bool is_refused(const std::function<void()>& work) {
  try {
    work();
    return false;
  } catch (const Failure& failure) {
    require(failure.code() == Exit::data || failure.code() == Exit::permission, "a bad folder is a failure of data");
    return true;
  }
}

/// Checks a resume with the state, and with a bookmark that may be any bytes.
void check_recovery(Past& past, std::string_view input) {
  const std::string whole = past.disk.seen(releases);
  const std::string bookmark = past.recovery.bookmark;
  if (take_byte(input) % 4 == 0) past.recovery.bookmark = damaged(past.recovery.bookmark, input);
  past.disk.tamper(releases, damaged(past.disk.seen(releases), input));
  past.disk.tamper(ledger, damaged(past.disk.seen(ledger), input));
  const std::string before = past.disk.seen(releases);
  OutboxFolder files(past.disk, {folder, false});
  static_cast<void>(files.load());
  if (is_refused([&] { files.recover(past.recovery); })) {
    return require(past.disk.seen(releases) == before, "what is refused is left as it was");
  }
  if (past.recovery.bookmark != bookmark) return;
  require(past.disk.seen(releases) == whole, "what is recovered is what was published");
}

/// Checks a folder without a state.
void check_adoption(Past& past, std::string_view input) {
  past.disk.remove(folder + "/state");
  past.disk.tamper(
      releases, take_byte(input) % 2 == 0 ? std::string(take_part(input)) : damaged(past.disk.seen(releases), input));
  past.disk.tamper(ledger, std::string(input));
  const std::string before = past.disk.seen(releases);
  if (before.empty() && past.disk.seen(ledger).empty()) return;  // there is nothing to adopt
  OutboxFolder files(past.disk, {folder, false, true});
  static_cast<void>(files.load());
  const bool refused = is_refused([&] { static_cast<void>(files.adopt()); });
  const std::string after = past.disk.seen(releases);
  require(after == before, "an adoption changes nothing");
  if (refused) return;
  files.commit({"state", Position{1}, "ledger\n", "", release_line('1')});
  const std::string left = past.disk.seen(releases);
  const std::size_t whole = before.find_last_of('\n') == before.npos ? 0 : before.find_last_of('\n') + 1;
  require(left.ends_with(release_line('1')), "what is committed is published");
  require(left.size() <= whole + release_line('1').size() &&
              before.starts_with(left.substr(0, left.size() - release_line('1').size())),
          "a torn tail is cut, and nothing else");
  static_cast<void>(is_refused([&] { static_cast<void>(journal::read_ledger(past.disk, folder, keys())); }));
}

void target(std::string_view input) {
  Past past;
  if (take_byte(input) % 2 == 0) {
    check_recovery(past, input);
  } else {
    check_adoption(past, input);
  }
}

}  // namespace
}  // namespace nustream::fuzz

NUSTREAM_FUZZ_TARGET(folder)
