"""Every published test vector, by file, mechanism and case; see tests/vectors/drbg/PROVENANCE.md."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rng.mechanism import Mechanism, MechanismName
from rng.mechanisms import MECHANISMS

VECTORS = Path(__file__).parents[1] / "vectors" / "drbg"

CAVP = {
    "CTR-DRBG_AES-256_df.json": (MechanismName.CTR_AES_256_DF, 720),
    "CTR-DRBG_AES-256_nodf.json": (MechanismName.CTR_AES_256, 720),
    "HMAC-DRBG_SHA-256.json": (MechanismName.HMAC_SHA_256, 480),
    "HMAC-DRBG_SHA-512.json": (MechanismName.HMAC_SHA_512, 480),
    "HASH-DRBG_SHA-256.json": (MechanismName.HASH_SHA_256, 480),
    "HASH-DRBG_SHA-512.json": (MechanismName.HASH_SHA_512, 480),
}
ACVP = {
    "ACVP_hmacDRBG-1.0_reseed.json": ("hmac", 60),
    "ACVP_hmacDRBG-SP800-90Ar1_reseed.json": ("hmac", 120),
    "ACVP_hashDRBG-1.0_reseed.json": ("hash", 60),
}


def load(name: str) -> object:
    return json.loads((VECTORS / name).read_text(encoding="ascii"))


def hexed(case: dict[str, str], key: str) -> bytes:
    return bytes.fromhex(case.get(key, ""))


def cavp_output(mechanism: type[Mechanism], protocol: str, bits: int, case: dict[str, str]) -> bytes:
    """Run the CAVP sequence: instantiate, (reseed), generate and discard, generate and return."""
    drbg = mechanism(hexed(case, "Entropy"), hexed(case, "Nonce"), hexed(case, "PersonalisationString"))
    if protocol == "pr_false":
        drbg.reseed(hexed(case, "ReseedEntropy"), hexed(case, "ReseedAdditionalInput"))
    output = b""
    for turn in "AB":
        fresh = hexed(case, f"EntropyPredictionResistance{turn}") if protocol == "pr_true" else None
        output = drbg.generate(bits // 8, hexed(case, f"AdditionalInput{turn}"), fresh_entropy=fresh)
    return output


def acvp_output(mechanism: type[Mechanism], group: dict[str, object], case: dict[str, object]) -> bytes:
    """Run the ACVP sequence: the operations of ``otherInput`` in order; return the last generated output."""
    drbg = mechanism(hexed(case, "entropyInput"), hexed(case, "nonce"), hexed(case, "persoString"))
    output = b""
    for step in case["otherInput"]:
        additional, entropy = hexed(step, "additionalInput"), hexed(step, "entropyInput")
        if step["intendedUse"] == "reSeed":
            drbg.reseed(entropy, additional)
        else:
            fresh = entropy if group["predResistance"] else None
            output = drbg.generate(int(group["returnedBitsLen"]) // 8, additional, fresh_entropy=fresh)
    return output


def cavp_cases(name: str) -> Iterator[tuple[str, int, dict[str, str]]]:
    for group in load(name):
        for case in group["cases"]:
            yield group["protocol"], group["generate_bits"], case


@pytest.mark.parametrize("name", CAVP)
def test_every_cavp_case_matches(name: str) -> None:
    mechanism, expected = CAVP[name]
    passed = 0
    for protocol, bits, case in cavp_cases(name):
        assert cavp_output(MECHANISMS[mechanism], protocol, bits, case).hex() == case["Output"], case
        passed += 1
    assert passed == expected


@pytest.mark.parametrize("name", ACVP)
def test_every_acvp_case_matches(name: str) -> None:
    family, expected = ACVP[name]
    passed = 0
    for group in load(name)["testGroups"]:
        digest = {"SHA2-256": "256", "SHA2-512": "512"}[group["mode"]]
        mechanism = MECHANISMS[MechanismName(f"{family}-drbg-sha-{digest}")]
        for case in group["tests"]:
            assert acvp_output(mechanism, group, case).hex().upper() == case["returnedBits"], case["tcId"]
            passed += 1
    assert passed == expected


def test_every_vector_file_is_tested() -> None:
    assert {path.name for path in VECTORS.glob("*.json")} == CAVP.keys() | ACVP.keys()
