// Seals and opens one record of the store of users (docs/formats/users.md, "Record"): 22 bytes of heading in clear,
// the nonce, then the entries under the log key. The heading can be read without opening, so that a reader finds the
// borders and numbers of records in one pass.
#include "users/sealed_record.h"

#include <algorithm>
#include <array>
#include <utility>

#include "error.h"
#include "nustream/base/error.h"
#include "secrets/fields.h"
#include "secrets/random.h"
#include "secrets/seal.h"
#include "users/aead.h"

namespace nustream::users {
namespace {

constexpr std::size_t length_bytes = 4;
constexpr std::size_t epoch_bytes = 16;
static_assert(record_overhead_bytes == record_heading_bytes + nonce_bytes + tag_bytes);

/// One message for damage and for a record of another store: authentication fails in the same way for both.
Failure damaged() {
  return {Exit::data,
          "a record of the store of users is damaged, or of another stream or lane; restore the store as it was, or "
          "begin a new epoch (nustream replay or attach, with --new-epoch), which is charged beside what users have "
          "spent"};
}

/// What a record's seal encloses: two masses for an epoch, and entries for every other kind.
std::string plain_bytes(const UserRecord& record) {
  std::string plain;
  // With room for the tag: a text that grows would leave a copy behind (sealed_text()).
  plain.reserve(std::max(2 * sizeof(double), record.entries.size() * entry_bytes) + tag_bytes);
  if (record.kind == RecordKind::epoch) {
    // Zeros say that W did not change.
    secrets::append_double(record.mass_before ? record.mass_before->value() : 0, plain);
    secrets::append_double(record.mass_after ? record.mass_after->value() : 0, plain);
    return plain;
  }
  EntryBytes bytes{};
  for (const Entry& entry : record.entries) {
    put_entry(entry, bytes);
    secrets::append_bytes(bytes, plain);
  }
  return plain;
}

/// The bytes before the nonce. `length` counts what follows the length field itself, seal included.
std::string heading_of(const UserRecord& record, std::size_t plain_size) {
  std::string heading;
  const std::size_t length = record_overhead_bytes - length_bytes + plain_size;
  secrets::append_integer(static_cast<std::uint32_t>(length), heading);
  secrets::append_integer(record.number, heading);
  secrets::append_integer(record.commit, heading);
  secrets::append_integer(static_cast<std::uint8_t>(record.kind), heading);
  secrets::append_integer(record.part, heading);
  return heading;
}

/// Reads the plain bytes of a record into `record`, whose kind is set already.
void read_plain(std::string_view plain, UserRecord& record) {
  if (record.kind == RecordKind::epoch) {
    if (plain.size() != epoch_bytes) throw damaged();
    secrets::FieldReader fields(plain, "");
    const double before = fields.number();
    const double after = fields.number();
    if (before > 0 && after > 0) {
      record.mass_before = Mass{before};
      record.mass_after = Mass{after};
    }
    return;
  }
  if (plain.size() % entry_bytes != 0 || plain.size() / entry_bytes > record_entries_max) throw damaged();
  record.entries.reserve(plain.size() / entry_bytes);
  for (; !plain.empty(); plain.remove_prefix(entry_bytes)) {
    const Entry entry = take_entry(std::span<const std::uint8_t, entry_bytes>(readable(plain), entry_bytes));
    // No writer stores a user who never contributed. In memory a count of 0 would mark a free place of the table.
    if (entry.standing.count == 0) throw damaged();
    record.entries.push_back(entry);
  }
}

}  // namespace

// The text comes with its length, so that no two identities have the same bytes.
std::string store_context(const UserKey& key, const StoreIdentity& identity) {
  std::string context;
  secrets::append_bytes(key.fingerprint(), context);
  secrets::append_integer(identity.lane.value(), context);
  secrets::append_text(identity.stream, context);
  return context;
}

std::string seal_record(const UserKey& key, std::string_view context, const UserRecord& record) {
  std::array<std::uint8_t, nonce_bytes> nonce{};
  // 192 random bits do not repeat by chance, and so need no counter that would have to survive a
  // crash or a copied folder.
  secrets::fill_random(nonce);
  return seal_record(key, context, record, nonce);
}

std::string seal_record(const UserKey& key, std::string_view context, const UserRecord& record,
                        std::span<const std::uint8_t, 24> nonce) {
  NUSTREAM_REQUIRE(record.entries.size() <= record_entries_max, "a record of users has a bounded number of entries");
  std::string plain = plain_bytes(record);
  std::string sealed = heading_of(record, plain.size());
  // The heading stands in clear, but it is authenticated: no record can be given another number, commit or kind.
  const std::string associated = std::string(context) + sealed;
  secrets::append_bytes(nonce, sealed);
  sealed += sealed_text(key.log_key(), nonce, associated, std::move(plain));
  return sealed;
}

std::optional<std::size_t> record_size(std::string_view bytes) {
  if (bytes.size() < length_bytes) return std::nullopt;
  secrets::FieldReader fields(bytes, "");
  const std::size_t size = length_bytes + fields.integer<std::uint32_t>();
  // The bound keeps a reader from waiting for, or making room for, the four gigabytes that a
  // damaged length may claim.
  return size < record_overhead_bytes || size > record_bytes_max ? 0 : size;
}

RecordPlace record_place(std::string_view bytes) {
  NUSTREAM_REQUIRE(bytes.size() >= record_heading_bytes, "a whole record of users");
  secrets::FieldReader fields(bytes.substr(length_bytes), "");
  const auto number = fields.integer<std::uint64_t>();
  return {number, fields.integer<std::uint64_t>()};
}

std::optional<std::uint8_t> part_of(std::string_view bytes) {
  NUSTREAM_REQUIRE(bytes.size() >= record_heading_bytes, "a whole record of users");
  const bool is_part = bytes[record_heading_bytes - 2] == static_cast<char>(RecordKind::part);
  // The last two bytes of the heading are kind and part.
  return is_part ? std::optional(static_cast<std::uint8_t>(bytes[record_heading_bytes - 1])) : std::nullopt;
}

UserRecord open_record(const UserKey& key, std::string_view context, std::string_view bytes) {
  if (bytes.size() < record_overhead_bytes) throw damaged();
  const RecordPlace place = record_place(bytes);
  UserRecord record{place.number, place.commit};
  const auto kind = static_cast<std::uint8_t>(bytes[record_heading_bytes - 2]);
  record.part = static_cast<std::uint8_t>(bytes[record_heading_bytes - 1]);
  const std::string associated = std::string(context) + std::string(bytes.substr(0, record_heading_bytes));
  const AeadNonce nonce(readable(bytes) + record_heading_bytes, nonce_bytes);
  auto plain = opened_text(key.log_key(), nonce, associated, bytes.substr(record_heading_bytes + nonce_bytes));
  if (!plain) throw damaged();
  const secrets::WipeAtEnd wiped(*plain);
  if (kind < 1 || kind > 4) throw damaged();
  record.kind = static_cast<RecordKind>(kind);
  read_plain(*plain, record);
  return record;
}

}  // namespace nustream::users
