"""What ends an eval early, with the exit code it ends with."""

PASS, GATE_FAILED, USAGE, TOO_MANY_ERRORS = 0, 1, 2, 3


class EvalError(Exception):
    """A sentence for the person at the terminal: what is wrong and what to do."""

    exit_code = USAGE


class Unreachable(EvalError):
    """The service does not answer, or answers errors: there is nothing to judge."""

    exit_code = TOO_MANY_ERRORS
