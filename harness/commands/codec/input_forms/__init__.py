"""Bytes as people have them: the forms of text and files that ``codec decode`` recognises.

``table.py`` lists the forms; each of the other modules reads one family of them.
"""
