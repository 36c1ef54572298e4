from harness.reference_broker.state.producers.producer_ids import ProducerIds


def test_new_producers_get_distinct_ids() -> None:
    ids = ProducerIds()
    given = {ids.new_producer().producer_id for _ in range(5)}
    assert len(given) == 5


def test_a_broker_asks_for_the_next_block_before_the_last_id_is_given_out() -> None:
    ids, asked = ProducerIds(in_blocks=True), []
    ids.on_low = lambda: asked.append(True)
    ids.add_block(7, 2)
    assert [ids.new_producer().producer_id for _ in range(2)] == [7, 8]
    assert asked
    assert ids.is_empty
