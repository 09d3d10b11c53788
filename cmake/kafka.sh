# Fetches Apache Kafka, for tests and for the demo, once through Maven into the user's cache. This file needs setup.sh.
# shellcheck shell=bash

# shellcheck disable=SC2034  # used by ./test and ./run
kafka_packages=(openjdk-17-jre-headless maven)
kafka_version=3.9.1

# Prints the folder of the broker's jars, whether they are there or not. tests/support/kafka_broker.cpp follows the same
# rule, so a change has to be made in both.
kafka_folder() { printf '%s\n' "${XDG_CACHE_HOME:-$HOME/.cache}/nustream/kafka-$kafka_version"; }

# Fetches the jars where they are missing: either all of them or none are there afterwards, also where several processes
# fetch them at the same time.
fetch_kafka() {
  local folder partial
  folder=$(kafka_folder)
  if [ ! -d "$folder" ]; then
    command -v mvn >/dev/null || fail "mvn not found, which fetches Apache Kafka; install the package maven"
    mkdir -p "${folder%/*}" || fail "cannot make ${folder%/*}; set XDG_CACHE_HOME to a folder that can be written"
    partial=$(mktemp -d "$folder.partial-XXXXXX") || fail "cannot make a folder in ${folder%/*}"
    printf 'fetching Apache Kafka %s (log: %s)\n' "$kafka_version" "$setup_log" >&2
    if ! mvn -B -f cmake/kafka-pom.xml dependency:copy-dependencies -DoutputDirectory="$partial" >>"$setup_log" 2>&1 ||
      ! [ -f "$partial/kafka_2.13-$kafka_version.jar" ]; then
      rm -rf "$partial"
      fail "Apache Kafka could not be fetched through Maven; its output is at the end of $setup_log"
    fi
    mv -T "$partial" "$folder" 2>/dev/null || rm -rf "$partial" # another process was faster
    [ -d "$folder" ] || fail "cannot make $folder"
  fi
  archive_kafka_classes "$folder"
}

# Lets a broker run for some seconds and stores its classes as the JVM holds them in memory. From then on a broker is
# ready in 1 s instead of 3 s, which helps tests that kill one a hundred times. A failure here only costs this speed, so
# it is ignored.
archive_kafka_classes() {
  local folder=$1 work port java broker
  [ -f "$folder/classes.jsa" ] && return 0
  work=$(mktemp -d) || return 0
  port=$((10000 + RANDOM % 20000))
  cat >"$work/server.properties" <<TEXT
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$port
listeners=PLAINTEXT://127.0.0.1:$((port + 1)),CONTROLLER://127.0.0.1:$port
controller.listener.names=CONTROLLER
log.dirs=$work/data
TEXT
  java=(java -Xmx512m -XX:+UseSerialGC -cp "$folder/*")
  {
    if "${java[@]}" kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c "$work/server.properties"; then
      "${java[@]}" -XX:ArchiveClassesAtExit="$work/classes.jsa" kafka.Kafka "$work/server.properties" &
      broker=$!
      sleep 6
      kill "$broker" && wait "$broker" || true
      mv "$work/classes.jsa" "$folder/classes.jsa" || true
    fi
  } >>"$setup_log" 2>&1
  rm -rf "$work"
}
