#include "journal/sealed_state.h"

#include <utility>

namespace nustream::journal {
namespace {

State decode_and_wipe(secrets::OpenedState opened) {
  struct Wiped {
    std::string& text;
    ~Wiped() { secrets::wipe_text(text); }
  } const wiped{opened.plain};
  StateRecord record = decode_record(opened.plain);
  return {std::move(opened.identity), std::move(record)};
}

}  // namespace

std::string seal_state(const secrets::Keyring& keys, const secrets::StateIdentity& identity,
                       const StateRecord& record) {
  return secrets::seal(keys, identity, encode_record(record));
}

State open_state(const secrets::Keyring& keys, std::string_view sealed, const secrets::ExpectedIdentity& expected) {
  return decode_and_wipe(secrets::open(keys, sealed, expected));
}

State open_state(const secrets::Keyring& keys, std::string_view sealed) {
  return decode_and_wipe(secrets::open(keys, sealed));
}

}  // namespace nustream::journal
