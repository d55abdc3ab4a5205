"""The public notice of a tournament in English and French, complete as required by s. 125 of the by-law."""

import textwrap
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Final

from babel.dates import format_date, format_time
from babel.numbers import format_currency, format_decimal, get_currency_precision

from egm.features.tournament.rules import LET_IT_RIDE_SIDE_BET_CENTS, BilingualText, Tournament
from paytables import load_game

#: Locale of each language's dates and numbers.
_LOCALE_BY_LANGUAGE: Final = {"en": "en_CA", "fr": "fr_CA"}
#: Languages of the notice.
NOTICE_LANGUAGES: Final = tuple(_LOCALE_BY_LANGUAGE)
#: Longest line of the notice, in characters.
_LINE_CHARACTERS_MAX: Final = 96

#: Every text of the notice, by language and key.
NOTICE_TEXTS_BY_LANGUAGE: Final[dict[str, dict[str, str]]] = {
    "en": {
        "title": "TOURNAMENT RULES",
        "public": "These rules are public from {day} until the end of the tournament.",
        "event": "Date and length",
        "where": "Place: {venue}",
        "starts": "Start: {day}, {time}",
        "lasts": "Length: {minutes} minutes",
        "game": "Game: {game}, played by its normal rules, but its wagers are points, not money",
        "machines": "The machines or tables of the tournament are marked as such: {numbers}",
        "equal": "On each machine or table of the tournament, a credit is {denomination} and a wager {bet} credits in"
        " normal play.",
        "participation": "Participation",
        "closes": "Registration closes: {day}, {time}",
        "places": "Places: {maximum} participants. With fewer than {minimum} participants, the tournament is"
        " cancelled and every entry fee refunded.",
        "fee": "Entry fee: {fee} for each entry, in place of all wagers",
        "side_bet": "The entry fee is taken from the supplemental wager of {side_bet}.",
        "one_entry": "Each participant may enter once.",
        "more_entries": "Each participant may have up to {count} entries; the best entry counts, or the next"
        " best if the best loses its rank.",
        "rounds": "Rounds",
        "round_games": "Round {n}: {points} points are given to play with; {length} games. {advance}",
        "round_minutes": "Round {n}: {points} points are given to play with; {length} minutes. {advance}",
        "advance": "The best {count} participants go on, and all who tie with the last of them.",
        "last": "This round decides the first ranks.",
        "score": "The points won in a round count. Points that were given and not played have no value.",
        "carry.yes": "The points of all rounds are added.",
        "carry.no": "Each round starts again from zero.",
        "ties": "Equal points",
        "ties.share": "Participants with equal points share the prizes of their ranks equally.",
        "ties.best-game": "The most points won in one game of the round decide; if these are equal too,"
        " the prizes of"
        " the ranks are shared equally.",
        "ties.earlier-entry": "The entry that was sold first has the better rank.",
        "incidents": "Interrupted and failed entries",
        "interrupted.replay": "A round that a fault interrupts is played again from its start.",
        "interrupted.points-so-far": "If a fault interrupts a round, the points won until then count.",
        "interrupted.refund": "An entry that a fault interrupts is void, and its entry fee is refunded.",
        "failed.zero-points": "A participant who does not play a round, or leaves it, has no points in that round.",
        "failed.points-so-far": "If a participant leaves a round, the points won until then count.",
        "failed.excluded": "The entry of a participant who does not play a round, or leaves it, has no"
        " rank and no prize;"
        " the entry fee is not refunded.",
        "nobody": "If no entry has a rank, every entry fee is refunded.",
        "prizes": "Prizes",
        "prize_share": "Rank {rank}: {share} of the entry fees sold",
        "prize_amount": "Rank {rank}: {amount}",
        "method": "How the prizes are divided",
        "sold": "Entry fees sold are those of all entries whose entry fee is not refunded.",
        "return": "At least 30 % of the entry fees sold are returned to the participants.",
        "unclaimed.shared": "Prizes of ranks that nobody has are shared equally among all who have a rank.",
        "unclaimed.not-awarded": "Prizes of ranks that nobody has are not awarded.",
        "rounding": "The shares of the entry fees are added and rounded up to a whole cent.",
        "remainders.best-rank": "Cents that cannot be divided go to the best rank; within a tie, to the"
        " entry sold first.",
        "remainders.in-order": "Cents that cannot be divided go one each to the ranks from the best down;"
        " within a tie,"
        " in the order in which the entries were sold.",
    },
    "fr": {
        "title": "RÈGLES DU TOURNOI",
        "public": "Ces règles sont à la disposition du public à partir du {day}, jusqu'au tournoi et"
        " pendant celui-ci.",
        "event": "Date et durée",
        "where": "Lieu : {venue}",
        "starts": "Début : {day}, {time}",
        "lasts": "Durée : {minutes} minutes",
        "game": "Jeu : {game}, selon ses règles habituelles, mais ses mises sont en points, et non en argent",
        "machines": "Les appareils ou tables du tournoi sont signalés comme tels : {numbers}",
        "equal": "Sur chaque appareil ou table du tournoi, un crédit vaut {denomination} et une mise est de {bet}"
        " crédits en jeu normal.",
        "participation": "Règles de participation",
        "closes": "Fin des inscriptions : {day}, {time}",
        "places": "Places : {maximum} participants. S'il y a moins de {minimum} participants, le tournoi est annulé"
        " et chaque droit d'entrée est remboursé.",
        "fee": "Droit d'entrée : {fee} par inscription, au lieu de toute mise",
        "side_bet": "Le droit d'entrée est prélevé sur la mise supplémentaire de {side_bet}.",
        "one_entry": "Chaque participant peut s'inscrire une fois.",
        "more_entries": "Chaque participant peut avoir jusqu'à {count} inscriptions; la meilleure inscription"
        " compte, ou la suivante si la meilleure perd son rang.",
        "rounds": "Manches",
        "round_games": "Manche {n} : {points} points sont donnés pour jouer; {length} parties. {advance}",
        "round_minutes": "Manche {n} : {points} points sont donnés pour jouer; {length} minutes. {advance}",
        "advance": "Les {count} meilleurs participants continuent, ainsi que tous ceux à égalité avec le"
        " dernier d'entre eux.",
        "last": "Cette manche décide des premiers rangs.",
        "score": "Les points gagnés dans une manche comptent. Les points donnés et non joués n'ont aucune"
        " valeur.",
        "carry.yes": "Les points de toutes les manches s'additionnent.",
        "carry.no": "Chaque manche recommence à zéro.",
        "ties": "Égalité de points",
        "ties.share": "Les participants à égalité se partagent également les lots de leurs rangs.",
        "ties.best-game": "Le plus grand nombre de points gagnés en une partie de la manche décide; à"
        " égalité encore,"
        " les lots des rangs sont partagés également.",
        "ties.earlier-entry": "L'inscription vendue la première a le meilleur rang.",
        "incidents": "Inscriptions interrompues ou inachevées",
        "interrupted.replay": "Une manche interrompue par une panne est rejouée depuis le début.",
        "interrupted.points-so-far": "Si une panne interrompt une manche, les points gagnés jusque-là"
        " comptent.",
        "interrupted.refund": "Une inscription interrompue par une panne est annulée, et le droit d'entrée"
        " est remboursé.",
        "failed.zero-points": "Un participant qui ne joue pas une manche, ou la quitte, n'a aucun point pour"
        " cette manche.",
        "failed.points-so-far": "Si un participant quitte une manche, les points gagnés jusque-là comptent.",
        "failed.excluded": "L'inscription d'un participant qui ne joue pas une manche, ou la quitte, n'a"
        " ni rang ni lot;"
        " le droit d'entrée n'est pas remboursé.",
        "nobody": "Si aucune inscription n'a de rang, chaque droit d'entrée est remboursé.",
        "prizes": "Lots à gagner",
        "prize_share": "Rang {rank} : {share} des droits d'entrée vendus",
        "prize_amount": "Rang {rank} : {amount}",
        "method": "Mode de distribution des lots",
        "sold": "Les droits d'entrée vendus sont ceux de toutes les inscriptions dont le droit d'entrée n'est"
        " pas remboursé.",
        "return": "Au moins 30 % des droits d'entrée vendus sont retournés aux participants.",
        "unclaimed.shared": "Les lots des rangs que personne n'a sont partagés également entre tous ceux"
        " qui ont un rang.",
        "unclaimed.not-awarded": "Les lots des rangs que personne n'a ne sont pas attribués.",
        "rounding": "Les parts des droits d'entrée sont additionnées et arrondies au cent supérieur.",
        "remainders.best-rank": "Les cents indivisibles vont au meilleur rang; à égalité, à l'inscription"
        " vendue la première.",
        "remainders.in-order": "Les cents indivisibles vont un à un aux rangs à partir du meilleur; à"
        " égalité, dans l'ordre"
        " de la vente des inscriptions.",
    },
}


