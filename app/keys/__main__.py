"""`python -m app.keys create NAME --scopes check,read | list | revoke NAME`: works beside a running service."""

import argparse
import sys

from app.api.key_file import SCOPES, KeyCommandFailed, create_key, read_keys, revoke_key
from app.errors import SettingsInvalid
from app.settings import read_settings
from app.telemetry.clock import utc_now


def main(arguments: list[str] | None = None) -> int:
    """Exit code: 0, 1 if it cannot be done, 2 for settings or words that cannot be used."""
    wanted = _parser().parse_args(arguments)
    try:
        path = read_settings().key_file
        if wanted.command == "create":
            secret = create_key(path, wanted.name, wanted.scopes.split(","), utc_now())
            print(f"{secret}\n", flush=True)
            print(
                "This is the only time it is shown. It is valid at once, also for a service that runs.", file=sys.stderr
            )
        elif wanted.command == "revoke":
            revoke_key(path, wanted.name, utc_now())
            print(f"{wanted.name} is revoked; a running service refuses it within a second.", file=sys.stderr)
        else:
            for key in read_keys(path):
                state = f"revoked {key.revoked_at}" if key.revoked_at else "valid"
                print(f"{key.name:24} {','.join(key.scopes):28} made {key.created_at}  {state}")
    except SettingsInvalid as error:
        print(f"booking-assistant: {error}", file=sys.stderr)
        return 2
    except KeyCommandFailed as error:
        print(f"booking-assistant: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m app.keys", description="API keys of this service (KEYS_FILE).")
    commands = parser.add_subparsers(dest="command", required=True)
    create = commands.add_parser("create", help="make a key and print it once")
    create.add_argument("name", help="who gets it; stands in the records as the caller")
    create.add_argument("--scopes", required=True, help=f"comma separated: {', '.join(SCOPES)}")
    commands.add_parser("list", help="names, scopes and dates; no key")
    revoke = commands.add_parser("revoke", help="make a key invalid")
    revoke.add_argument("name")
    return parser


if __name__ == "__main__":
    sys.exit(main())
