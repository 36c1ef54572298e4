"""The results of many releases: requirement x release, and the releases where they change.

The one public entry is `reports.archaeology.build.build_archaeology`.
"""
