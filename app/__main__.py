"""`python -m app`: read the settings, set up the log, serve one process."""

import sys


def main() -> int:
    """Exit code: 0 after a stop, 1 if the service cannot start, 2 for settings that cannot be used."""
    # Imported here: vLLM's child processes import this module again and need none of it.
    from app.errors import SettingsInvalid, StartFailed
    from app.main import run
    from app.settings import read_settings
    from app.telemetry.logs import set_up_logs

    try:
        settings = read_settings()
        set_up_logs(settings.log_level)
        run(settings)
    except SettingsInvalid as error:
        print(f"booking-assistant: {error}", file=sys.stderr)
        return 2
    except StartFailed as error:
        print(f"booking-assistant: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
