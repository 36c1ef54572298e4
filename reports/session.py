"""A Spark session that explains a failed start, stays quiet, and leaves no process behind."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from .errors import ReportError
from .packages import RENDERERS, require_packages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_JAVA: Final = 17
JVM_END_TIMEOUT_S: Final = 20
CONNECT_TIMEOUT_S: Final = 10
LOG_LINES_QUOTED: Final = 15
INSTALL_JAVA: Final = (
    f"install a Java runtime {OLDEST_JAVA} or newer (or: pip install 'kafka-conformance[java]'), "
    "and set JAVA_HOME to it or put its java on PATH"
)
QUIET_LOGS: Final = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %p %c{1}: %m%n%ex{short}
"""


@contextmanager
def spark_session(master: str = "local[*]") -> Iterator[SparkSession]:
    """A session on `master`; on leaving, the session is stopped and its JVM has ended.

    Raises ReportError when PySpark or Java is missing or Spark can't start. What the JVM wrote to
    its standard error is kept from the terminal and quoted in that error.
    """
    require_pyspark()
    require_java()
    _refuse_second_session()
    _refuse_connect(master)
    _refuse_silent_master(master)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="report-spark-")))
        stack.enter_context(_environment(_environment_for(master)))
        stack.enter_context(_interrupt_handler_kept())
        log = stack.enter_context((folder / "jvm.log").open("w+", errors="replace"))
        gateway = stack.enter_context(_java_gateway(settings(master, folder), log))
        yield stack.enter_context(_session_on(gateway, settings(master, folder), log))


def require_pyspark() -> None:
    """Raises ReportError when the packages of the extra `report` are not installed."""
    require_packages("report", "pyspark", *RENDERERS)


def require_java() -> Path:
    """The java that Spark will start; looked for first, because PySpark can't say that it misses.

    Spark takes JAVA_HOME, else java on PATH. Raises ReportError when there is none or a too old
    one.
    """
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    where = f"JAVA_HOME={home}" if home else "PATH (JAVA_HOME is not set)"
    if found is None or not os.access(found, os.X_OK):
        raise ReportError("Spark needs Java, and none was found", where, INSTALL_JAVA)
    version = _java_version(found, where)
    if version < OLDEST_JAVA:
        raise ReportError(
            f"Spark needs Java {OLDEST_JAVA} or newer, this one is {version}", found, INSTALL_JAVA
        )
    return Path(found)


def _java_version(java: str, where: str) -> int:
    try:
        asked = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ReportError(f"{java} can't be run: {error}", where, INSTALL_JAVA) from error
    stated = re.search(r'version "(?:1\.)?(\d+)', asked.stderr + asked.stdout)
    if stated is None:
        raise ReportError(f"{java} doesn't tell its version", where, INSTALL_JAVA)
    return int(stated.group(1))


def is_on_this_machine(master: str) -> bool:
    """True if driver and master talk over loopback: local masters and standalone ones on it."""
    return master.startswith(("local", "spark://127.", "spark://localhost:", "spark://[::1]"))


def settings(master: str, folder: Path) -> dict[str, str]:
    """The Spark configuration; `folder` is a temporary one for warehouse, scratch and logs."""
    logging = folder / "log4j2.properties"
    logging.write_text(QUIET_LOGS)
    always = {
        "spark.master": master,
        "spark.app.name": "kafka-conformance report",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1g",
        # A report is short: the quick compiler alone makes it twice as fast.
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={logging.as_uri()} "
        "-XX:TieredStopAtLevel=1",
        "spark.local.dir": str(folder / "scratch"),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
        "spark.sql.warehouse.dir": (folder / "warehouse").as_uri(),
    }
    # Executors on other machines must reach the driver: there Spark finds the address itself.
    loopback = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return always | (loopback if is_on_this_machine(master) else {})


def _environment_for(master: str) -> dict[str, str]:
    wanted = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    return wanted | ({"SPARK_LOCAL_IP": "127.0.0.1"} if is_on_this_machine(master) else {})


