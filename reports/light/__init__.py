"""The tables of a report in plain Python, without Spark and Java: for the results of a few runs.

Each function gives the rows that the file of its name in ``reports/sql`` gives.
"""
