// Reads the ledger of a state folder, with the lines of its state that a crash may have kept from the file.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "error.h"
#include "journal/ledger_chain.h"
#include "journal/line_fields.h"
#include "journal/outbox_folder.h"
#include "located.h"

namespace nustream::journal {

namespace {

/// Calls `visit` with each whole line of the file, without its newline.
template <class Visit>
void for_each_line(Disk& disk, const Disk::Path& path, Visit visit) {
  const auto file = disk.open(path, Access::read);
  if (!file) return;
  const std::uint64_t size = file->size();
  std::string pending;
  std::string chunk(std::size_t{1} << 16, '\0');
  for (std::uint64_t offset = 0; offset < size;) {
    const std::size_t got = file->read(offset, chunk);
    if (got == 0) break;
    offset += got;
    pending.append(chunk, 0, got);
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = pending.find('\n', begin)) != std::string::npos; begin = end + 1) {
      visit(std::string_view(pending).substr(begin, end - begin));
    }
    // A line may be longer than a piece; its beginning waits for the rest. What is left at the end of the file is
    // torn.
    pending.erase(0, begin);
  }
}

/// Reads and verifies the folder's ledger. Calls `visit` with the head of the chain after each line.
template <class Visit>
Ledger read_lines(Disk& disk, const Disk::Path& folder, const secrets::Keyring& keys, Visit visit) {
  LedgerVerifier verifier(keys);
  const Disk::Path path = folder / folder_files::ledger;
  const std::string name = path.string();
  std::uint64_t number = 0;
  for_each_line(disk, path, [&](std::string_view line) {
    located(name + ":" + std::to_string(++number), [&] { verifier.add(line); });
    visit(verifier.head());
  });
  // Only the last line's key is of the file as a whole, so that this failure names no line.
  return located(name, [&] { return std::move(verifier).finish(); });
}

}  // namespace

Ledger read_ledger(Disk& disk, const Disk::Path& folder, const secrets::Keyring& keys) {
  return read_lines(disk, folder, keys, [](const Hash&) {});
}

std::optional<LedgerEntry> entry_behind(Disk& disk, const Disk::Path& folder, const Hash& head,
                                        std::string_view lines) {
  std::optional<LedgerEntry> entry;
  bool was_head = false;
  for_each_line(disk, folder / folder_files::ledger, [&](std::string_view line) {
    // The search goes on behind the line that was found, so that afterwards `was_head` says whether `head` is the
    // last one.
    if (was_head) entry = entry_of(line);
    was_head = hash_of(std::string(line) + '\n') == head;
  });
  // The file ends at `head`, and the line behind it may still be in the state alone.
  if (was_head && !lines.empty() && head_before(lines) == head) return entry_of(lines.substr(0, lines.find('\n')));
  return entry;
}

bool ledger_holds(Disk& disk, const Disk::Path& folder, const Hash& head) {
  bool is_there = false;
  for_each_line(disk, folder / folder_files::ledger,
                // Each line is hashed with its newline, as the line behind it names it.
                [&](std::string_view line) { is_there = is_there || hash_of(std::string(line) + '\n') == head; });
  return is_there;
}

namespace {

/// Adds those of a state's own `lines` that a crash kept from the ledger. The first of them follows on `before`. A
/// state has several lines where its epoch begins with what is owed, and a crash may come between two of them.
/// Returns false where the ledger ends neither at `before` nor at one of them. A rotation's line is no entry, and
/// only moves the head.
bool keep_lines_behind(Ledger& ledger, const Hash& before, std::string_view lines) {
  // Lines are added from the place on where the ledger ends: none of them, some, or all may be in the file.
  bool is_behind = ledger.head == before;
  Hash head = before;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n') + 1);
    if (line.empty()) not_genuine("has a line that is no line of a ledger");
    lines.remove_prefix(line.size());
    head = hash_of(line);
    if (is_behind) {
      if (const auto entry = entry_of(line)) ledger.keep(*entry);
      ledger.head = head;
    }
    is_behind = is_behind || ledger.head == head;
  }
  return is_behind;
}

/// The folder's ledger with the state's own lines; nothing where lines are missing that the state knows of.
std::optional<Ledger> read_at(Disk& disk, const Disk::Path& folder, const secrets::Keyring& keys,
                              const StateRecord& record) {
  // A state without lines of its own was committed under the head that the state before it had.
  const Hash before = record.ledger_entry.empty() ? record.ledger_head : head_before(record.ledger_entry);
  // The file may go on behind the state's own line, for example where a state was restored from a copy. Then nothing
  // that the state knows of is missing.
  bool holds_own_line = record.ledger_head == empty_ledger_head;
  Ledger ledger = read_lines(disk, folder, keys, [&](const Hash& head) {
    if (head == record.ledger_head) holds_own_line = true;
  });
  if (holds_own_line || keep_lines_behind(ledger, before, record.ledger_entry)) return ledger;
  return std::nullopt;
}

}  // namespace

Ledger read_committed_ledger(Disk& disk, const Disk::Path& folder, const secrets::Keyring& keys,
                             const StateRecord& record) {
  std::optional<Ledger> ledger = read_at(disk, folder, keys, record);
  if (!ledger) {
    throw Failure(Exit::data, (folder / folder_files::ledger).string() +
                                  " lacks lines that the state knows of: more was spent than it says; restore it as "
                                  "it was");
  }
  return *std::move(ledger);
}

bool ledger_follows(Disk& disk, const Disk::Path& folder, const secrets::Keyring& keys, const StateRecord& record) {
  return read_at(disk, folder, keys, record).has_value();
}

}  // namespace nustream::journal
