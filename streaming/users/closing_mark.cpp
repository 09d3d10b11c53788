// Bytes of the closing mark (docs/formats/users.md, "Closing mark"): a heading in clear, a nonce, and the fields
// under the log key. Writing and reading are each one function, field by field in the same order.
#include "users/closing_mark.h"

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "error.h"
#include "secrets/fields.h"
#include "secrets/random.h"
#include "secrets/seal.h"
#include "users/aead.h"
#include "users/entry_bytes.h"

namespace nustream::users {
namespace {

constexpr std::string_view closing_magic{"NUUSCLO\0", 8};
constexpr std::uint32_t closing_format = 1;
/// What every failure to read a mark says. It does not tell a damaged mark from one of another lane, because both
/// fail at the same place: the authentication of the sealed bytes.
std::string unusable_closing(const StoreIdentity& identity) {
  return "the closing mark of users of lane " + std::to_string(identity.lane.value()) + " of stream '" +
         identity.stream +
         "' is damaged, or is another lane's or stream's; restore the topic of users (kafka.user_topic)";
}

Failure damaged_closing(const StoreIdentity& identity) {
  return {Exit::data, unusable_closing(identity)};
}

/// Magic and format. They stand in clear before the nonce, and are authenticated as the first part of the context.
std::string closing_heading() {
  std::string bytes(closing_magic);
  secrets::append_integer(closing_format, bytes);
  return bytes;
}

/// The associated data of the seal. It names the key, the lane, the stream and the change, so that a mark cannot be
/// put in the place of another lane's, nor of the mark that the same lane wrote at an earlier division.
std::string closing_context(const UserKey& key, const StoreIdentity& identity, std::uint32_t change) {
  std::string bytes = closing_heading() + store_context(key, identity);
  secrets::append_integer(change, bytes);
  return bytes;
}

/// The bits of the first byte, which say what is known.
constexpr std::uint8_t knows_counts = 1;
constexpr std::uint8_t knows_closed = 2;

/// The entries of closed users one after the other, in the form of the store.
std::string closed_bytes(const std::vector<Entry>& entries) {
  std::string bytes;
  bytes.reserve(entries.size() * entry_bytes);
  EntryBytes one{};
  for (const Entry& entry : entries) {
    put_entry(entry, one);
    secrets::append_bytes(one, bytes);
  }
  return bytes;
}

std::vector<Entry> closed_entries(std::string_view bytes, const StoreIdentity& identity) {
  if (bytes.size() % entry_bytes != 0) throw damaged_closing(identity);
  std::vector<Entry> entries;
  for (; !bytes.empty(); bytes.remove_prefix(entry_bytes)) {
    entries.push_back(take_entry(std::span<const std::uint8_t, entry_bytes>(readable(bytes), entry_bytes)));
  }
  return entries;
}

}  // namespace

std::string closing_key(const StoreIdentity& identity, std::uint32_t change) {
  return identity.stream + "/" + std::to_string(identity.lane.value()) + "/users/closed/" + std::to_string(change);
}

std::string seal_closing(const UserKey& key, const StoreIdentity& identity, std::uint32_t change,
                         const ClosingMark& closing) {
  std::string plain;
  const int known = (closing.is_known ? knows_counts : 0) | (closing.tells_closed ? knows_closed : 0);
  secrets::append_integer(static_cast<std::uint8_t>(known), plain);
  secrets::append_text(encode_mark(closing.mark), plain);
  append_division(closing.next, plain);
  secrets::append_text(closing.identity, plain);
  secrets::append_text(closing.spent, plain);
  // A lane that has a store of its own names nobody here, since its table, closed users included, is in the store.
  // The field is left out where there are no such users; open_closing() reads that as none.
  if (!closing.closed.empty()) secrets::append_text(closed_bytes(closing.closed), plain);
  std::array<std::uint8_t, nonce_bytes> nonce{};
  secrets::fill_random(nonce);
  std::string sealed = closing_heading();
  secrets::append_bytes(nonce, sealed);
  sealed += sealed_text(key.log_key(), nonce, closing_context(key, identity, change), std::move(plain));
  return sealed;
}

ClosingMark open_closing(const UserKey& key, const StoreIdentity& identity, std::uint32_t change,
                         std::string_view bytes) {
  const std::string head = closing_heading();
  if (!bytes.starts_with(head) || bytes.size() < head.size() + nonce_bytes) throw damaged_closing(identity);
  const AeadNonce nonce(readable(bytes) + head.size(), nonce_bytes);
  // The caller gives the change that it looks for, and that change is part of the associated data. A record with the
  // right key of the topic but the bytes of another change is therefore refused here.
  auto plain = opened_text(key.log_key(), nonce, closing_context(key, identity, change),
                           bytes.substr(head.size() + nonce_bytes));
  if (!plain) throw damaged_closing(identity);
  const secrets::WipeAtEnd wiped(*plain);
  secrets::FieldReader fields(*plain, unusable_closing(identity));
  ClosingMark closing;
  const auto known = fields.integer<std::uint8_t>();
  closing.is_known = (known & knows_counts) != 0;
  closing.tells_closed = (known & knows_closed) != 0;
  closing.mark = decode_topic_mark(fields.text());
  closing.next = take_division(fields);
  closing.identity = fields.text();
  closing.spent = fields.text();
  if (!fields.rest().empty()) closing.closed = closed_entries(fields.text(), identity);
  if (!fields.rest().empty()) throw damaged_closing(identity);
  return closing;
}

}  // namespace nustream::users
