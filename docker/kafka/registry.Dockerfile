# The same node on Apache's own image, for people who have a registry.
# Untested here: there is none to have the base image from.
ARG RELEASE=4.1.0
FROM apache/kafka:${RELEASE}
ARG RELEASE
LABEL org.opencontainers.image.title="Apache Kafka" \
      org.opencontainers.image.version="${RELEASE}" \
      kafka-conformance.capabilities="create_topics broker_config restart_node"
USER root
COPY start.sh server.properties log4j.properties log4j2.properties /kafka/
RUN chown -R appuser /kafka
USER appuser
ENV CLASSPATH=/opt/kafka/libs/* \
    JVM_FLAGS="-Xmx256m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
EXPOSE 9092
ENTRYPOINT ["/bin/sh", "/kafka/start.sh"]
CMD []
