# Installs the build into a fresh prefix, builds the consumer against it and runs it.
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
# A sanitized library is linked by what is sanitized too.
if(SANITIZE)
  set(flags -DCMAKE_CXX_FLAGS=-fsanitize=${SANITIZE})
endif()
set(prefix ${BUILD}/package-prefix)
file(REMOVE_RECURSE ${prefix} ${BUILD}/package-consumer)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${BUILD}/package-consumer -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_PREFIX_PATH=${prefix} ${flags})
run(${CMAKE_COMMAND} --build ${BUILD}/package-consumer)
run(${BUILD}/package-consumer/consumer)
run(${prefix}/bin/nustream --version)
