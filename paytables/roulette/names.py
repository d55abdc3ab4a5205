"""The names of the usual roulette bets, by their ids."""

from typing import Final

#: The names of roulette bets, by their ids: English, and French as in Québec and Monaco.
BET_NAMES: Final = {
    "straight": ("Straight", "Plein"),
    "split": ("Split", "À cheval"),
    "street": ("Street", "Transversale"),
    "corner": ("Corner", "Carré"),
    "first-four": ("First four", "Quatre premiers"),
    "first-five": ("First five", "Cinq premiers"),
    "six-line": ("Six-line", "Sixain"),
    "dozen": ("Dozen", "Douzaine"),
    "column": ("Column", "Colonne"),
    "dozens": ("Two dozens", "À cheval sur deux douzaines"),
    "columns": ("Two columns", "À cheval sur deux colonnes"),
    "even-chance": ("Even chance", "Chance simple"),
    "low": ("Low", "Manque"),
    "high": ("High", "Passe"),
    "even": ("Even", "Pair"),
    "odd": ("Odd", "Impair"),
    "red": ("Red", "Rouge"),
    "black": ("Black", "Noir"),
    "double": ("Double", "Double"),
    "triple": ("Triple", "Triple"),
}
