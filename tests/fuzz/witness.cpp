// Witnesses of state folders: bytes that anybody may have put there, and a good witness, of which no byte may change.
#include "journal/witness.h"
#include "error.h"
#include "fuzz.h"

namespace nustream::fuzz {
namespace {

const secrets::Keyring& keys() {
  static const secrets::Keyring ring = secrets::Keyring::insecure(5);
  return ring;
}

const std::string& written() {
  static const std::string bytes = [] {
    journal::Witness witness;
    witness.account.fill(7);
    witness.stream = "mine";
    witness.folder = "/data/mine";
    witness.epoch = EpochId{1};
    witness.steps = StepCount{40};
    witness.ledger_head.fill(9);
    witness.epochs = {{"mine",
                       LaneId{0},
                       EpochId{1},
                       Position{0},
                       Position{40},
                       StepCount{40},
                       Rho{0.125},
                       Rho{0.25},
                       std::string(64, 'd'),
                       {privacy::Adjacency::zero_out},
                       false,
                       journal::Overlap::disjoint}};
    return journal::encode_witness(witness, keys());
  }();
  return bytes;
}

void check(const std::string& bytes) {
  const journal::WitnessKind kind = journal::kind_of_witness(bytes, keys());
  try {
    const journal::ReadWitness read = journal::read_witness(bytes, keys());
    require(kind != journal::WitnessKind::malformed, "what is read has the heading of a witness");
    require(!read.is_authentic || bytes == written(), "a changed witness is believed");
    require(read.is_authentic || read.witness.epochs.empty(), "nothing is charged by a witness without a MAC");
    if (read.is_authentic) {
      require(journal::encode_witness(read.witness, keys()) == bytes, "what is read is written as it was");
    }
  } catch (const Failure& failure) {
    require(failure.code() == Exit::data, "a malformed witness is a failure of data");
    require(bytes != written(), "a witness is read");
  }
}

// The first byte chooses: the bytes as they are, or a good witness, of which the input says which bytes are changed
// and where it is cut.
void target(std::string_view input) {
  if (take_byte(input) % 2 == 0) return check(std::string(input));
  std::string bytes = written();
  while (input.size() >= 3) {
    const std::size_t at = (take_byte(input) * std::size_t{256} + take_byte(input)) % bytes.size();
    bytes[at] = static_cast<char>(bytes[at] ^ take_byte(input));
  }
  if (!input.empty()) bytes.resize(take_byte(input) * std::size_t{4} % (bytes.size() + 1));
  check(bytes);
}

}  // namespace
}  // namespace nustream::fuzz

NUSTREAM_FUZZ_TARGET(witness)
