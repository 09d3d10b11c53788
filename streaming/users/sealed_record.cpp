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

void UnsealedRecord::reserve(std::size_t entries) {
  // With room for the tag: a text that grows would leave a copy behind (sealed_text()).
  plain_.reserve(entries * entry_bytes + tag_bytes);
}

void UnsealedRecord::add(const Entry& entry) {
  NUSTREAM_REQUIRE(plain_.size() < record_entries_max * entry_bytes,
                   "a record of users has a bounded number of entries");
  EntryBytes bytes{};
  put_entry(entry, bytes);
  secrets::append_bytes(bytes, plain_);
}

void UnsealedRecord::add_masses(const std::optional<Mass>& before, const std::optional<Mass>& after) {
  plain_.reserve(epoch_bytes + tag_bytes);
  // Zeros say that W did not change.
  secrets::append_double(before ? before->value() : 0, plain_);
  secrets::append_double(after ? after->value() : 0, plain_);
}

std::optional<std::uint8_t> UnsealedRecord::part() const noexcept {
  return kind_ == RecordKind::part ? std::optional(part_) : std::nullopt;
}

/// The bytes before the nonce. The length counts what follows the length field itself, seal included.
std::string UnsealedRecord::heading() const {
  std::string heading;
  secrets::append_integer(static_cast<std::uint32_t>(sealed_bytes() - length_bytes), heading);
  secrets::append_integer(number_, heading);
  secrets::append_integer(commit_, heading);
  secrets::append_integer(static_cast<std::uint8_t>(kind_), heading);
  secrets::append_integer(part_, heading);
  return heading;
}

std::string UnsealedRecord::seal(const UserKey& key, std::string_view context) && {
  std::array<std::uint8_t, nonce_bytes> nonce{};
  // 192 random bits do not repeat by chance, and so need no counter that would have to survive a
  // crash or a copied folder.
  secrets::fill_random(nonce);
  return std::move(*this).seal(key, context, nonce);
}

std::string UnsealedRecord::seal(const UserKey& key, std::string_view context,
                                 std::span<const std::uint8_t, 24> nonce) && {
  std::string sealed = heading();
  // The heading stands in clear, but it is authenticated: no record can be given another number, commit or kind.
  const std::string associated = std::string(context) + sealed;
  sealed.reserve(sealed_bytes());
  secrets::append_bytes(nonce, sealed);
  sealed += sealed_text(key.log_key(), nonce, associated, std::move(plain_));
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