def build_notice(rules: Tournament, language: str) -> str:
    """Return the public notice of a tournament as plain text.

    If the rules have no day of publication yet, the notice has none.
    """
    notice = _NoticeWriter(rules, language)
    lines = [notice.choose_language(rules.name), notice.format_text("title")]
    if rules.publication_date is not None:
        lines += [
            "",
            *_wrap_lines(notice.format_text("public", day=notice.format_day(rules.publication_date))),
        ]
    for heading, sentences in list_sections(rules, language):
        lines += ["", heading]
        for sentence in sentences:
            lines += _wrap_lines(sentence, "  ")
    return "\n".join(lines) + "\n"


def list_sections(rules: Tournament, language: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the sections of a tournament's public notice: each has a heading and its sentences."""
    notice = _NoticeWriter(rules, language)
    sections: dict[str, Callable[[], Iterator[str]]] = {
        "event": notice.iter_event_sentences,
        "participation": notice.iter_participation_sentences,
        "rounds": notice.iter_round_sentences,
        "ties": lambda: iter([notice.format_text(f"ties.{rules.tie_rule}")]),
        "incidents": notice.iter_incident_sentences,
        "prizes": notice.iter_prize_sentences,
        "method": notice.iter_method_sentences,
    }
    return tuple(
        (notice.format_text(key), tuple(iter_sentences())) for key, iter_sentences in sections.items()
    )


def _wrap_lines(text: str, indent: str = "") -> list[str]:
    """Return a text as lines of limited length, each with ``indent`` before it."""
    return textwrap.wrap(
        text,
        _LINE_CHARACTERS_MAX,
        initial_indent=indent,
        subsequent_indent=indent * 2,
        break_on_hyphens=False,
    )


class _NoticeWriter:
    """The writer of the sentences of a notice in one language."""

    def __init__(self, rules: Tournament, language: str) -> None:
        self._rules, self._language, self._locale = rules, language, _LOCALE_BY_LANGUAGE[language]

    def format_text(self, key: str, **values: object) -> str:
        """Return the text of the notice with this key, with ``values`` in place of its placeholders."""
        return NOTICE_TEXTS_BY_LANGUAGE[self._language][key].format(**values)

    def choose_language(self, text: BilingualText) -> str:
        """Return the text in the notice's language from a bilingual text of the rules file."""
        return str(getattr(text, self._language))

    def format_day(self, day: date) -> str:
        """Return a date in words, with its day of the week."""
        text = str(format_date(day, "full", locale=self._locale))
        return text.replace(" 1 ", " 1er ") if self._language == "fr" else text

    def _format_moment(self, key: str, moment: datetime) -> str:
        """Return the text of the notice with this key, with a date and time filled in."""
        return self.format_text(
            key,
            day=self.format_day(moment.date()),
            time=format_time(moment.time(), "short", locale=self._locale),
        )

    def _format_money(self, cents: int) -> str:
        """Return an amount in the rules' currency, as text."""
        amount = Decimal(cents).scaleb(-get_currency_precision(self._rules.currency))
        return str(format_currency(amount, self._rules.currency, locale=self._locale))

    def _format_number(self, value: int) -> str:
        """Return a number with separators, as text."""
        return str(format_decimal(value, locale=self._locale))

    def _format_share(self, share: Fraction) -> str:
        """Return a fraction as text.

        It is a percentage if two decimals state it exactly, otherwise a fraction.
        """
        hundredths = share * 10_000
        if hundredths.denominator != 1:
            return str(share)
        percent = format_decimal(Decimal(hundredths.numerator).scaleb(-2), locale=self._locale)
        return f"{percent}\N{NO-BREAK SPACE}%"

    def iter_event_sentences(self) -> Iterator[str]:
        """Yield the sentences about date, venue, length, game and machines."""
        rules = self._rules
        title = load_game(rules.game).title
        first_machine = rules.machines[0]
        yield self._format_moment("starts", rules.starts_at)
        yield self.format_text("lasts", minutes=self._format_number(rules.duration_minutes))
        yield self.format_text("where", venue=self.choose_language(rules.venue))
        yield self.format_text("game", game=title.get(self._language, rules.game))
        yield self.format_text("machines", numbers=", ".join(machine.number for machine in rules.machines))
        yield self.format_text(
            "equal",
            denomination=self._format_money(first_machine.denomination_cents),
            bet=self._format_number(first_machine.bet),
        )

    def iter_participation_sentences(self) -> Iterator[str]:
        """Yield the sentences about who may take part, until when, how often, and the fee."""
        entries = self._rules.entries
        yield self.choose_language(entries.participation)
        yield self._format_moment("closes", entries.closes_at)
        participants_max = self._format_number(entries.participants_max)
        participants_min = self._format_number(entries.participants_min)
        yield self.format_text("places", maximum=participants_max, minimum=participants_min)
        yield self.format_text("fee", fee=self._format_money(entries.fee_cents))
        if self._rules.is_fee_from_side_bet:
            yield self.format_text("side_bet", side_bet=self._format_money(LET_IT_RIDE_SIDE_BET_CENTS))
        allows_several = entries.per_participant > 1
        yield self.format_text(
            "more_entries" if allows_several else "one_entry", count=entries.per_participant
        )

    def iter_round_sentences(self) -> Iterator[str]:
        """Yield the sentences about the points and the length of each round, and about what counts for the rank."""
        for round_number, terms in enumerate(self._rules.rounds, 1):
            is_last = terms.advancing_count is None
            yield self.format_text(
                "round_minutes" if terms.games is None else "round_games",
                n=round_number,
                points=self._format_number(terms.points),
                length=self._format_number(terms.games or terms.minutes or 0),
                advance=self.format_text("last")
                if is_last
                else self.format_text("advance", count=terms.advancing_count),
            )
        yield self.format_text("score")
        if len(self._rules.rounds) > 1:
            yield self.format_text("carry.yes" if self._rules.carries_points else "carry.no")

    def iter_incident_sentences(self) -> Iterator[str]:
        """Yield the sentences about what happens if a round is interrupted or not finished."""
        yield self.format_text(f"interrupted.{self._rules.interrupted_round_rule}")
        yield self.format_text(f"failed.{self._rules.unfinished_round_rule}")
        if self._rules.can_entries_lose_rank:
            yield self.format_text("nobody")

    def iter_prize_sentences(self) -> Iterator[str]:
        """Yield the sentences about the prize of each rank."""
        for prize in self._rules.prizes:
            if prize.share is not None:
                yield self.format_text("prize_share", rank=prize.rank, share=self._format_share(prize.share))
            else:
                yield self.format_text(
                    "prize_amount", rank=prize.rank, amount=self._format_money(prize.amount_cents or 0)
                )

    def iter_method_sentences(self) -> Iterator[str]:
        """Yield the sentences about how amounts that do not divide into whole cents are divided."""
        rules = self._rules
        yield self.format_text("return")
        yield self.format_text("sold")
        yield self.format_text(f"unclaimed.{rules.unclaimed_prize_rule}")
        if any(prize.share is not None for prize in rules.prizes):
            yield self.format_text("rounding")
        yield self.format_text(f"remainders.{rules.remainder_rule}")
