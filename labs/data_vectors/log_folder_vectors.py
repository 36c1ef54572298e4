"""Small files as real brokers wrote them, byte for byte."""

CHECKPOINT = b"0\n2\nwritten 0 615\n__transaction_state 0 12\n"
LEADER_EPOCHS = b"0\n2\n0 0\n3 260\n"
META_2_8 = (
    b"#\n#Wed Nov 25 02:36:51 UTC 2026\nbroker.id=1\nversion=0\ncluster.id=_JIpJIv6SEq4T_KdaZCCqg\n"
)
META_4_4 = (
    b"#\n#Wed Nov 25 02:36:38 UTC 2026\nnode.id=1\ndirectory.id=HKMtt6uMASuvuqEhHz589w\nversion=1\n"
    b"cluster.id=9LDA3WHESdCurk1HEmzRww\n"
)
PARTITION_METADATA = b"version: 0\ntopic_id: FDbp5u7_QPWHpNQ4QJiRIQ"
CLEAN_SHUTDOWN = b'{"version":0,"brokerEpoch":11}'
OFFSET_INDEX = bytes.fromhex("0000001300009d130000001d00013a16000000270001d710")  # base 520
TIME_INDEX = bytes.fromhex("000001a2108ff7e100000013000001a2108ff7e50000001d")
