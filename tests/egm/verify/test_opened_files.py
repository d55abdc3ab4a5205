"""The verified files are those that are played: ids name library games, files are read once, links are resolved."""

import os
from pathlib import Path

import pytest

from egm.config.cabinet_file import DEFAULT_CABINET, CabinetFile, load_cabinet
from egm.errors import OperatorError
from egm.profiles import load_profile
from egm.verify.digest import SignatureAlgorithm, compute_digests, compute_signatures
from egm.verify.examine import verify_software_files
from egm.verify.manifest import (
    SoftwareManifest,
    create_signing_key,
    encode_signed_manifest,
    encode_unsigned_manifest,
    format_public_key,
    read_signing_key,
)
from egm.verify.own_files import list_own_definition_files
from egm.verify.software_files import SoftwareScope, list_software_files
from paytables import DefinitionError, load_game
from paytables.definition import LIBRARY_FOLDER

CLASSIC = (LIBRARY_FOLDER / "maple-classic.toml").read_text("utf-8")
VERSION = load_game("maple-classic").version
EVIL = CLASSIC.replace(f'version = "{VERSION}"', 'version = "7.0.0"')


def with_games(*names: str, profile: str = "generic") -> CabinetFile:
    default = load_cabinet()
    slots = tuple(default.games[0].model_copy(update={"game": name}) for name in names)
    machine = default.machine.model_copy(update={"profile": profile})
    return default.model_copy(update={"games": slots, "machine": machine})


@pytest.mark.parametrize("planted", ["maple-classic", "maple-classic.toml"])
def test_a_file_in_the_working_directory_never_replaces_a_library_game(tmp_path, monkeypatch, planted):
    assert EVIL.count("7.0.0") == 1
    (tmp_path / planted).write_text(EVIL)
    monkeypatch.chdir(tmp_path)
    game = load_game("maple-classic")
    assert game.version == VERSION
    assert game.source.path == (LIBRARY_FOLDER / "maple-classic.toml").resolve()


@pytest.mark.parametrize(
    "name",
    [
        "evil",
        "evil.toml",
        "../evil",
        "../../evil",
        "./evil",
        "sub/evil",
        "/abs/evil",
        "",
        ".",
        "..",
        "evil\n",
        "a\0b",
    ],
)
def test_a_name_that_is_neither_a_known_id_nor_a_path_to_a_toml_file_is_refused(tmp_path, monkeypatch, name):
    inside = tmp_path / "in" / "side"
    inside.mkdir(parents=True)
    for folder in (tmp_path, inside.parent, inside):
        for file in ("evil", "evil.toml"):
            (folder / file).write_text(EVIL)
    monkeypatch.chdir(inside)
    with pytest.raises(DefinitionError):
        load_game(name)
    with pytest.raises(OperatorError):
        load_profile(name)


def test_a_custom_game_file_must_be_a_regular_file_ending_in_toml(tmp_path):
    (tmp_path / "plain").write_text(EVIL)
    with pytest.raises(DefinitionError, match=r"must end in \.toml"):
        load_game(tmp_path / "plain")
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(DefinitionError, match="is not a regular file"):
        load_game(tmp_path / "pipe.toml")


@pytest.mark.requirement("A-12")
def test_every_custom_file_that_is_opened_is_listed_and_verified_by_its_content(tmp_path):
    profile_text = (Path(__file__).parents[3] / "egm/profiles/generic.toml").read_text("utf-8")
    (tmp_path / "real.toml").write_text(EVIL)
    (tmp_path / "place.real").write_text(profile_text)
    game, profile = tmp_path / "game.toml", tmp_path / "place.toml"
    game.symlink_to(tmp_path / "real.toml")
    (tmp_path / "place-file.toml").write_text(profile_text)
    profile.symlink_to(tmp_path / "place-file.toml")
    cabinet = with_games("maple-classic", str(game), profile=str(profile))
    scope = SoftwareScope(cabinet_definitions=list_own_definition_files(cabinet))
    before = compute_digests(list_software_files(scope))
    opened = {load_game(str(game)).source.path, load_profile(str(profile)).file.path}
    assert opened <= set(list_software_files(scope).values())
    for target in ("real.toml", "place-file.toml"):
        old = compute_signatures(list_software_files(scope), SignatureAlgorithm.SHA256_HMAC, b"1", ["own"])
        (tmp_path / target).write_text((tmp_path / target).read_text() + "\n")
        after = compute_digests(list_software_files(scope))
        assert [name for name in after if after[name] != before[name]]
        assert (
            compute_signatures(list_software_files(scope), SignatureAlgorithm.SHA256_HMAC, b"1", ["own"])
            != old
        )
        before = after
    other = tmp_path / "other.toml"
    other.write_text(EVIL + "\n# another\n")
    game.unlink()
    game.symlink_to(other)  # the link now points to another file
    assert compute_digests(list_software_files(scope))[f"own{game}"] != before[f"own{game}"]


