"""``codec decode`` and ``codec encode``: bytes by hand, both ways."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import main
from harness.codec import encode
from harness.codec.apis import APIS, Api
from harness.codec.header import encode_request, encode_response
from harness.codec.messages import ApiVersionsRequest
from harness.codec.records import Record, RecordBatch, encode_batch
from labs.message_values.values import rich
from tests.codec.each_layout import each_of
from tests.codec.test_golden import FETCH_REQUEST_V12, raw

METADATA_V4 = "00000001" + "000174" + "01"
TREE = """\
input: hex digits, 18 bytes: header and body without a length
RequestHeader v2, 13 bytes
       0  0012                    request_api_key int16 = 18
       2  0003                    request_api_version int16 = 3
       4  00000007                correlation_id int32 = 7
       8  00026d65                client_id string = "me"
      12  00                      (tagged fields) 0
ApiVersionsRequest v3, 5 bytes
      13  0261                    client_software_name string = "a"
      15  0262                    client_software_version string = "b"
      17  00                      (tagged fields) 0
"""


def _codec(*words: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(main, ["codec", *words], input=stdin)


def _decoded(*words: str, stdin: str | bytes | None = None) -> str:
    ended = _codec("decode", *words, stdin=stdin)
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def test_decode_prints_fields_of_body_given_api_version_and_kind() -> None:
    said = _decoded("--api", "Fetch", "--version", "12", "--kind", "request",
                    raw(FETCH_REQUEST_V12).hex())  # fmt: skip
    taken, first, *rest = said.splitlines()
    assert taken == "input: hex digits, 76 bytes: one body without header"
    assert first == "FetchRequest v12, 76 bytes"
    assert rest[0] == "       0  ffffffff                replica_id int32 = -1"
    assert rest[-1] == "      72  0902aabb                  tag 9: (unknown) bytes = 2 bytes"


@pytest.mark.parametrize("words", [["--api", "3"], ["--api", "metadata", "--kind", "request"],
                                   ["--name", "MetadataRequest"]])  # fmt: skip
def test_decode_accepts_message_by_api_key_api_name_or_class_name(words: list[str]) -> None:
    said = _decoded(*words, "--version", "4", METADATA_V4)
    assert "topics []MetadataRequestTopic, 1 element" in said


def test_decode_accepts_hex_and_raw_bytes_from_argument_stdin_and_file(tmp_path: Path) -> None:
    words = ("--api", "Metadata", "--version", "4")

    def tree(*data: str, stdin: str | bytes | None = None) -> str:
        taken, _, fields = _decoded(*words, *data, stdin=stdin).partition("\n")
        assert "8 bytes: one body without header" in taken
        return fields

    wanted = tree(METADATA_V4)
    assert tree(f"{METADATA_V4[:8]} {METADATA_V4[8:].upper()}") == wanted
    assert tree("-", stdin=f"{METADATA_V4[:8]}\n{METADATA_V4[8:]}\n") == wanted
    assert tree(stdin=bytes.fromhex(METADATA_V4)) == wanted
    (tmp_path / "digits").write_text(METADATA_V4)
    (tmp_path / "bytes").write_bytes(bytes.fromhex(METADATA_V4))
    assert tree(str(tmp_path / "digits")) == wanted
    assert tree(str(tmp_path / "bytes")) == wanted


def test_decode_with_header_identifies_request_by_its_header() -> None:
    message = ApiVersionsRequest(client_software_name="a", client_software_version="b")
    sent = encode_request(message, 3, 7, "me")
    said = _decoded("--kind", "request", "--with-header", sent.hex())
    assert said == TREE
    assert _decoded("--api", "18", "--version", "3", "--with-header", sent.hex()) == said


@pytest.mark.rotates(8)
@each_of({api.name: api for api in APIS.values()})
def test_json_output_encodes_to_same_bytes_with_and_without_header(api: Api) -> None:
    for version in {api.valid_versions.lowest, api.valid_versions.highest}:
        request = encode_request(rich(api.request, version), version, 7)
        of_any = ("--kind", "request", "--with-header")
        form = _decoded(*of_any, "--json", request.hex())
        assert list(json.loads(form)) == ["header", "body"]
        assert _codec("encode", *of_any, form).output.strip() == request.hex()
        response = encode_response(rich(api.response, version), version, 7)
        words = ("--api", api.name, "--version", str(version), "--kind", "response")
        form = _decoded(*words, "--with-header", "--json", response.hex())
        assert _codec("encode", *words, "--with-header", form).output.strip() == response.hex()
        body = encode(rich(api.response, version), version)
        form = _decoded(*words, "--json", body.hex())
        assert _codec("encode", *words, "-", stdin=form).output.strip() == body.hex()


@pytest.mark.parametrize(
    ("words", "version"),
    [
        (["--kind", "request_header", "--version", "1"], 1),
        (["--kind", "request_header", "--api", "Metadata", "--version", "8"], 1),
        (["--kind", "request_header", "--api", "Metadata", "--version", "9"], 2),
        (["--kind", "request_header", "--api", "ControlledShutdown", "--version", "0"], 0),
        (["--name", "RequestHeader", "--version", "2"], 2),
    ],
)
def test_decode_reads_request_header_alone_at_each_version(words: list[str], version: int) -> None:
    raw_header = bytes.fromhex("0003000900000007" + ["", "ffff", "ffff00"][version])
    assert f"RequestHeader v{version}, {len(raw_header)} bytes" in _decoded(
        *words, raw_header.hex()
    )


def test_api_versions_response_header_is_version_0() -> None:
    words = ("--kind", "response_header", "--api", "ApiVersions", "--version", "3")
    assert "ResponseHeader v0, 4 bytes" in _decoded(*words, "00000007")


def test_decode_of_malformed_bytes_prints_readable_part_and_exits_1() -> None:
    ended = _codec("decode", "--api", "Metadata", "--version", "4", METADATA_V4[:10] + "05")
    assert ended.exit_code == 1
    assert "[0] MetadataRequestTopic" in ended.stdout
    assert "DecodeError: MetadataRequest v4: topics[0].name at byte 4: 5 bytes" in ended.stderr
    ended = _codec("decode", "--api", "Metadata", "--version", "4", "--json", METADATA_V4 + "00")
    assert (ended.exit_code, ended.stdout) == (1, "")
    assert "at byte 8: 1 bytes left over" in ended.stderr


def test_decode_of_header_with_unknown_api_key_exits_1() -> None:
    ended = _codec("decode", "--kind", "request", "--with-header", "7fff" + "00" * 8)
    assert ended.exit_code == 1
    assert "unknown api key 32767" in ended.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["decode", "--api", "Nope", "--version", "0", "00"], "no API 'Nope'"),
        (["decode", "--api", "Fecth", "--version", "0", "00"], 'did you mean "Fetch"?'),
        (["decode", "--api", "95", "--version", "0", "00"], "no API '95'"),
        (["decode", "--name", "FetchRequst", "--version", "0", "00"], '"FetchRequest"?'),
        (["decode", "--api", "Fetch", "00"], "Give --version N"),
        (["decode", "--api", "Fetch", "--version", "19", "00"], "versions 0-18, not 19"),
        (["decode", "--version", "1", "00"], "which message?"),
        (["decode", "--kind", "data", "--version", "1", "00"], "which message?"),
        (["decode", "--api", "Fetch", "--kind", "data", "--version", "1", "00"], "to no API"),
        (["decode", "--api", "Fetch", "--name", "FetchRequest", "--version", "1", "00"], "--name"),
        (["decode", "--name", "RequestHeader", "--version", "1", "--with-header", "00"], "no API"),
        (["decode", "--api", "Metadata", "--version", "0", "zz"], "neither hex digits nor a file"),
        (["decode", "--api", "Metadata", "--version", "0", "--release", "x", "00"], "no release"),
        (["encode", "--api", "Metadata", "--version", "0", "{"], "not JSON"),
        (["encode", "--api", "Metadata", "--version", "0", "nowhere"], "neither JSON nor a file"),
        (["encode", "--api", "Metadata", "--version", "0", "--with-header", "{}"], '"header": '),
        (["encode", "--kind", "request", "--with-header", '{"header": {}, "body": {}}'], "lacks"),
    ],
)
def test_wrong_usage_exits_2_with_reason(words: list[str], said: str) -> None:
    ended = _codec(*words)
    assert ended.exit_code == 2, ended.output
    assert said in " ".join(ended.output.split())


def test_encode_of_wrong_json_type_names_field_and_exits_1() -> None:
    words = ("encode", "--api", "Metadata", "--version", "4")
    ended = _codec(*words, '{"topics": [{"name": 5}]}')
    assert ended.exit_code == 1
    assert "MetadataRequest v4: topics[0].name: string expected, not 5" in ended.stderr
    assert _codec(*words, '{"topics": [{"name": "t"}]}').output.strip() == METADATA_V4


def test_records_round_trip_through_decode_and_encode() -> None:
    batch = encode_batch(RecordBatch(records=[Record(value=b"v")], base_offset=7))
    said = _decoded("--kind", "records", batch.hex())
    assert "batch magic 2, base_offset 7, 1 record, none, CreateTime" in said
    form = _decoded("--kind", "records", "--json", batch.hex())
    assert json.loads(form)[0]["records"][0]["value"] == "76"
    assert _codec("encode", "--kind", "records", form).output.strip() == batch.hex()


def test_decode_of_damaged_records_prints_other_batches_and_exits_1() -> None:
    good = encode_batch(RecordBatch(records=[Record(value=b"v")]))
    damaged = good[:-1] + bytes([good[-1] ^ 1])
    ended = _codec("decode", "--kind", "records", (damaged + good).hex())
    assert ended.exit_code == 1
    assert "batch not readable: " in ended.stdout
    assert 'value "v"' in ended.stdout
    assert "CorruptMessageError: " in ended.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["decode", "--kind", "records", "--api", "Fetch", "00"], "leave the other options out"),
        (["encode", "--kind", "records", "{}"], "a list of batches"),
    ],
)
def test_wrong_usage_with_records_kind_exits_2(words: list[str], said: str) -> None:
    ended = _codec(*words)
    assert ended.exit_code == 2
    assert said in " ".join(ended.output.split())


@pytest.mark.parametrize("command", ["decode", "encode", "transcode"])
def test_help_keeps_lines_of_examples(command: str) -> None:
    said = _codec(command, "--help").output
    assert "\\b" not in said
    shown = [line for line in said.splitlines() if line.startswith(("    codec ", '  {"kind"'))]
    assert shown


@pytest.mark.parametrize("words", [["transcode"], ["decode", "--kind", "records", "-"]])
def test_closed_standard_input_is_read_as_empty(words: list[str]) -> None:
    command = shlex.join([sys.executable, "-m", "harness.cli", "codec", *words])
    done = subprocess.run(
        ["sh", "-c", f"{command} <&-"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
