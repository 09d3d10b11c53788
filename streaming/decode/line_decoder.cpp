#include "decode/line_decoder.h"

namespace nustream::decode {

std::unique_ptr<LineDecoder> make_line_decoder(const InputSettings& settings, std::span<const record::Field> fields) {
  return settings.format == Format::csv ? make_csv_decoder(settings, fields) : make_json_decoder(settings, fields);
}

}  // namespace nustream::decode
