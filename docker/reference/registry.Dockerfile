# The reference broker on a Python image, for people who have a registry; built from the source tree:
#   docker build --file docker/reference/registry.Dockerfile .
# Untested here: there is none to have the base image from.
FROM python:3.12-slim
LABEL org.opencontainers.image.title="kafka-conformance reference broker" \
      kafka-conformance.capabilities="create_topics broker_config"
COPY . /source
RUN pip install --no-cache-dir /source && rm -r /source
COPY docker/reference/start.sh /start.sh
ENV PYTHONUNBUFFERED=1
USER nobody
EXPOSE 9092
ENTRYPOINT ["/bin/sh", "/start.sh"]
