target_sources(nustream_service PRIVATE
  secrets/folder_trust.cpp secrets/key_file.cpp secrets/key_place.cpp secrets/keyring.cpp
  secrets/locked_memory.cpp secrets/random.cpp secrets/seal.cpp secrets/secret_file.cpp
  secrets/signature.cpp)
