"""What many releases together say: requirement x release, and where it changes.

The one public door is `reports.archaeology.build.build_archaeology`.
"""
