// Lines of a ledger, and lines of releases, which a resume reads too.
#include "error.h"
#include "fuzz.h"
#include "journal/last_release.h"
#include "journal/ledger_chain.h"
#include "publish/release_json.h"
#include "secrets/hex.h"

namespace nustream::fuzz {
namespace {

const secrets::Keyring& keys() {
  static const secrets::Keyring ring = secrets::Keyring::insecure(5);
  return ring;
}

template <class Work>
void or_refused(Work work) {
  try {
    work();
  } catch (const Failure& failure) {
    require(failure.code() == Exit::data || failure.code() == Exit::permission, "a bad line is a failure of data");
  }
}

void check_line(std::string_view line) {
  or_refused([&] {
    const journal::LedgerEntry entry = journal::read_entry(line);
    const std::string written = journal::ledger_line(entry, journal::empty_ledger_head, keys());
    const std::string_view without_newline = std::string_view(written).substr(0, written.size() - 1);
    require(journal::ledger_line(journal::read_entry(without_newline), journal::empty_ledger_head, keys()) == written,
            "a line that is read is written as it was");
  });
  or_refused([&] { static_cast<void>(journal::head_before(std::string(line) + '\n')); });
  or_refused([&] { static_cast<void>(journal::parse_last_release(line)); });
  or_refused([&] { static_cast<void>(publish::read_release(line)); });
}

/// A chain that is accepted has to be the very chain that its entries make.
void check_chain(std::string_view lines) {
  journal::LedgerVerifier verifier(keys());
  or_refused([&] {
    while (!lines.empty()) {
      const std::size_t end = std::min(lines.find('\n'), lines.size());
      const std::string_view line = lines.substr(0, end);
      const journal::Hash before = verifier.head();
      verifier.add(line);
      // Lines under another key (the first key that they name, in whatever way they name it) need a later line that
      // vouches for them, or the ledger is refused at its end.
      const std::size_t ours = line.find("\"key\":\"" + secrets::to_hex(keys().fingerprint()) + '"');
      const bool under_ours = ours != std::string_view::npos && line.find("\"key\"") == ours;
      if (under_ours && line.find("\"rotated\"") == std::string_view::npos) {
        // Lines of earlier versions are not signed.
        require(!journal::read_unsealed(line).signed_ ||
                    journal::ledger_line(journal::read_entry(line), before, keys()) == std::string(line) + '\n',
                "a line under its MAC is the line that its entry makes");
      }
      lines.remove_prefix(std::min(end + 1, lines.size()));
    }
    static_cast<void>(std::move(verifier).finish());
  });
}

void target(std::string_view input) {
  check_line(input.substr(0, input.find('\n')));
  check_chain(input);
}

}  // namespace
}  // namespace nustream::fuzz

NUSTREAM_FUZZ_TARGET(ledger)
