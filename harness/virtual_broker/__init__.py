"""The harness as a broker of somebody's cluster: it joins, follows a leader, leads.

A step is one request and its answer, and a leader has changed its state before it answers, so
nothing here depends on time.
"""
