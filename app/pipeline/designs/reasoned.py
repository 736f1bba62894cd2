"""Design 2: free-text arithmetic and a band, before the decision."""

from app.pipeline.design import DesignName, single_call

CALL = single_call(
    DesignName.REASONED,
    version="1",
    before={
        "calculation": {"type": "string", "maxLength": 400},
        "within_limit_banding": {"type": "string", "enum": ["within_limit", "reduced_scope_band", "over_limit"]},
    },
    before_format="""  "calculation": "add up the prices step by step, at most 400 characters",
  "within_limit_banding": "within_limit" | "reduced_scope_band" | "over_limit",
""",
    max_tokens=420,
)
