#include "users/closing_mark.h"

#include <array>
#include <utility>

#include "error.h"
#include "secrets/fields.h"
#include "secrets/random.h"
#include "secrets/seal.h"
#include "users/aead.h"

namespace nustream::users {
namespace {

constexpr std::string_view closing_magic{"NUUSCLO\0", 8};
constexpr std::uint32_t closing_format = 1;
constexpr const char* unusable_closing =
    "a lane's closing mark of users is damaged, or of another stream or lane; restore the topic of users";

Failure damaged_closing() {
  return {Exit::data, unusable_closing};
}

std::string closing_heading() {
  std::string bytes(closing_magic);
  secrets::append_integer(closing_format, bytes);
  return bytes;
}

std::string closing_context(const UserKey& key, const StoreIdentity& identity, std::uint32_t change) {
  std::string bytes = closing_heading() + store_context(key, identity);
  secrets::append_integer(change, bytes);
  return bytes;
}

}  // namespace

std::string closing_key(const StoreIdentity& identity, std::uint32_t change) {
  return identity.stream + "/" + std::to_string(identity.lane.value()) + "/users/closed/" + std::to_string(change);
}

std::string seal_closing(const UserKey& key, const StoreIdentity& identity, std::uint32_t change,
                         const ClosingMark& closing) {
  std::string plain;
  secrets::append_integer(static_cast<std::uint8_t>(closing.is_known ? 1 : 0), plain);
  secrets::append_text(encode_mark(closing.mark), plain);
  append_division(closing.next, plain);
  secrets::append_text(closing.column, plain);
  secrets::append_text(closing.spent, plain);
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
  if (!bytes.starts_with(head) || bytes.size() < head.size() + nonce_bytes) throw damaged_closing();
  const AeadNonce nonce(readable(bytes) + head.size(), nonce_bytes);
  auto plain = opened_text(key.log_key(), nonce, closing_context(key, identity, change),
                           bytes.substr(head.size() + nonce_bytes));
  if (!plain) throw damaged_closing();
  secrets::FieldReader fields(*plain, unusable_closing);
  ClosingMark closing;
  closing.is_known = fields.integer<std::uint8_t>() == 1;
  closing.mark = decode_topic_mark(fields.text());
  closing.next = take_division(fields);
  closing.column = fields.text();
  closing.spent = fields.text();
  if (!fields.rest().empty()) throw damaged_closing();
  return closing;
}

}  // namespace nustream::users
