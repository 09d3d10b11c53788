// The files that say who a client is and whom it believes: certificates, keys, passwords. A client reads them once,
// when it is made, and shows what they held then for as long as it lives.
#pragma once

#include <map>
#include <string>

#include "journal/running_hash.h"
#include "kafka/secret_properties.h"

namespace nustream::kafka {

/// What the files held when this was made.
class SecretFiles {
 public:
  /// Of librdkafka's own "ssl.….location", and of ours, "….password_file", "….pem_file" and the like. What is no
  /// regular file, such as a folder of authorities, is left out.
  explicit SecretFiles(const Properties& properties);

  /// The names of the properties whose files hold something else by now, one after the other; empty for none. A file
  /// that cannot be read is none of them: somebody is about to write it.
  [[nodiscard]] std::string changed() const;

 private:
  struct Seen {
    std::string path;
    journal::Hash contents;
  };
  std::map<std::string, Seen> files_;  // by property
};

}  // namespace nustream::kafka
