target_sources(nustream_service PRIVATE
  secrets/harden.cpp secrets/key_file.cpp secrets/keyring.cpp secrets/locked_memory.cpp secrets/random.cpp
  secrets/seal.cpp)
