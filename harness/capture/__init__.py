"""Packet captures: TCP put together again, Kafka's frames in it, requests with their responses.

The only room that knows scapy and cryptography (extra ``capture``); it imports nothing of ours but
the codec.
"""
