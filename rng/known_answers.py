"""Known answers for the generators' self-test: for each generator, one published NIST case with its inputs.

Source: NIST CAVP ``drbgtestvectors``. Each case has a personalization string and additional input. The CTR_DRBG
cases have an explicit reseed; the HMAC_DRBG and Hash_DRBG cases have prediction resistance, which reseeds before each
Generate. AES: FIPS 197, appendix C.3.
"""

from dataclasses import dataclass
from typing import Final

from rng.mechanism import MechanismName

#: Decoder of the hexadecimal values below.
from_hex = bytes.fromhex

#: Key, plaintext, ciphertext of FIPS 197 C.3.
AES_256_KNOWN_ANSWER: Final = (
    bytes(range(32)),
    from_hex("00112233445566778899aabbccddeeff"),
    from_hex("8ea2b7ca516745bfeafc49904b496089"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswer:
    """One known-answer test case of a generator, with all its inputs and the expected output.

    The test instantiates the generator, reseeds it if ``reseed_entropy`` is given, generates twice, and
    compares the second output. If ``first_fresh_entropy`` and ``second_fresh_entropy`` are given, the first and
    the second Generate request prediction resistance with them.
    """

    entropy: bytes
    """The entropy input of the instantiation."""
    nonce: bytes = b""
    """The nonce of the instantiation."""
    personalization: bytes
    """The personalization string of the instantiation."""
    reseed_entropy: bytes = b""
    """The entropy input of the reseed; empty: there is no reseed."""
    reseed_additional_input: bytes = b""
    """The additional input of the reseed."""
    first_fresh_entropy: bytes | None = None
    """The entropy input for prediction resistance in the first Generate, or None."""
    first_additional_input: bytes
    """The additional input of the first Generate."""
    second_fresh_entropy: bytes | None = None
    """The entropy input for prediction resistance in the second Generate, or None."""
    second_additional_input: bytes
    """The additional input of the second Generate."""
    output: bytes
    """The expected output of the second Generate."""


#: The known-answer case of each mechanism.
KNOWN_ANSWERS: Final[dict[MechanismName, KnownAnswer]] = {
    MechanismName.CTR_AES_256_DF: KnownAnswer(
        entropy=from_hex("174b46250051a9e3d80c56ae7163dafe7e54481a56cafd3b8625f99bbb29c442"),
        nonce=from_hex("98ffd99c466e0e94a45da7e0e82dbc6b"),
        personalization=from_hex("7095268e99938b3e042734b9176c9aa051f00a5f8d2a89ada214b89beef18ebf"),
        reseed_entropy=from_hex("e88be1967c5503f65d23867bbc891bd679db03b4878663f6c877592df25f0d9a"),
        reseed_additional_input=from_hex("cdf6ad549e45b6aa5cd67d024931c33cd133d52d5ae500c3015020beb30da063"),
        first_additional_input=from_hex("c7228e90c62f896a09e11684530102f926ec90a3255f6c21b857883c75800143"),
        second_additional_input=from_hex("76a94f224178fe4cbf9e2b8acc53c9dc3e50bb613aac8936601453cda3293b17"),
        output=from_hex(
            "1a6d8dbd642076d13916e5e23038b60b26061f13dd4e006277e0268698ffb2c87e453bae1251631ac90c701a"
            "9849d933995e8b0221fe9aca1985c546c2079027"
        ),
    ),
    MechanismName.CTR_AES_256: KnownAnswer(
        entropy=from_hex(
            "ae7ebe062971f5eb32e5b21444750785de816595ad2cbe80a209c8f8ab04b5468166de8c6ae522d8f10b56386a3b424f"
        ),
        personalization=from_hex(
            "55860dae57fcac297087c137efb796878a75868f6e7681114e9b73ed0c67e3c62bfc9f5d77e8caa59bcdb223f4ffd247"
        ),
        reseed_entropy=from_hex(
            "a42407931bfeca70e6ee5dd197021a129525051c07468e8b25587c5ad50abe9204e882fe847b8fd47cf7b4360e5aa034"
        ),
        reseed_additional_input=from_hex(
            "ee4c88d1eb05f4853663eada501d2fc4b4984b283a88db579af2113031e03d9bc570de943dd168918f3ba8065581fea7"
        ),
        first_additional_input=from_hex(
            "4b4b03ef19b0f259dca2b3ee3ae4cd86c3895a784b3d8eee043a2003c08289f8fffdad141e6b1ab2174d8d5d79c1e581"
        ),
        second_additional_input=from_hex(
            "3062b33f116b46e20fe3c354726ae9b2a3a4c51922c8107863cb86f1f0bdad7554075659d91c371e2b11b1e8106a1ed5"
        ),
        output=from_hex(
            "0d270518baeafac160ff1cb28c11ef68712c764c0c01674e6c9ca2cc9c7e0e8accfd3c753635ee070081eee7"
            "628af6187fbc2854b3c204461a796cf3f3fcb092"
        ),
    ),
    MechanismName.HMAC_SHA_256: KnownAnswer(
        entropy=from_hex("4294671d493dc085b5184607d7de2ff2b6aceb734a1b026f6cfee7c5a90f03da"),
        nonce=from_hex("d071544e599235d5eb38b64b551d2a6e"),
        personalization=from_hex("63bc769ae1d95a98bde870e4db7776297041d37c8a5c688d4e024b78d83f4d78"),
        first_fresh_entropy=from_hex("db9b4790b62336fbb9a684b82947065393eeef8f57bd2477141ad17e776dac34"),
        first_additional_input=from_hex("28848becd3f47696f124f4b14853a456156f69be583a7d4682cff8d44b39e1d3"),
        second_fresh_entropy=from_hex("4a9abe80f6f522f29878bedf8245b27940a76471006fb4a4110beb4decb6c341"),
        second_additional_input=from_hex("8bfce0b7132661c3cd78175d83926f643e36f7608eec2c5dac3ddcbacc8c2182"),
        output=from_hex(
            "e580dc969194b2b18a97478aef9d1a72390aff14562747bf080d741527a6655ce7fc135325b457483a9f9c70"
            "f91165a811cf4524b50d51199a0df3bd60d12abac27d0bf6618e6b114e05420352e23f3603dfe8a225dc19b3"
            "d1fff1dc245dc6b1df24c741744bec3f9437dbbf222df84881a457a589e7815ef132f686b760f012"
        ),
    ),
    MechanismName.HMAC_SHA_512: KnownAnswer(
        entropy=from_hex("3aca6b55561521007c9ece085e9a6635e346fa804335d6ad42ebd6814c017fa8"),
        nonce=from_hex("aa7fd3c3dd5d03d9b8efc7f70574581f"),
        personalization=from_hex("4bc9a485ec840d377ae4504aa1df41e444c4231687f3d7851c26c275bc687463"),
        first_fresh_entropy=from_hex("4cc19fae5a456f8a53a656d23a0b665d6ddf7f43020a5febbb552714e447565d"),
        first_additional_input=from_hex("b39c43539fdc24343085cbb65b8d36c54732476d781104c355c391a951313a30"),
        second_fresh_entropy=from_hex("637386b3ab33f78fd9751c7b7e67e1e15f6e50ddc548a1eb5813f6d0d48381bf"),
        second_additional_input=from_hex("b6850edd4622675ef5a507eab911e249d63fcf62f330cc8a16bb2ccc5858de5d"),
        output=from_hex(
            "546664042bef33064da28a5718f2c2e5f72d7725e3fbe87ad2ee90fbfe6c114ed36440fbbccf29698b4360bc"
            "4ad74650de13825838106adc53002bc389ee900691649b972f3187b84d05cecc8fd034497dd99c6c997d1914"
            "b4ef838d84abf23fae7f3ac9efdcdc04c003ac642c5126b00f9f24bf1431a4f19ef0b5f3d230aab3fdf091ba"
            "31b7ddcacdf2566f2cfab30f55b3123e733829b697b7c8b248420ab98ba6f11b017175256368e8d8361102c9"
            "e6d57386becbeabda092dd57aec65bc20ebee78eea7294571e168c454066d256b81bb8b7bb469207a18ebedb"
            "b4348fbe97a4d86d2bd095c41f6de59aa0800e131e98181886a2633cdcc550914d83b327"
        ),
    ),
    MechanismName.HASH_SHA_256: KnownAnswer(
        entropy=from_hex("29e1a42709b7e84dbe50788fbad8cb609c127eec3262636a513fd9059fb8bae4"),
        nonce=from_hex("f3a521f28dffbd97574c405b69b636ad"),
        personalization=from_hex("c99a1147d8db401f4fcf763867296758e26404a30a4a9fa496a717f21f5d749b"),
        first_fresh_entropy=from_hex("d5266c01e10d72dd7e8a3bf717cccb8f643ca233314e3e74f106f46b090e5c73"),
        first_additional_input=from_hex("17254ea392aead0dc94992d867813497d3fd6dc7669667150afe6c28a2b89946"),
        second_fresh_entropy=from_hex("c7e5f03d26bdf9553338e64ba64ce5b5751b04f9c69992221495f2227b9799d0"),
        second_additional_input=from_hex("157dde59ceb2c662c8665fbe623ec75873fd0c5ccce79a9f5b7098ec8ed77b67"),
        output=from_hex(
            "e304de9ffd885cf917ead78f05939b8cf54709fc2d0c799a98b543486337204477b1060bceae2a22f7ff42b6"
            "cb4b4bc0610ae2b67558a7c54b65e45bb9f1a86981b74705b48cdbf7d8decf87868267bd948e9394aa4357f8"
            "dbbf30612a0eb5b131884c220e442d36778e8d74091d8a27c070fe690469e07f3aabeef7c629bfab"
        ),
    ),
    MechanismName.HASH_SHA_512: KnownAnswer(
        entropy=from_hex("0cfbae94684321e071e66da09e0410128b7a14ff1692014c98fac7f384e8362f"),
        nonce=from_hex("3a217aec700c191b05e4a11803d5f651"),
        personalization=from_hex("e638d92f217337982258337ae63c3b07b30fc5668e8c123ee0e530fc0187f251"),
        first_fresh_entropy=from_hex("fa65a1561e9699272c147531b29015053ea0e504c1978cc791fd75eaff51c005"),
        first_additional_input=from_hex("30580498cac41c4a514dd913131dd0ef932dfc246710ffb09b33c952fe5e7e69"),
        second_fresh_entropy=from_hex("7cb7d7de34f568cd8e5808226db8f414f1da556cf00796dc12ecdd8ad049b1c3"),
        second_additional_input=from_hex("ce49a8abe2d1b66582eb54c66022fc856324cfd8c9504077b063f3d58e832fa3"),
        output=from_hex(
            "174df659adf93390e0543d04a55d1c23ef5faf8b1a49d36b6010a0ebdd2f77b35b5a8cf942236619a4304b5c"
            "0eaad098ca977a219f2c327f49b5ee4d2a29f48ec91623ce288930b8fe9092ff8ce4aee8e90f6ae9cbf8514d"
            "1636f8bda841b49aa3043605e49581c42f2e54a3b9f1dbe51e78996314df8e3cb43687721d1c660b37f11833"
            "1dcf8b0acec110489741df45f2cd5c2aa2a989cd3635fb52ec156b855307e30e34092eff182886470ee9ce0d"
            "f25c54ddcfe1ca1ae713a2063dc16274fb36dd957a3a3fcc80d2a0e908e0e43cd0d55e4241afc3ebf6f36248"
            "528f0dcfa780aa417f3dabdb7be6622c0c8c8df5973392c913c777454c393587e050afdf"
        ),
    ),
}
