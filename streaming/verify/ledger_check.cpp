// The ledger for somebody without its key (docs/formats/ledger.md#for-somebody-without-the-key): chain and signatures
// are checked line by line, and the key that is trusted changes where a rotation hands it on. MACs are not looked at,
// since only the holder of the key can check them.
#include "verify/ledger_check.h"

#include <fmt/format.h>

#include "error.h"
#include "numbered_lines.h"

namespace nustream::verify {
namespace {

/// A key becomes trusted only where the key that is trusted now hands on to it. It then takes that key's place.
void follow_hand_over(const journal::UnsealedLine::HandedOn& handed_on, TrustedKeys& keys, CheckedLedger& checked) {
  ++checked.rotations;
  if (keys.present_has_signed(secrets::Signing::hand_over, handed_on.by.text, handed_on.by.signature)) {
    keys.hand_on(handed_on.to, checked.last);
  }
}

/// Checks one more line, which has to follow on those in `checked`, and takes it in.
void add(const std::string& line, TrustedKeys& keys, CheckedLedger& checked) {
  const journal::UnsealedLine read = journal::read_unsealed(line);
  if (read.previous != checked.ledger.head) {
    throw Failure(Exit::data, "does not follow the line before it: lines were changed, left out or moved");
  }
  checked.ledger.head = journal::hash_of(line + '\n');
  ++checked.lines;
  if (read.handed_on) follow_hand_over(*read.handed_on, keys, checked);
  checked.ends_signed = read.signed_ && keys.present_has_signed(secrets::Signing::ledger_line, read.signed_->text,
                                                                read.signed_->signature);
  if (checked.ends_signed) ++checked.signed_lines;
  if (!read.entry) return;
  checked.last = {read.entry->epoch, read.entry->steps};
  if (read.released) {
    const auto named =
        checked.released.try_emplace(*read.released, NamedRelease{keys.present(), checked.lines}).first;
    named->second.key = keys.present();
    checked.last_released = read.released;
  }
  checked.epochs.insert_or_assign({read.entry->lane, read.entry->epoch}, *read.entry);
  checked.ledger.keep(*read.entry);
}

}  // namespace

CheckedLedger check_ledger(const std::string& file, TrustedKeys& keys) {
  CheckedLedger checked;
  for_each_line(file, [&](const std::string& line) { add(line, keys, checked); });
  if (checked.lines == 0) throw Failure(Exit::data, file + ": holds no line of a ledger");
  if (checked.signed_lines == 0) {
    throw Failure(Exit::data,
                  file +
                      ": no line is signed under this public key; name the stream's own (nustream inspect, "
                      "or its status page, shows it)");
  }
  // The chain leads from the last line back to the first. So one signature at the end vouches for all lines, also for
  // those of versions that did not sign.
  if (!checked.ends_signed) {
    throw Failure(Exit::data, file +
                                  ": its last line is signed by nobody who is trusted here: it was changed or added, "
                                  "or the key was rotated; verify with the stream's first public key");
  }
  return checked;
}

}  // namespace nustream::verify
