"""The broker's settings, by Kafka's names, read strictly: those of `settings.tsv` and of topics."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.base.operating_system import memory_bytes
from harness.base.suggestion import did_you_mean
from harness.reference_broker.emulated_release import LIKE_NONE, EmulatedRelease, LikenessError
from harness.reference_broker.state.config_definitions.config_table import config_table
from harness.reference_broker.state.config_definitions.config_values import (
    ConfigDefinition as Definition,
)
from harness.reference_broker.state.config_definitions.config_values import ConfigError, ConfigValue
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig, configs_of
from harness.reference_broker.state.config_definitions.units_of_time import in_milliseconds


class SettingError(ValueError):
    """A setting that does not exist or has an illegal value; the message says what to write."""


_KNOWN = {
    row.definition.name: row.definition
    for row in config_table("harness.reference_broker", "settings.tsv")
}


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """All settings with their values.

    `given` holds the given ones, as text; `topic_defaults` those of them that topics inherit, by
    broker name. `like` is no setting of Kafka's: it is the emulated release. Nor are `scram_users`,
    the users of a new cluster as `kafka-storage format --add-scram` takes them.
    """

    values: Mapping[str, ConfigValue]
    topic_defaults: Mapping[str, str]
    given: Mapping[str, str]
    like: EmulatedRelease = LIKE_NONE
    scram_users: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        given: Mapping[str, str] | None = None,
        like: str = "",
        scram_users: tuple[str, ...] = (),
    ) -> "BrokerSettings":
        """Read and check `given`; other settings have Kafka's default. Raises SettingError."""
        given = {} if given is None else given
        likeness = _likeness_of(like)
        inherited = _inherited_by_topics(likeness)
        for name in given:
            if name not in _KNOWN and name not in inherited:
                known = sorted({*_KNOWN, *inherited})
                near = did_you_mean(name, known)
                raise SettingError(
                    f"unknown broker setting {name!r}{near}; known are: {', '.join(known)}"
                )
        try:
            of_topics = in_milliseconds(given).items()
            topic_defaults = {name: text for name, text in of_topics if name in inherited}
            values = {
                name: definition.parse(given.get(name, definition.default))
                for name, definition in _KNOWN.items()
            }
            for name, text in topic_defaults.items():
                inherited[name].parse(text)
            TopicConfig.of({}, topic_defaults, likeness)
        except (ConfigError, ValueError) as error:
            raise SettingError(f"broker setting: {error}") from error
        _check_request_memory(values)
        return cls(values, topic_defaults, dict(given), likeness, scram_users)

    def number(self, name: str) -> int:
        """A setting of type int or long."""
        value = self.values[name]
        assert isinstance(value, int)
        return value

    def flag(self, name: str) -> bool:
        """A setting of type boolean."""
        return self.values[name] is True

    def text(self, name: str) -> str:
        """A setting of type string."""
        return str(self.values[name])


def known_settings() -> frozenset[str]:
    """Return the names of all settings of the newest release, those of topics' defaults too."""
    return frozenset({*_KNOWN, *_inherited_by_topics(LIKE_NONE)})


def _likeness_of(release: str) -> EmulatedRelease:
    try:
        return EmulatedRelease.of(release) if release else LIKE_NONE
    except LikenessError as error:
        raise SettingError(str(error)) from error


def _inherited_by_topics(like: EmulatedRelease) -> dict[str, Definition]:
    """Return the release's topic configs with a default from the broker, by the broker's names."""
    known = configs_of(like).known.values()
    return {one.broker_setting: one for one in known if one.broker_setting is not None}


def _check_request_memory(values: Mapping[str, ConfigValue]) -> None:
    """Source: class KafkaConfig (validateValues)."""
    queued, largest = values["queued.max.request.bytes"], values["socket.request.max.bytes"]
    assert isinstance(queued, int)
    assert isinstance(largest, int)
    if 0 < queued < largest:
        raise SettingError(
            f"broker setting: queued.max.request.bytes is {queued}, which is less than one request "
            f"may have: give {largest} (socket.request.max.bytes) or more, or -1 for no limit"
        )


def folders_of(settings: BrokerSettings, data_dir: Path) -> list[Path]:
    """Return the log folders: `log.dirs`, relative to the data folder, or that folder itself."""
    named = [name.strip() for name in settings.text("log.dirs").split(",")]
    return [data_dir / name for name in named if name] or [data_dir]


def request_memory_bytes(settings: BrokerSettings) -> int:
    """Return the limit of memory for requests.

    Kafka has no limit by default; a quarter of the machine's memory stands for that.
    """
    given = settings.number("queued.max.request.bytes")
    largest = settings.number("socket.request.max.bytes")
    return given if given > 0 else max(memory_bytes() // 4, largest)


def uncounted_request_bytes(settings: BrokerSettings) -> int:
    """Return the size up to which requests need no memory of that: none where it is configured."""
    return 0 if settings.number("queued.max.request.bytes") > 0 else 64 * 1024


def answer_memory_bytes() -> int:
    """Return the limit of memory for responses that slow clients have not read.

    Kafka, which sends from its files, has no such limit.
    """
    return memory_bytes() // 4


def parse_assignments(assignments: tuple[str, ...]) -> dict[str, str]:
    """Turn "name=value" texts into a mapping. Raises SettingError for any other form."""
    given: dict[str, str] = {}
    for assignment in assignments:
        name, separator, value = assignment.partition("=")
        if not separator or not name.strip():
            raise SettingError(f"a setting is written name=value, not {assignment!r}")
        if name.strip() in given:
            raise SettingError(f"broker setting {name.strip()!r} is given twice")
        given[name.strip()] = value
    return given
