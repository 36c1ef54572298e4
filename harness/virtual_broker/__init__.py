"""The harness as a broker of another cluster: it joins, follows a leader, leads.

A step is one request and its response, and a leader has changed its state before it responds, so
nothing here depends on time.
"""
