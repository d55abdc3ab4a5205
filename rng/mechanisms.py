"""The classes of the random number generators, by the names that profiles use."""

from typing import Final

from rng.ctr_drbg import CtrDrbg, CtrDrbgWithoutDf
from rng.hash_drbg import HashDrbgSha256, HashDrbgSha512
from rng.hmac_drbg import HmacDrbgSha256, HmacDrbgSha512
from rng.mechanism import Mechanism, MechanismName

#: The class of each generator.
MECHANISMS: Final[dict[MechanismName, type[Mechanism]]] = {
    MechanismName.CTR_AES_256_DF: CtrDrbg,
    MechanismName.CTR_AES_256: CtrDrbgWithoutDf,
    MechanismName.HMAC_SHA_256: HmacDrbgSha256,
    MechanismName.HMAC_SHA_512: HmacDrbgSha512,
    MechanismName.HASH_SHA_256: HashDrbgSha256,
    MechanismName.HASH_SHA_512: HashDrbgSha512,
}
