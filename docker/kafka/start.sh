# Apache Kafka in a container: where to listen comes as KAFKA_CONFORMANCE_* (docker/README.md).
# Only what the shell itself can do: an image may hold no other program than sh and java.
set -eu

port=${KAFKA_CONFORMANCE_LISTEN_PORT:-9092}
controller=${KAFKA_CONFORMANCE_CONTROLLER_PORT:-$((port + 1))}
advertised=${KAFKA_CONFORMANCE_HOST:-localhost}:${KAFKA_CONFORMANCE_PORT:-$port}
cluster=${KAFKA_CONFORMANCE_CLUSTER_ID:-kafka-conformance-imag}
properties=/kafka/node.properties

{
    while IFS= read -r line; do printf '%s\n' "$line"; done < /kafka/server.properties
    printf 'controller.quorum.voters=1@127.0.0.1:%s\n' "$controller"
    printf 'listeners=PLAINTEXT://%s:%s,CONTROLLER://127.0.0.1:%s\n' \
        "${KAFKA_CONFORMANCE_LISTEN_HOST:-0.0.0.0}" "$port" "$controller"
    printf 'advertised.listeners=PLAINTEXT://%s\n' "$advertised"
    printf '%s' "${KAFKA_CONFORMANCE_SETTINGS:-}"
} > "$properties"

java="java ${JVM_FLAGS:-} -Dlog4j.configuration=file:/kafka/log4j.properties"
java="$java -Dlog4j2.configurationFile=/kafka/log4j2.properties -Dlog4j2.disableJmx=true"

if [ ! -e /kafka/data/meta.properties ]; then
    $java kafka.tools.StorageTool format -t "$cluster" -c "$properties"
fi
exec $java kafka.Kafka "$properties"
