# What every target of the project is compiled with.
add_library(nustream_compile INTERFACE)
# Contraction off everywhere: a fused multiply-add would change the noise's bits from machine to machine.
target_compile_options(nustream_compile INTERFACE
  -ffp-contract=off -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast
  $<$<BOOL:${NUSTREAM_WERROR}>:-Werror>)
if(NUSTREAM_SANITIZE)
  target_compile_options(nustream_compile INTERFACE -fsanitize=${NUSTREAM_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(nustream_compile INTERFACE -fsanitize=${NUSTREAM_SANITIZE})
  if(NUSTREAM_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Asio's fences, which the thread sanitizer does not follow; its queues are under mutexes, which it does.
    target_compile_options(nustream_compile INTERFACE -Wno-tsan)
  endif()
endif()
if(NUSTREAM_FAILPOINTS)
  target_compile_definitions(nustream_compile INTERFACE NUSTREAM_FAILPOINTS)
endif()
