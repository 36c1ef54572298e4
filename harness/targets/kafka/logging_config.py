"""Configuration that logs everything from INFO up to stdout, which is the log file."""

from __future__ import annotations

from pathlib import Path

from harness.targets.kafka.eras import Fact, knows

LOG4J2 = """\
status = error
shutdownHook = disable
appenders = out
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = [%d{ISO8601_OFFSET_DATE_TIME_HHCMM}] %p %m (%c)%n
rootLogger.level = INFO
rootLogger.appenderRef.out.ref = out
loggers = configs
logger.configs.name = org.apache.kafka.common.config
logger.configs.level = WARN
"""

LOG4J = """\
log4j.rootLogger=INFO, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=[%d{ISO8601}] %p %m (%c)%n
log4j.logger.org.apache.kafka.common.config=WARN
log4j.logger.kafka.server.KafkaConfig=WARN
log4j.logger.org.apache.kafka.clients=WARN
"""
"""log4j.properties of Log4j 1 and its successor reload4j. The lists of settings are left out."""


def write_log4j2(folder: Path) -> list[str]:
    """Write the file for Log4j 2; the JVM arguments that point to it."""
    path = folder / "log4j2.properties"
    path.write_text(LOG4J2)
    return [f"-Dlog4j2.configurationFile={path}", "-Dlog4j2.disableJmx=true"]


def write_log4j(folder: Path) -> list[str]:
    """Write the file for Log4j 1; the JVM arguments that point to it."""
    path = folder / "log4j.properties"
    path.write_text(LOG4J)
    return [f"-Dlog4j.configuration={path.as_uri()}"]


def write_logging(folder: Path, release: str) -> list[str]:
    """Write the file that this release of Kafka reads; the JVM arguments that point to it."""
    return write_log4j2(folder) if knows(release, Fact.LOG4J2) else write_log4j(folder)
