"""Design 1: the decision is committed before the words."""

from app.pipeline.design import DesignName, single_call

CALL = single_call(DesignName.BASE, version="1", before={}, before_format="", max_tokens=300)
