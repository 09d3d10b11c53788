target_sources(nustream_core PRIVATE model/loss.cpp model/multinomial.cpp)
