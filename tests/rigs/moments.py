"""The times that tests use: a fixed one, and the only function of the tests that reads the real date."""

from datetime import UTC, datetime

from tools.floor.progressive import certificates

#: The time in every test that shares no clock with another process.
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
#: Start of certificates that must be valid on every date, because a TLS library reads the real clock.
CERTIFIED = datetime(1970, 1, 1, 1, tzinfo=UTC)


def get_fixed_now() -> datetime:
    """Return the fixed time :data:`NOW`."""
    return NOW


def get_real_now() -> datetime:
    """Return the real time, for a test that writes into the same ledger as a process of the product."""
    return datetime.now(UTC)


def make_certificates_permanent(monkeypatch) -> None:
    """Make certificates issued at :data:`CERTIFIED` valid until the year 9999."""
    days = (datetime(9999, 12, 31, tzinfo=UTC) - CERTIFIED).days
    monkeypatch.setattr(certificates, "_CERTIFICATE_VALID_DAYS", days)