class Maker:
    """A signed manifest of this program and of one custom game."""

    def __init__(self, folder, cabinet):
        key = read_signing_key(create_signing_key(), "maker")
        self.own_files, self.public, self.file = (
            list_own_definition_files(cabinet),
            format_public_key(key),
            folder / "software.manifest",
        )
        digests = compute_digests(list_software_files(SoftwareScope(cabinet_definitions=self.own_files)))
        manifest = SoftwareManifest(
            version="1", made_utc="2026-01-01T00:00:00+00:00", reason="", includes_libraries=False, includes_bytecode=False, files=digests
        )  # fmt: skip
        self.file.write_bytes(encode_signed_manifest(encode_unsigned_manifest(manifest), key, "maker"))

    def trouble(self, *opened):
        return verify_software_files(self.file, self.public, self.own_files, opened).differences


def test_the_bytes_examined_are_the_bytes_that_were_parsed(tmp_path):
    path = tmp_path / "own.toml"
    good = EVIL.replace("7.0.0", "1.0.1")
    path.write_text(good)
    maker = Maker(tmp_path, with_games(str(path)))
    signed_game = load_game(str(path))
    assert maker.trouble(signed_game.source) == ()
    path.write_text(EVIL)
    altered_game = load_game(str(path))
    path.write_text(good)  # restored between reading and examination
    assert altered_game.version == "7.0.0"
    assert maker.trouble() == ()
    assert maker.trouble(altered_game.source) == (f"own{path}: altered",)


def test_an_opened_file_that_the_manifest_does_not_list_is_foreign(tmp_path):
    path, stray = tmp_path / "own.toml", tmp_path / "stray.toml"
    for file in (path, stray):
        file.write_text(EVIL)
    maker = Maker(tmp_path, with_games(str(path)))
    assert maker.trouble(load_game(stray).source) == (f"own{stray}: foreign",)


@pytest.mark.requirement("A-12")
def test_relative_paths_in_a_cabinet_file_are_resolved_from_its_folder(tmp_path, monkeypatch):
    """Write access to the working directory must not allow replacing the games, the key or the memory."""
    file_folder, elsewhere = tmp_path / "etc", tmp_path / "elsewhere"
    for folder in (file_folder / "games", elsewhere / "games"):
        folder.mkdir(parents=True)
        (folder / "own.toml").write_text(EVIL if folder.parent == elsewhere else EVIL + "\n# ours\n")
    text = DEFAULT_CABINET.read_text().replace('game = "maple-classic"', 'game = "./games/own.toml"')
    added_text = (
        '[memory]\nsecond_copy = "second"\n[software]\nmanifest = "../signed"\nkey = "' + "0" * 64 + '"\n'
    )
    (file_folder / "cabinet.toml").write_text(f"{text}\n{added_text}")
    monkeypatch.chdir(elsewhere)
    file = load_cabinet(Path("../etc/cabinet.toml"))
    slot = next(slot.game for slot in file.games if slot.game.endswith("own.toml"))
    assert load_game(slot).source.path == (file_folder / "games/own.toml").resolve()
    assert file.memory.second_copy.resolve() == (file_folder / "second").resolve()
    assert file.software.manifest.resolve() == (tmp_path / "signed").resolve()
    assert dict(list_own_definition_files(file)) == {
        "own/games/own.toml": slot
    }  # the path as written, equal on every machine
    assert (
        load_cabinet(file_folder / "cabinet.toml").model_copy().find_written_path(slot) == "./games/own.toml"
    )
