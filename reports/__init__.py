"""From result Parquet to the compatibility matrix: PySpark aggregates, then pages are rendered.

This room shares nothing with the harness but the Parquet schema (`reports.schema`). The one public
function is `reports.build.build_report`; `python -m reports` is the same as a command.
"""
