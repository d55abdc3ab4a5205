"""A tournament's rules file that the by-law allows, and how a test changes it."""

RULES = """\
name = { en = "Winter Classic", fr = "Classique d'hiver" }
venue = { en = "Main hall", fr = "Grande salle" }
game = "maple-classic"
starts = 2027-03-08T19:00:00
duration_minutes = 180
published = 2027-03-01
currency = "CAD"
carry_points = false
ties = "share"
interrupted = "replay"
failed = "zero-points"
unclaimed = "shared"
remainders = "best-rank"

[entries]
fee_cents = 5000
participants_min = 3
participants_max = 40
per_participant = 2
closes = 2027-03-08T18:30:00
participation = { en = "Open to adults. Register at the cage.", fr = "Pour adultes. Inscription à la caisse." }

[[rounds]]
games = 100
points = 300
advance = 2

[[rounds]]
minutes = 20
points = 500

[[machines]]
number = "A-101"
denomination_cents = 100
bet = 3

[[machines]]
number = "A-102"
denomination_cents = 100
bet = 3

[[prizes]]
rank = 1
share = "1/4"

[[prizes]]
rank = 2
share = "1/20"

[[prizes]]
rank = 3
amount_cents = 1000
"""


def change_rules(*changes: tuple[str, str]) -> str:
    """Return the rules with the first occurrence of each text replaced; each must occur."""
    text = RULES
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text
