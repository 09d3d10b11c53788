// The bytes of a witness and its MAC (docs/formats/witness.md). A reader first asks kind_of_witness() whose key the
// file is under, since the MAC of another key cannot be checked, and then read_witness() what it says.
#include "journal/witness.h"

#include <utility>

#include "error.h"
#include "journal/ledger_chain.h"
#include "secrets/fields.h"
#include "secrets/random.h"
#include "secrets/sodium.h"

namespace nustream::journal {
namespace {

constexpr std::string_view magic{"NUWITNS\0", 8};
constexpr const char* malformed_witness = "the witness is malformed";

/// Keyed BLAKE2b-256 under the witness key of all bytes before it.
Hash witness_mac(std::string_view text, const secrets::Keyring& keys) {
  Hash mac{};
  secrets::keyed_hash(keys.witness_key(), text, mac);
  return mac;
}

struct Heading {
  secrets::Fingerprint fingerprint{};
  bool is_known = false;  ///< the magic and the format are those that this version reads
};

/// The first 28 bytes. All of them are read in any case, so that a file that is cut within them throws.
Heading read_heading(secrets::FieldReader& fields) {
  Heading heading;
  heading.is_known = fields.bytes(magic.size()) == magic;
  heading.is_known = fields.integer<std::uint32_t>() == witness_format && heading.is_known;
  fields.bytes(heading.fingerprint);
  return heading;
}

/// What the bytes of a witness hold. Its lines and its MAC are left as they are, since both need a key to be
/// believed.
struct Fields {
  Witness claimed;
  std::string_view lines;
  Hash mac{};
};

Fields read_fields(std::string_view bytes) {
  secrets::FieldReader fields(bytes, malformed_witness);
  if (!read_heading(fields).is_known) throw Failure(Exit::data, malformed_witness);
  Fields read{};
  Witness& witness = read.claimed;
  fields.bytes(witness.account);
  witness.stream = fields.text();
  witness.lane = LaneId{fields.integer<std::uint32_t>()};
  witness.folder = fields.text();
  witness.epoch = EpochId{fields.integer<std::uint32_t>()};
  witness.steps = StepCount{fields.integer<std::uint64_t>()};
  fields.bytes(witness.ledger_head);
  read.lines = fields.text();
  fields.bytes(read.mac);
  if (!fields.rest().empty()) throw Failure(Exit::data, malformed_witness);
  return read;
}

}  // namespace

AccountId new_account() {
  AccountId id{};
  secrets::fill_random(id);
  return id;
}

std::string encode_witness(const Witness& witness, const secrets::Keyring& keys) {
  std::string out(magic);
  secrets::append_integer(witness_format, out);
  secrets::append_bytes(keys.fingerprint(), out);
  secrets::append_bytes(witness.account, out);
  secrets::append_text(witness.stream, out);
  secrets::append_integer(witness.lane.value(), out);
  secrets::append_text(witness.folder, out);
  secrets::append_integer(witness.epoch.value(), out);
  secrets::append_integer(witness.steps.value(), out);
  secrets::append_bytes(witness.ledger_head, out);
  // By these lines the epochs are charged if the folder's ledger is lost.
  secrets::append_text(enclosed_lines(witness.epochs, keys), out);
  // The MAC is of all bytes before it, so that it is computed when they are there.
  secrets::append_bytes(witness_mac(out, keys), out);
  return out;
}

std::optional<std::uint32_t> format_of_witness(std::string_view bytes) try {
  secrets::FieldReader fields(bytes, malformed_witness);
  if (fields.bytes(magic.size()) != magic) return std::nullopt;
  return fields.integer<std::uint32_t>();
} catch (const Failure&) {
  return std::nullopt;  // cut within these first bytes
}

WitnessKind kind_of_witness(std::string_view bytes, const secrets::Keyring& keys) try {
  secrets::FieldReader fields(bytes, malformed_witness);
  const Heading heading = read_heading(fields);
  if (!heading.is_known) return WitnessKind::malformed;
  return heading.fingerprint == keys.fingerprint() ? WitnessKind::ours : WitnessKind::under_another_key;
} catch (const Failure&) {
  return WitnessKind::malformed;
}

Witness claims_of(std::string_view bytes) {
  return read_fields(bytes).claimed;
}

ReadWitness read_witness(std::string_view bytes, const secrets::Keyring& keys) {
  Fields fields = read_fields(bytes);
  ReadWitness read{std::move(fields.claimed), false};
  const Hash& mac = fields.mac;
  read.is_authentic = secrets::is_same(mac, witness_mac(bytes.substr(0, bytes.size() - mac.size()), keys));
  // The epochs are read only where the MAC fits. Otherwise nobody vouches for them, and reading them may throw.
  if (!read.is_authentic) return read;
  read.witness.epochs = read_entries(fields.lines);
  return read;
}

}  // namespace nustream::journal
