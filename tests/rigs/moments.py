"""The moments that tests use: one that is stated, and the only place in the tests that reads the date."""

from datetime import UTC, datetime

from tools.floor.progressive import certificates

#: The moment of every test that shares no clock with another process.
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
#: When a certificate begins that a TLS library, which reads the real clock, finds valid on every date.
CERTIFIED = datetime(1970, 1, 1, 1, tzinfo=UTC)


def stated_now() -> datetime:
    """Return the stated moment: a clock that stands still."""
    return NOW


def machine_clock() -> datetime:
    """Return the real time, for a test that writes by turns with a process of the product into the same ledger."""
    return datetime.now(UTC)


def certify_for_ever(monkeypatch) -> None:
    """Make certificates issued at :data:`CERTIFIED` valid until the year 9999."""
    days = (datetime(9999, 12, 31, tzinfo=UTC) - CERTIFIED).days
    monkeypatch.setattr(certificates, "_CERTIFICATE_VALID_DAYS", days)
