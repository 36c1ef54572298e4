"""Bytes as people have them: the forms that ``codec decode`` recognises, and what is ambiguous."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import labs
from harness.cli import main
from harness.codec.frame import frame
from harness.codec.header import encode_request, encode_response
from harness.codec.messages import ApiVersionsRequest, HeartbeatResponse
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.commands.codec.input_forms.table import FORM_NAMES, RAW, text_readings

DUMPS = Path(__file__).parent / "input_forms"  # of two.bin, by the programs in the names
TWO_FRAMES = (DUMPS / "two.bin").read_bytes()
CLIENT = ApiVersionsRequest(client_software_name="a", client_software_version="b")
BODY = encode_request(CLIENT, 3, 0x0102, "me\x7f")
FETCH_12 = bytes.fromhex(
    "0001000c00000103000c636f6e73756d65722d312d3100ffffffff000001f4000000010320000000000011"
    "220000000701010100"
)
FETCH_12_DECIMAL = ", ".join(map(str, FETCH_12))
CAPTURES = Path(labs.__file__).parent / "captures/files"


def decode(*words: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(main, ["codec", "decode", *words], input=stdin)


def shown(*words: str, stdin: str | bytes | None = None) -> tuple[str, str]:
    """(what the input was taken for, the tree)."""
    ended = decode(*words, stdin=stdin)
    assert ended.exit_code == 0, ended.output
    taken, _, tree = ended.stdout.partition("\n")
    return taken, tree


def refused(*words: str, stdin: str | bytes | None = None) -> str:
    ended = decode(*words, stdin=stdin)
    assert ended.exit_code == 2, ended.output
    assert ended.stdout == ""
    return ended.stderr


RAW_TREE = shown(stdin=TWO_FRAMES)[1]
DUMPED = {
    "base64-line": "Base64",
    "base64-lines": "Base64",
    "hexdump-canonical": "a dump as hexdump -C makes it",
    "hexdump-verbose": "a dump as hexdump -C makes it",
    "od-decimal-offsets": "a dump of offsets and bytes",
    "od-octal-offsets": "a dump of offsets and bytes",
    "od-signed": "decimal numbers (signed)",
    "od-text": "a dump as hexdump -C makes it",
    "od-unsigned": "decimal numbers",
    "xxd": "a dump as xxd makes it",
    "xxd-autoskip": "a dump as xxd makes it",
    "xxd-columns": "a dump as xxd makes it",
    "xxd-include": "an array of numbers",
    "xxd-plain": "hex digits",
}


def test_every_dump_is_in_the_table() -> None:
    files = {path.stem for path in DUMPS.glob("*.txt")}
    assert {name for name in files if not name.startswith("refused")} == DUMPED.keys()


@pytest.mark.parametrize(("name", "said"), DUMPED.items())
def test_dump_of_a_program_is_recognised_and_decoded(name: str, said: str) -> None:
    text = (DUMPS / f"{name}.txt").read_text("ascii")
    wanted = (f"input: {said}, 196 bytes: 2 frames with length and header", RAW_TREE)
    assert shown(str(DUMPS / f"{name}.txt")) == wanted
    assert shown(stdin=text) == wanted
    assert shown(stdin=text.replace("\n", "\r\n")) == wanted
    assert shown(stdin=text.encode("utf-16")) == wanted
    assert shown("--kind", "request", "--with-header", stdin=text) == wanted


@pytest.mark.parametrize("name", sorted(path.stem for path in DUMPS.glob("refused-*.txt")))
def test_dump_in_other_units_is_refused(name: str) -> None:
    said = refused(str(DUMPS / f"{name}.txt"))
    assert "is text in no form that is read (hex digits, a dump as xxd makes it, " in said


def test_dump_with_a_changed_digit_is_refused_with_its_line() -> None:
    text = (DUMPS / "xxd.txt").read_text("ascii")
    assert "nearly a dump as xxd makes it: line 2 of a dump has other bytes than its text" in (
        refused(stdin=text.replace("00000010: 4141", "00000010: 4241"))
    )
    missing = text.splitlines(keepends=True)
    del missing[2]
    said = refused(stdin="".join(missing))
    assert "line 3 of a dump has the offset 00000030, not 20" in said


def _pairs(data: bytes, between: str, before: str = "") -> str:
    return between.join(f"{before}{byte:02x}" for byte in data)


def _signed(data: bytes) -> list[int]:
    return [byte - 256 if byte > 127 else byte for byte in data]


TEXTS = {
    "hex": FETCH_12.hex(),
    "hex in capitals": FETCH_12.hex().upper(),
    "hex with blanks": _pairs(FETCH_12, " "),
    "hex with colons": _pairs(FETCH_12, ":"),
    "hex with dashes": _pairs(FETCH_12, "-"),
    "hex in words": FETCH_12.hex(" ", 4),
    "hex with 0x": f"0x{FETCH_12.hex()}",
    "hex with 0x each": _pairs(FETCH_12, " ", "0x"),
    "hex with commas": _pairs(FETCH_12, ", ", "0x"),
    "hex escapes": _pairs(FETCH_12, "", "\\x"),
    "hex in quotes": f'"{FETCH_12.hex()}"',
    "hex of Node": f"<Buffer {_pairs(FETCH_12, ' ')}>",
    "decimal": FETCH_12_DECIMAL,
    "decimal with blanks": FETCH_12_DECIMAL.replace(",", ""),
    "decimal signed": ", ".join(map(str, _signed(FETCH_12))),
    "array of Python": str(list(FETCH_12)),
    "Buffer of Node.js": json.dumps({"type": "Buffer", "data": list(FETCH_12)}),
    "array of Java": str(_signed(FETCH_12)),
    "literal of Java": f"new byte[] {{ {', '.join(f'(byte) 0x{one:02X}' for one in FETCH_12)} }};",
    "literal of Java, signed": f"byte[] raw = {{{', '.join(map(str, _signed(FETCH_12)))}}};",
    "literal of Go": f"[]byte{{{_pairs(FETCH_12, ', ', '0x')}, }}",
    "value of Go": f"[{' '.join(map(str, FETCH_12))}]",
    "literal of Rust": f"&[{', '.join(f'{one}u8' for one in FETCH_12)}]",
    "literal of C": f"unsigned char a[] = {{{_pairs(FETCH_12, ', ', '0x')}}};",
    "literal of Python": repr(FETCH_12),
    "literals of Python": f"({FETCH_12[:9]!r}\n {FETCH_12[9:]!r})",
    "bytearray of Python": repr(bytearray(FETCH_12)),
    "string of Java": '"' + "".join(f"\\u{one:04x}" for one in FETCH_12) + '"',
    "string of a shell": "$'" + _pairs(FETCH_12, "", "\\x") + "'",
    "Base64": base64.b64encode(FETCH_12).decode(),
    "Base64 for URLs": base64.urlsafe_b64encode(FETCH_12 * 1).decode().rstrip("="),
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_of_bytes_is_decoded_from_the_argument_and_from_standard_input(name: str) -> None:
    wanted = shown(stdin=FETCH_12)[1]
    assert "FetchRequest v12, 29 bytes\n" in wanted
    for words, stdin in (((TEXTS[name],), None), ((), TEXTS[name]), ((), f" {TEXTS[name]}\n")):
        taken, tree = shown(*words, stdin=stdin)
        assert tree == wanted
        assert taken.endswith("52 bytes: header and body without a length")


@pytest.mark.parametrize("name", TEXTS)
def test_option_input_takes_the_form_by_its_name(name: str) -> None:
    (reading,) = (one for one in text_readings(TEXTS[name]).found if one.data == FETCH_12)
    assert reading.form in FORM_NAMES
    assert shown("--input", reading.form, stdin=TEXTS[name])[0].startswith(f"input: {reading.said}")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("001200", "no request with its header and no record batch can be read in hex digits, 3 b"),
        ("0012000", "nearly hex digits: an odd number of hex digits: there are 7"),
        ("00 12 0 03", "nearly hex digits: an odd number of hex digits: group 3, 0, has 1"),
        ("0, 18, 300", "; decimal numbers: number 3, 300, is no byte (-128 to 255)"),
        ("[0, 200, -1]", "nearly an array of numbers: number 2, 200, is above 127 beside neg"),
        ("b'\\x00\\x1", "nearly a Python bytes literal: a Python bytes literal that is not whole"),
        ('"\\u0100"', "nearly a string with escapes: character 1 of a string is above U+00FF"),
        ("00000000: 0012  ..\n00000003: 00  .", "line 2 of a dump has the offset 00000003, not 2"),
        ("not bytes at all", "standard input is text in no form that is read (hex digits, a dump"),
    ],
)
def test_text_in_no_form_is_refused_with_what_is_nearly_right(text: str, problem: str) -> None:
    assert problem in " ".join(refused(stdin=text).split())


def test_text_is_taken_for_the_bytes_themselves_only_when_told() -> None:
    assert "is text in no form" in refused("--name", "SnapshotFooterRecord", "--version", "0",
                                           stdin="not bytes")  # fmt: skip
    ended = decode("--name", "SnapshotFooterRecord", "--version", "0", "--input", RAW, stdin="no!")
    assert ended.exit_code == 1
    assert ended.stdout.startswith("input: the bytes themselves, 3 bytes: one message\n")


def test_word_that_is_text_and_file_is_ambiguous(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("0012").write_bytes(BODY)
    assert "0012 is hex digits, and a file has this name: write ./0012" in refused("0012")
    assert shown("./0012") == shown(stdin=BODY)


HEARTBEAT = ("--api", "Heartbeat", "--version", "0", "--kind", "response")


def test_digits_that_are_hex_and_decimal_are_ambiguous_unless_one_decodes() -> None:
    said = refused(*HEARTBEAT, "10 20")
    assert "the input can be read in 2 ways; choose one by its options:" in said
    assert "--input hex --kind response --no-frames  hex digits, 2 bytes: one body" in said
    assert "--input decimal --kind response --no-frames  decimal numbers, 2 bytes: one body" in said
    assert "error_code int16 = 4128" in shown(*HEARTBEAT, "--input", "hex", "10 20")[1]
    assert "error_code int16 = 2580" in shown(*HEARTBEAT, "--input", "decimal", "10 20")[1]
    assert "error_code int16 = 27 REB" in shown(*HEARTBEAT, "0 27")[1]
    both_wrong = refused(*HEARTBEAT, "10 20 30")
    assert both_wrong.count("1 bytes left over after the message") == 2


def test_frame_that_is_cut_and_may_be_another_request_is_ambiguous() -> None:
    cut = frame(encode_request(ApiVersionsRequest(), 0, 7, None))[:-1]
    said = refused(stdin=cut)
    assert (
        "--no-frames  the bytes themselves, 13 bytes: header and body without a length (Prod"
        in (said)
    )
    assert (
        "--with-header --frames  the bytes themselves, 13 bytes: 1 frame with length and he" in said
    )
    ended = decode("--frames", stdin=cut)
    assert ended.exit_code == 1
    assert "RequestHeader v1: client_id at byte 8" in ended.stderr


@pytest.mark.parametrize(
    "words", [(), ("--kind", "request"), ("--kind", "request", "--with-header")]
)
def test_requests_are_decoded_with_and_without_their_lengths(words: tuple[str, ...]) -> None:
    one, tree = shown(*words, stdin=BODY)
    assert (
        one == f"input: the bytes themselves, {len(BODY)} bytes: header and body without a length"
    )
    for count in (1, 2, 3):
        taken, framed = shown(*words, stdin=frame(BODY) * count)
        frames = "1 frame" if count == 1 else f"{count} frames"
        assert taken.endswith(f": {frames} with length and header")
        starts = range(4, count * (len(BODY) + 4), len(BODY) + 4)
        assert framed == "".join(
            f"frame {number}, its payload begins at byte {start}\n{tree}"
            for number, start in enumerate(starts, 1)
        )


def test_bytes_behind_a_request_and_a_cut_request_show_the_tree_and_an_error() -> None:
    for raw, problem in (
        (
            FETCH_12 + b"5abc-4400",
            "FetchRequest v12: (whole message) at byte 52: 9 bytes left over",
        ),
        (FETCH_12[:-2], "FetchRequest v12: rack_id at byte 50: the data ends inside a varint"),
    ):
        ended = decode(raw.hex())
        assert ended.exit_code == 1
        assert "session_epoch int32 = 7" in ended.stdout
        assert problem in ended.stderr


def test_cut_frame_shows_the_frames_before_it() -> None:
    ended = decode(stdin=(frame(BODY) * 2)[:-3])
    assert ended.exit_code == 1
    assert ended.stdout.count("ApiVersionsRequest v3") == 2
    at, left = len(BODY) + 4, len(BODY) - 3
    assert f"the frame at byte {at} has the length {len(BODY)}, and {left} bytes" in ended.stderr
    ended = decode(stdin=frame(BODY) + b"\0\0")
    assert ended.exit_code == 1
    assert f"2 bytes at byte {at} are no frame with its length" in ended.stderr


def test_response_is_found_behind_header_and_length() -> None:
    answer = encode_response(HeartbeatResponse(error_code=27), 0, 9)
    assert "error_code int16 = 27" in shown(*HEARTBEAT, stdin=answer[4:])[1]
    for raw, taken in (
        (answer, "header and body without a length"),
        (frame(answer), "1 frame with length and header"),
        (frame(answer) * 2, "2 frames with length and header"),
    ):
        for words in ((), ("--with-header",)):
            said, tree = shown(*HEARTBEAT, *words, stdin=raw)
            assert said.endswith(taken)
            assert "correlation_id int32 = 9" in tree
            assert "error_code int16 = 27" in tree


def test_wrong_message_behind_a_length_that_fits_is_shown_as_a_frame() -> None:
    answer = encode_response(HeartbeatResponse(error_code=27), 0, 9) + b"\1"
    for words in (HEARTBEAT, (*HEARTBEAT, "--with-header")):
        ended = decode(*words, stdin=frame(answer))
        assert ended.exit_code == 1
        assert "11 bytes: 1 frame with length and header\n" in ended.stdout
        assert "error_code int16 = 27" in ended.stdout
        assert "1 bytes left over after the message" in ended.stderr
    request = frame(BODY + b"\0")
    ended = decode(stdin=request)
    assert f"{len(request)} bytes: 1 frame with length and header\n" in ended.stdout


def test_text_that_has_not_the_form_of_the_option_is_refused() -> None:
    assert "neither decimal nor a file: 0012" in refused("--input", "decimal", "0012")
    assert "standard input is text in no form" in refused("--input", "xxd", stdin="0012")


def test_body_of_another_api_behind_a_header_is_no_reading() -> None:
    ended = decode("--api", "Heartbeat", "--version", "0", stdin=BODY)
    assert ended.exit_code == 1
    assert ended.stdout.startswith(f"input: the bytes themselves, {len(BODY)} bytes: one body")
    taken, _ = shown("--api", "ApiVersions", "--version", "3", stdin=BODY)
    assert taken.endswith(": header and body without a length")


def test_records_are_found_without_options_and_behind_their_length() -> None:
    batch = encode_batch(RecordBatch(records=[Record(value=b"v")]))
    taken, tree = shown(stdin=batch)
    assert taken.endswith(": record batches")
    assert 'value "v"' in tree
    assert shown("--kind", "records", stdin=batch) == (taken, tree)
    framed, _ = shown("--kind", "records", stdin=frame(batch))
    assert framed.endswith(": 1 frame with length, of record batches")


def test_json_of_several_frames_is_a_list_and_the_form_is_said_on_standard_error() -> None:
    ended = decode("--json", stdin=frame(BODY) * 2)
    assert ended.exit_code == 0
    first, second = json.loads(ended.stdout)
    assert first == second == json.loads(decode("--json", stdin=BODY).stdout)
    assert ended.stderr == (
        f"input: the bytes themselves, {2 * len(BODY) + 8} bytes: 2 frames with length and header\n"
    )


@pytest.mark.parametrize(
    ("begin", "what"),
    [
        (b"\x1f\x8b\x08\0\0\0\0", "this is a gzip file: unpack it first; codec pcap reads a captu"),
        (b"\x15\x03\x03\0\x02\x02\x28", "this is a TLS record: its content is encrypted"),
        (b"PK\x03\x04\0\0\0\0", "this is a ZIP or JAR archive"),
        (b"HTTP/1.1 400\0", "this is HTTP"),
    ],
)
def test_file_of_something_else_is_named(begin: bytes, what: str) -> None:
    for words in ((), ("--kind", "request"), HEARTBEAT):
        assert what in " ".join(refused(*words, stdin=begin).split())


def test_capture_is_named_with_the_command_that_reads_it() -> None:
    files = [path for path in CAPTURES.rglob("*") if path.suffix in (".pcap", ".pcapng")]
    assert files
    for path in files:
        said = " ".join(refused(str(path)).split())
        kind = path.suffix.removeprefix(".")
        assert f"this is a packet capture ({kind}): kafka-conformance codec pcap FILE reads" in said
