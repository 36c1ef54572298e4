"""Our copy of the schema against the one that the harness writes."""

from harness.conformance import results_schema
from reports import schema


def test_columns_are_those_that_the_harness_writes() -> None:
    written = [
        (field.name, str(field.type), field.nullable) for field in results_schema.RESULTS_SCHEMA
    ]
    read = [(column.name, column.arrow_type, column.nullable) for column in schema.COLUMNS]
    assert read == written


def test_version_and_metadata_keys_are_those_of_the_harness() -> None:
    assert schema.SCHEMA_VERSION == results_schema.SCHEMA_VERSION
    assert schema.SCHEMA_VERSION_KEY == results_schema.SCHEMA_VERSION_KEY
    assert schema.RUN_KEY == results_schema.RUN_KEY


def test_spark_and_arrow_types_say_the_same() -> None:
    same = {
        "STRING": "string",
        "BIGINT": "int64",
        "INT": "int32",
        "DOUBLE": "double",
        "BOOLEAN": "bool",
    }
    for column in schema.COLUMNS:
        assert same[column.sql_type] == column.arrow_type, column.name
