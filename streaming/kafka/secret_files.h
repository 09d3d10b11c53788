// The files that say who a client is and whom it believes: certificates, keys and passwords. A client reads them
// once, when it is made, and uses what they held then for as long as it lives.
#pragma once

#include <map>
#include <string>

#include "journal/running_hash.h"
#include "kafka/secret_properties.h"

namespace nustream::kafka {

/// Remembers, by hashes, what the files held when this was made.
class SecretFiles {
 public:
  /// Remembers the files that properties name: librdkafka's own "ssl.….location", and this project's
  /// "….password_file", "….pem_file" and the like. What is no regular file, such as a folder of authorities, is left
  /// out.
  explicit SecretFiles(const Properties& properties);

  /// The names of the properties whose files hold something else by now, separated by commas; empty where there are
  /// none. A file that cannot be read does not count as changed, since somebody may be about to write it.
  [[nodiscard]] std::string changed() const;

 private:
  struct Seen {
    std::string path;
    journal::Hash contents;
  };
  std::map<std::string, Seen> files_;  // by property
};

}  // namespace nustream::kafka
