#include "publish/release_format.h"

#include <string>

#include "error.h"
#include "publish/json_text.h"

namespace nustream::publish {

void require_known_format(const simdjson::dom::element& line) {
  simdjson::dom::element format;
  if (line["format"].get(format) != simdjson::SUCCESS) return;
  double number = 0;
  const bool is_number = format.get(number) == simdjson::SUCCESS;
  if (is_number && number == 1) return;
  std::string shown = "an unknown format";
  if (is_number) {
    shown = "format ";
    append_number(number, shown);
  }
  throw Failure(Exit::data, "a release of " + shown + "; this version reads format 1: use a newer nustream");
}

}  // namespace nustream::publish
