find_package(ZLIB REQUIRED)
nustream_benchmark(benchmark_decode decode.cpp LINK nustream_service ZLIB::ZLIB)
# This program compares with a library that the product does not use.
find_package(LibArchive)
if(LibArchive_FOUND)
  nustream_benchmark(benchmark_archives archives.cpp LINK nustream_service LibArchive::LibArchive)
endif()
