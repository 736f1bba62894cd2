"""Design 3: a gate that can only be open or shut, then the tier."""

from app.pipeline.design import DesignName, or_null, single_call

CALL = single_call(
    DesignName.TIERED,
    version="1",
    before={
        "exceeds_value_limit": {"type": "boolean"},
        "over_limit_tier": or_null({"type": "string", "enum": ["reduced_scope", "hard_decline"]}),
    },
    before_format="""  "exceeds_value_limit": true | false,
  "over_limit_tier": "reduced_scope" | "hard_decline" | null,
""",
    max_tokens=330,
)
