"""The one exception of the worker."""


class WorkerError(Exception):
    """A sentence for the user; kind is usage, bad input, environment or internal."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind
