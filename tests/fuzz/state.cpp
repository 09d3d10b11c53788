// States: the record inside the seal, and the seal, of which no byte may change.
#include "error.h"
#include "fuzz.h"
#include "journal/state_record.h"

namespace nustream::fuzz {
namespace {

using journal::StateRecord;

const secrets::Keyring& keys() {
  static const secrets::Keyring ring = secrets::Keyring::insecure(5);
  return ring;
}

const std::string& sealed() {
  static const std::string bytes = [] {
    StateRecord record;
    record.position = Position{12};
    record.lane = "lane";
    record.outbox = "{\"step\":1}\n";
    record.noise = journal::first_checkpoints({}, LaneId{0}, EpochId{0}, 2);
    return journal::seal_state(keys(), {"stream", LaneId{0}, EpochId{0}, StepCount{3}, std::string(64, 'a'), false},
                               record);
  }();
  return bytes;
}

void require_refused(const std::string& bytes) {
  try {
    static_cast<void>(journal::open_state(keys(), bytes));
  } catch (const Failure& failure) {
    const bool known = failure.code() == Exit::data || failure.code() == Exit::permission;
    return require(known, "a damaged state is a failure of data, or of another key");
  }
  require(false, "a changed state was opened");
}

void check_record(std::string_view input) {
  std::string bytes(input);
  try {
    const StateRecord record = journal::decode_record(bytes);
    const std::string again = journal::encode_record(record);
    // States of an older format are read, and written again in the present one.
    require(journal::encode_record(journal::decode_record(again)) == again, "what is encoded is read as it was");
  } catch (const Failure& failure) {
    require(failure.code() == Exit::data, "a malformed record is a failure of data");
  }
}

void target(std::string_view input) {
  switch (take_byte(input) % 3) {
    case 0:
      return check_record(input);
    case 1:
      if (input != sealed()) require_refused(std::string(input));
      return;
    default:
      break;
  }
  std::string bytes = sealed();
  while (input.size() >= 3) {
    const std::size_t at = (take_byte(input) * std::size_t{256} + take_byte(input)) % bytes.size();
    bytes[at] = static_cast<char>(bytes[at] ^ take_byte(input));
  }
  if (!input.empty()) bytes.resize(take_byte(input) % (bytes.size() + 1));
  if (bytes != sealed()) require_refused(bytes);
}

}  // namespace
}  // namespace nustream::fuzz

NUSTREAM_FUZZ_TARGET(state)
