// The state's header, its encryption and the checks at opening (docs/formats/state.md). What the record inside says
// is encoded and decoded by journal/state_record.cpp. The cipher is XChaCha20-Poly1305-IETF of libsodium, whose nonce
// of 24 bytes is long enough to be drawn at random for every state without ever coming twice.
#include "secrets/seal.h"

#include <sodium.h>

#include <array>

#include "error.h"
#include "nustream/base/error.h"
#include "secrets/fields.h"
#include "secrets/hex.h"
#include "secrets/random.h"

namespace nustream::secrets {
namespace {

constexpr std::string_view magic{"NUSTATE\0", 8};
constexpr std::uint32_t format = 1;
using Nonce = std::array<std::uint8_t, crypto_aead_xchacha20poly1305_ietf_NPUBBYTES>;
constexpr std::size_t tag_bytes = crypto_aead_xchacha20poly1305_ietf_ABYTES;
// A state that is older than the newest release would take steps again whose releases are public.
constexpr std::string_view no_backup =
    "restore it only from a copy that nothing was released after, or begin a new epoch";

/// The header as it stands in the file, and where the sealed record begins.
struct Header {
  StateIdentity identity;
  Fingerprint fingerprint{};
  Nonce nonce{};
  std::size_t size = 0;
};

// libsodium takes bytes as unsigned char.
unsigned char* writable(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}
const unsigned char* readable(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

/// The header in the order of the format page. All of it becomes associated data, the nonce included.
std::string encode_header(const Keyring& keys, const StateIdentity& identity, const Nonce& nonce) {
  noise::KeyBytes digest{};
  if (!from_hex(identity.settings_digest, digest)) {
    throw InvalidParameter("settings_digest", identity.settings_digest, "64 lower-case hexadecimal digits");
  }
  std::string header(magic);
  append_integer(format, header);
  append_integer(static_cast<std::uint32_t>(identity.is_private ? 1 : 0), header);
  append_integer(identity.lane.value(), header);
  append_integer(identity.epoch.value(), header);
  append_integer(identity.steps.value(), header);
  append_bytes(digest, header);
  append_bytes(keys.fingerprint(), header);
  append_bytes(nonce, header);
  append_text(identity.stream, header);
  return header;
}

/// Reads the header field by field. Nothing of it is to be relied on before the tag has been found to match.
Header decode_header(std::string_view sealed) {
  const std::string too_short = "the state is too short for its header: it was cut";
  if (sealed.size() < magic.size()) throw AdvisedFailure(Exit::data, too_short, std::string(no_backup));
  FieldReader fields(sealed, too_short + "; " + std::string(no_backup));
  if (fields.bytes(magic.size()) != magic) {
    throw Failure(Exit::data, "the state is not a nustream state; check state.directory");
  }
  if (const auto found = fields.integer<std::uint32_t>(); found != format) {
    throw Failure(Exit::data, "the state has format " + std::to_string(found) + ", this version reads format " +
                                  std::to_string(format) + "; use the version that wrote it");
  }
  // Anything but 1 is not private, so that a value that this version does not know never passes for private.
  const bool is_private = fields.integer<std::uint32_t>() == 1;
  const LaneId lane{fields.integer<std::uint32_t>()};
  const EpochId epoch{fields.integer<std::uint32_t>()};
  const StepCount steps{fields.integer<std::uint64_t>()};
  noise::KeyBytes digest{};
  fields.bytes(digest);
  Header header{{"", lane, epoch, steps, to_hex(digest), is_private}};
  fields.bytes(header.fingerprint);
  fields.bytes(header.nonce);
  header.identity.stream = fields.text();
  header.size = sealed.size() - fields.rest().size();
  return header;
}

/// Throws for a state that opened, and is another one than this run asks for. `next` says what the operator can do.
[[noreturn]] void not_expected(const std::string& field, const std::string& found, const std::string& expected,
                               const char* next) {
  throw Failure(Exit::data, "the state is of another " + field + ": " + found + ", not " + expected + "; " + next);
}

constexpr const char* of_epoch = "resume with the settings that made it, or begin a new epoch with --new-epoch";
// This advice does not propose a new epoch, because that would not belong to this stream either.
constexpr const char* of_place =
    "give it the name that made it (stream.name, --lane), or choose another state.directory";

/// A tag that does not match tells no more than that: damage, a cut file and a changed header look alike.
AdvisedFailure damaged() {
  return {Exit::data, "the state is damaged or cut", std::string(no_backup)};
}

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

/// Compares a state's identity with the expected one, the coarsest difference first: for a state of another stream it
/// would not help to hear that its settings differ.
void check_expected(const StateIdentity& found, const ExpectedIdentity& expected) {
  if (found.stream != expected.stream) not_expected("stream", found.stream, expected.stream, of_place);
  if (found.lane != expected.lane) {
    not_expected("lane", number(found.lane.value()), number(expected.lane.value()), of_place);
  }
  if (expected.epoch && found.epoch != *expected.epoch) {
    not_expected("epoch", number(found.epoch.value()), number(expected.epoch->value()), of_epoch);
  }
  if (expected.is_private && found.is_private != *expected.is_private) {
    throw Failure(
        Exit::data,
        found.is_private
            ? "the state is private and cannot go on under an insecure seed or beside --compare-nonprivate; "
              "use its key file alone"
            : "the state was made under an insecure seed or beside --compare-nonprivate and cannot be "
              "resumed as private; "
              "start anew in another folder");
  }
  if (expected.settings_digest && found.settings_digest != *expected.settings_digest) {
    not_expected("settings digest", found.settings_digest, *expected.settings_digest, of_epoch);
  }
}

}  // namespace

std::string seal(const Keyring& keys, const StateIdentity& identity, std::string&& plain) {
  const WipeAtEnd wiped(plain);  // encrypted by then, unless something throws before
  Nonce nonce{};
  fill_random(nonce);
  std::string sealed = encode_header(keys, identity, nonce);
  std::array<unsigned char, tag_bytes> tag{};
  // The header is the associated data: anybody can read it, and no change of it goes unnoticed.
  const int status = crypto_aead_xchacha20poly1305_ietf_encrypt_detached(
      writable(plain), tag.data(), nullptr, writable(plain), plain.size(), readable(sealed), sealed.size(), nullptr,
      nonce.data(), keys.sealing_key().data());
  NUSTREAM_REQUIRE(status == 0, "sealing the state");
  sealed.reserve(sealed.size() + plain.size() + tag.size());
  sealed += plain;
  append_bytes(tag, sealed);
  return sealed;
}

StateIdentity read_identity(std::string_view sealed) {
  return decode_header(sealed).identity;
}

OpenedState open(const Keyring& keys, std::string_view sealed) {
  Header header = decode_header(sealed);
  // The fingerprint is compared first, because decryption cannot tell a wrong key from a damaged state.
  if (header.fingerprint != keys.fingerprint()) {
    throw Failure(Exit::permission, "the state was sealed with key " + to_hex(header.fingerprint) + ", this is key " +
                                        to_hex(keys.fingerprint()) +
                                        "; name the right one (state.key_file; inspect and key rotate: "
                                        "--key-file), or let the folder's link 'key' lead to it");
  }
  const std::string_view associated = sealed.substr(0, header.size);
  const std::string_view body = sealed.substr(header.size);
  if (body.size() < tag_bytes) throw damaged();
  OpenedState opened{std::move(header.identity), {}};
  const std::size_t plain_size = body.size() - tag_bytes;
  opened.plain.resize(plain_size);
  const int status = crypto_aead_xchacha20poly1305_ietf_decrypt_detached(
      writable(opened.plain), nullptr, readable(body), plain_size, readable(body.substr(plain_size)),
      readable(associated), associated.size(), header.nonce.data(), keys.sealing_key().data());
  if (status != 0) throw damaged();
  return opened;
}

bool is_foreign(std::string_view sealed, const ExpectedIdentity& expected) {
  try {
    const StateIdentity found = read_identity(sealed);
    // Epoch and settings are not asked: a state of another epoch of this lane is this lane's.
    return found.stream != expected.stream || found.lane != expected.lane ||
           (expected.is_private && found.is_private != *expected.is_private);
  } catch (const Failure&) {
    return false;
  }
}

OpenedState open(const Keyring& keys, std::string_view sealed, const ExpectedIdentity& expected) {
  OpenedState opened = open(keys, sealed);
  try {
    check_expected(opened.identity, expected);
  } catch (...) {
    // The text holds noise keys, and a caller who gets an exception gets nothing that they could wipe.
    wipe_text(opened.plain);
    throw;
  }
  return opened;
}

void wipe_text(std::string& text) noexcept {
  sodium_memzero(text.data(), text.size());
  text.clear();
}

}  // namespace nustream::secrets
