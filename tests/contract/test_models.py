"""Every model of a file or message keeps the checks of its base classes."""

import importlib
import pkgutil

import pytest
from pydantic import BaseModel

import egm
import paytables
import tools.floor

PACKAGES = (egm, paytables, tools.floor)


def models():
    names = {}
    for package in PACKAGES:
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                names |= vars(importlib.import_module(module.name))
    kinds = {
        id(name): name for name in names.values() if isinstance(name, type) and issubclass(name, BaseModel)
    }
    return sorted(kinds.values(), key=lambda model: (model.__module__, model.__qualname__))


def validators_of(model):
    decorators = model.__pydantic_decorators__
    return {*decorators.model_validators, *decorators.field_validators}


def test_no_model_replaces_a_validator_of_its_base_class():
    """Pydantic runs only the last validator of a name, so the check of a base class would silently be lost."""
    every = models()
    assert len(every) > 60
    hidden = [
        f"{model.__module__}.{model.__qualname__}.{name}"
        for model in every
        for name in vars(model)
        if any(
            name in validators_of(base)
            for base in model.__mro__[1:]
            if hasattr(base, "__pydantic_decorators__")
        )
    ]
    assert hidden == []


def test_a_sic_bo_bet_inherits_the_checks_of_every_bet():
    from paytables.sicbo.schema import DiceBet

    assert "_check_limits" in validators_of(DiceBet)
    assert "_check_pays" in validators_of(DiceBet)
    with pytest.raises(ValueError, match="no bet fits the limits of 9 to 1 credit"):
        DiceBet.model_validate({"id": "small", "kind": "small", "pays": "1:1", "least": 9, "most": 1})