def _refuse_second_session() -> None:
    from pyspark import SparkContext

    if SparkContext._active_spark_context is not None:
        raise ReportError(
            "another Spark session is running in this process",
            f"process {os.getpid()}",
            "stop it first, or make the report in a process of its own: python -m reports",
        )


def _refuse_connect(master: str) -> None:
    if master.startswith("sc://"):
        raise ReportError(
            "a Spark Connect address is not a master",
            f"master {master}",
            "give the address of the cluster itself: local[N], spark://HOST:PORT, yarn, k8s://...",
        )


def _refuse_silent_master(master: str) -> None:
    """Spark itself takes a minute to find out that no standalone master is there."""
    addresses = re.findall(r"([^:,/\[\]]+|\[[^\]]+\]):(\d+)(?=,|$)", master)
    if not master.startswith("spark://") or not addresses:
        return
    reasons = []
    for host, port in addresses:
        try:
            socket.create_connection((host.strip("[]"), int(port)), CONNECT_TIMEOUT_S).close()
        except (OSError, OverflowError) as error:
            reasons.append(f"{host}:{port}: {error}")
        else:
            return
    raise ReportError(
        "no Spark master answers: " + "; ".join(reasons),
        f"master {master}",
        "start it, or correct the address; without a cluster leave --master away",
    )


@contextmanager
def _environment(wanted: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _interrupt_handler_kept() -> Iterator[None]:
    """SparkContext puts its own handler of SIGINT in place and never takes it back."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _java_gateway(conf: dict[str, str], log: IO[str]) -> Iterator[Any]:
    """The JVM as a child process; on leaving it has ended, and PySpark has forgotten it."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    before = (SparkContext._gateway, SparkContext._jvm)
    SparkContext._gateway = SparkContext._jvm = None
    try:
        options = SparkConf(loadDefaults=False).setAll(list(conf.items()))
        launch: Any = launch_gateway  # has no types
        gateway = launch(options, {"stdout": log, "stderr": log})
    except Exception as error:
        SparkContext._gateway, SparkContext._jvm = before
        _end_forgotten_process(error)
        raise _cannot_start(conf["spark.master"], error, log) from error
    try:
        yield gateway
    finally:
        SparkContext._gateway, SparkContext._jvm = before
        _end_jvm(gateway)


def _end_jvm(gateway: Any) -> None:
    process: subprocess.Popen[bytes] | None = getattr(gateway, "proc", None)
    try:
        gateway.shutdown()
    finally:
        if process is not None:
            _end_process(process)


def _end_forgotten_process(error: Exception) -> None:
    """PySpark forgets the process that it couldn't talk to; only the traceback still knows it."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        process = frame.f_locals.get("proc")
        if isinstance(process, subprocess.Popen):
            _end_process(process)


def _end_process(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()  # the gateway's JVM ends when this pipe does
    try:
        process.wait(JVM_END_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def _session_on(gateway: Any, conf: dict[str, str], log: IO[str]) -> Iterator[SparkSession]:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    options = SparkConf(loadDefaults=False).setAll(list(conf.items()))
    with ExitStack() as stack:
        try:
            context = SparkContext(conf=options, gateway=gateway)
            stack.callback(context.stop)
            session = SparkSession(context)
            stack.callback(session.stop)
        except Exception as error:
            raise _cannot_start(conf["spark.master"], error, log) from error
        yield session


def _cannot_start(master: str, error: Exception, log: IO[str]) -> ReportError:
    log.flush()
    log.seek(0)
    lines = [line for line in log if not re.match(r"\s+(at |\.\.\. )|WARNING: ", line)]
    last = "".join(lines[-LOG_LINES_QUOTED:]).strip()
    reason = str(error).strip().splitlines()
    return ReportError(
        "Spark can't start: " + (reason[0] if reason else type(error).__name__),
        f"master {master}" + (f"; its last words:\n{last}" if last else ""),
        "check that the master is spelt right and reachable, that no other Spark (SPARK_HOME, "
        "SPARK_CONF_DIR) is mixed in, and that 1 GiB of memory is free",
    )
