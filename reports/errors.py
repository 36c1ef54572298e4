"""The one error that a report ends with."""


class ReportError(Exception):
    """A report can't be made. Says what is wrong, where, and what to do about it.

    Nothing has been written to the output folder when this is raised.
    """

    def __init__(self, what: str, where: str, what_to_do: str) -> None:
        super().__init__(f"{what}\n  where: {where}\n  what to do: {what_to_do}")
        self.what = what
        self.where = where
        self.what_to_do = what_to_do
